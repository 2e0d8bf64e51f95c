"""Cross-validation of support vector machines with shared work: one kernel matrix, folds as views of it, warm starts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import cloudpickle
import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline

from spotsvm.common.errors import SpotSVMError
from spotsvm.cross_validation.fold_data import FoldTargets, FoldViews, Solved, Split, View, plain_rows, take
from spotsvm.cross_validation.machines import (
    MatrixMachine,
    NotSharedError,
    SvmMachine,
    is_machine,
    own_decisions,
    read_machine,
    split_pipeline,
)
from spotsvm.estimators import Floats
from spotsvm.solvers.dual.exact.fold_solver import FoldSolver, State, Target
from spotsvm.solvers.dual.problem.definite import has_factor
from spotsvm.solvers.kernels import Kernel, gram_matrix
from spotsvm.solvers.kernels.functions.multi_kernel import MultiKernel

#: Solved this much more exactly than asked, so that no solution is worse than scikit-learn's, whose matrix is rounded as well
CLOSER = 0.3
#: Decisions that differ by less than this many tolerances have no order
_SPREAD = 10.0
#: From how many folds, of at least what share of the rows, a solution on all rows pays; and from what share of a fold's training
#: rows that are also the last fold's, the last fold's solution
_FOLDS, _SHARE = 3, 0.6
#: By how much rounding may leave decisions on sums of kernels open; of regressions as a share of the target's deviation
_OPEN, _OPEN_SHARE = 0.05, 1e-3
#: of a number in single precision, and the least spread of kernel values, as a share of the largest
_ROUNDING, _LEAST_SPREAD = 2.0**-24, 1e-3

Single = NDArray[np.float32]


@dataclass(frozen=True)
class FoldAnswer:
    """The answers of a fold's machine for all rows of the data.

    `decisions` has a column per pair of classes, positive for the second of two classes, and for the first of a pair of several.
    In regression it has predictions, and `classes` is None. `shape` and `break_ties` are parameters of the machine.
    """

    classes: NDArray[Any] | None
    decisions: Floats
    shape: str
    break_ties: bool


class SharedFolds:
    """Training of the candidates of a machine, or of a pipeline that ends in one, on all folds.

    `training_answers` is whether answers for training rows are needed as well as for test rows, `ranking` whether the size of a
    decision matters, and not only its sign. NotSharedError is raised if the work cannot be shared on such data.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        splits: Sequence[Split],
        max_bytes: int,
        *,
        training_answers: bool = False,
        ranking: bool = False,
    ):
        self._estimator, self._X, self._max_bytes, self._ranking = estimator, X, max_bytes, ranking
        self._training_answers = training_answers
        self._regression = is_regressor(estimator)
        # of a machine alone the parameters are read without making a candidate: that takes as long as training on 200 rows
        self._own = estimator.get_params(deep=False) if is_machine(type(estimator)) else None
        self._y = np.asarray(y)
        if self._y.ndim != 1 or not isinstance(X, np.ndarray) and not hasattr(X, "iloc"):
            raise NotSharedError("the data are not a matrix and a column")
        if len({isinstance(name, str) for name in getattr(X, "columns", ())}) > 1:
            raise NotSharedError("the names of columns are of several types")
        self._splits = list(splits)
        n = len(self._y)
        self._trained = np.zeros((len(self._splits), n), dtype=bool)
        for k, (train, _) in enumerate(self._splits):
            self._trained[k, train] = True
            if self._trained[k].sum() != len(train):
                raise NotSharedError("a fold trains on a row twice")
        self._targets = FoldTargets(self._y, self._trained, self._regression)
        self._open = _OPEN_SHARE * float(np.std(self._y.astype(np.float64))) if self._regression else _OPEN
        self._seeded = len(self._splits) >= _FOLDS and float(self._trained.mean()) >= _SHARE
        both = (self._trained[1:] & self._trained[:-1]).sum(axis=1)
        self._alike = [False, *(both >= _SHARE * self._trained[1:].sum(axis=1)).tolist()]
        self._views = FoldViews(X, y, self._splits, max_bytes, training_answers)
        self._solver = FoldSolver(n)
        self._semidefinite: bool | None = None

    def order(self, candidates: Sequence[dict[str, Any]]) -> list[int]:
        """Return the order in which candidates share most: by transformers, kernel, then C."""

        def key(k: int) -> tuple[str, float]:
            params = candidates[k]
            rest = sorted((name, repr(value)) for name, value in params.items() if name.split("__")[-1] != "C")
            costs = [value for name, value in params.items() if name.split("__")[-1] == "C"]
            return repr(rest), float(costs[0]) if costs and isinstance(costs[0], int | float) else 0.0

        return sorted(range(len(candidates)), key=key)

    def answers(self, params: dict[str, Any]) -> Iterator[FoldAnswer]:
        """Train one candidate, fold by fold; NotSharedError if scikit-learn has to score it."""
        transformers = None
        if self._own is not None and params.keys() <= self._own.keys():
            last: Any = self._estimator
            machine = read_machine(type(last), {**self._own, **params})
        else:
            transformers, last = split_pipeline(self._candidate(params))
            machine = read_machine(type(last), last.get_params(deep=False)) if is_machine(type(last)) else None
        if machine is None:
            if self._own is not None:
                _, last = split_pipeline(self._candidate(params))
            yield from self._by_matrix(MatrixMachine(last), transformers)
            return
        if machine.regression != self._regression:
            raise NotSharedError("the candidate is another kind of estimator")
        if machine.kernel == "precomputed":
            self._check_precomputed(transformers)
        key = _key(transformers)
        before: list[tuple[Target, State]] = []
        by_rows = machine.kernel_depends_on_rows
        for fold, (train, test) in enumerate(self._splits):
            view = self._views.of(transformers, key, fold)
            targets = self._targets.of(machine, fold)
            if fold == 0 or by_rows or not view.shared:
                with _left_to_sklearn():
                    kernel = machine.kernel_on(view.gram.X[train] if by_rows else view.gram.X, view.names)
                    if isinstance(kernel, Kernel):
                        reach = max(float((t.upper - t.lower).max()) for t in targets) * len(train) ** 0.5
                        view.digits.check(kernel, by_libsvm=machine.by_libsvm, reach=reach, tol=machine.tol)
                    K, offset = view.matrix(kernel)
                check_scale(K, offset)
                # of one kernel C alone says how large terms are, and rounding is the same in scikit-learn
                squares = some_squares(K) if isinstance(kernel, MultiKernel) else None
            shared = view.shared and self._seeded and not by_rows
            states = []
            for pair, target in enumerate(targets):
                if shared:
                    start = self._on_all_rows(view, machine, kernel, pair, K, offset)
                    state = self._solver.warm(K, offset, target, start.state, start.target.z, machine.tol * CLOSER)
                elif self._alike[fold]:
                    state = self._solver.warm(
                        K, offset, target, before[pair][1], before[pair][0].z, machine.tol * CLOSER, same=False
                    )
                else:
                    state = self._solver.cold(K, offset, target, machine.tol * CLOSER)
                if not state.converged:
                    raise NotSharedError("no convergence at the cap of iterations")
                states.append(state)
            if squares is not None:
                check_rounding(squares, [state.beta for state in states], self._open)
            before = list(zip(targets, states, strict=True))
            if machine.by_libsvm and any(np.ptp(s.bias_interval(t)) > machine.tol for t, s in before):
                yield self._by_libsvm(machine, params, view.gram.X, train, test)
                continue
            decisions = np.column_stack([s.decision(t) for t, s in before])
            if self._ranking:
                if not machine.regression and bool((np.ptp(decisions[train], axis=0) < _SPREAD * machine.tol).any()):
                    raise NotSharedError("the order of decisions is within the solver's tolerance")
                if offset == 0.0:
                    decisions[test] = np.column_stack([s.fresh_decision(t, K, test) for t, s in before])
            yield FoldAnswer(self._targets.classes, decisions, machine.decision_function_shape, bool(machine.break_ties))

    def _by_libsvm(
        self, machine: SvmMachine, params: dict[str, Any], X: Floats, train: NDArray[np.intp], test: NDArray[np.intp]
    ) -> FoldAnswer:
        """Train a fold's machine by scikit-learn: which optimal bias LIBSVM returns depends on the rounding of its steps."""
        _, last = split_pipeline(self._candidate(params))
        rows = np.union1d(train, test) if self._training_answers else test
        among = X[:, train] if machine.kernel == "precomputed" else X
        classes, of_rows = own_decisions(last, among[train], take(self._y, train), among[rows])
        decisions = np.full((len(X), of_rows.shape[1]), np.nan)
        decisions[rows] = of_rows
        return FoldAnswer(classes, decisions, machine.decision_function_shape, bool(machine.break_ties))

    def _candidate(self, params: dict[str, Any]) -> Any:
        try:
            if self._own is not None:  # a copy of the parameters is not needed to read them
                return type(self._estimator)(**self._own).set_params(**params)
            return clone(self._estimator).set_params(**clone(params, safe=False))
        except (ValueError, TypeError) as error:
            raise NotSharedError("the parameters are not the estimator's") from error

    def can_share(self, params: dict[str, Any]) -> bool:
        """Return whether a candidate is a machine whose solutions are shared, as far as its parameters tell."""
        try:
            _, last = split_pipeline(self._candidate(params))
        except NotSharedError:
            return False
        return is_machine(type(last)) and read_machine(type(last), last.get_params(deep=False)) is not None

    def _by_matrix(self, machine: MatrixMachine, transformers: Any) -> Iterator[FoldAnswer]:
        """Train a machine by its own solver on a kernel matrix that the folds share."""
        if machine.regression != self._regression or 24 * len(self._y) ** 2 > self._max_bytes:
            raise NotSharedError("the candidate is another kind of estimator, or its matrices do not fit")
        key = _key(transformers)
        for fold, (train, _) in enumerate(self._splits):
            view = self._views.of(transformers, key, fold)
            if fold == 0 or machine.kernel_depends_on_rows or not view.shared:
                with _left_to_sklearn():
                    kernel = machine.kernel_on(view.gram.X[train])
                    if machine.by_libsvm:
                        view.digits.check(kernel, by_libsvm=True, reach=len(train) ** 0.5, tol=machine.tol)
                    K = gram_matrix(kernel, view.gram.X)
            classes, decisions = machine.decisions(K, self._y, train)
            yield FoldAnswer(classes, decisions, machine.shape, machine.break_ties)

    def _on_all_rows(
        self, view: View, machine: SvmMachine, kernel: Kernel | MultiKernel, pair: int, K: NDArray[np.float32], offset: float
    ) -> Solved:
        """Return the solution on all rows, from that of another C with the same kernel if there is one."""
        known = view.solved.get(pair)
        if known is not None and known.machine == machine and known.kernel == kernel:
            return known
        target = self._targets.of(machine, -1)[pair]
        in_C_only = known is not None and not machine.regression and replace(machine, C=known.machine.C) == known.machine
        if known is not None and known.kernel == kernel and in_C_only:
            ratio = machine.C / known.machine.C
            beta = np.clip(known.state.beta * ratio, target.lower, target.upper)
            slope = (known.state.slope + target.z) * ratio - target.z
            state = self._solver.warm(K, offset, target, State(beta, slope), target.z, machine.tol)
        else:
            state = self._solver.cold(K, offset, target, machine.tol)
        view.solved[pair] = solved = Solved(machine, kernel, target, state)
        return solved

    def _check_precomputed(self, transformers: Any) -> None:
        if self._semidefinite is None:
            K = plain_rows(self._X)
            self._semidefinite = (
                transformers is None
                and isinstance(self._X, np.ndarray)
                and not isinstance(self._estimator, Pipeline)
                and K.shape[0] == K.shape[1]
                and bool(np.allclose(K, K.T, rtol=1e-10, atol=1e-12 * np.abs(K).max()))
                and has_factor(K.copy())
            )
        if not self._semidefinite:
            raise NotSharedError("the matrix is not positive semidefinite: its solutions need not be unique")


def _key(transformers: Any) -> str | None:
    """Return a key that differs between transformers whose contents differ."""
    if transformers is None:
        return None
    try:
        return str(joblib.hash(transformers))
    except Exception:  # what cannot be pickled, such as a lambda, raises anything
        try:
            return hashlib.sha256(cloudpickle.dumps(transformers)).hexdigest()
        except Exception as error:  # here as well
            raise NotSharedError("the transformers cannot be told apart") from error


@contextmanager
def _left_to_sklearn() -> Iterator[None]:
    try:
        yield
    except SpotSVMError as error:
        raise NotSharedError(str(error)) from error


def check_scale(K: Single, offset: float) -> None:
    """Raise NotSharedError if kernel values are almost equal, or, without a constant subtracted, too small or too large."""
    some = _some_rows(K)
    low, high = float(some.min()), float(some.max())
    largest = max(high, -low)
    if high - low < _LEAST_SPREAD * largest or (offset == 0.0 and not 1e-6 < largest < 1e9):
        raise NotSharedError(f"kernel values from {low:.6g} to {high:.6g} leave single precision too few digits")


def some_squares(K: Single) -> Single:
    """Return the squares of some rows of a kernel matrix, for `check_rounding`."""
    with np.errstate(over="ignore"):
        squares: Single = np.square(_some_rows(K))
    return squares


def check_rounding(squares: Single, betas: Sequence[Floats], most: float) -> None:
    """Raise NotSharedError if rounded kernel values leave a decision open by more than `most`.

    A decision is sum_j beta_j K_ij; the roundings of its terms, each up to 2^-24 of it, add up as random numbers do. Large
    terms that cancel out, as of a heavy linear kernel, leave little of a light one beside them.
    """
    for beta in betas:
        with np.errstate(over="ignore", invalid="ignore"):
            left_open = _ROUNDING * float(np.sqrt((squares @ np.square(beta.astype(np.float32))).max()))
        if not left_open <= most:
            raise NotSharedError(f"single precision leaves decisions open by {left_open:.2g}")


def _some_rows(K: Single) -> Single:
    return K[:: max(len(K) // 64, 1)]
