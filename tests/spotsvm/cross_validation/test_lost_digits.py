"""Where an offset of columns costs LIBSVM the digits, scikit-learn scores, and a warning names the columns."""

import re
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import FitFailedWarning
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


TIME = r"The offset of column 'time' \((2.7|1.6)e\+0. \+- "
THIRD = re.escape("The offset of column 2 (3e+03 +- 1) costs the kernel")
FAR = X + 3000.0 * (np.arange(6) == 2)
DIABETES = load_diabetes(return_X_y=True)


def of_sklearn(machine, data, y, **options):
    """Return scikit-learn's scores; nan of folds that LIBSVM gives up, which the last bits of the data and of its sums decide."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        try:
            return cross_val_score(machine, data, y, **options)
        except ValueError as error:
            if "dual coefficients or intercepts are not finite" not in str(error):
                raise
            return np.full(options.get("cv", 5), np.nan)


@contextmanager
def warned():
    """Collect the texts of warnings, but for those of folds that LIBSVM gives up."""
    texts = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        yield texts
    texts += [str(one.message) for one in told if not issubclass(one.category, FitFailedWarning)]


@pytest.mark.parametrize(
    ("machine", "data", "y", "message"),
    [
        (SVC(gamma=0.1), MINUTES, Y, TIME),
        (SVC(gamma=0.1, C=100.0), MINUTES, Y, TIME),
        (NuSVC(nu=0.3, gamma=0.1), MINUTES, Y, TIME),
        (make_pipeline(SimpleImputer(), SVC(gamma=0.1)), MINUTES, Y, TIME),
        (SVC(gamma=0.1), TIMED, Y, TIME),
        (SVC(C=10.0), TIMED, Y, TIME),
        (SVC(kernel="linear", C=0.01), FAR, Y, THIRD),
        (SVC(kernel="poly", degree=2, coef0=1.0, gamma=0.01, C=0.01), FAR, Y, THIRD),
        (
            SVR(gamma=0.1),
            scale(DIABETES[0][:120]) + 1e7,
            scale(DIABETES[1][:120]),
            "column 0 .*, column 1 .*, column 2 .* and 7 more",
        ),
    ],
    ids=["SVC", "C", "NuSVC", "pipeline", "seconds", "gamma from the variance", "linear", "poly", "SVR"],
)
def test_offsets_of_columns(machine, data, y, message):
    with warned() as texts:
        ours = cross_val_scores(machine, data, y, [{}, {}])
    assert [re.search(message, text) is not None for text in texts] == [True]
    np.testing.assert_array_equal(ours, [of_sklearn(machine, data, y)] * 2)


@pytest.mark.parametrize("power", [2, 4, 5, 6, 7])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_any_offset_of_all_columns(power, C):
    far = X + 10.0**power
    with warned() as texts:
        ours = cross_val_scores(SVC(C=C, gamma=0.2), far, Y, scoring="accuracy")
    np.testing.assert_array_equal(ours[0], of_sklearn(SVC(C=C, gamma=0.2), far, Y))
    assert bool(texts) == (power >= 6 or (power == 5 and C == 100.0))


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
    with warned() as texts:
        search.fit(MINUTES, Y)
    assert ["The offset of column 'time'" in text for text in texts] == [True]
    assert search.best_score_ == pytest.approx(of_sklearn(search.best_estimator_, MINUTES, Y, cv=3).mean())
