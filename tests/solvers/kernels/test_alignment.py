import numpy as np
import pytest

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels.alignment import alignment_with_labels, alignment_with_target, centred_alignment

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(12, 4)), RNG.normal(size=(12, 3))
K, L = A @ A.T, B @ B.T


def naive(K, L):
    """Cortes et al., eq. 2 and definition 4, by entries."""
    n = len(K)
    H = np.eye(n) - 1.0 / n
    Kc, Lc = H @ K @ H, H @ L @ H
    return np.trace(Kc @ Lc) / np.sqrt(np.trace(Kc @ Kc) * np.trace(Lc @ Lc))


def test_alignment_of_two_kernels_and_of_none_with_a_direction():
    assert centred_alignment(K, L) == pytest.approx(naive(K, L), rel=1e-12)
    assert centred_alignment(K, 3.0 * K + 2.0) == pytest.approx(1.0, rel=1e-12)
    assert centred_alignment(K, -K) == pytest.approx(-1.0, rel=1e-12)
    y = np.arange(12) % 2
    assert alignment_with_labels(K * 1e250, y) == pytest.approx(alignment_with_labels(K, y), rel=1e-12)
    assert centred_alignment(np.ones((12, 12)), K) == 0.0
    assert alignment_with_labels(K, np.zeros(12)) == 0.0
    assert alignment_with_labels(np.zeros((12, 12)), y) == 0.0
    assert np.isnan(alignment_with_labels(np.where(K > 3, np.inf, K), y))


def test_the_ideal_kernels_of_classes_and_targets():
    y = np.where(np.arange(12) < 4, 1.0, -1.0)
    for labels in (y, np.where(y > 0, "yes", "no")):
        assert alignment_with_labels(K, labels) == pytest.approx(naive(K, np.outer(y, y)), rel=1e-12)
    y = np.arange(12) % 3
    assert alignment_with_labels(K, y) == pytest.approx(naive(K, (y[:, None] == y).astype(float)), rel=1e-12)
    y = RNG.normal(size=12)
    assert alignment_with_target(K, y) == pytest.approx(naive(K, np.outer(y, y)), rel=1e-12)
    with pytest.raises(SolverError, match=r"K has the shape \(12, 12\) and y 3 entries; use a matrix of shape \(3, 3\)"):
        alignment_with_labels(K, [0, 1, 0])
