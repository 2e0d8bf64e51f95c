"""The memetic solver compared with LIBSVM on indefinite kernels."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm.solvers.dual.evolution.memetic import memetic
from spotsvm.solvers.dual.problem.problem import DualProblem, make_problem
from spotsvm.solvers.dual.problem.spectrum import is_concave
from spotsvm.solvers.kernels import squared_distances
from spotsvm.studies.common.data import Floats, read_binary
from spotsvm.studies.common.experiment import Experiment
from spotsvm.studies.common.jobs import Job, Row

Similarity = Callable[[Floats, Floats, int], Floats]

DATA_SETS = (
    *("liver", "ionosphere", "sonar", "lawsuit", "lupus", "crabs"),  # Mierswa 2006
    *("glass2", "heart_statlog", "wisconsin", "ida_breast_cancer", "ida_thyroid"),
)
COSTS = (1.0, 10.0, 100.0)
SPLITS = 3
LIBSVM_CAP = 2_000_000
SAME = 1e-3  # objectives with a smaller relative difference count as equal


def _thin_plate(inner: Floats, distance: Floats, features: int) -> Floats:
    return 0.5 * distance * np.log(np.maximum(distance, 1e-300))


#: kernels as functions of the inner product, the squared distance in units of its median, and the number of features
KERNELS: dict[str, Similarity] = {
    "tanh(<x,z>/d - 1)": lambda inner, distance, features: np.tanh(inner / features - 1.0),  # eq. 30
    "tanh(2<x,z>/d + 1)": lambda inner, distance, features: np.tanh(2.0 * inner / features + 1.0),
    "tanh(<x,z>)": lambda inner, distance, features: np.tanh(inner),
    "Epanechnikov": lambda inner, distance, features: np.maximum(1.0 - distance, 0.0),
    "-|x-z|^3": lambda inner, distance, features: -(distance**1.5),
    "difference of Gaussians": lambda inner, distance, features: np.exp(-distance) - 0.7 * np.exp(-0.25 * distance),
    "thin plate": _thin_plate,
    "multiquadric": lambda inner, distance, features: np.sqrt(distance + 1.0),
}


class Case(NamedTuple):
    """A kernel matrix with its labels, and the kernel between test and training rows."""

    data_set: str
    split: int
    kernel: str
    K: Floats
    y: Floats
    K_test: Floats
    y_test: Floats


def cases_of(data_set: str, X: Floats, y: Floats, split: int, kernels: list[str]) -> Iterator[Case]:
    """Split the rows two to one, standardise them by the training rows, and compute the kernels."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=split, stratify=y)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    unit = float(np.median(squared_distances(X)[np.triu_indices(len(X), 1)]))
    for name in kernels:
        K = _kernel(name, X, X, unit)
        yield Case(data_set, split, name, 0.5 * (K + K.T), y, _kernel(name, X_test, X, unit), y_test)


def _kernel(name: str, X: Floats, Z: Floats, unit: float) -> Floats:
    return KERNELS[name](X @ Z.T, squared_distances(X, Z) / unit, X.shape[1])


def libsvm(problem: DualProblem, cost: float) -> tuple[Floats, int, bool]:
    """Return LIBSVM's alpha on the same matrix, its iterations, and whether it ended before its cap."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the cap is recorded
        model = SVC(C=cost, kernel="precomputed", max_iter=LIBSVM_CAP, cache_size=500).fit(problem.K, problem.y)
    alpha = np.zeros(problem.n)
    alpha[model.support_] = np.clip(np.abs(model.dual_coef_[0]), 0.0, cost)
    iterations = int(np.max(model.n_iter_))
    return alpha, iterations, iterations < LIBSVM_CAP


def case_row(case: Case, cost: float) -> list[Row]:
    """Solve a case by both solvers; return a row, or nothing if the problem is concave."""
    problem = make_problem(case.K, case.y, cost, bias=True)
    if is_concave(problem):
        return []
    began = time.perf_counter()
    ours = memetic(problem, np.random.default_rng(case.split), definite=False)
    ours_seconds = time.perf_counter() - began
    began = time.perf_counter()
    alpha, iterations, ended = libsvm(problem, cost)
    libsvm_seconds = time.perf_counter() - began
    row: Row = {"n": problem.n}
    for solver, solution in (("ours", ours.alpha), ("libsvm", alpha)):
        decision = problem.decision(solution)
        violation, bias = problem.kkt(solution, decision)
        predicted = np.where(case.K_test @ (solution * problem.y) + bias > 0, 1.0, -1.0)
        row[f"{solver}_objective"] = problem.objective(solution, decision)
        row[f"{solver}_violation"] = violation
        row[f"{solver}_errors"] = int(np.sum(predicted != case.y_test))
    row |= {"test_rows": len(case.y_test), "ours_converged": ours.converged, "libsvm_converged": ended}
    row |= {"libsvm_iterations": iterations, "ours_seconds": ours_seconds, "libsvm_seconds": libsvm_seconds}
    difference = row["ours_objective"] - row["libsvm_objective"]
    return [row | {"gain": difference / max(abs(row["ours_objective"]), abs(row["libsvm_objective"]), 1e-300)}]


@dataclass(kw_only=True)
class IndefiniteStudy(Experiment):
    """The memetic solver compared with LIBSVM on kernels that are not positive semidefinite.

    Both solve the same problem, with a bias, on the same kernel matrix of two thirds of the rows; the other rows are for testing.
    Objectives, thresholds, predictions and violations of the optimality conditions are evaluated in float64 at both solutions.
    Cases with a concave problem are left out. A solver wins a case in the objective if its objective is better by more than 0.1
    %, and in accuracy if it has fewer errors on the test rows. Cases of one data set share rows, so conclusions about accuracy
    use the mean errors by data set and kernel, over all splits and costs.

    Parameters
    ----------
    quick : bool, default=False
        Three kernels on two small sets of scikit-learn.
    n_jobs, path
        See `Experiment`.
    """

    name = "indefinite"
    drawn = ("objective better", "worse", "fewer errors", "more errors")
    together = True

    def _jobs(self) -> Iterator[Job]:
        for case in self._cases():
            for cost in (10.0,) if self.quick else COSTS:
                key = {"data_set": case.data_set, "split": case.split, "kernel": case.kernel, "C": cost}
                yield Job(key, case_row, (case, cost))

    def _cases(self) -> Iterator[Case]:
        if not self.quick:
            for data_set in DATA_SETS:
                X, y = read_binary(data_set)
                for split in range(SPLITS):
                    yield from cases_of(data_set, X, y, split, list(KERNELS))
            return
        X, y = load_breast_cancer(return_X_y=True)
        chosen = ["tanh(<x,z>/d - 1)", "Epanechnikov", "-|x-z|^3"]
        yield from cases_of("breast cancer", X[:150], np.where(y[:150] == 1, 1.0, -1.0), 0, chosen)
        X, y = make_moons(120, noise=0.3, random_state=0)
        yield from cases_of("moons", X, np.where(y == 1, 1.0, -1.0), 0, chosen)

    def table(self) -> pd.DataFrame:
        """Return a row for each kernel and one for all: wins and losses in the objective and in the test errors."""
        runs = self.frame()
        groups = [*runs.groupby("kernel", sort=False), ("all", runs)]
        return pd.DataFrame([_summary(str(kernel), group) for kernel, group in groups])

    def conclusion(self) -> str:
        """Return in words the wins of both solvers, and whether their test errors differ significantly."""
        total = self.table().iloc[-1]
        runs = self.frame()
        wins, losses = self._mean_error_wins()
        chance = float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
        verdict = (
            "so no difference in accuracy is claimed"
            if chance >= 0.05
            else f"so {'the memetic solver' if wins > losses else 'LIBSVM'}'s solutions predict better here"
        )
        capped = int((~runs.ours_converged).sum()), int((~runs.libsvm_converged).sum())
        return (
            f"Of {len(runs)} cases, the memetic solver's objective is better by more than {SAME:.1%} in "
            f"{total['objective better']}, worse by more in {total['worse']}, and never below LIBSVM's by more than "
            f"{total['largest loss']:.2g} of it. All runs of both ended; {capped[0]} of ours and {capped[1]} of LIBSVM's "
            f"reached a cap. On the test rows ours has fewer errors in {total['fewer errors']} cases and more in "
            f"{total['more errors']}; by data set and kernel the mean error is lower in {wins} and higher in {losses} "
            f"(sign test, p = {chance:.2g}), {verdict}."
        )

    def _mean_error_wins(self) -> tuple[int, int]:
        runs = self.frame()
        by_pair = (runs.ours_errors - runs.libsvm_errors).groupby([runs.data_set, runs.kernel]).sum().to_numpy()
        return int((by_pair < 0).sum()), int((by_pair > 0).sum())


def _summary(kernel: str, group: pd.DataFrame) -> dict[str, Any]:
    errors = group.ours_errors - group.libsvm_errors
    return {
        "kernel": kernel,
        "cases": len(group),
        "objective better": int((group.gain > SAME).sum()),
        "equal": int((group.gain.abs() <= SAME).sum()),
        "worse": int((group.gain < -SAME).sum()),
        "largest gain": float(group.gain.max()),
        "largest loss": max(0.0, -float(group.gain.min())),
        "fewer errors": int((errors < 0).sum()),
        "same errors": int((errors == 0).sum()),
        "more errors": int((errors > 0).sum()),
        "mean error": float((group.ours_errors / group.test_rows).mean()),
        "LIBSVM mean error": float((group.libsvm_errors / group.test_rows).mean()),
        "seconds": float(group.ours_seconds.median()),
        "LIBSVM seconds": float(group.libsvm_seconds.median()),
    }
