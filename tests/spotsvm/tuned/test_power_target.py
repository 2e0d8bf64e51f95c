"""Targets on a power scale: the scale, the way back, and what it gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import PowerTransformer

from spotsvm import TunedSVR
from spotsvm.tuned.power_target import PowerScale, Smearing
from spotsvm.tuned.powers import inverse_yeo_johnson, yeo_johnson

RNG = np.random.default_rng(0)


@given(st.floats(-2.0, 4.0), st.lists(st.floats(-20.0, 20.0), min_size=1, max_size=8))
def test_the_inverse_of_a_power(power, values):
    z = np.array(values)
    t = yeo_johnson(z[:, None], np.array([power]))[:, 0]
    theirs = PowerTransformer(standardize=False)
    theirs.fit(np.linspace(0, 1, 5)[:, None])
    theirs.lambdas_ = np.array([power])
    assert t == pytest.approx(theirs.transform(z[:, None])[:, 0], rel=1e-6, abs=1e-6)
    near = np.abs(t) < 1e3 * np.maximum(np.abs(z), 1.0)
    finite = (power * t > -1 + 1e-6) & ((2.0 - power) * np.abs(np.minimum(t, 0)) > -1 + 1e-6)
    found = inverse_yeo_johnson(t, power)
    assert found[near & finite] == pytest.approx(z[near & finite], rel=1e-4, abs=1e-6)


def test_a_skewed_target_becomes_nearly_normal_and_comes_back():
    z = np.exp(RNG.normal(size=400))
    scale = PowerScale.of(z, np.ones(400))
    t = scale.values(z)
    assert abs((t**3).mean()) < 0.3 < 2 < (((z - z.mean()) / z.std()) ** 3).mean()
    assert (t.mean(), t.std()) == pytest.approx((0, 1), abs=1e-9)
    assert scale.inverse(t) == pytest.approx(z, rel=1e-6)
    moved = PowerScale.of(50.0 * z - 7.0, np.ones(400))
    assert moved.values(50.0 * z - 7.0) == pytest.approx(t, abs=1e-6)
    far = scale.inverse(np.array([-1e9, 1e9]))
    assert z.min() - 0.5 * np.ptp(z) <= far[0] <= z.min() < z.max() < far[1] <= z.max() + 0.5 * np.ptp(z)


@pytest.mark.parametrize(
    "z", [RNG.uniform(size=300), np.r_[np.zeros(200), RNG.normal(size=80) ** 2], np.ones(50), np.arange(2.0)]
)
def test_there_is_no_scale_where_it_is_hardly_another_one_or_cannot_be(z):
    assert PowerScale.of(z, np.ones(len(z))) is None


def test_smearing_gives_the_mean_and_not_the_median():
    noise = RNG.normal(size=20_000)
    z = np.exp(1.0 + 0.8 * noise)
    scale = PowerScale.of(z, np.ones(len(z)))
    constant = np.full(len(z), scale.values(np.array([np.median(z)]))[0])
    smeared = Smearing.of(scale, z, constant)(constant[:1])[0]
    assert np.median(z) < 0.8 * z.mean()
    assert smeared == pytest.approx(z.mean(), rel=0.06)


def test_a_target_is_predicted_on_the_scale_where_it_is_nearly_linear_and_it_is_told():
    X = RNG.normal(size=(200, 4))
    y = 5.0 + np.exp(0.5 * X[:, 0] + 0.4 * X[:, 1] + 0.1 * RNG.normal(size=200))
    model = TunedSVR(families=["rbf", "squared_rbf", "squared_linear"], random_state=0).fit(X, y)
    members, settings = model.members_, model.settings_
    share = members.loc[members["target"] == "power", "weight"].sum()
    assert share > 0.3
    text = " ".join(model.methods_section().paragraphs)
    assert f"With {100 * share:.0f} % of the weight, the target was predicted on a scale" in text
    assert (settings.loc[settings["family"] == "rbf", "target"] == "own").all()
    linear = settings[settings["family"] == "squared_linear"].groupby("target")["score"].max()
    assert linear["power"] > linear["own"] + 0.05
    assert 1 - model.score(X, y) < 0.3 * (1 - linear["own"])
    plain = TunedSVR(families=["squared_linear"], random_state=0).fit(X, np.log(y - 5.0))
    assert "target" not in plain.settings_ or plain.settings_["score"].max() > 0.9
    answers = model.out_of_fold_.answers[(settings["target"] == "power").to_numpy()][..., 0]
    assert y.min() - 0.51 * np.ptp(y) < answers.min()
    assert answers.max() < y.max() + 0.51 * np.ptp(y)
