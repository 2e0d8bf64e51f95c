"""Time and memory of a suggestion."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from spotsvm.solvers.search import KrigingSearch
from spotsvm.studies.common.data import Floats
from spotsvm.studies.common.experiment import Experiment
from spotsvm.studies.common.jobs import Job, Row
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.one_thread import one_blas_thread

DIMENSION = 9
PEER_UP_TO = 200  # with more points, scikit-learn's model takes minutes per suggestion
# resource.getrusage alone is not enough: on Linux a process starts with the peak of its parent
_MEMORY = """
import pathlib, resource, sys
from spotsvm.studies.costs.overhead import fed_search
fed_search({n}).ask()
status = pathlib.Path("/proc/self/status")
if status.exists():
    print(next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024))
"""


def smooth(u: Floats) -> float:
    """Return a smooth function with a different scale in each coordinate."""
    scales = np.linspace(0.2, 3.0, len(u))
    return float(np.sum(scales * (u - 0.4) ** 2) + 0.3 * np.sin(6 * u[0]) * u[1])


def fed_search(n: int) -> KrigingSearch:
    """Return a Kriging search with the results of `n` random points."""
    search = KrigingSearch(Domain.continuous(DIMENSION), seed=0, noise=False)
    for u in np.random.default_rng(0).random((n, DIMENSION)):
        search.assume(u)
        search.tell(u, smooth(u))
    return search


def peer_seconds(points: Floats, values: Floats, seed: int) -> float:
    """Time a simple suggestion with scikit-learn: fit a Gaussian process, maximise EI over 2,000 random points."""
    rng = np.random.default_rng(seed)
    kernel = ConstantKernel(1.0) * Matern(np.ones(DIMENSION), (1e-2, 1e2), nu=2.5) + WhiteKernel(1e-4, (1e-8, 1.0))
    began = time.process_time()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # theta at its bounds
        model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=0, random_state=seed)
        model.fit(points, values)
        mean, sd = model.predict(rng.random((2000, DIMENSION)), return_std=True)
        z = (values.min() - mean) / np.maximum(sd, 1e-12)
        np.argmax(sd * (norm.pdf(z) + z * norm.cdf(z)))
    return time.process_time() - began


def suggestion_costs(n: int, repeats: int) -> list[Row]:
    """Measure suggestions after `n` points and more."""
    search, rows = fed_search(n), []
    with one_blas_thread():
        search.ask()
        for repeat in range(repeats):
            point = np.random.default_rng([n, repeat]).random(DIMENSION)
            search.tell(point, smooth(point))
            began = time.process_time()
            search.ask()
            ours = time.process_time() - began
            peer = peer_seconds(search.points, search.values, repeat) if n <= PEER_UP_TO else float("nan")
            rows.append({"repeat": repeat, "milliseconds": 1e3 * ours, "scikit_learn_milliseconds": 1e3 * peer})
    peak = peak_megabytes(n)
    return [row | {"peak_megabytes": peak} for row in rows]


@dataclass(kw_only=True)
class OverheadStudy(Experiment):
    """Processor time and memory of a suggestion of the Kriging search in nine dimensions, on one core.

    The figures are medians over warm suggestions. The same run also times, in turns, a Gaussian process of scikit-learn with a
    simple maximisation of expected improvement.

    Parameters
    ----------
    quick : bool, default=False
        Two suggestions after 30 and 60 points.
    n_jobs, path
        See `Experiment`.
    """

    name = "overhead"
    reads_data = False
    measures_times = True

    def _jobs(self) -> list[Job]:
        sizes, repeats = ((30, 60), 2) if self.quick else ((50, 100, 200, 500, 1000), 7)
        return [Job({"points": n}, suggestion_costs, (n, repeats)) for n in sizes]

    def table(self) -> pd.DataFrame:
        """Return a row for each number of points: medians, and the median ratio of paired measurements."""
        runs = self.frame().assign(ratio=lambda f: f.scikit_learn_milliseconds / f.milliseconds)
        return runs.groupby("points", as_index=False)[
            ["milliseconds", "scikit_learn_milliseconds", "ratio", "peak_megabytes"]
        ].median()

    def conclusion(self) -> str:
        """Return the time and memory of a suggestion in words."""
        parts = [f"{row.milliseconds:.0f} ms at {row.points:.0f} points" for row in self.table().itertuples()]
        return f"A suggestion takes {', '.join(parts)}; the process stays below {self.frame().peak_megabytes.max():.0f} MB."


def peak_megabytes(n: int) -> float:
    """Return the peak memory of a fresh process that makes one suggestion after `n` points."""
    answer = subprocess.run([sys.executable, "-c", _MEMORY.format(n=n)], capture_output=True, text=True, check=True)
    return float(answer.stdout)
