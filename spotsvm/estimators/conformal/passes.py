"""The passes of a conformal support vector machine on the problem of one pair of classes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.svm import SVC

from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.conformal.factor import local_rates, log_factor, log_support_factor
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.dual.problem.problem import make_problem
from spotsvm.solvers.dual.problem.result import DualResult, Solution
from spotsvm.solvers.dual.solve import measured

# a discriminant function this small against its terms is rounding
_ROUNDING = 1e-12


class Fading(NamedTuple):
    """How fast D fades: kappa itself, or a multiple of 1 / max|f| of the pass before or of 1 / tau^2 of a support vector."""

    value: float
    relative: bool = False

    def kappa(self, f: Floats) -> float:
        """Return kappa for a pass that follows one with the decision values f."""
        return self.value / float(np.abs(f).max()) if self.relative else self.value

    def rates(self, alpha: Floats, distances: Floats) -> Floats:
        """Return kappa around each support vector of the pass before, nan for other rows."""
        support = np.flatnonzero(alpha)
        rates = np.full(len(alpha), np.nan)
        rates[support] = self.value * (local_rates(distances[np.ix_(support, support)]) if self.relative else 1.0)
        return rates


#: kappa = 1 / max|f|, the paper's
AUTO = Fading(1.0, relative=True)
NONE = Fading(0.0)


class SolvedPass(NamedTuple):
    """One pass: its solution, its kappa (0 of the first pass), D at the rows of the problem, and the threshold that D scales.

    `rates` are those of :func:`log_support_factor` if D follows the support vectors; kappa is then their mean.
    """

    result: DualResult
    kappa: float
    factor: Floats
    threshold: float = 0.0
    rates: Floats | None = None

    def decide(self, values: Floats, labels: Floats, before: Floats | None, distances: Floats | None = None) -> Floats:
        """Return f at new rows from the base kernel's values, (n_new, n), and from f of the pass before, None for the first.

        `distances`, squared, of the new rows from those of the problem are needed where D follows the support vectors.
        """
        f: Floats = values @ (labels * self.result.alpha * self.factor) + self.threshold
        if self.rates is not None and distances is not None:
            f = f * np.exp(log_support_factor(self.rates, distances))
        elif before is not None:
            f = f * np.exp(log_factor(self.kappa, before))
        return f + self.result.bias


class PassProblem(NamedTuple):
    """The problem of one pair of classes: the base kernel's matrix, and each row's label and upper bound of alpha.

    `solve` takes a kernel matrix, labels, bounds, and whether there is a free threshold; `bias` is that of `ConformalSVC`;
    `about` names the pair in messages. D follows the support vectors if there are squared `distances`, else f.
    """

    K: Floats
    labels: Floats
    bounds: Floats
    solve: Callable[..., DualResult]
    bias: str | bool
    about: str = ""
    distances: Floats | None = None

    def part(self, rows: NDArray[np.intp]) -> PassProblem:
        """Return the problem of some of the rows."""
        distances = None if self.distances is None else self.distances[np.ix_(rows, rows)]
        return self._replace(
            K=self.K[np.ix_(rows, rows)], labels=self.labels[rows], bounds=self.bounds[rows], distances=distances
        )

    def first_pass(self) -> SolvedPass:
        """Solve the plain machine."""
        result = self.solve(self.K, self.labels, self.bounds, bias=bool(self.bias))
        return SolvedPass(result, 0.0, np.ones(len(self.K)))

    def next_pass(self, fading: Fading, before: DualResult) -> SolvedPass:
        """Solve with D K D, where D follows the decision f or the support vectors of the pass before."""
        if self.distances is None:
            rates, kappa = None, fading.kappa(before.decision)
            factor = np.exp(log_factor(kappa, before.decision))
        else:
            rates = fading.rates(before.alpha, self.distances)
            kappa, factor = float(np.nanmean(rates)), np.exp(log_support_factor(rates, self.distances))
        scaled = self.bias == "scaled"
        # a constant beside the kernel is a threshold that D scales: f = D (sum + b), whose sign is known where D is small
        constant = float(np.abs(self.K).max()) if scaled else 0.0
        K = (self.K + constant) * np.outer(factor, factor)
        result = self.solve(K, self.labels, self.bounds, bias=bool(self.bias) and not scaled)
        return SolvedPass(result, kappa, factor, constant * float((self.labels * result.alpha) @ factor), rates)


def solve_passes(problem: PassProblem, fading: Fading, n_passes: int, first: SolvedPass | None = None) -> list[SolvedPass]:
    """Solve with K, and again with D K D, D by f or the support vectors of the pass before: Williams et al. 2005, eq. 5, 7, 8.

    D is always applied to the base kernel: a product of all factors would shrink it to the rows nearest to the boundary.
    ArgumentError if a pass that another follows (kappa > 0) has no support vectors, or f = 0 at all rows.
    """
    passes = [problem.first_pass() if first is None else first]
    scale = float(np.abs(problem.K).max())
    while len(passes) < n_passes:
        before = passes[-1].result
        if fading.value == 0.0:  # D is 1: the same problem
            passes.append(passes[-1])
            continue
        _check_boundary(before, scale, f"pass {len(passes)}{problem.about}")
        passes.append(problem.next_pass(fading, before))
    return passes


def whole_result(passes: list[SolvedPass]) -> DualResult:
    """Return the last pass's result with the steps of all passes, converged if all are."""
    different = [one.result for k, one in enumerate(passes) if not k or one.result is not passes[k - 1].result]
    failed = next((result for result in different if not result.converged), None)
    last = replace(different[-1], iterations=sum(result.iterations for result in different))
    return last if failed is None else replace(last, converged=False, message=failed.message)


def check_kappa(value: Any) -> Fading | None:
    """Return how D fades, None for "cv", or raise ArgumentError."""
    if isinstance(value, str) and value in ("cv", "auto"):
        return AUTO if value == "auto" else None
    number = as_float(value)
    if not (np.isfinite(number) and number >= 0):
        raise ArgumentError(f"kappa={value!r}; use 'cv', 'auto' or a finite number, 0 or more (0 is the plain SVM)")
    return Fading(number)


def _check_boundary(result: DualResult, scale: float, name: str) -> None:
    """Raise ArgumentError if a solution has no boundary for the next pass to magnify."""
    total = float(result.alpha.sum())
    if not total > 0:
        raise ArgumentError(
            f"{name} has no support vectors, so there is no boundary for D to follow ({result.message}); "
            "raise max_iter or C, or use kappa=0"
        )
    largest = float(np.abs(result.decision).max())
    if largest <= _ROUNDING * (total * scale + abs(result.bias)) or not np.isfinite(1.0 / largest):
        raise ArgumentError(
            f"{name} has f = 0 at all training rows, so there is no boundary for D to follow: the kernel does not tell the "
            "classes apart; use other kernel parameters, or a kappa that is smaller or 0"
        )


#: candidates for kappa, as multiples of that of "auto", in addition to the plain SVM
MULTIPLES = (0.3, 1.0, 3.0)
N_FOLDS, N_PARTITIONS = 5, 3
#: the standard errors by which the errors must fall for a second pass to be chosen
NEEDED_GAIN = 0.5


def choose_fading(problem: PassProblem, n_passes: int) -> Fading:
    """Choose kappa by the errors of three partitions into five folds; without a clear gain, choose the plain machine.

    A choice must lower the errors, each weighted with its row's bound, by more than half the standard error of the difference.
    The folds are the same each time.
    """
    n_folds = min(N_FOLDS, int((problem.labels > 0).sum()), int((problem.labels < 0).sum()))
    if n_passes == 1 or n_folds < 2:
        return NONE
    candidates = [Fading(multiple, relative=True) for multiple in MULTIPLES]
    wrong = np.zeros((1 + len(candidates), len(problem.labels)))
    folds = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=N_PARTITIONS, random_state=0)
    for train, test in folds.split(problem.K, problem.labels):
        wrong[:, test] += _errors(problem, candidates, n_passes, train, test)
    gained = problem.bounds * (wrong[0] - wrong[1:])
    total, error = gained.sum(axis=1), np.sqrt((gained**2).sum(axis=1))
    best = int(np.argmax(np.where(total > NEEDED_GAIN * error, total, 0.0)))
    return candidates[best] if total[best] > NEEDED_GAIN * error[best] else NONE


def _errors(
    problem: PassProblem, candidates: list[Fading], n_passes: int, train: NDArray[np.intp], test: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return which test rows are misclassified by the plain SVM, and by each candidate."""
    part, values = problem.part(train), problem.K[np.ix_(test, train)]
    distances = None if problem.distances is None else problem.distances[np.ix_(test, train)]
    first = part.first_pass()
    decisions = [first.decide(values, part.labels, None)]
    for fading in candidates:
        f = decisions[0]
        try:
            passes = solve_passes(part, fading, n_passes, first)
        except ArgumentError:  # no boundary to magnify: as the plain machine
            passes = [first]
        for one in passes[1:]:
            f = one.decide(values, part.labels, f, distances)
        decisions.append(f)
    wrong: NDArray[np.bool_] = (np.array(decisions) > 0) != (problem.labels[test] > 0)
    return wrong


def solve_by_libsvm(
    K: Floats, y: Floats, C: Floats, *, tol: float = 1e-3, max_iter: int | None = None, cache_size: float = 200
) -> DualResult:
    """Maximise the dual with a bias by scikit-learn's SVC; the bias, and with it the decision, is LIBSVM's own."""
    problem = make_problem(K, y, C, bias=True)
    machine = SVC(C=1.0, kernel="precomputed", tol=tol, cache_size=cache_size, max_iter=-1 if max_iter is None else max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is in the result
        machine.fit(problem.K, problem.y, sample_weight=problem.C)
    alpha = np.zeros(problem.n)
    alpha[machine.support_] = np.minimum(np.abs(machine.dual_coef_[0]), problem.C[machine.support_])
    steps = int(np.max(machine.n_iter_))
    converged = max_iter is None or steps < max_iter
    message = f"LIBSVM stopped at tol={tol:g}" if converged else f"not converged: the cap of {steps} LIBSVM steps came first"
    result = measured(problem, Solution(alpha, steps, steps, converged, message))
    bias = float(machine.intercept_[0])
    return replace(result, bias=bias, decision=result.decision - result.bias + bias)
