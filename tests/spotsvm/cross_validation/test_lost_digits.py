"""Where an offset of columns costs LIBSVM the digits, scikit-learn scores, and a warning names the columns."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, SVR, NuSVC

from spotsvm import ExactSVC, SpotSearchCV, cross_val_scores

X, Y = load_breast_cancer(return_X_y=True)
ROWS = np.random.default_rng(0).permutation(len(Y))[:150]
X, Y = scale(X[ROWS][:, :6]), Y[ROWS]
NOISE = np.random.default_rng(1).standard_normal(len(Y))
TIMED = pd.DataFrame(X, columns=list("abcdef")).assign(time=1.6e9 + NOISE)  # seconds since 1970
MINUTES = TIMED.assign(time=2.7e7 + NOISE)  # which cost LIBSVM some digits, and seconds all of them


@pytest.mark.parametrize(
    ("machine", "data"),
    [
        (SVC(gamma=0.1), MINUTES),
        (SVC(gamma=0.1, C=100.0), MINUTES),
        (NuSVC(nu=0.3, gamma=0.1), MINUTES),
        (make_pipeline(SimpleImputer(), SVC(gamma=0.1)), MINUTES),
        (SVC(gamma=0.1), TIMED),
        (SVC(C=10.0), TIMED),
    ],
    ids=["SVC", "C", "NuSVC", "pipeline", "seconds", "gamma from the variance"],
)
def test_a_time_stamp(machine, data):
    with pytest.warns(UserWarning, match=r"The offset of column 'time' \((2.7|1.6)e\+0. \+- ") as told:
        ours = cross_val_scores(machine, data, Y, [{}, {}])
    assert len(told) == 1
    theirs = cross_val_score(machine, data, Y)
    np.testing.assert_array_equal(ours, [theirs, theirs])


@pytest.mark.parametrize("power", [2, 4, 5, 6, 7])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_any_offset_of_all_columns(power, C):
    far = X + 10.0**power
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ours = cross_val_scores(SVC(C=C, gamma=0.2), far, Y, scoring="accuracy")
    np.testing.assert_array_equal(ours[0], cross_val_score(SVC(C=C, gamma=0.2), far, Y))
    assert bool(told) == (power >= 6 or (power == 5 and C == 100.0))


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_inner_products(kernel):
    machine = SVC(kernel=kernel, degree=2, coef0=1.0, gamma=0.01, C=0.01)
    far = X.copy()
    far[:, 2] += 3000.0
    with pytest.warns(UserWarning, match=re.escape("The offset of column 2 (3e+03 +- 1) costs the kernel")):
        ours = cross_val_scores(machine, far, Y)
    np.testing.assert_array_equal(ours[0], cross_val_score(machine, far, Y))


def test_regression():
    data, y = load_diabetes(return_X_y=True)
    data, y = scale(data[:120]) + 1e7, scale(y[:120])
    with pytest.warns(UserWarning, match="column 0 .*, column 1 .*, column 2 .* and 7 more"):
        ours = cross_val_scores(SVR(gamma=0.1), data, y)
    np.testing.assert_array_equal(ours[0], cross_val_score(SVR(gamma=0.1), data, y))


@pytest.mark.parametrize(
    "machine",
    [make_pipeline(StandardScaler(), SVC(gamma=0.1)), ExactSVC(gamma=0.1), SVC(gamma=1e-12)],
    ids=["scaled", "exact", "coarse"],
)
def test_no_warning_where_no_digits_are_lost(machine):
    data = TIMED if not isinstance(machine, SVC) else TIMED.assign(time=TIMED["time"] * NOISE)  # far apart, not far off
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = cross_val_scores(machine, data, Y)
    np.testing.assert_allclose(ours[0], cross_val_score(machine, data, Y), atol=0.034)


def test_one_warning_for_a_search():
    search = SpotSearchCV(SVC(gamma=0.1), {"C": loguniform(0.1, 10.0)}, n_iter=4, search="random", random_state=0, cv=3)
    with pytest.warns(UserWarning, match="The offset of column 'time'") as told:
        search.fit(MINUTES, Y)
    assert len(told) == 1
    assert search.best_score_ == pytest.approx(cross_val_score(search.best_estimator_, MINUTES, Y, cv=3).mean())
