"""Base class of EvolvedKernelSVC and EvolvedKernelSVR: the evolution before the fit, and the resulting kernel."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.dual.kernel_machine import KernelMachine, check_cache_size
from spotsvm.estimators.evolved.evolve_kernel import EvolvedKernel, evolve_kernel
from spotsvm.estimators.evolved.matrix_task import MatrixTask
from spotsvm.estimators.evolved.settings import KernelEvolutionSettings, read_settings
from spotsvm.solvers.dual.problem.spectrum import clipping, matrix_state
from spotsvm.solvers.kernels import Kernel
from spotsvm.solvers.kernels.matrices.gram import row_blocks, rows_within
from spotsvm.surrogates.one_thread import one_blas_thread


@dataclass(eq=False, repr=False, kw_only=True)
class EvolvedKernelMachine(KernelMachine):
    """Base class of EvolvedKernelSVC and EvolvedKernelSVR."""

    # as of fit itself, which calls that of its base class
    _calls_to_warn = 4

    grammar: Literal["psd", "paper"] = "psd"
    n_trials: Any = "auto"
    population_size: int = 20
    tournament_size: int = 8
    design_factor: int = 3
    breeding_tries: int = 5000
    max_depth: int = 10
    max_constants: Any = "auto"
    validation_fraction: float = 1 / 3
    n_holdouts: Any = "auto"
    indefinite: Literal["reject", "clip", "evolve"] = "reject"
    C_range: Any = (2.0**-8, 2.0**8)
    constant_range: Any = (2.0**-8, 2.0**8)
    parsimony: Any = "auto"
    screened: Any = "auto"
    n_finalists: Any = "auto"
    n_tuning_trials: Any = "auto"
    tol: float = 1e-3
    cache_size: float = 200
    max_iter: int = -1
    random_state: Any = None

    def fit(self, X: Any, y: Any) -> Self:
        """Evolve a kernel, and fit an SVM with it to all of the training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data, best on a common scale.
        y : array-like of shape (n_samples,)
            Classes, two or more, at least one of them with two rows; or targets, finite numbers.

        Returns
        -------
        estimator
            Itself.

        Raises
        ------
        ArgumentError, SolverError
            If a parameter is invalid, there are fewer than two classes, no row can be held out, squares of the data overflow
            or vanish, or no valid kernel was found; both are ValueErrors.

        See Also
        --------
        predict : The prediction for new rows.
        ExpressionKernel.save : Keeps the kernel that was found.
        """
        self._find_kernel(X, y, read_settings(self))
        fitted: Self = cast("Any", super()).fit(X, y)  # X as it came, with the names of its columns
        return fitted

    @abstractmethod
    def _find_kernel(self, X: Any, y: Any, settings: KernelEvolutionSettings) -> None:
        """Check the training data, and evolve a kernel for them."""

    @property
    def _pairwise_data(self) -> bool:
        return False

    @property
    def coef_(self) -> Floats:
        """Not available: an evolved kernel has no feature weights.

        See Also
        --------
        ExactSVC : Has weights with the kernel "linear".
        """
        raise AttributeError("coef_ exists only with a linear kernel; use dual_coef_ with an evolved one")

    def _evolve(
        self, X: Floats, task: MatrixTask, strata: NDArray[np.intp] | None, settings: KernelEvolutionSettings
    ) -> EvolvedKernel:
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        with one_blas_thread():
            found = evolve_kernel(X, task, strata, settings, seed)
        self.expression_, self.constants_, self.kernel_function_ = found.expression, found.constants, found.kernel
        self.formula_, self.latex_ = found.kernel.formula, found.kernel.latex
        self.fitness_, self.cv_error_ = found.fitness, found.cv_error
        self.history_, self.n_evaluations_ = found.history, len(found.history)
        return found

    def _set_kernel(self, X: Floats) -> None:
        self.kernel_ = Kernel(self.kernel_function_)

    def _gram(self, X: Floats, rows: NDArray[np.intp], problem: int = 0) -> Floats:
        K = self.kernel_function_(X[rows], X[rows])
        if not np.isfinite(K).all():
            raise ArgumentError(f"the kernel {self.formula_} overflows on the training data; scale them, as with StandardScaler")
        self._largest_value = max(float(np.abs(K).max()), getattr(self, "_largest_value", 0.0) if problem else 0.0)
        return (K + K.T) / 2  # symmetrise

    def _support_columns(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        vectors = self.support_vectors_
        replaced = 0
        for block in row_blocks(len(X), min(512, rows_within(check_cache_size(self.cache_size), 4 * max(len(vectors), 1)))):
            values = self.kernel_function_(X[block], vectors) if len(vectors) else np.empty((len(X[block]), 0))
            sound = np.isfinite(values)
            if not sound.all():
                replaced += int((~sound).sum())
                largest = self._largest_value
                values = np.nan_to_num(values, nan=0.0, posinf=largest, neginf=-largest)
            yield block, values
        if replaced:
            warnings.warn(
                f"{replaced} kernel values of new rows overflow or are undefined; they are replaced by the largest one of the "
                f"training data, or by 0, in the kernel {self.formula_}",
                RuntimeWarning,
                stacklevel=4,
            )

    def _clipped(self, K: Floats) -> tuple[Floats, Floats | None]:
        """Return the matrix to train on, and the map of its dual variables back to the given matrix (None: unchanged)."""
        if self.indefinite != "clip" or matrix_state(K) == "semidefinite":
            return K, None
        return clipping(K)
