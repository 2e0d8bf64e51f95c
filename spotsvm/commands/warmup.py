"""The command `spotsvm warmup`."""

from __future__ import annotations

import time

import click
import numpy as np
from sklearn.svm import SVC

from spotsvm.cross_validation.compile_first import compile_first
from spotsvm.cross_validation.cross_val_scores import cross_val_scores
from spotsvm.solvers.dual import solve_dual, solve_dual_regression
from spotsvm.solvers.kernels import DistanceColumns, squared_distances
from spotsvm.surrogates.kriging.kriging import Kriging
from spotsvm.tuned.tuned_svc import TunedSVC


@click.command()
def warmup() -> None:
    """Compile solvers and Kriging in advance, once per installation; otherwise their first use takes some seconds longer."""
    click.echo(f"solvers and Kriging compiled, or already compiled, in {warm_up():.1f} s")


def warm_up() -> float:
    """Run everything compiled on small problems, so that it is in the cache; return the seconds that took."""
    began = time.perf_counter()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1, -1)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    for method in ("exact", "memetic"):
        for bias in (False, True):
            solve_dual(K, y, 100.0, method, bias=bias, random_state=0)
    solve_dual(np.tanh(K - 0.5), y, 100.0, "memetic", random_state=0)
    solve_dual(np.tanh(K - 0.5), y, 100.0, "memetic", random_state=0, bias=True)
    solve_dual_regression(K, X[:, 1], 10.0)
    cross_val_scores(SVC(), X, y, [{"C": 1e4, "gamma": 0.01}, {"C": 1.0, "gamma": 1.0}])
    compile_first()
    Kriging(optimizer="cmaes").fit(X, X[:, 1])
    for classes in (y, np.digitize(X[:, 0], [-0.5, 0.5])):  # pairs of several classes are trained by other functions
        TunedSVC(budget=1).fit(X, classes)
    squared_distances(X)
    columns = DistanceColumns(X, X)
    for _ in range(2):  # the second call reuses kernels
        columns.gaussian_sums([0, 1], 1.0, np.ones((1, 2)))
    return time.perf_counter() - began
