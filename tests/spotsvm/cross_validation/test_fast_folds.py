"""Fast folds against exact folds, on the same splits and kernels."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import scale
from sklearn.svm import SVC, SVR

from spotsvm import ExactSVC
from spotsvm.cross_validation.fast_folds import FastFolds, map_over_folds
from spotsvm.cross_validation.fast_machines import Machines, class_labels
from spotsvm.cross_validation.shared_folds import SharedFolds
from spotsvm.errors import OutOfTimeError
from spotsvm.kernels import Kernel
from spotsvm.solvers.dual.problem.one_vs_one import decision_values

WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)
KERNELS = {"rbf": (SVC, 0.05), "laplacian": (ExactSVC, 0.02)}


def machines_of(y, class_factors=()):
    k = len(np.unique(y))
    return Machines(class_labels(y, k), np.ones(len(y)), k, code=y).weighted(class_factors)


def fast(X, machines, splits, kernel, parameters, n_jobs=1):
    with map_over_folds(n_jobs, len(splits)) as mapped:
        folds = FastFolds(machines, splits, X.shape[0], mapped)
        folds.use_rows(lambda k: X)
        folds.use_kernel(lambda k: kernel)
        return [folds.decisions(lambda train, both=both: both) for both in parameters]


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_fast_and_exact_folds_have_the_same_decisions(name, n_classes):
    X, y = WINE[n_classes > CULTIVAR], CULTIVAR[n_classes > CULTIVAR]
    machine, gamma = KERNELS[name]
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    exact = SharedFolds(machine(kernel=name, gamma=gamma), X, y, splits, 2**30)
    found = fast(X, machines_of(y), splits, Kernel(name, gamma), [(0.5, 0.0), (8.0, 0.0)], n_jobs=2)
    for C, decisions in zip((0.5, 8.0), found, strict=True):
        for (_, test), answer in zip(splits, exact.answers({"C": C}), strict=True):
            theirs = decision_values(answer.decisions[test], n_classes, "ovr").reshape(len(test), -1)
            sure = np.abs(answer.decisions[test]).min(axis=1) > 0.02  # no vote is open within the tolerance
            assert sure.mean() > 0.8
            assert decisions[test][sure] == pytest.approx(theirs[sure], abs=0.02)


def test_fast_and_exact_regressions_are_equal_and_within_their_limits():
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X[:120]), scale(y[:120])
    splits = list(KFold(3).split(X))
    exact = SharedFolds(SVR(gamma=0.1, epsilon=0.2), X, y, splits, 2**30)
    machines = Machines(y[None], np.ones(len(y)), 0, (-0.3, 0.4))
    (decisions,) = fast(X, machines, splits, Kernel("rbf", 0.1), [(2.0, 0.2)])
    for (_, test), answer in zip(splits, exact.answers({"C": 2.0}), strict=True):
        assert decisions[test] == pytest.approx(np.clip(answer.decisions[test], -0.3, 0.4), abs=0.02)


def test_sparse_rows_are_rows():
    splits = list(StratifiedKFold(3).split(WINE, CULTIVAR))
    dense, sparse = (fast(X, machines_of(CULTIVAR), splits, Kernel("rbf", 0.05), [(1.0, 0.0)]) for X in (WINE, csr_matrix(WINE)))
    assert sparse[0] == pytest.approx(dense[0], abs=0.02)


def test_a_row_that_no_fold_tests_has_no_decision_and_a_late_fold_ends(monkeypatch):
    (found,) = fast(WINE, machines_of(CULTIVAR), [(np.arange(178), np.arange(5))], Kernel("rbf", 0.05), [(1.0, 0.0)])
    assert np.isfinite(found[:5]).all()
    assert np.isnan(found[5:]).all()
    monkeypatch.setattr("spotsvm.solvers.dual.exact.class_pairs._CHUNK", 1)  # the clock is looked at after each pair
    with map_over_folds(1, 1) as mapped:
        folds = FastFolds(machines_of(CULTIVAR), [(np.arange(178), np.arange(5))], 178, mapped)
        folds.use_rows(lambda k: WINE)
        folds.use_kernel(lambda k: Kernel("rbf", 0.05))
        with pytest.raises(OutOfTimeError):
            folds.decisions(lambda train: (1.0, 0.0), lambda: True)


def test_factors_of_classes_are_class_weights():
    splits = [(np.arange(0, 178, 2), np.arange(1, 178, 2))]
    (decisions,) = fast(WINE, machines_of(CULTIVAR, (1.0, 5.0, 0.3)), splits, Kernel("rbf", 0.05), [(0.3, 0.0)])
    theirs = SVC(C=0.3, gamma=0.05, class_weight={0: 1.0, 1: 5.0, 2: 0.3}).fit(WINE[::2], CULTIVAR[::2])
    assert decisions[1::2] == pytest.approx(theirs.decision_function(WINE[1::2]), abs=0.02)
