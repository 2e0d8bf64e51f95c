"""The fitness of a training set and a model: accuracy on the validation set, each pair computed once, the front of all kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.subset_machine import SubsetMachine, TrainedPairs

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Model = tuple[float, ...]
Key = tuple[bytes, Model]

# rows of the training set on which the use of further rows is judged
_SAMPLE = 500


@dataclass(frozen=True)
class Candidate:
    """An evaluated pair.

    Attributes
    ----------
    rows : int ndarray
        The training set, as rows of the whole one.
    C, gamma : float
        The model.
    accuracy : float
        On the validation set.
    n_support : int
        Support vectors, of all classes together.
    """

    rows: Integers
    C: float
    gamma: float
    accuracy: float
    n_support: int


class SubsetFitness:
    """Evaluates pairs of a training set and a model (C, gamma), and remembers.

    Parameters
    ----------
    machine : SubsetMachine
        What trains and classifies.
    fewer_vectors : bool
        Whether of two pairs with the same accuracy the one with fewer support vectors is fitter.
    n_kept : int, default=0
        Machines to keep, for `support` and `gains`; they train others again.

    Attributes
    ----------
    n_evaluations : int
        Machines trained; a pair that comes again is not trained again.
    best : Candidate
        The fittest pair so far; of equals the first.
    front : list of Candidate
        Pairs that no other one surpasses in accuracy without more support vectors, from the fewest on.
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
        """Give the fitness of a pair: its accuracy, and minus the number of its support vectors if that is to count."""
        accuracy, n_support = self.evaluate(rows, model)
        return np.array([accuracy, -n_support]) if self.fewer_vectors else np.array([accuracy])

    def evaluate(self, rows: Integers, model: Model, *, aside: bool = False) -> tuple[float, int]:
        """Give the accuracy on the validation set and the number of support vectors.

        A pair that has only been evaluated `aside` is neither among the best nor on the front.
        """
        key, self._model = _key(rows, model), model
        if key not in self._known:
            C, gamma = model
            trained = self._train(rows, key)
            candidate = Candidate(rows, C, gamma, self.machine.accuracy(trained, gamma), len(trained.support))
            self.n_evaluations += 1
            self._known[key] = candidate.accuracy, candidate.n_support
            self._aside[key] = candidate
        if not aside and key in self._aside:
            self._note(self._aside.pop(key))
        return self._known[key]

    def support(self, rows: Integers) -> Integers:
        """Give the support vectors of a training set with the model that was evaluated last."""
        return self._train(rows, _key(rows, self._model)).support

    def gains(self, rows: Integers, rng: np.random.Generator) -> Callable[[Integers], Floats]:
        """Give a function of rows: how useful they are beside a training set with that model, judged on a random sample."""
        n = len(self.machine.X)
        sample = rng.choice(n, min(n, _SAMPLE), replace=False)
        return self.machine.gains(self._train(rows, _key(rows, self._model)), self._model[1], sample)

    def _train(self, rows: Integers, key: Key) -> TrainedPairs:
        """Train, or give a machine that was kept; the one that was not needed for longest makes room."""
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
        if any(one.accuracy >= new.accuracy and one.n_support <= new.n_support for one in self.front):
            return
        kept = [one for one in self.front if one.accuracy > new.accuracy or one.n_support < new.n_support]
        self.front = sorted([*kept, new], key=lambda one: one.n_support)

    def _rank(self, one: Candidate) -> tuple[float, int]:
        return one.accuracy, -one.n_support if self.fewer_vectors else 0

    def front_frame(self) -> pd.DataFrame:
        """Give the front as a frame, a row a pair."""
        n_classes = self.machine.n_classes
        return pd.DataFrame(
            {
                "accuracy": [one.accuracy for one in self.front],
                "n_support_vectors": [one.n_support for one in self.front],
                "n_training": [len(one.rows) for one in self.front],
                "n_per_class": [len(one.rows) / n_classes for one in self.front],
                "C": [one.C for one in self.front],
                "gamma": [one.gamma for one in self.front],
            }
        )


def _key(rows: Integers, model: Model) -> Key:
    return blake2b(rows.tobytes(), digest_size=16).digest(), model
