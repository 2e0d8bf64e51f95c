"""The range of ordinary targets, and their scaler."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.preprocessing import StandardScaler

from spotsvm import TunedSVR
from spotsvm.errors import DataWarning
from spotsvm.preprocessing.far_targets import TargetScaler, ordinary_range
from spotsvm.tables import make_table
from spotsvm.tuning.tables.suspicions import suspicions

N = 120
X, Y = make_friedman1(N, noise=1.0, random_state=0)
X_NEW, Y_NEW = make_friedman1(1000, noise=1.0, random_state=1)


def quick(**options):
    return TunedSVR(**{"budget": 4, "families": ["relevance_rbf"], "random_state": 0, **options})


def error(model):
    return float(np.sqrt(np.mean((model.predict(X_NEW) - Y_NEW) ** 2)))


def test_ordinary_targets_are_scaled_as_ever_and_nothing_is_told():
    rng = np.random.default_rng(0)
    targets = {
        "normal": Y, "skewed": np.exp(rng.normal(size=N)), "uniform": rng.random(N), "t": rng.standard_t(3, N),
        "counts": rng.poisson(0.5, N).astype(float), "two values": (rng.random(N) < 0.1).astype(float),
        "few": (np.arange(N) == 3) * 1e6, "diabetes": load_diabetes().target[:N],
    }  # fmt: skip
    for y in targets.values():
        assert ordinary_range(y) == (y.min(), y.max())
        assert TargetScaler().fit_transform(y[:, None]) == pytest.approx(StandardScaler().fit_transform(y[:, None]))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = quick(budget=1).fit(X, y)
        low, high = model.predict(X).min(), model.predict(X).max()
        assert y.min() - np.ptp(y) / 2 <= low <= high <= y.max() + np.ptp(y) / 2


def test_where_most_targets_are_equal_the_others_decide():
    rare = np.where(np.arange(N) % 30 == 0, 1.0 + np.arange(N) // 30 % 3, 0.0)
    assert ordinary_range(rare) == (0.0, 3.0)
    assert ordinary_range(np.r_[rare, 50.0, 1e6]) == (0.0, 50.0)
    assert ordinary_range(np.r_[rare, 25.0, 100.0]) == (0.0, 100.0)  # not far from each other
    assert ordinary_range(np.r_[np.zeros(N), 1.0, 2.0, 1e6]) == (0.0, 1e6)  # too few to say
    with pytest.warns(DataWarning, match=r"^1 target is far from all others \(1e\+06 in row 3; the others are from 0 to 3\)"):
        model = quick(budget=1).fit(X, np.where(np.arange(N) == 3, 1e6, rare))
    assert np.abs(model.predict(X_NEW)).max() < 6


@settings(max_examples=50)
@given(
    st.lists(st.integers(-100, 100), min_size=20, max_size=60),
    st.lists(st.integers(10**4, 10**12), max_size=2),
    st.integers(-(10**6), 10**6),
    st.integers(1, 4),
)
def test_the_range_follows_origin_and_unit_and_repetition(ordinary, far, origin, times):
    """The same rows are far in any unit and from any origin, and if each row is there several times or has a weight."""
    y = np.array([*ordinary, *far], dtype=float)
    low, high = ordinary_range(y)
    assert ordinary_range(0.25 * (y + origin)) == (0.25 * (low + origin), 0.25 * (high + origin))
    assert ordinary_range(np.repeat(y, times)) == ordinary_range(y, np.full(len(y), 0.25 * times)) == (low, high)
    spread = np.subtract(*np.sort(ordinary)[[3 * len(ordinary) // 4, len(ordinary) // 4]])
    if spread >= 20:
        assert (low, high) == (min(ordinary), max(ordinary))


def test_the_command_names_lines():
    frame = pd.DataFrame(X, columns=list("abcdefghij"), index=[f"line {k + 2}" for k in range(N)])
    y = pd.Series(Y.copy(), index=frame.index, name="y")
    y["line 9"] = 1e6
    told = [notice for notice in suspicions(make_table(frame, y, where=str)) if notice.code == "far targets"]
    assert [notice.sentence.partition(";")[0] for notice in told] == ["1 target is far from all others (1e+06 in line 9"]
    assert not [
        notice
        for notice in suspicions(make_table(frame, pd.Series(Y, index=frame.index, name="y")))
        if notice.code == "far targets"
    ]
