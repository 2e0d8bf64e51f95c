"""Equations 6 to 10 of Kriging by plain matrix algebra."""

import numpy as np


def gaussian(a, b, theta):
    return np.exp(-(((a[:, None] - b) ** 2) @ theta))


def fitted(R, y):
    """Return the concentrated log-likelihood (eq. 8), the mean and the process variance (eq. 6 and 7)."""
    one, n = np.ones(len(y)), len(y)
    mu = one @ np.linalg.solve(R, y) / (one @ np.linalg.solve(R, one))
    sigma2 = (y - mu) @ np.linalg.solve(R, y - mu) / n
    return -n / 2 * np.log(sigma2) - np.linalg.slogdet(R)[1] / 2, mu, sigma2


def predicted(R, psi, y, nugget=0.0):
    """Return the prediction and its variance (eq. 9 and 10), of a response where the nugget is given."""
    _, mu, sigma2 = fitted(R, y)
    one = np.ones(len(y))
    rest = (1 - psi @ np.linalg.solve(R, one)) ** 2 / (one @ np.linalg.solve(R, one))
    variance = 1 + nugget - np.einsum("ij,ji->i", psi, np.linalg.solve(R, psi.T)) + rest
    return mu + psi @ np.linalg.solve(R, y - mu), sigma2 * variance
