"""Cross-validation of support vector machines that shares its work: one kernel matrix, folds as views, solutions as starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor

from solvers.dual.definite import has_factor
from solvers.dual.fold_solver import FoldSolver, State, Target
from solvers.errors import SolverError
from solvers.kernels import Kernel
from spotsvm.fold_targets import FoldTargets
from spotsvm.fold_views import FoldViews, Split, View, plain_rows
from spotsvm.matrix_machines import MatrixMachine
from spotsvm.stand_in import NotSharedError
from spotsvm.svm_machine import MACHINES, SvmMachine, read_machine, split_pipeline

Floats = NDArray[np.float64]

#: Solved this much more exactly than asked, so that no solution is worse than scikit-learn's, whose matrix is rounded as well
_CLOSER = 0.3
#: From how many folds, of at least what share of the rows, a solution on all rows pays
_FOLDS, _SHARE = 3, 0.6


@dataclass(frozen=True)
class FoldAnswer:
    """What a fold's machine says of rows.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
        The classes, None in regression.
    decisions : ndarray of shape (n, n_pairs)
        Decision of each pair's classifier for all rows of the data; predictions in regression.
    shape : str
        `decision_function_shape` of the machine.
    break_ties : bool
        Its `break_ties`.
    """

    classes: NDArray[Any] | None
    decisions: Floats
    shape: str
    break_ties: bool


class SharedFolds:
    """Trains an estimator's candidates on all folds.

    Parameters
    ----------
    estimator : estimator
        A support vector machine, or a pipeline that ends in one.
    X : ndarray or DataFrame of shape (n, d)
        The data.
    y : ndarray or Series of shape (n,)
        The target.
    splits : list of (train, test)
        The folds.
    max_bytes : int
        Memory for kernel matrices.

    Raises
    ------
    NotSharedError
        If the work cannot be shared on such data.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, splits: Sequence[Split], max_bytes: int):
        self._estimator, self._X = estimator, X
        # of a machine alone the parameters are read without making a candidate: that takes as long as training on 200 rows
        self._own = estimator.get_params(deep=False) if type(estimator) in MACHINES else None
        self._y = np.asarray(y)
        if self._y.ndim != 1 or not isinstance(X, np.ndarray) and not hasattr(X, "iloc"):
            raise NotSharedError("the data are not a matrix and a column")
        self._splits = list(splits)
        n = len(self._y)
        self._trained = np.zeros((len(self._splits), n), dtype=bool)
        for k, (train, _) in enumerate(self._splits):
            self._trained[k, train] = True
            if self._trained[k].sum() != len(train):
                raise NotSharedError("a fold trains on a row twice")
        self._targets = FoldTargets(self._y, self._trained, is_regressor(estimator))
        self._seeded = len(self._splits) >= _FOLDS and float(self._trained.mean()) >= _SHARE
        self._views = FoldViews(X, y, self._splits, max_bytes)
        self._solver = FoldSolver(n)
        self._semidefinite: bool | None = None

    def order(self, candidates: Sequence[dict[str, Any]]) -> list[int]:
        """Give the order in which candidates share most: by transformers, kernel, then C."""

        def key(k: int) -> tuple[str, float]:
            params = candidates[k]
            rest = sorted((name, repr(value)) for name, value in params.items() if name.split("__")[-1] != "C")
            costs = [value for name, value in params.items() if name.split("__")[-1] == "C"]
            return repr(rest), float(costs[0]) if costs and isinstance(costs[0], int | float) else 0.0

        return sorted(range(len(candidates)), key=key)

    def answers(self, params: dict[str, Any]) -> Iterator[FoldAnswer]:
        """Train one candidate, fold by fold.

        Raises
        ------
        NotSharedError
            If scikit-learn has to do it.
        """
        transformers = None
        if self._own is not None and params.keys() <= self._own.keys():
            last: Any = self._estimator
            machine = read_machine(type(last), {**self._own, **params})
        else:
            transformers, last = split_pipeline(self._candidate(params))
            machine = read_machine(type(last), last.get_params(deep=False))
        if machine is None:
            if self._own is not None:
                _, last = split_pipeline(self._candidate(params))
            yield from self._by_matrix(MatrixMachine(last), transformers)
            return
        if machine.kernel == "precomputed":
            self._check_precomputed(transformers)
        key = _key(transformers)
        before: list[tuple[Target, State]] = []
        for fold, (train, _) in enumerate(self._splits):
            view = self._views.of(transformers, key, fold)
            rows = view.gram.X[train] if machine.kernel_depends_on_rows else view.gram.X
            kernel = machine.kernel_on(rows)
            K, offset = _matrix(view, kernel)
            _check_scale(K, offset)
            targets = self._targets.of(machine, fold)
            shared = view.shared and self._seeded and not machine.kernel_depends_on_rows
            states = []
            for pair, target in enumerate(targets):
                if shared:
                    start = self._on_all_rows(view, machine, kernel, pair, K, offset)
                    state = self._solver.warm(K, offset, target, start[1], start[0].z, machine.tol * _CLOSER)
                elif before:
                    state = self._solver.warm(K, offset, target, before[pair][1], before[pair][0].z, machine.tol * _CLOSER, False)
                else:
                    state = self._solver.cold(K, offset, target, machine.tol * _CLOSER)
                if not state.converged:
                    raise NotSharedError("no convergence at the cap of iterations")
                states.append(state)
            before = list(zip(targets, states, strict=True))
            decisions = np.column_stack([s.decision(t) for t, s in before])
            yield FoldAnswer(self._targets.classes, decisions, machine.decision_function_shape, bool(machine.break_ties))

    def _candidate(self, params: dict[str, Any]) -> Any:
        try:
            return clone(self._estimator).set_params(**clone(params, safe=False))
        except (ValueError, TypeError) as error:
            raise NotSharedError("the parameters are not the estimator's") from error

    def _by_matrix(self, machine: MatrixMachine, transformers: Any) -> Iterator[FoldAnswer]:
        """Train a machine by its own solver on a kernel matrix that the folds share."""
        for fold, (train, _) in enumerate(self._splits):
            view = self._views.of(transformers, _key(transformers), fold)
            if fold == 0 or machine.kernel_depends_on_rows or not view.shared:
                K = machine.gram(view.gram.X, train)
            classes, decisions = machine.decisions(K, self._y, train)
            yield FoldAnswer(classes, decisions, machine.shape, machine.break_ties)

    def _on_all_rows(
        self, view: View, machine: SvmMachine, kernel: Kernel, pair: int, K: NDArray[np.float32], offset: float
    ) -> tuple[Target, State]:
        """Give the solution on all rows, from that of another C with the same kernel if there is one."""
        known = view.solved.get(pair)
        if known is not None and known[0] == (machine, kernel):
            return known[1], known[2]
        target = self._targets.of(machine, -1)[pair]
        if (
            known is not None
            and known[0][1] == kernel
            and not machine.regression
            and machine.class_weight == known[0][0].class_weight
        ):
            ratio = machine.C / known[0][0].C
            beta = np.clip(known[2].beta * ratio, target.lower, target.upper)
            slope = (known[2].slope + target.z) * ratio - target.z
            state = self._solver.warm(K, offset, target, State(beta, slope), target.z, machine.tol)
        else:
            state = self._solver.cold(K, offset, target, machine.tol)
        view.solved[pair] = ((machine, kernel), target, state)
        return target, state

    def _check_precomputed(self, transformers: Any) -> None:
        if self._semidefinite is None:
            K = plain_rows(self._X)
            self._semidefinite = (
                transformers is None
                and K.shape[0] == K.shape[1]
                and bool(np.allclose(K, K.T, rtol=1e-10, atol=1e-12 * np.abs(K).max()))
                and has_factor(K.copy())
            )
        if not self._semidefinite:
            raise NotSharedError("the matrix is not positive semidefinite: its solutions need not be unique")


def _key(transformers: Any) -> str | None:
    """Tell settings of transformers apart."""
    return None if transformers is None else repr(sorted((k, repr(v)) for k, v in transformers.get_params().items()))


def _matrix(view: View, kernel: Kernel) -> tuple[NDArray[np.float32], float]:
    try:
        return view.gram.matrix(kernel)
    except SolverError as error:
        raise NotSharedError(str(error)) from error


def _check_scale(K: NDArray[np.float32], offset: float) -> None:
    if offset == 0.0:
        largest = float(np.abs(K.diagonal()).max())
        if not 1e-6 < largest < 1e9:
            raise NotSharedError(f"kernel values of {largest:.3g} are out of single precision's comfortable range")
