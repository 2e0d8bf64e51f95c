"""Cross-validation of support vector machines with shared work: one kernel matrix, folds as views of it, warm starts, scores."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cloudpickle
import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline

from spotsvm.cross_validation.exactness import (
    check_rounding,
    deciding_pairs,
    libsvm_takes_the_middle,
    open_decisions,
    same_predictions,
    some_squares,
)
from spotsvm.cross_validation.fold_data import FoldTargets, FoldViews, Solved, Split, Task, View, plain_rows
from spotsvm.cross_validation.machines import (
    OWN_ANSWERS,
    MatrixMachine,
    NotSharedError,
    is_machine,
    own_decisions,
    read_machine,
    split_pipeline,
)
from spotsvm.errors import OutOfTimeError, SpotSVMError
from spotsvm.estimators import Floats
from spotsvm.solvers.dual.exact.fold_solver import FoldSolver, Target
from spotsvm.solvers.dual.problem.one_vs_one import pairs
from spotsvm.solvers.dual.problem.spectrum import is_semidefinite
from spotsvm.solvers.kernels import Kernel, gram_matrix
from spotsvm.solvers.kernels.functions.multi_kernel import MultiKernel

#: tolerance factor: solve tighter than requested, so that no solution is less exact than scikit-learn's, whose matrix is rounded
CLOSER = 0.3
#: decisions that differ by less than this number of tolerances have no order
_SPREAD = 10.0
#: number of folds, and their least share of the rows, from which a solution on all rows pays; and the share of a fold's training
#: rows in common with the last fold, from which the last fold's solution pays
_FOLDS, _SHARE = 3, 0.6
#: largest rounding error of decisions on sums of kernels; for regression as a share of the target's deviation
_OPEN, _OPEN_SHARE = 0.05, 1e-3
#: parameters along which candidates start from each other's solutions, the outer parameter first
_PATH = ("epsilon", "C")


@dataclass(frozen=True)
class FoldAnswer:
    """The answers of a fold's machine for all rows of the data.

    `decisions` has a column for each pair of classes: positive for the second class of a binary problem, else for the first class
    of the pair. In regression it has predictions, and `classes` is None. `shape` and `break_ties` are parameters of the machine.
    """

    classes: NDArray[Any] | None
    decisions: Floats
    shape: str
    break_ties: bool


class SharedFolds:
    """Training of the candidates of a machine, or of a pipeline that ends in one, on all folds.

    `ranking`: the size of a decision matters, not only its sign. NotSharedError if work cannot be shared on these data; training
    raises OutOfTimeError once `is_late`.
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
        is_late: Callable[[], bool] = lambda: False,
    ):
        self.estimator, self._X, self._max_bytes, self._ranking = estimator, X, max_bytes, ranking
        self._training_answers = training_answers
        self.regression = is_regressor(estimator)
        # if only the machine's parameters change, they are read without creating a candidate, which takes as long as training
        self._transformers, last = split_pipeline(estimator)
        self._prefix = f"{estimator.steps[-1][0]}__" if type(estimator) is Pipeline else ""
        self._own = last.get_params(deep=False) if is_machine(type(last)) else {}
        self._machine_type = type(last)
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
        self._targets = FoldTargets(self._y, self._trained, self.regression)
        self._open = _OPEN_SHARE * float(np.std(self._y.astype(np.float64))) if self.regression else _OPEN
        self._seeded = len(self._splits) >= _FOLDS and float(self._trained.mean()) >= _SHARE
        both = (self._trained[1:] & self._trained[:-1]).sum(axis=1)
        self._alike = [False, *(both >= _SHARE * self._trained[1:].sum(axis=1)).tolist()]
        self._views = FoldViews(X, y, self._splits, max_bytes, training_answers)
        self._is_late, self._solver = is_late, FoldSolver(n, is_late)
        self._semidefinite: bool | None = None

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes, sorted; None in regression."""
        return self._targets.classes

    def order(self, candidates: Sequence[dict[str, Any]]) -> list[int]:
        """Return the order in which candidates share most work: by transformers, kernel, then C."""

        def key(k: int) -> tuple[str, list[float]]:
            named = [(name, name.split("__")[-1], value) for name, value in candidates[k].items()]
            along = {last: value for _, last, value in named if last in _PATH and isinstance(value, int | float)}
            rest = sorted((name, repr(value)) for name, last, value in named if last not in along)
            return repr(rest), [float(along.get(name, 0.0)) for name in _PATH]

        return sorted(range(len(candidates)), key=key)

    def answers(self, params: dict[str, Any]) -> Iterator[FoldAnswer]:
        """Train one candidate, fold by fold; NotSharedError if scikit-learn has to score it."""
        own = {name.removeprefix(self._prefix): value for name, value in params.items() if name.startswith(self._prefix)}
        usual = len(own) == len(params) and own.keys() <= self._own.keys()
        if usual:
            transformers, kind, own = self._transformers, self._machine_type, {**self._own, **own}
        else:
            transformers, last = split_pipeline(self._candidate(params))
            kind, own = type(last), last.get_params(deep=False) if is_machine(type(last)) else {}
        machine = read_machine(kind, own)
        if machine is None:
            if usual:
                _, last = split_pipeline(self._candidate(params))
            yield from self._by_matrix(MatrixMachine(last), transformers)
            return
        if machine.regression != self.regression:
            raise NotSharedError("the candidate is another kind of estimator")
        if machine.kernel == "precomputed":
            self._check_precomputed(transformers)
        key = self._usual_key if usual else _key(transformers)
        by_rows = machine.kernel_depends_on_rows
        everyone = range(len(self._splits))
        before: Solved | None = None
        for folds in [everyone] if transformers is None and not by_rows else [[fold] for fold in everyone]:
            view = self._views.of(transformers, key, folds[0])
            train = self._splits[folds[0]][0]
            if self._is_late():
                raise OutOfTimeError(f"the time was up before fold {folds[0]}")
            target = self._targets.of(machine, folds)
            with _left_to_sklearn():
                kernel = machine.kernel_on(view.gram.X[train] if by_rows else view.gram.X, view.names)
                if isinstance(kernel, Kernel):
                    reach = target.widest * len(train) ** 0.5
                    view.digits.check(kernel, by_libsvm=machine.by_libsvm, reach=reach, tol=machine.tol)
                task = Task(machine, kernel, *view.matrix(kernel))
            found = view.solved.get(folds[0])
            if found is None or not found.is_of(task):
                found = self._solve(view, task, folds, target, before)
            before = found
            if isinstance(kernel, MultiKernel):
                # with a single kernel only C scales the terms, and rounding is the same in scikit-learn
                check_rounding(some_squares(task.K), list(found.state.beta), self._open)
            values = found.state.slope + found.z
            values += found.bias[:, None]
            open_ = np.abs(found.ends[:, 1] - found.ends[:, 0]) > machine.tol
            for fold, part in zip(folds, _parts(len(values), len(folds)), strict=True):
                train, test = self._splits[fold]
                asked = np.union1d(train, test) if self._training_answers else test
                decisions = values[part].T
                left = []
                if machine.by_libsvm and open_[part].any():
                    left = self._left_open(task, found.part(part), fold, decisions[asked])
                if left:
                    of_rows = self._by_libsvm(kind, own, task, view.gram.X, fold, asked, left)
                    decisions[np.ix_(asked, np.array(left))] = of_rows
                elif self._ranking:
                    if not machine.regression and bool((np.ptp(decisions[train], axis=0) < _SPREAD * machine.tol).any()):
                        raise NotSharedError("the order of decisions is within the solver's tolerance")
                    if task.offset == 0.0:
                        decisions[test] = found.part(part).state.fresh_sums(task.K, test).T + found.bias[part]
                yield FoldAnswer(self._targets.classes, decisions, machine.decision_function_shape, bool(machine.break_ties))

    def _solve(self, view: View, task: Task, folds: Sequence[int], target: Target, before: Solved | None) -> Solved:
        """Train a machine on folds of one kernel matrix, starting from the most similar stored solutions; store the results.

        Fold -1 is all rows; `before` are solutions on another fold, with another matrix.
        """
        machine, K, offset, first = task.machine, task.K, task.offset, folds[0]
        tol = machine.tol * (1.0 if first == -1 else CLOSER)
        known = view.solved.get(first)
        if known is not None and not known.is_alike(task):
            known = None
        if len(folds) > 1 and self._seeded:
            whole = view.solved.get(-1)
            if whole is None or not whole.is_of(task):
                whole = self._solve(view, task, [-1], self._targets.of(machine, [-1]), None)
            start, z = (whole.state, whole.z) if known is None else known.in_part(whole, task)
            state = self._solver.warm(K, offset, target, start, z, tol)
        elif known is not None:
            state = self._solver.warm(K, offset, target, known.start(machine), known.z, tol)
        elif before is not None and self._alike[first]:
            state = self._solver.warm(K, offset, target, before.state, before.z, tol, same=False)
        else:
            state = self._solver.cold(K, offset, target, tol)
        if first != -1 and not state.converged:
            raise NotSharedError("no convergence at the cap of iterations")
        view.solved[first] = found = Solved(machine, task.kernel, target.z, state, *state.biases(target))
        return found

    def _left_open(self, task: Task, found: Solved, fold: int, values: Floats) -> list[int]:
        """Return the pairs of classes for which LIBSVM's choice among biases is unknown and can change the requested answers."""
        machine, classes = task.machine, self._targets.classes
        open_: list[int] = np.flatnonzero(np.abs(found.ends[:, 1] - found.ends[:, 0]) > machine.tol).tolist()
        everyone = list(range(values.shape[1]))
        if machine.regression or self._ranking:
            return everyone
        target = self._targets.of(machine, [fold])
        unsure = np.zeros(values.shape, dtype=bool)
        for k in open_:
            free, ends = values[:, k] - found.bias[k], found.ends[k]
            if (machine.break_ties or not same_predictions(free, ends, machine.tol)) and not libsvm_takes_the_middle(
                task.K, task.offset, target.one(k), found.state.one(k), values[:, k], machine.tol
            ):
                unsure[:, k] = machine.break_ties | open_decisions(free, ends, machine.tol)
        n_classes = 2 if classes is None else len(classes)
        if n_classes > 2 and not machine.break_ties:  # noqa: PLR2004
            return deciding_pairs(values, unsure, n_classes)
        return everyone if unsure.any() else []

    def _by_libsvm(
        self, kind: type, params: dict[str, Any], task: Task, X: Floats, fold: int, asked: NDArray[np.intp], of: Sequence[int]
    ) -> Floats:
        """Return decisions of some pairs, or predictions, by scikit-learn: LIBSVM's bias depends on the rounding of its steps.

        A few pairs are trained one by one, on the rows of their classes, as in LIBSVM; many pairs by training all of them.
        """
        train, classes = self._splits[fold][0], self._targets.classes
        if classes is None or task.machine.kernel_depends_on_rows or 2 * len(of) >= len(every := pairs(len(classes))):
            return self._decided(kind, params, X, self._y, train, asked)[:, of]
        weights = self._targets.weights(task.machine.class_weight, fold)
        columns = []
        for i, j in (every[k] for k in of):
            alone = params | {"class_weight": {0: weights[i], 1: weights[j]}}
            rows = train[np.isin(self._y[train], classes[[i, j]])]
            second = np.where(self._y == classes[j], 1, 0)
            # positive for the first of a pair of several classes, and for the second of two
            columns.append(-self._decided(kind, alone, X, second, rows, asked)[:, 0])
        return np.column_stack(columns)

    def _decided(
        self, kind: type, params: dict[str, Any], X: Floats, y: NDArray[Any], rows: NDArray[np.intp], asked: NDArray[np.intp]
    ) -> Floats:
        """Return the decisions, or predictions, of an estimator of scikit-learn for some rows, trained on others."""
        among = X[:, rows] if params["kernel"] == "precomputed" else X
        with config_context(assume_finite=True, skip_parameter_validation=True):  # both have been checked
            machine = kind(**(params if self.regression else params | OWN_ANSWERS))
            return own_decisions(machine, among[rows], y[rows], among[asked])[1]

    def _candidate(self, params: dict[str, Any]) -> Any:
        try:
            return clone(self.estimator).set_params(**clone(params, safe=False))
        except (ValueError, TypeError) as error:
            raise NotSharedError("the parameters are not the estimator's") from error

    def can_share(self, params: dict[str, Any]) -> bool:
        """Return whether a candidate is a machine whose solutions are shared, judged by its parameters."""
        try:
            _, last = split_pipeline(self._candidate(params))
        except NotSharedError:
            return False
        return is_machine(type(last)) and read_machine(type(last), last.get_params(deep=False)) is not None

    @cached_property
    def _usual_key(self) -> str | None:
        """The key of the estimator's own transformers."""
        return _key(self._transformers)

    def _by_matrix(self, machine: MatrixMachine, transformers: Any) -> Iterator[FoldAnswer]:
        """Train a machine by its own solver on a kernel matrix that the folds share."""
        if machine.regression != self.regression or 24 * len(self._y) ** 2 > self._max_bytes:
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

    def _check_precomputed(self, transformers: Any) -> None:
        if self._semidefinite is None:
            K = plain_rows(self._X)
            self._semidefinite = (
                transformers is None
                and isinstance(self._X, np.ndarray)
                and not isinstance(self.estimator, Pipeline)
                and K.shape[0] == K.shape[1]
                and bool(np.allclose(K, K.T, rtol=1e-10, atol=1e-12 * np.abs(K).max()))
                and is_semidefinite(K)
            )
        if not self._semidefinite:
            raise NotSharedError("the matrix is not positive semidefinite: its solutions need not be unique")


def _parts(n_machines: int, n_folds: int) -> list[slice]:
    """Return the slice of each fold's machines among those of several folds."""
    each = n_machines // n_folds
    return [slice(k * each, (k + 1) * each) for k in range(n_folds)]


def _key(transformers: Any) -> str | None:
    """Return a key that differs between transformers whose contents differ."""
    if transformers is None:
        return None
    try:
        return str(joblib.hash(transformers))
    except Exception:  # an object that cannot be pickled, such as a lambda, can raise anything
        try:
            return hashlib.sha256(cloudpickle.dumps(transformers)).hexdigest()
        except Exception as error:  # here as well
            raise NotSharedError("the transformers cannot be compared") from error


@contextmanager
def _left_to_sklearn() -> Iterator[None]:
    try:
        yield
    except SpotSVMError as error:
        raise NotSharedError(str(error)) from error
