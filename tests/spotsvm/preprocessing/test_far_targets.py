"""Targets far from all others: what counts as far, that the fit follows the others, and what is told."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from spotsvm import TunedSVR
from spotsvm.errors import DataError, DataWarning

N = 120
X, Y = make_friedman1(N, noise=1.0, random_state=0)
X_NEW, Y_NEW = make_friedman1(1000, noise=1.0, random_state=1)
FAR = {
    "one": {7: 1e6},
    "several": {3: 1e6, 7: 1e6, 90: 1e6},
    "both sides": {3: -1e6, 7: 1e6},
    "of all magnitudes": {3: 1e4, 7: 1e9, 90: 1e30},
    "a code": dict.fromkeys(range(0, 110, 11), -9999.0),
}


def quick(**options):
    return TunedSVR(**{"budget": 4, "families": ["relevance_rbf"], "random_state": 0, **options})


def error(model):
    return float(np.sqrt(np.mean((model.predict(X_NEW) - Y_NEW) ** 2)))


@pytest.fixture(scope="module")
def usual():
    """The error on new rows of a fit to rows without far targets."""
    return error(quick().fit(X, Y))


@pytest.mark.parametrize(
    ("case", "options"),
    [*((case, {}) for case in FAR), ("several", {"scoring": "neg_mean_absolute_error"}), ("both sides", {"average": False})],
    ids=str,
)
def test_far_targets_do_not_decide_the_fit(case, options, usual):
    y = Y.copy()
    y[list(FAR[case])] = list(FAR[case].values())
    with pytest.warns(DataWarning, match=r"far from (all others|its other values).* follow the others$") as told:
        model = quick(**options).fit(X, y)
    (warning,) = told
    (notice,) = warning.message.notices
    assert notice.code == ("missing code" if case == "a code" else "far targets")
    assert notice.share == pytest.approx(len(FAR[case]) / N)
    assert all(f"row {row}" in notice.sentence for row in list(FAR[case])[:3])
    assert all(f"{value:.6g} in " in notice.sentence for value in list(FAR[case].values())[:3])
    assert error(model) < 1.5 * usual < 0.7 * Y_NEW.std()
    assert np.ptp(model.predict(X_NEW)) < 3 * np.ptp(Y)  # also the limits of predictions
    assert (np.abs(model.predict_interval(X_NEW, 0.8)) < 100).all()
    assert model.expected_score_.known
    assert model.expected_score_.value < 0.6  # it has all rows, and cannot foresee the far ones


def test_rows_are_named_by_their_place_and_weights_count():
    y, weights = Y.copy(), np.ones(N)
    y[[5, 60]] = 1e6
    weights[[0, 5]] = 0.0
    with pytest.warns(DataWarning, match=r"^1 target is far from all others \(1e\+06 in row 60; the others are from "):
        quick().fit(X, y, sample_weight=weights)
    heavy = np.where(np.arange(N) == 60, 0.2 * N, 1.0)
    heavy[5] = 0.0
    with warnings.catch_warnings():  # a fifth of the weight is not few
        warnings.simplefilter("error")
        quick(budget=1).fit(X, y, sample_weight=heavy)


def test_numbers_are_told_with_the_digits_that_differ():
    with pytest.warns(DataWarning, match=r"\(1\.001e\+09 in row 3; the others are from 1e\+09 to 1\.00000003e\+09\)"):
        quick(budget=1).fit(X, np.where(np.arange(N) == 3, 1e6, np.round(Y - Y.min())) + 1e9)


def test_a_number_too_large_to_square_is_refused():
    for far in (1e80, 1e120, -1e300):
        with pytest.raises(DataError, match="too large to square"):
            quick().fit(X, np.where(np.arange(N) == 3, far, Y))


@pytest.mark.parametrize("change", [lambda y: y + 2.0**43, lambda y: y * 2.0**-500, lambda y: y * 2.0**300], ids="abc")
def test_any_origin_and_unit_of_the_target(change):
    y = np.round(256 * Y) / 256
    model, moved = quick(budget=1).fit(X, y), quick(budget=1).fit(X, change(y))
    assert moved.predict(X_NEW) == pytest.approx(change(model.predict(X_NEW)), rel=1e-3 if change(0.0) == 0 else 0, abs=0.2)
    assert moved.expected_score_.value == pytest.approx(model.expected_score_.value, abs=0.01)


def test_whole_numbers_that_are_no_floats_are_told():
    with pytest.warns(DataWarning, match="column 'y' has whole numbers beyond"):
        quick(budget=1).fit(X, 17 * 10**17 + np.round(100 * Y).astype(int))
