"""The methods that reduce a training set, and the history of each run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_X_y

from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats, Integers
from spotsvm.estimators.reduced.fitness import Model, SubsetFitness
from spotsvm.estimators.reduced.settings import Sizes
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.search.alternating import (
    Alternation,
    ModelGenetics,
    Phase,
    PhaseRecord,
    Population,
    SubsetGenetics,
    VectorGenetics,
)

#: names of the phases in the record
TRAINING_SET, MODEL, GRID, DRAW, FRONT = "training set", "model", "grid", "draw", "front"
#: evaluations of NSGA-II, which has no stop of its own
_FRONT_EVALUATIONS = 2000
# sets grow where at least this share of their rows are support vectors: else they hold more rows than they need
_NEEDED_SHARE = 0.3
# consecutive growths without improvement after which growing ends: a few rows can be as bad as chance, whichever they are
_VAIN_GROWTHS = 3
# generations after which it is the models' turn, where children inherit support vectors: such sets improve for very long
_TURN = 20
# draws of sets that were drawn before, after which no new ones are expected
_BARREN = 20


@dataclass
class Reduction:
    """One run of a method; after `n_trials` no further generation begins."""

    fitness: SubsetFitness
    subsets: SubsetGenetics
    models: ModelGenetics
    sizes: Sizes
    population_size: int
    n_trials: int | None
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.stopped_by = ""
        self._grown, self._share, self._length = False, 1.0, self.sizes.start
        self._rows: list[dict[str, Any]] = []

    @property
    def history(self) -> pd.DataFrame:
        """The record, a row a generation."""
        return pd.DataFrame(self._rows)

    def run(self, method: str) -> None:
        """Run a method by its name."""
        {
            "alga": self._alga,
            "gasvm": self._gasvm,
            "ga-model": self._ga_model,
            "grid": self._grid,
            "nsga2": self._nsga2,
            "random": self._random,
        }[method]()

    def _alga(self) -> None:
        alternation = Alternation(
            self._set_phase(_TURN if isinstance(self.subsets, VectorGenetics) else None),
            Phase(self.models, self.population_size, self._models_again if self.sizes.grows else None, self._progress),
            self.fitness,
            (TRAINING_SET, MODEL),
            lambda: 2 * self._patience,
            self._may_go_on,
            self._watch,
        )
        alternation.run(self.rng)
        self.stopped_by = alternation.stopped_by

    def _gasvm(self) -> None:
        model = self._best_of_whole()
        phase = self._set_phase()
        number = failures = 0
        while number == 0 or (failures < self._patience and self._may_go_on()):
            number += 1
            improved = self._evolve(phase, lambda rows: (rows, model), TRAINING_SET, number)
            failures = 0 if improved and self.sizes.grows else failures + 1
        if failures < self._patience:
            self.stopped_by = "budget"

    def _ga_model(self) -> None:
        rows = self._whole()
        self._evolve(Phase(self.models, self.population_size), lambda model: (rows, model), MODEL, 1)

    def _grid(self) -> None:
        """Train on all rows with each model of the grid, and of a finer one around the best."""
        rows, best = self._whole(), None
        for number in range(2):
            models = self.models.grid() if best is None else self.models.finer(best)
            population = Population(models, np.array([self.fitness(rows, model) for model in models]))
            best = population.best
            self._watch(PhaseRecord(number, GRID, 0, population.best_fitness, population.mean, (rows, best)))
        self.stopped_by = "no new pairs"

    def _evolve(self, phase: Phase[Any], pair: Callable[[Any], tuple[Integers, Model]], kind: str, number: int) -> bool:
        """Run one phase to its local stop, and return whether it improved the average fitness."""
        generation = -1

        def note(population: Population[Any]) -> None:
            nonlocal generation
            generation += 1
            best = pair(population.best)
            self._watch(PhaseRecord(number, kind, generation, population.best_fitness, population.mean, best))

        improved = phase.run(
            lambda individuals: np.array([self.fitness(*pair(one)) for one in individuals]), self.rng, note, self._may_go_on
        )
        self.stopped_by = "budget" if phase.cut_short else "no improvement"
        return improved

    def _random(self) -> None:
        grid = self.models.grid()
        draw = barren = 0
        while draw == 0 or (self.n_trials is not None and self._may_go_on() and barren < _BARREN):
            rows = self.subsets.draw(self.sizes.start, self.rng)
            before = self.fitness.n_evaluations
            population = Population(grid, np.array([self.fitness(rows, model) for model in grid]))
            best = rows, population.best
            self._watch(PhaseRecord(draw, DRAW, 0, population.best_fitness, population.mean, best))
            barren = 0 if self.fitness.n_evaluations > before else barren + 1
            draw += 1
        self.stopped_by = "no new pairs" if barren == _BARREN else "budget"

    def _nsga2(self) -> None:
        from spotsvm.solvers.search.alternating.pair_nsga2 import PairNsga2  # on use: it imports pymoo

        def objectives(rows: Integers, model: Model) -> Floats:
            score, n_support = self.fitness.evaluate(rows, model)
            return np.array([-score, float(n_support)])

        def note(generation: int, values: Floats) -> None:
            best = self.fitness.best
            record = PhaseRecord(
                0, FRONT, generation, -values[:, 0].min(), -values[:, 0].mean(), (best.rows, (best.C, best.gamma))
            )
            self._watch(record)

        if self.n_trials is None:
            self.n_trials = _FRONT_EVALUATIONS
        search = PairNsga2(self.subsets, self.models, objectives, self.population_size, self.sizes.most)
        search.run(self.rng, self._may_go_on, note)
        self.stopped_by = "no new pairs" if self._may_go_on() else "budget"

    def _whole(self) -> Integers:
        return np.arange(len(self.subsets.classes), dtype=np.intp)

    def _best_of_whole(self) -> Model:
        """Return the model of the grid that is best for the whole training set; a grid of one needs no training."""
        grid = self.models.grid()
        if len(grid) == 1:
            return grid[0]
        rows = self._whole()
        found = np.array([self.fitness.evaluate(rows, model, aside=True)[0] for model in grid])
        population = Population(grid, found[:, None])
        self._watch(PhaseRecord(0, GRID, 0, population.best_fitness, population.mean, (rows, population.best)))
        return population.best

    def _set_phase(self, most: int | None = None) -> Phase[Integers]:
        return Phase(self.subsets, self.population_size, self._grow if self.sizes.grows else None, self._progress, most)

    def _grow(self, population: Population[Integers], rng: np.random.Generator) -> list[Integers] | None:
        """Enlarge training sets, at most twofold, the more the larger the share of support vectors in the best one."""
        if not self._may_grow:
            return None
        size = self.subsets.length(population.best)
        factor = 1.0 + (self._share - _NEEDED_SHARE) / (1.0 - _NEEDED_SHARE)
        larger = min(self.sizes.most, max(size + 1, int(factor * size)))
        self._grown = True
        return [self.subsets.enlarge(one, larger, rng) for one in population.individuals]

    def _models_again(self, population: Population[Model], rng: np.random.Generator) -> list[Model] | None:
        """Return the grid and the best model if training sets have grown, because older models may no longer fit."""
        grown, self._grown = self._grown, False
        return [population.best, *self.models.grid()] if grown else None

    def _progress(self, population: Population[Any]) -> float:
        """Return the value whose stagnation ends the run: the mean fitness, or the best one while training sets grow."""
        return population.best_fitness if self._may_grow else population.mean

    @property
    def _patience(self) -> int:
        """Phases of training sets that may fail one after the other."""
        return _VAIN_GROWTHS + 1 if self._may_grow else 1

    @property
    def _may_grow(self) -> bool:
        return self.sizes.grows and self._length < self.sizes.most and self._share >= _NEEDED_SHARE

    def _may_go_on(self) -> bool:
        return self.n_trials is None or self.fitness.n_evaluations < self.n_trials

    def _watch(self, record: PhaseRecord) -> None:
        rows, model = record.pair
        n_support = self.fitness.evaluate(rows, model, aside=True)[1]  # known by now
        self._share, self._length = n_support / len(rows), self.subsets.length(rows)
        self._rows.append(
            {
                "phase": record.phase,
                "kind": record.kind,
                "generation": record.generation,
                "best": record.best,
                "mean": record.mean,
                "n_support_vectors": n_support,
                "n_per_class": len(rows) / self.subsets.n_classes,
                "C": model[0],
                "gamma": model[1],
                "n_evaluations": self.fitness.n_evaluations,
            }
        )


@dataclass(frozen=True)
class ValidationPart:
    """A validation part, its classes as numbers, and the rows of the data that are left to train on."""

    training: Integers
    X: Floats
    code: Integers


def given_part(
    validation: Any, classes: NDArray[Any], n_rows: int, n_features: int, names: NDArray[Any] | None = None
) -> ValidationPart:
    """Check a validation part (X, y) that was given (columns by `names`); all rows of the data are left to train on."""
    if not isinstance(validation, (tuple, list)) or len(validation) != 2:
        raise ArgumentError(f"validation is a {type(validation).__name__}; use a pair (X, y), or a fraction in (0, 1)")
    try:
        X, y = check_X_y(*validation, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"validation is not a valid pair (X, y): {error}") from error
    if X.shape[1] != n_features:
        raise ArgumentError(f"validation has X of {X.shape[1]} features; the training data have {n_features}")
    columns = getattr(validation[0], "columns", None)
    if columns is not None and names is not None and list(columns) != list(names):
        raise ArgumentError(f"validation has the columns {list(columns)}; the training data have {list(names)}, in this order")
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ArgumentError(
            f"validation holds the class {unknown.tolist()[0]!r}, which is not among those of y: {classes.tolist()}"
        )
    missing = np.setdiff1d(classes, y)
    if len(missing):
        raise ArgumentError(f"validation holds no row of class {missing.tolist()[0]!r}; each class needs one or more")
    return ValidationPart(np.arange(n_rows, dtype=np.intp), X, np.searchsorted(classes, y).astype(np.intp))


def held_out_part(X: Floats, code: Integers, classes: NDArray[Any], fraction: Any, seed: int) -> ValidationPart:
    """Hold out a fraction of each class, one row at least, and leave one at least; raise ArgumentError if that is impossible."""
    share = as_float(fraction)
    if not 0 < share < 1:
        raise ArgumentError(f"validation={fraction!r}; use a fraction in (0, 1), or a pair (X, y)")
    counts = np.bincount(code)
    if counts.min() < 2:
        lone = classes.tolist()[int(counts.argmin())]
        raise ArgumentError(
            f"y holds a single row of class {lone!r} (n_samples={len(code)}); training and validation need one each: "
            "give more rows, or a validation part (X, y)"
        )
    rng = np.random.default_rng(seed)
    held_out = np.zeros(len(code), dtype=bool)
    for c, count in enumerate(counts):
        n_held_out = min(max(1, round(share * int(count))), int(count) - 1)
        held_out[rng.choice(np.flatnonzero(code == c), n_held_out, replace=False)] = True
    return ValidationPart(np.flatnonzero(~held_out), X[held_out], code[held_out])
