"""EvolvedKernelSVR: support vector regression whose kernel is found by genetic programming."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from spotsvm.common.targets import as_numbers
from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.dual.dual_svr import DualSVR
from spotsvm.estimators.evolved.machine import EvolvedKernelMachine
from spotsvm.estimators.evolved.matrix_task import SEARCHES_KEPT, RegressionTask, best_regression
from spotsvm.estimators.evolved.settings import KernelEvolutionSettings
from spotsvm.solvers.dual.exact.fold_solver import Target
from spotsvm.solvers.dual.problem.result import DualResult, iteration_cap
from spotsvm.solvers.dual.problem.spectrum import matrix_state
from spotsvm.solvers.dual.regression import solve_dual_regression


@dataclass(eq=False, repr=False, kw_only=True)
class EvolvedKernelSVR(EvolvedKernelMachine, DualSVR):  # type: ignore[misc]  # weights of rows have no part in an evolution
    """Epsilon-support vector regression with a kernel that genetic programming finds for the data.

    See `EvolvedKernelSVC`: the fitness is the root mean squared error, and epsilon is one more coordinate of the design.

    Parameters
    ----------
    grammar, n_trials, population_size, tournament_size, design_factor, breeding_tries, max_depth, max_constants, \
validation_fraction, n_holdouts, indefinite, constant_range, parsimony, screened, n_finalists, n_tuning_trials
        As in `EvolvedKernelSVC`. With indefinite="evolve" a regression is the best of several local solutions of its dual.
    C_range : (float, float), default=(2**-8, 2**8)
        Range of C, on a log scale, in standard deviations of the target.
    epsilon_range : (float, float), default=(2**-8, 0.5)
        Range of epsilon, on a log scale, in standard deviations of the target.
    tol, cache_size, max_iter, random_state
        As in `EvolvedKernelSVC`.

    Attributes
    ----------
    C_, epsilon_ : float
        The chosen cost and half-width of the tube, in units of the target.
    fitness_, cv_error_ : float
        As in `EvolvedKernelSVC`, in units of the target; in `history_` errors are in standard deviations of it.
    expression_, constants_, formula_, latex_, kernel_function_, history_, n_evaluations_
        As in `EvolvedKernelSVC`.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, fit_status_, dual_objective_, kernel_, \
n_features_in_, feature_names_in_
        As ExactSVR has them.

    Raises
    ------
    ArgumentError, SolverError
        In `fit`, if a parameter is not as above, or no valid kernel was found; both are ValueErrors.

    See Also
    --------
    EvolvedKernelSVC : The classification.
    ExactSVR : The regression with a given kernel.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 2.3.2.

    Examples
    --------
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> machine = EvolvedKernelSVR(n_trials=30, random_state=0).fit(X, y)
    >>> bool(machine.score(X, y) > 0.95)
    True
    """

    epsilon_range: Any = (2.0**-8, 0.5)

    def _find_kernel(self, X: Any, y: Any, settings: KernelEvolutionSettings) -> None:
        y = as_numbers(y, type(self).__name__)
        rows, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        if len(rows) < 2:
            raise ArgumentError(f"X has n_samples={len(rows)}; to hold a row out, two are needed")
        target = y.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            unit = float(target.std()) or 1.0
        if not np.isfinite(unit):
            raise ArgumentError(f"y has entries up to {np.abs(target).max():.3g}, whose squares overflow; use a larger unit")
        task = RegressionTask((target - target.mean()) / unit, settings.indefinite)
        found = self._evolve(rows, task, None, settings)
        # a target that is t times as large has dual variables t times as large
        self.C_, self.epsilon_ = found.setting.C * unit, found.setting.epsilon * unit
        self.fitness_, self.cv_error_ = found.fitness * unit, found.cv_error * unit

    def _cost_and_width(self) -> tuple[float, float]:
        return self.C_, self.epsilon_

    def _solve(self, K: Floats, y: Floats, bounds: Floats, epsilon: float, tol: float, max_iter: int | None) -> DualResult:
        matrix, back = self._clipped(K)
        start: Floats | None = None
        if self.indefinite == "evolve" and matrix_state(K) == "indefinite":
            target = Target(y, -bounds, bounds, epsilon)
            cap = iteration_cap(2 * len(K)) if max_iter is None else max_iter
            start = best_regression(K, target, tol, cap, np.random.default_rng(0), SEARCHES_KEPT)
        result = solve_dual_regression(matrix, y, bounds, epsilon, start=start, tol=tol, max_iter=max_iter)
        # in terms of the original matrix, which new rows have as well
        return result if back is None else replace(result, alpha=back @ result.alpha)
