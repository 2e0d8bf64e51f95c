import numpy as np
import pytest

from spotsvm.solvers.dual import DualProblem


def drawn_problem(seed, n=12, kind="rbf", C=1.0, bias=False):
    """Draw a problem: rbf and linear are positive semidefinite, the others not."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    y[0], y[-1] = 1.0, -1.0
    inner = X @ X.T
    squares = np.diag(inner)
    distances = np.maximum(squares[:, None] + squares - 2 * inner, 0.0)
    kernels = {
        "rbf": np.exp(-0.3 * distances),
        "linear": inner,
        "sigmoid": np.tanh(inner - 1.0),
        "distance": -(distances**1.2),
        "wavy": inner + np.cos(7 * (inner + distances)),
    }
    K = kernels[kind]
    bounds = np.full(n, C) if np.ndim(C) == 0 else np.asarray(C)
    return DualProblem(np.ascontiguousarray((K + K.T) / 2), y, bounds, bias)


@pytest.fixture(scope="session")
def drawn():
    return drawn_problem
