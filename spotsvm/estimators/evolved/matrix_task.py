"""Prediction errors on held-out rows of machines with a given kernel matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.estimators import Floats, Integers
from spotsvm.estimators.dual.one_vs_one import chosen_classes, pair_labels, pairs
from spotsvm.estimators.evolved.indefinite import Indefinite, solve_indefinite
from spotsvm.estimators.evolved.settings import Setting
from spotsvm.solvers.dual.exact.exact import solve_pairs
from spotsvm.solvers.dual.exact.fold_solver import State, Target, symmetric_bounds
from spotsvm.solvers.dual.spectrum import clipping, matrix_state
from spotsvm.solvers.kernels.alignment import alignment_with_labels, alignment_with_target

#: steps of a solver for each row: a classifier that has not ended by then counts as one that has learnt nothing
STEPS_PER_ROW = 10


_TOLERANCE = 1e-3


class Scores(NamedTuple):
    """How well some settings predict.

    Attributes
    ----------
    error : ndarray of shape (n_settings,)
        The error; inf where training was not possible.
    loss : ndarray of shape (n_settings,)
        What is minimised: the error, or a mixture of it with one that is smooth.
    """

    error: Floats
    loss: Floats


class MatrixTask(ABC):
    """What is to be learnt, and on which rows: the error of a kernel matrix is the mean over some splits of them.

    Parameters
    ----------
    indefinite : {"evolve", "reject", "clip"}
        What becomes of an indefinite matrix; "reject" leaves its judgement to the caller and trains to a stationary point.
    """

    def __init__(self, indefinite: Indefinite):
        self.indefinite = indefinite

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    @abstractmethod
    def alignment_on(self, rows: Integers) -> Callable[[Floats], float]:
        """Return a function that computes the centred alignment of a kernel matrix of some rows with their targets."""

    @abstractmethod
    def idle_error(self, splits: Sequence[Split]) -> float:
        """Return the error of a machine that has learnt nothing."""

    @abstractmethod
    def split_scores(self, K: Floats, settings: Sequence[Setting], split: Split, semidefinite: bool, seed: int) -> Scores:
        """Return each setting's scores on a split's test rows after training on the others."""

    def scores(
        self, K: Floats, settings: Sequence[Setting], splits: Sequence[Split], *, semidefinite: bool = True, seed: int = 0
    ) -> Scores:
        """Return the mean scores of each setting over some splits; the settings' constants are in K already."""
        # by C: the solution with a smaller one is where the next begins
        order = sorted(range(len(settings)), key=lambda k: (settings[k].C, settings[k].epsilon))
        ordered = [settings[k] for k in order]
        total = np.zeros((2, len(settings)))
        for split in splits:
            total[:, order] += self.split_scores(K, ordered, split, semidefinite, seed)
        error, loss = np.where(np.isfinite(total), total / len(splits), np.inf)
        return Scores(error, loss)

    def _decisions(
        self, K: Floats, train: Integers, test: Integers, targets: Sequence[Target], semidefinite: bool, seed: int
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return decision values of some rows by machines trained on others, a column for each target, and which converged."""
        part, rest = K.take(train, 0).take(train, 1), K.take(test, 0).take(train, 1)
        # a part of an indefinite matrix may be definite
        definite = semidefinite or matrix_state(part) == "semidefinite"
        back: Floats | None = None
        if not definite and self.indefinite == "clip":
            part, back = clipping(part)
            definite = True
        values = np.empty((len(test), len(targets)))
        ended = np.ones(len(targets), dtype=bool)
        beta = np.zeros(len(train))
        for k, target in enumerate(targets):
            if definite or self.indefinite == "reject":
                inside = np.clip(beta, target.lower, target.upper)
                start = inside if np.array_equal(inside, beta) else np.zeros(len(train))
                cap = STEPS_PER_ROW * len(train)
                bounds = target.lower, target.upper
                beta, _, ended[k] = solve_pairs(part, target.z, *bounds, target.epsilon, start, _TOLERANCE, cap)
            else:
                beta = solve_indefinite(part, target, _TOLERANCE, STEPS_PER_ROW * len(train), seed)
            bias = State(beta, part @ beta - target.z).bias(target)
            values[:, k] = rest @ (beta if back is None else back @ beta) + bias
        return values, ended


class ClassificationTask(MatrixTask):
    """Classes: the error is the part of rows that are predicted wrongly, by their weights.

    Parameters
    ----------
    code : int ndarray of shape (n,)
        The class of each row, from 0.
    weights : ndarray of shape (n_classes,)
        Factors of C and of an error, for each class.
    indefinite : {"evolve", "reject", "clip"}
        As in `MatrixTask`.
    smoothness : float, default=0.0
        Part of the loss that is the ramp loss, the mean of (1 - m) / 2 within [0, 1] over the margins m of a row's class against
        the others; the rest is the error. Errors of few rows are equal for many kernels, the ramp loss is not.

    References
    ----------
    Collobert, Sinz, Weston, Bottou 2006, "Trading Convexity for Scalability", for the ramp loss.
    """

    def __init__(self, code: Integers, weights: Floats, indefinite: Indefinite = "reject", smoothness: float = 0.0):
        super().__init__(indefinite)
        self.code, self.weights, self.smoothness = code, weights, smoothness
        self.n_classes = len(weights)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.code)

    def alignment_on(self, rows: Integers) -> Callable[[Floats], float]:
        """Return a function that computes the centred alignment of a kernel matrix of some rows with their classes."""
        code = self.code[rows]
        return lambda K: alignment_with_labels(K, code)

    def idle_error(self, splits: Sequence[Split]) -> float:
        """Return the error of predicting the heaviest class."""
        weights = np.bincount(self.code, weights=self.weights[self.code])
        return float(1.0 - weights.max() / weights.sum())

    def split_scores(self, K: Floats, settings: Sequence[Setting], split: Split, semidefinite: bool, seed: int) -> Scores:
        """Return each setting's misclassification error on a split's test rows after training on the others."""
        train, test = split
        chosen = pairs(self.n_classes)
        decisions = np.zeros((len(settings), len(test), len(chosen)))
        ended = np.ones(len(settings), dtype=bool)
        for p, (i, j) in enumerate(chosen):
            rows = train[(self.code[train] == i) | (self.code[train] == j)]
            labels = pair_labels(self.code[rows] == i, self.n_classes)
            if len(np.unique(labels)) < 2:
                decisions[:, :, p] = labels[:1].sum()
                continue
            weights = self.weights[self.code[rows]]
            targets = [Target(labels, *symmetric_bounds(s.C * weights, labels, False)) for s in settings]
            values, ended_here = self._decisions(K, rows, test, targets, semidefinite, seed)
            decisions[:, :, p] = values.T
            ended &= ended_here
        weights = self.weights[self.code[test]]
        wrong = [weights[chosen_classes(d, self.n_classes, False) != self.code[test]].sum() for d in decisions]
        sound = np.isfinite(decisions).all(axis=(1, 2))
        error = np.where(sound, np.array(wrong) / weights.sum(), np.inf)
        loss = error
        if self.smoothness:
            ramp = np.array([weights @ self._ramps(d, self.code[test]) for d in decisions]) / weights.sum()
            loss = np.where(sound, (1 - self.smoothness) * error + self.smoothness * ramp, np.inf)
        least = np.where(ended, 0.0, self.idle_error([split]))
        return Scores(np.maximum(error, least), np.maximum(loss, least))

    def _ramps(self, decisions: Floats, code: Integers) -> Floats:
        """Return the ramp loss of each row: the mean over the pairs that its class is in."""
        total = np.zeros(len(code))
        for p, (i, j) in enumerate(pairs(self.n_classes)):
            labels = pair_labels(code == i, self.n_classes)
            ramp = np.clip((1.0 - labels * decisions[:, p]) / 2.0, 0.0, 1.0)
            total += np.where((code == i) | (code == j), ramp, 0.0)
        return total / (self.n_classes - 1)


class RegressionTask(MatrixTask):
    """A target: the error is the root of the mean squared error."""

    def __init__(self, y: Floats, indefinite: Indefinite = "reject"):
        super().__init__(indefinite)
        self.y = y

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    def alignment_on(self, rows: Integers) -> Callable[[Floats], float]:
        """Return a function that computes the centred alignment of a kernel matrix of some rows with their target."""
        target = self.y[rows]
        return lambda K: alignment_with_target(K, target)

    def idle_error(self, splits: Sequence[Split]) -> float:
        """Return the error of predicting the mean."""
        return float(self.y.std())

    def split_scores(self, K: Floats, settings: Sequence[Setting], split: Split, semidefinite: bool, seed: int) -> Scores:
        """Return each setting's root mean squared error on a split's test rows after training on the others."""
        train, test = split
        z = self.y[train]
        targets = [Target(z, *symmetric_bounds(s.C, z, True), s.epsilon) for s in settings]
        predicted, _ = self._decisions(K, train, test, targets, semidefinite, seed)  # near the optimum long before the end
        with np.errstate(over="ignore", invalid="ignore"):
            mean: Floats = np.sqrt(np.square(predicted - self.y[test][:, None]).mean(axis=0))
        error = np.where(np.isfinite(mean), mean, np.inf)
        return Scores(error, error)


Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def holdouts(strata: NDArray[Any] | None, n: int, fraction: float, count: int, rng: np.random.Generator) -> list[Split]:
    """Split off a random part of the rows `count` times, in proportion from each class of `strata`.

    A class of two rows or more has at least one on either side. Return the rows to train on and to predict, each sorted.
    """
    groups = [np.arange(n)] if strata is None else [np.flatnonzero(strata == c) for c in np.unique(strata)]
    splits = []
    for _ in range(count):
        off = np.zeros(n, dtype=bool)
        for group in groups:
            size = min(max(round(fraction * len(group)), 1), len(group) - 1)
            off[rng.permutation(group)[:size]] = True
        splits.append((np.flatnonzero(~off), np.flatnonzero(off)))
    return splits


def folds(strata: NDArray[Any] | None, n: int, k: int, rng: np.random.Generator) -> list[Split]:
    """Make the folds of a cross-validation at random, of about equal parts of each stratum."""
    order = rng.permutation(n)
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
    fold = np.empty(n, dtype=np.intp)
    fold[order] = np.arange(n) % min(k, n)
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(min(k, n))]
