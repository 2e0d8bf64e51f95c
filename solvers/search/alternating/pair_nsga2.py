"""NSGA-II over pairs of a subset of rows and a model. It is imported when first used: pymoo takes half a second."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from pymoo.core.population import Population
from pymoo.core.problem import Problem
from pymoo.operators.survival.rank_and_crowding import RankAndCrowding

from spotsvm.solvers.checked_numbers import check_counts
from spotsvm.solvers.search.alternating.model_genetics import Model, ModelGenetics
from spotsvm.solvers.search.alternating.subset_genetics import SubsetGenetics

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Pair = tuple[Integers, Model]

# subsequent generations without a new pair after which the run ends
_BARREN = 3


class PairNsga2:
    """NSGA-II (Deb et al. 2002) over pairs (subset, model), with the operators of the alternating genetic algorithm.

    All objectives are minimised. With `most`, subsets differ in K: log-uniform up to it at first, then between half the smaller
    and twice the larger K of the parents.
    """

    def __init__(
        self,
        subsets: SubsetGenetics,
        models: ModelGenetics,
        objectives: Callable[[Integers, Model], Floats],
        population: int = 20,
        most: int | None = None,
    ):
        check_counts(population=population)
        self.subsets, self.models, self.objectives = subsets, models, objectives
        self.population = max(2, int(population))
        self.most = subsets.n_per_class if most is None else min(int(most), subsets.smallest_class)
        self._survival = RankAndCrowding()
        self._problem = Problem(n_var=1, n_obj=2)

    def run(
        self,
        rng: np.random.Generator,
        may_go_on: Callable[[], bool],
        note: Callable[[int, Floats], None] = lambda generation, objectives: None,
    ) -> list[Pair]:
        """Evolve until `may_go_on` returns False or no new pairs appear; return the non-dominated pairs.

        `note` is called after each generation with its index and the survivors' objectives, (n, m).
        """
        seen: set[tuple[bytes, Model]] = set()
        alive = self._select(self._evaluated(self._new(self._first(rng), seen)), rng)
        generation, barren = 0, 0
        note(generation, alive.get("F"))
        while may_go_on() and barren < _BARREN:
            children = self._new([self._child(alive, rng) for _ in range(self.population)], seen)
            barren = 0 if children else barren + 1
            if children:
                alive = self._select(Population.merge(alive, self._evaluated(children)), rng)
            generation += 1
            note(generation, alive.get("F"))
        return [individual.X[0] for individual in alive if individual.get("rank") == 0]

    def _first(self, rng: np.random.Generator) -> list[Pair]:
        grid = self.models.grid()
        order = [int(k) for _ in range(-(-self.population // len(grid))) for k in rng.permutation(len(grid))]
        return [(self.subsets.draw(self._size(self.subsets.n_per_class, self.most, rng), rng), grid[k]) for k in order][
            : self.population
        ]

    def _child(self, alive: Population, rng: np.random.Generator) -> Pair:
        (rows, model), (other_rows, other_model) = self._winner(alive, rng), self._winner(alive, rng)
        small, large = sorted((self.subsets.length(rows), self.subsets.length(other_rows)))
        size = self._size(max(self.subsets.n_per_class, small // 2), min(self.most, 2 * large), rng)
        crossed = self.subsets.cross_to(rows, other_rows, size, rng)
        return (
            self.subsets.mutate(crossed, rng),
            self.models.mutate(self.models.cross(model, other_model, rng), rng),
        )

    def _winner(self, alive: Population, rng: np.random.Generator) -> Pair:
        drawn = [alive[int(k)] for k in rng.integers(len(alive), size=2)]
        better = min(drawn, key=lambda x: (x.get("rank"), -x.get("crowding")))
        pair: Pair = better.X[0]
        return pair

    def _size(self, low: int, high: int, rng: np.random.Generator) -> int:
        if high <= low:
            return low
        return int(np.clip(round(float(np.exp(rng.uniform(np.log(low), np.log(high))))), low, high))

    def _new(self, pairs: list[Pair], seen: set[tuple[bytes, Model]]) -> list[Pair]:
        fresh = []
        for rows, model in pairs:
            key = rows.tobytes(), model
            if key not in seen:
                seen.add(key)
                fresh.append((rows, model))
        return fresh

    def _evaluated(self, pairs: list[Pair]) -> Population:
        genomes = np.empty((len(pairs), 1), dtype=object)
        for k, pair in enumerate(pairs):
            genomes[k, 0] = pair
        return Population.new(X=genomes, F=np.array([self.objectives(rows, model) for rows, model in pairs]))

    def _select(self, pairs: Population, rng: np.random.Generator) -> Population:
        return self._survival.do(self._problem, pairs, n_survive=min(self.population, len(pairs)), random_state=rng)
