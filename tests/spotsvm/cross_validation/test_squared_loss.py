"""Machines with squared loss against scikit-learn's kernel ridge regression."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge

from spotsvm.cross_validation.fast_machines import Machines, class_labels
from spotsvm.cross_validation.squared_loss import SquaredLoss
from spotsvm.errors import OutOfTimeError
from spotsvm.solvers.kernels import Kernel, squared_distances

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
TRAIN, TEST = np.arange(40), np.arange(40, 60)
WEIGHTS = RNG.uniform(0.2, 2.0, 60)
KERNEL = Kernel("rbf", 0.3)


def of_scikit_learn(targets, C):
    """Kernel ridge regression of centred targets, as it has no constant."""
    mean = np.average(targets[TRAIN], axis=0, weights=WEIGHTS[TRAIN])
    model = KernelRidge(alpha=0.5 / C, kernel="rbf", gamma=0.3)
    model.fit(X[TRAIN], targets[TRAIN] - mean, sample_weight=WEIGHTS[TRAIN])
    return model.predict(X[TEST]) + mean


def test_a_regression_is_that_of_kernel_ridge_for_each_C():
    y = np.sin(X[:, :1])
    models = SquaredLoss(Machines(y.T, WEIGHTS, 0), KERNEL.of(squared_distances(X)), TRAIN)
    for C in (0.1, 5.0, 400.0):
        models.train(C)
        assert models.decisions(TEST) == pytest.approx(of_scikit_learn(y, C), abs=1e-4)
    single = SquaredLoss(Machines(y.T, WEIGHTS, 0), KERNEL.of(squared_distances(X)).astype(np.float32), TRAIN, single=0.01)
    for C in (0.1, 5.0, 400.0):
        single.train(C)
        assert single.decisions(TEST) == pytest.approx(of_scikit_learn(y, C), abs=2e-3)
    beta, bias, order, starts = models.solution()
    assert (KERNEL.of(squared_distances(X)) @ beta.T + bias)[TEST] == pytest.approx(models.decisions(TEST), abs=1e-6)
    assert (order == np.arange(60)).all()
    assert starts is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_targets_of_1_and_minus_1(n_classes):
    code = np.arange(60) % n_classes
    models = SquaredLoss(
        Machines(class_labels(code, n_classes), WEIGHTS, n_classes, code=code), KERNEL.of(squared_distances(X)), TRAIN
    )
    models.train(2.0)
    targets = np.where(code[:, None] == np.arange(n_classes), 1.0, -1.0)
    found = of_scikit_learn(targets if n_classes > 2 else targets[:, 1:], 2.0)
    assert models.decisions(TEST) == pytest.approx(found, abs=1e-4)


def test_equal_rows_and_an_end_of_time():
    X, y = load_iris(return_X_y=True)
    K, rows = KERNEL.of(squared_distances(np.repeat(X[:1], 30, axis=0))), np.arange(30)
    models = SquaredLoss(Machines(y[None, :30] + 1.0, np.ones(30), 0), K, rows)
    models.train(1e30)
    assert models.decisions(rows) == pytest.approx(np.ones((30, 1)))
    with pytest.raises(OutOfTimeError):
        models.train(1.0, is_late=lambda: True)
