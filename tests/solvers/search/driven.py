"""Searches driven by functions of the point alone."""

import numpy as np

from spotsvm.solvers.search.checks import DOMAINS, run

MIXED = DOMAINS["mixed"]


def branin(u):
    x, y = 15 * u[0] - 5, 15 * u[1]
    return (y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


def bowl(u):
    return float(((u - 0.3) ** 2).sum())


def two_bowls(u):
    return [bowl(u), float(((u - 0.7) ** 2).sum())]


def zdt1(u):
    g = 1 + 9 * u[1:].mean()
    return np.array([u[0], g * (1 - np.sqrt(u[0] / g))])


def drive(search, f, n):
    """Evaluate n suggestions; return them."""
    return run(search, lambda u, k: f(u), n)


def drive_points(search, f, n):
    return np.array([s.point for s in drive(search, f, n)])
