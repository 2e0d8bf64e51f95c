"""The fitness of a training set and a model: score on the validation set, each pair computed once, the front of all kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.estimators import Floats, Integers
from spotsvm.solvers.dual.exact.exact import solve_exact
from spotsvm.solvers.dual.problem.one_vs_one import PairCoefficients, chosen_classes, pair_labels, pair_rows, pairs
from spotsvm.solvers.dual.problem.problem import DualProblem
from spotsvm.solvers.kernels import DistanceColumns, Kernel, gram_matrix, kernel_blocks, kernel_matrix, squared_distances

Model = tuple[float, ...]
Key = tuple[bytes, Model]
# rows of the training set on which the use of further rows is judged
_SAMPLE = 500
# of the largest coefficient: a decision value that is no larger has the sign of a rounding error
_SILENCE = 1e-9


@dataclass(frozen=True)
class Candidate:
    """An evaluated pair: a training set, as rows of the whole one, and a model, with their score on the validation set."""

    rows: Integers
    C: float
    gamma: float
    score: float
    n_support: int


class SubsetFitness:
    """Evaluations of pairs of a training set and a model (C, gamma), each computed once; `n_kept` machines are kept.

    With `fewer_vectors` the pair with fewer support vectors wins ties. `best` is the first of the fittest; `front` has the pairs
    whose score no pair exceeds without more support vectors.
    """

    def __init__(self, machine: SubsetMachine, fewer_vectors: bool, n_kept: int = 0):
        self.machine, self.fewer_vectors, self.n_kept = machine, fewer_vectors, n_kept
        self.n_evaluations = 0
        self.best: Candidate
        self.front: list[Candidate] = []
        self._known: dict[Key, tuple[float, int]] = {}
        self._aside: dict[Key, Candidate] = {}
        self._trained: OrderedDict[Key, TrainedPairs] = OrderedDict()
        self._model: Model

    def __call__(self, rows: Integers, model: Model) -> Floats:
        """Return the fitness of a pair: its score, and minus the number of its support vectors if `fewer_vectors` is set."""
        score, n_support = self.evaluate(rows, model)
        return np.array([score, -n_support]) if self.fewer_vectors else np.array([score])

    def evaluate(self, rows: Integers, model: Model, *, aside: bool = False) -> tuple[float, int]:
        """Return the score on the validation set and the number of support vectors.

        A pair that has only been evaluated `aside` is neither among the best nor on the front.
        """
        key, self._model = _key(rows, model), model
        if key not in self._known:
            C, gamma = model
            trained = self._train(rows, key)
            candidate = Candidate(rows, C, gamma, self.machine.score(trained, gamma), len(trained.support))
            self.n_evaluations += 1
            self._known[key] = candidate.score, candidate.n_support
            self._aside[key] = candidate
        if not aside and key in self._aside:
            self._note(self._aside.pop(key))
        return self._known[key]

    def support(self, rows: Integers) -> Integers:
        """Return the support vectors of a training set with the model that was evaluated last."""
        return self._train(rows, _key(rows, self._model)).support

    def gains(self, rows: Integers, rng: np.random.Generator) -> Callable[[Integers], Floats]:
        """Return a function that scores how useful rows are beside a training set, estimated on a random sample."""
        n = len(self.machine.X)
        sample = rng.choice(n, min(n, _SAMPLE), replace=False)
        return self.machine.gains(self._train(rows, _key(rows, self._model)), self._model[1], sample)

    def _train(self, rows: Integers, key: Key) -> TrainedPairs:
        """Train a machine, or return a cached one; the least recently used machine is dropped."""
        trained = self._trained.pop(key, None) or self.machine.train(rows, *key[1])
        if self.n_kept:
            self._trained[key] = trained
            if len(self._trained) > self.n_kept:
                self._trained.popitem(last=False)
        return trained

    def _note(self, new: Candidate) -> None:
        rank = self._rank(new)
        if not self.front or rank > self._rank(self.best):
            self.best = new
        if any(one.score >= new.score and one.n_support <= new.n_support for one in self.front):
            return
        kept = [one for one in self.front if one.score > new.score or one.n_support < new.n_support]
        self.front = sorted([*kept, new], key=lambda one: one.n_support)

    def _rank(self, one: Candidate) -> tuple[float, int]:
        return one.score, -one.n_support if self.fewer_vectors else 0

    def front_frame(self) -> pd.DataFrame:
        """Return the front as a frame, a row a pair."""
        n_classes = self.machine.n_classes
        return pd.DataFrame(
            {
                "score": [one.score for one in self.front],
                "n_support_vectors": [one.n_support for one in self.front],
                "n_training": [len(one.rows) for one in self.front],
                "n_per_class": [len(one.rows) / n_classes for one in self.front],
                "C": [one.C for one in self.front],
                "gamma": [one.gamma for one in self.front],
            }
        )


def _key(rows: Integers, model: Model) -> Key:
    return blake2b(rows.tobytes(), digest_size=16).digest(), model


@dataclass(frozen=True)
class TrainedPairs:
    """The classifiers of all pairs of classes, in SVC's layout; support vectors are rows of the whole training set."""

    support: Integers
    n_support: NDArray[np.int32]
    dual_coef: Floats
    intercept: Floats


class SubsetMachine:
    """Machines trained on some rows, which classify the validation set; classes are 0 .. n_classes - 1.

    A set whose matrices do not fit into `max_bytes` is solved by LIBSVM, others exactly; as many bytes are for values with the
    validation set. `kernel` gives the kernel of a gamma, None the Gaussian one; `judge` scores decisions, None by accuracy.
    """

    def __init__(
        self,
        X: Floats,
        code: Integers,
        X_validation: Floats,
        code_validation: Integers,
        tol: float,
        max_bytes: int,
        kernel: Callable[[float], Kernel] | None = None,
        judge: Callable[[Floats, Integers, Any], float] | None = None,
    ):
        self.X, self.code, self.X_validation, self.code_validation = X, code, X_validation, code_validation
        self.n_classes = int(code.max()) + 1
        self.tol, self.max_bytes, self.kernel, self.judge = tol, max_bytes, kernel, judge
        self.columns = DistanceColumns(X, X_validation, max_bytes) if kernel is None else None
        self._rows: Integers | None = None
        self._distances: Floats = np.empty((0, 0))

    def fits(self, n: int) -> bool:
        """Return whether the matrices of n rows (distances, kernel, one pair's block) fit into the memory limit."""
        return 24 * n * n <= self.max_bytes

    def train(self, rows: Integers, C: float, gamma: float) -> TrainedPairs:
        """Train on some rows of the training set."""
        if not self.fits(len(rows)):
            return self._train_libsvm(rows, C, gamma)
        if self.kernel is None:
            K = np.exp(-gamma * self._distances_of(rows))
        else:
            K = gram_matrix(self.kernel(gamma), self.X[rows], max_bytes=self.max_bytes)
        code = self.code[rows]
        coefficients = PairCoefficients(code, self.n_classes)
        intercept = []
        for i, j in pairs(self.n_classes):
            of_pair = np.flatnonzero((code == i) | (code == j))
            part = K if len(of_pair) == len(rows) else K[np.ix_(of_pair, of_pair)]
            labels = pair_labels(code[of_pair] == i, self.n_classes)
            problem = DualProblem(part, labels, np.full(len(labels), C), bias=True)
            alpha = solve_exact(problem, np.zeros(len(labels)), self.tol).alpha
            used = np.flatnonzero(alpha)
            coefficients.put(i, j, of_pair[used], (labels * alpha)[used])
            intercept.append(problem.kkt(alpha, problem.decision(alpha))[1])
        support, n_support, dual_coef = coefficients.support()
        return TrainedPairs(rows[support], n_support, dual_coef, np.array(intercept))

    def score(self, trained: TrainedPairs, gamma: float) -> float:
        """Return the score on the validation set; a row without any classifier's decision counts as wrong.

        Where the kernel is next to 0 and so is the threshold, rounding decides, and would do so otherwise in another machine.
        """
        decisions = self._sums(trained, gamma) + trained.intercept
        said = np.abs(decisions).max(axis=1) > _SILENCE * np.abs(trained.dual_coef).max(initial=0.0)
        chosen = chosen_classes(decisions, self.n_classes, True)
        if self.judge is not None:
            return self.judge(decisions, chosen, said)
        return float(((chosen == self.code_validation) & said).mean())

    def _sums(self, trained: TrainedPairs, gamma: float) -> Floats:
        """Return each pair's decisions for the validation set, without thresholds."""
        coefficients = pair_rows(trained.dual_coef, trained.n_support)
        if self.columns is not None:
            return self.columns.gaussian_sums(trained.support, gamma, coefficients).T
        sums = np.empty((len(self.X_validation), len(coefficients)))
        vectors = self.X[trained.support]
        for block, values in kernel_blocks(self._kernel(gamma), self.X_validation, vectors, max_bytes=self.max_bytes):
            sums[block] = values @ coefficients.T
        return sums

    def _kernel(self, gamma: float) -> Kernel:
        return Kernel("rbf", gamma) if self.kernel is None else self.kernel(gamma)

    def gains(self, trained: TrainedPairs, gamma: float, sample: Integers) -> Callable[[Integers], Floats]:
        """Return a function of rows: how fast the hinge loss of a sample falls as such a row becomes a support vector.

        Minus the derivative of the loss, summed over the classifiers that the row takes part in, by the row's coefficient at 0.
        """
        code = self.code[sample]
        kernel = self._kernel(gamma)
        values = kernel_matrix(kernel, self.X[sample], self.X[trained.support])
        decisions = values @ pair_rows(trained.dual_coef, trained.n_support).T + trained.intercept
        pull = np.zeros((self.n_classes, len(sample)))
        for (i, j), decision in zip(pairs(self.n_classes), decisions.T, strict=True):
            short = ((code == i) | (code == j)) & (pair_labels(code == i, self.n_classes) * decision < 1.0)
            pull[i, short] += np.where(code[short] == i, 1.0, -1.0)
            pull[j, short] += np.where(code[short] == j, 1.0, -1.0)
        used = pull.any(axis=0)
        pulling, pull = self.X[sample[used]], pull[:, used]

        def gains(rows: Integers) -> Floats:
            kernels = kernel_matrix(kernel, self.X[rows], pulling)
            sums: Floats = np.einsum("ij,ij->i", kernels, pull[self.code[rows]])
            return sums

        return gains

    def _distances_of(self, rows: Integers) -> Floats:
        if self._rows is None or not np.array_equal(rows, self._rows):
            self._rows, self._distances = rows, squared_distances(self.X[rows])
        return self._distances

    def _train_libsvm(self, rows: Integers, C: float, gamma: float) -> TrainedPairs:
        from sklearn.svm import SVC

        kernel = "rbf" if self.kernel is None else partial(kernel_matrix, self.kernel(gamma))
        machine = SVC(C=C, kernel=kernel, gamma=gamma, tol=self.tol, cache_size=self.max_bytes / 2**20)
        machine.fit(self.X[rows], self.code[rows])
        return TrainedPairs(
            rows[machine.support_], machine.n_support_, np.ascontiguousarray(machine.dual_coef_), machine.intercept_
        )
