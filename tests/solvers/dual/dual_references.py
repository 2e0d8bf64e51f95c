"""Other solvers of the dual problems, and bounds to try them on."""

import numpy as np
from scipy.optimize import minimize
from sklearn.svm import SVC, SVR


def random_bounds(seed, n, C):
    """Draw bounds of which some are zero, but none of the first and the last row, which differ in class."""
    bounds = C * np.random.default_rng(seed).choice([0.0, 0.2, 1.0], n)
    bounds[[0, -1]] = C
    return bounds


def objective(K, z, beta, epsilon=0.0):
    return z @ beta - epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta


def libsvm(K, z, C, epsilon=None, tol=1e-6):
    """Return LIBSVM's machine on the rows with a positive bound, and its beta; with an epsilon that of a regression."""
    rows = np.flatnonzero(C)
    machine = SVC(kernel="precomputed", tol=tol) if epsilon is None else SVR(kernel="precomputed", tol=tol, epsilon=epsilon)
    machine.fit(K[np.ix_(rows, rows)], z[rows], sample_weight=C[rows])
    beta = np.zeros(len(z))
    beta[rows[machine.support_]] = machine.dual_coef_[0]
    return machine, beta


def general_optimum(Q, linear, C, signs=None):
    """Maximise linear' a - a' Q a / 2 over 0 <= a <= C by sequential quadratic programming, where given with signs' a = 0."""
    result = minimize(
        lambda a: (0.5 * a @ Q @ a - linear @ a, Q @ a - linear),
        np.minimum(C, 1.0) / 3,
        jac=True,
        method="SLSQP",
        bounds=[(0, c) for c in C],
        constraints=() if signs is None else {"type": "eq", "fun": lambda a: a @ signs, "jac": lambda a: signs},
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    return -result.fun
