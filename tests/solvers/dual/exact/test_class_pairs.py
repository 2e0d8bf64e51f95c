"""Classifiers of all pairs of classes, each on the rows of its two classes, against scikit-learn's SVC."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm.errors import OutOfTimeError
from spotsvm.solvers.dual.exact import class_pairs
from spotsvm.solvers.dual.exact.class_pairs import ClassPairs


def kernel(load, gamma, n=None):
    X, y = load(return_X_y=True)
    return rbf_kernel(StandardScaler().fit_transform(X[:n]), gamma=gamma).astype(np.float32), y[:n]


@pytest.mark.parametrize(("load", "weights"), [(load_wine, "equal"), (load_digits, "of rows and classes")])
def test_they_are_the_classifiers_of_svc(load, weights):
    K, y = kernel(load, 0.03, 300)
    k, rng = len(np.unique(y)), np.random.default_rng(0)
    rows = rng.permutation(len(y))[: 3 * len(y) // 4]
    of_row = np.ones(len(y)) if weights == "equal" else rng.uniform(0.2, 2.0, len(y)) * np.linspace(0.5, 2.0, k)[y]
    new = np.setdiff1d(np.arange(len(y)), rows)
    found = ClassPairs.of(y, rows, k)
    for C in (0.5, 8.0, 2.0):  # each starts from the last
        found = found.trained(K, C * of_row, 1e-4)
        svc = SVC(C=C, kernel="precomputed", tol=1e-5)
        svc.fit(K[np.ix_(found.rows, found.rows)], y[found.rows], sample_weight=of_row[found.rows])
        full = np.zeros_like(found.coefficients)
        full[:, svc.support_] = svc.dual_coef_
        assert found.coefficients == pytest.approx(full, abs=2e-2 * C)
        theirs = svc.decision_function(K[np.ix_(new, found.rows)])
        assert found.votes(K[np.ix_(new, found.rows)]) == pytest.approx(theirs, abs=5e-3)


def test_larger_newton_steps_finish_what_the_compiled_ones_leave(monkeypatch):
    K, y = kernel(load_wine, 0.03)
    expected = ClassPairs.of(y, np.arange(len(y)), 3).trained(K, np.full(len(y), 50.0), 1e-5)
    for name, value in (("_SMALL", 0), ("_PAIR_STEPS", 5), ("_MOST_STEPS", 5)):
        monkeypatch.setattr(class_pairs, name, value)
    found = ClassPairs.of(y, np.arange(len(y)), 3).trained(K, np.full(len(y), 50.0), 1e-5)
    assert found.coefficients == pytest.approx(expected.coefficients, abs=1e-2)
    assert found.biases == pytest.approx(expected.biases, abs=1e-4)


def test_a_class_without_rows_wins_no_pair_against_one_that_has_some():
    K, y = kernel(load_wine, 0.03)
    rows = np.flatnonzero(y != 1)
    found = ClassPairs.of(y, rows, 3).trained(K, np.ones(len(y)), 1e-3)
    assert (found.votes(K[rows][:, found.rows]).argmax(axis=1) == y[rows]).all()
    assert set(found.votes(K[:, found.rows]).argmax(axis=1)) == {0, 2}
    none = ClassPairs.of(y, rows[:0], 3).trained(K, np.ones(len(y)), 1e-3)
    assert np.isfinite(none.votes(K[:, :0])).all()
    assert none.votes(K[:0, :0]).shape == (0, 3)


def test_a_decision_of_0_is_for_the_first_of_a_pair_as_in_svc():
    K, y = kernel(load_wine, 0.03)
    found = ClassPairs.of(y, np.arange(len(y)), 3)  # not trained: all decisions are 0
    svc = SVC(kernel="precomputed").fit(K, y)
    svc._dual_coef_, svc._intercept_ = np.zeros_like(svc.dual_coef_), np.zeros(3)
    svc.dual_coef_, svc.intercept_ = svc._dual_coef_, svc._intercept_
    np.testing.assert_array_equal(found.votes(K[:4, found.rows]), svc.decision_function(K[:4]))


def test_the_memory_of_many_classes_grows_with_classes_and_rows_and_the_clock_is_looked_at(monkeypatch):
    n, k = 400, 100
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    X = rng.normal(size=(k, 5))[y] + 0.3 * rng.normal(size=(n, 5))
    K = rbf_kernel(X, gamma=0.3).astype(np.float32)
    start = ClassPairs.of(y, np.arange(n), k)
    assert start.coefficients.shape == (k - 1, n)  # not a row for each of 4950 pairs
    looks = []
    monkeypatch.setattr(class_pairs, "_CHUNK", 32_000)  # 500 pairs of 8 rows
    found = start.trained(K, np.ones(n), 1e-2, lambda: bool(looks.append(None)))
    assert 8 <= len(looks) <= 10
    svc = SVC(kernel="precomputed", tol=1e-4).fit(K[np.ix_(found.rows, found.rows)], y[found.rows])
    assert (svc.predict(K[:, found.rows]) == found.votes(K[:, found.rows]).argmax(axis=1)).mean() > 0.99
    with pytest.raises(OutOfTimeError, match="all pairs of classes"):
        start.trained(K, np.ones(n), 1e-2, lambda: True)
