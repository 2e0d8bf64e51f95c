import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from spotsvm import Space, stormwater_pipeline
from spotsvm.errors import ArgumentError
from spotsvm.tuning.pipelines.stormwater import REGIONS

BRANCH = ("embed__dimensions", "leaky__decays", "leaky__windows")


def tank(n=400, seed=0):
    """Return rain in bursts, and a level that follows it with a delay of two hours."""
    rng = np.random.default_rng(seed)
    rain = np.where(rng.random(n) < 0.15, rng.gamma(1.0, 2.0, n), 0.0)
    level = np.convolve(rain, 0.8 ** np.arange(60))[:n]
    hours = pd.date_range("1987-03-29", periods=n, freq="h")
    X = pd.DataFrame({"rain": rain, "warmth": rng.normal(size=n)}, index=hours)
    return X, pd.Series(np.append([0.0, 0.0], level[:-2]), index=hours, name="level")


def features(params, branch):
    return {name: params[f"features__rain{branch}__{name}"] for name in BRANCH}


def by_hand(params, X, y, train, test, horizon):
    """The same in plain numpy on the whole series, with scikit-learn's machine."""
    parts = []
    for branch in (1, 2):
        own = features(params, branch)
        decay, window = own["leaky__decays"], own["leaky__windows"]
        sums = np.convolve(X["rain"], decay ** np.arange(window + 1))[: len(X)]
        parts += [np.r_[np.zeros(horizon + k), sums][: len(X)] for k in range(own["embed__dimensions"])]
    rows = np.stack(parts, axis=1)
    scale, target = StandardScaler().fit(rows[train]), StandardScaler().fit(y.to_numpy()[train, None])
    machine = SVR(**{name: params[f"svr__regressor__{name}"] for name in ("C", "gamma", "epsilon")})
    machine.fit(scale.transform(rows[train]), target.transform(y.to_numpy()[train, None]).ravel())
    return target.inverse_transform(machine.predict(scale.transform(rows[test]))[:, None]).ravel()


@pytest.mark.parametrize("history", [False, True])
def test_it_is_what_the_paper_describes(history):
    X, y = tank()
    pipeline, space = stormwater_pipeline("rain", horizon=2, region="koch2011", history=X if history else None)
    params = Space(space).decode(np.random.default_rng(0).random(9))
    train, test = (slice(100, 200), slice(300, 400)) if history else (slice(0, 300), slice(300, 400))
    pipeline.set_params(**params).fit(X.iloc[train], y.iloc[train])
    np.testing.assert_allclose(pipeline.predict(X.iloc[test]), by_hand(params, X, y, train, test, 2), rtol=1e-6, atol=1e-8)


def test_the_region_of_table_4():
    _, space = stormwater_pipeline(region="koch2011")
    names = [f"features__rain{k}__{name}" for k in (1, 2) for name in BRANCH] + [
        f"svr__regressor__{c}" for c in ("gamma", "epsilon", "C")
    ]
    assert list(space) == names
    low, high = (Space(space).decode(np.full(9, share)) for share in (0.0, 1.0))
    of_branch, of_machine = [(2, 60), (1e-5, 0.3), (50, 120)], [(0.005, 0.3), (0.005, 0.3), (1, 10)]
    for name, (least, most) in zip(names, [*of_branch, *of_branch, *of_machine], strict=True):
        assert (low[name], high[name]) == (pytest.approx(least), pytest.approx(most))
    assert isinstance(low[names[0]], int)
    assert isinstance(low[names[2]], int)


def test_the_wide_region_holds_the_papers():
    wide, paper = (Space(stormwater_pipeline(region=region)[1]) for region in REGIONS)
    with pytest.raises(ArgumentError, match="region='koch2012'; use 'wide' or 'koch2011'"):
        stormwater_pipeline(region="koch2012")
    for share in (0.0, 1.0):
        corner = paper.decode(np.full(9, share))
        assert wide.decode(wide.encode(corner)) == pytest.approx(corner)


def test_named_columns_several_columns_and_arrays():
    X, y = tank(200)
    both, _ = stormwater_pipeline(["rain", "warmth"])
    assert both.set_params(features__rain1__leaky__windows=5).fit(X, y).named_steps["scale"].n_features_in_ == 40
    frames = stormwater_pipeline("rain")[0].fit(X, y).predict(X)
    np.testing.assert_allclose(stormwater_pipeline(0)[0].fit(X.to_numpy(), y).predict(X.to_numpy()), frames)
    np.testing.assert_allclose(stormwater_pipeline()[0].fit(X[["rain"]], y).predict(X[["rain"]]), frames)


def test_missing_rain():
    X, y = tank(200)
    gaps = X.mask(np.arange(200)[:, None] == [50, -1])
    with pytest.raises(ValueError, match="1 readings are missing .* 'rain' at 1987-03-31 02:00:00"):
        stormwater_pipeline("rain")[0].fit(gaps, y)
    dry = stormwater_pipeline("rain", missing="zero")[0].fit(gaps, y)
    np.testing.assert_allclose(
        dry.predict(gaps), stormwater_pipeline("rain")[0].fit(gaps.fillna(0.0), y).predict(gaps.fillna(0.0))
    )
