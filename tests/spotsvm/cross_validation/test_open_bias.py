"""What is said to be certain of LIBSVM is what scikit-learn's machines do."""

import numpy as np
import pytest
from sklearn.svm import SVC

from spotsvm.cross_validation.exactness import deciding_pairs, libsvm_takes_the_middle, same_predictions
from spotsvm.kernels import Kernel
from spotsvm.solvers.dual.exact.fold_solver import FoldSolver, Target, symmetric_bounds
from spotsvm.solvers.dual.problem.one_vs_one import votes
from spotsvm.solvers.kernels.matrices.single_gram import SingleGram

TOL = 1e-3
KERNELS = {"rbf": lambda g: {"gamma": g}, "linear": lambda g: {}, "poly": lambda g: {"gamma": g, "degree": 2, "coef0": 1.0}}


def drawn(seed):
    """Draw classes of as many rows each, some rows twice, a kernel, and a cost."""
    rng = np.random.default_rng(seed)
    m = int(rng.choice([3, 10, 25]))
    X = rng.standard_normal((2 * m, 3))
    X[m:] += rng.choice([0.0, 1.0])
    if seed % 3 == 0:
        X = X.round(0)
    y = np.repeat([-1.0, 1.0], m)[rng.permutation(2 * m)]
    name = str(rng.choice(list(KERNELS)))
    return X, y, name, KERNELS[name](10.0 ** rng.uniform(-5, 0)), 10.0 ** rng.uniform(-4, 1)


def solved(X, y, name, options, C):
    """Train as shared work does; return what `libsvm_takes_the_middle` is told, and the ends of the interval of biases."""
    K, offset = SingleGram(X).matrix(Kernel(name, **options))
    z = y[None]
    target = Target(z, *symmetric_bounds(C, z, False))
    state = FoldSolver(len(X)).cold(K, offset, target, 0.3 * TOL)
    ends, bias, _ = state.biases(target)
    values = (state.slope + z + bias[:, None])[0]
    return K, offset, target.one(0), state.one(0), values, ends[0]


def test_where_the_middle_is_certain_libsvm_returns_it():
    certain = 0
    for seed in range(150):
        X, y, name, options, C = drawn(seed)
        K, offset, target, state, values, ends = solved(X, y, name, options, C)
        if not libsvm_takes_the_middle(K, offset, target, state, values, TOL):
            continue
        certain += 1
        machine = SVC(C=C, kernel=name, **options).fit(X, y)
        assert (np.abs(machine.dual_coef_) == C).all()
        assert machine.dual_coef_.size == len(y)
        assert np.ptp(ends) > TOL
        np.testing.assert_allclose(machine.decision_function(X), values, rtol=1e-4, atol=1e-6 * C * len(y))
        np.testing.assert_array_equal(machine.predict(X), np.where(values > 0, 1.0, -1.0))
    assert certain >= 30


@pytest.mark.parametrize("change", ["a decision of 0", "a larger cost", "a class with a row less", "weights", "a wide tolerance"])
def test_where_it_is_not_certain(change):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), np.repeat([-1.0, 1.0], 10)
    C, tol = 0.01, TOL
    assert libsvm_takes_the_middle(*solved(X, y, "rbf", {"gamma": 0.1}, C)[:5], tol)
    if change == "a larger cost":
        C = 10.0
    elif change == "a class with a row less":
        X, y = X[1:], y[1:]
    elif change == "weights":
        C = np.where(y > 0, 0.01, 0.011)
    elif change == "a wide tolerance":
        tol = 1.0
    K, offset, target, state, values, _ = solved(X, y, "rbf", {"gamma": 0.1}, C)
    if change == "a decision of 0":
        values[3] = 1e-9
    assert not libsvm_takes_the_middle(K, offset, target, state, values, tol)


def test_the_same_predictions():
    values = np.array([-0.5, -0.1, 0.7])
    for ends, same in (
        ([0.2, 0.4], True),
        ([0.4, 0.2], True),  # of what is not solved exactly
        ([0.05, 0.2], False),
        ([0.1005, 0.4], False),  # nearer than the tolerance
        ([0.2, 0.4995], False),
        ([0.2, np.inf], False),
    ):
        assert same_predictions(values, np.array(ends), TOL) == same


def test_the_same_winners_whatever_sign_an_open_decision_has():
    rng = np.random.default_rng(0)
    answers = []
    for _ in range(200):
        decisions, open_ = rng.standard_normal((1, 6)), rng.random((1, 6)) < 0.3
        winners = set()
        for _ in range(100):
            signs = np.where(open_, rng.choice([-1.0, 1.0], (1, 6)), decisions)
            winners.add(int(votes(signs, 4).argmax()))
        answers.append(len(winners) == 1)
        assert deciding_pairs(decisions, open_, 4) == ([] if answers[-1] else np.flatnonzero(open_).tolist())
    assert 20 < sum(answers) < 180
