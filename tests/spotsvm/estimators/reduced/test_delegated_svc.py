import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC
from sklearn.utils.validation import validate_data

from spotsvm import ExactSVC
from spotsvm.estimators.reduced.reduced_svc import DelegatedSVC

X, Y = load_iris(return_X_y=True)


class OnEveryThird(DelegatedSVC):
    """The smallest subclass: trains on every third row."""

    def __init__(self, kind=SVC, decision_function_shape="ovr"):
        self.kind = kind
        self.decision_function_shape = decision_function_shape

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        self.classes_ = np.unique(y)
        self.machine_ = self.kind(decision_function_shape="ovo", tol=1e-6).fit(X[::3], y[::3])
        return self


@pytest.mark.parametrize("kind", [SVC, ExactSVC])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_are_those_of_svc_with_ties_broken(kind, n_classes):
    rows, y = X[n_classes * 50 - 1 :: -1], Y[n_classes * 50 - 1 :: -1]
    ours, plain = OnEveryThird(kind).fit(rows, y), SVC(break_ties=True, tol=1e-6).fit(rows[::3], y[::3])
    np.testing.assert_allclose(ours.decision_function(rows), plain.decision_function(rows), atol=1e-4)
    np.testing.assert_array_equal(ours.predict(rows), plain.predict(rows))
    ovo, pairs = OnEveryThird(kind, "ovo").fit(rows, y), SVC(decision_function_shape="ovo", tol=1e-6).fit(rows[::3], y[::3])
    np.testing.assert_allclose(ovo.decision_function(rows), pairs.decision_function(rows), atol=1e-4)
    np.testing.assert_array_equal(ours.n_support_, plain.n_support_)
    np.testing.assert_array_equal(ours.support_vectors_, plain.support_vectors_)
    np.testing.assert_allclose(ours.intercept_, plain.intercept_, atol=1e-4)
    np.testing.assert_allclose(ours.dual_coef_, plain.dual_coef_, atol=1e-4)


def test_before_fit():
    for name in ("support_vectors_", "n_support_", "dual_coef_", "intercept_"):
        assert not hasattr(OnEveryThird(), name)
    with pytest.raises(NotFittedError):
        OnEveryThird().predict(X)
