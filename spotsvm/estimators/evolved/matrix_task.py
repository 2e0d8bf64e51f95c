"""Prediction errors on held-out rows of machines with a given kernel matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.estimators import Floats, Integers
from spotsvm.estimators.evolved.settings import Indefinite, KernelSetting
from spotsvm.solvers.dual.evolution.memetic import MemeticSettings
from spotsvm.solvers.dual.exact.exact import solve_pairs
from spotsvm.solvers.dual.exact.fold_solver import State, Target, symmetric_bounds
from spotsvm.solvers.dual.problem.one_vs_one import chosen_classes, pair_labels, pairs
from spotsvm.solvers.dual.problem.spectrum import clipping, matrix_state
from spotsvm.solvers.dual.solve import solve_dual
from spotsvm.solvers.kernels.alignment import alignment_with_labels, alignment_with_target

#: steps of a solver for each row: a classifier that has not ended by then counts as one that has learnt nothing
STEPS_PER_ROW = 10
_TOLERANCE = 1e-3
#: local searches of a machine with an indefinite matrix that is only judged, and of the one that is kept
SEARCHES_JUDGED, SEARCHES_KEPT = 12, 400

Split = tuple[Integers, Integers]


class Scores(NamedTuple):
    """Each setting's error (inf where training was not possible), and its loss: the error, or a mixture with a smooth loss."""

    error: Floats
    loss: Floats


class MatrixTask(ABC):
    """A learning task on some rows: the error of a kernel matrix is the mean over some splits of the rows.

    With indefinite="reject" the judgement of an indefinite matrix is the caller's; it is trained on to a stationary point.
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
        """Return the error of a constant prediction."""

    @abstractmethod
    def split_scores(self, K: Floats, settings: Sequence[KernelSetting], split: Split, semidefinite: bool, seed: int) -> Scores:
        """Return each setting's scores on a split's test rows after training on the others."""

    def scores(
        self, K: Floats, settings: Sequence[KernelSetting], splits: Sequence[Split], *, semidefinite: bool = True, seed: int = 0
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
    """Classification: the error is the weighted share of misclassified rows; `code` is the class of each row, from 0.

    `weights` of classes are factors of C and of an error. `smoothness` is the share of the ramp loss (Collobert et al. 2006), the
    mean of (1 - m) / 2 in [0, 1]: errors of few rows are equal for many kernels.
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

    def split_scores(self, K: Floats, settings: Sequence[KernelSetting], split: Split, semidefinite: bool, seed: int) -> Scores:
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
    """Regression: the error is the root mean squared error."""

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

    def split_scores(self, K: Floats, settings: Sequence[KernelSetting], split: Split, semidefinite: bool, seed: int) -> Scores:
        """Return each setting's root mean squared error on a split's test rows after training on the others."""
        train, test = split
        z = self.y[train]
        targets = [Target(z, *symmetric_bounds(s.C, z, True), s.epsilon) for s in settings]
        predicted, _ = self._decisions(K, train, test, targets, semidefinite, seed)  # near the optimum long before the end
        with np.errstate(over="ignore", invalid="ignore"):
            mean: Floats = np.sqrt(np.square(predicted - self.y[test][:, None]).mean(axis=0))
        error = np.where(np.isfinite(mean), mean, np.inf)
        return Scores(error, error)


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


def solve_indefinite(K: Floats, target: Target, tol: float, max_iter: int, seed: int, searches: int = SEARCHES_JUDGED) -> Floats:
    """Train on an indefinite matrix by local searches from several points, and return the best signed dual variables.

    Labels with epsilon 0 are a classifier (Mierswa 2006, section 4); all else is a regression.
    """
    if target.epsilon == 0.0 and set(np.unique(target.z).tolist()) == {-1.0, 1.0}:
        bounds = np.maximum(target.upper, -target.lower)
        settings = MemeticSettings(searches=searches, rivals=False)
        found = solve_dual(
            K,
            target.z,
            bounds,
            "memetic",
            bias=True,
            random_state=seed,
            tol=tol,
            max_iter=max_iter,
            definite=False,
            settings=settings,
        )
        signed: Floats = found.alpha * target.z
        return signed
    return best_regression(K, target, tol, max_iter, np.random.default_rng(seed), searches)


def best_regression(K: Floats, target: Target, tol: float, max_iter: int, rng: np.random.Generator, searches: int) -> Floats:
    """Return the best of several local solutions of a regression's dual, each from the last best one with some rows changed."""
    best, highest = np.zeros(len(K)), -np.inf
    start = np.zeros(len(K))
    for _ in range(searches):
        beta, _, _ = solve_pairs(K, target.z, target.lower, target.upper, target.epsilon, start, tol, max_iter)
        objective = float(target.z @ beta - target.epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta)
        if objective > highest:
            best, highest = beta, objective
        start = _kicked(best, target, rng)
    return best


def _kicked(beta: Floats, target: Target, rng: np.random.Generator) -> Floats:
    """Exchange the values of random pairs of rows, which keeps their sum and, with equal bounds, the box."""
    moved = beta.copy()
    chosen = rng.permutation(len(beta))[: 2 * max(1, len(beta) // 8)]
    size = rng.random(len(chosen) // 2) * np.minimum(target.upper[chosen[::2]], target.upper[chosen[1::2]])
    moved[chosen[::2]], moved[chosen[1::2]] = size, -size
    excess = moved.sum()
    heavy = moved > 0 if excess > 0 else moved < 0
    total = abs(moved[heavy].sum())
    if total > 0:
        moved[heavy] *= 1.0 - abs(excess) / total
    return moved
