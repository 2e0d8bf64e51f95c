import math

import numpy as np
import pytest

from spotsvm.errors import SolverError
from spotsvm.solvers.search.genetic_programming.steady_state import evolve


class Words:
    """Words of eight letters; the target is one of them."""

    letters = "abcdefgh"
    target = "deadbeef"

    def grow(self, rng):
        return "".join(rng.choice(list(self.letters), 8))

    def vary(self, parent, mate, rng):
        if rng.random() < 0.3:
            return "".join(p if rng.random() < 0.5 else m for p, m in zip(parent, mate, strict=True)), "crossover"
        k = int(rng.integers(8))
        return parent[:k] + str(rng.choice(list(self.letters))) + parent[k + 1 :], "mutation"

    def key(self, genome):
        return genome

    def fitness(self, genome):
        return (float(sum(a != b for a, b in zip(genome, self.target, strict=True))),)


def run(seed=0, **options):
    words = options.pop("breeder", Words())
    fitness = options.pop("fitness", words.fitness)
    return evolve(words, fitness, np.random.default_rng(seed), **{"n_trials": 600, **options})


def test_it_finds_what_random_words_do_not():
    found, same, other = run(), run(), run(4)
    assert found.best.genome == Words.target
    assert found.best.genome in {one.genome for one in found.population}  # the best of a tournament is never replaced
    assert [i.genome for i in found.evaluated] == [i.genome for i in same.evaluated] != [i.genome for i in other.evaluated]
    rng = np.random.default_rng(0)
    assert min(Words().fitness(Words().grow(rng))[0] for _ in range(600)) >= 3


def test_the_budget_counts_evaluations_and_nothing_is_evaluated_twice():
    calls = []

    def fitness(genome):
        calls.append(genome)
        return Words().fitness(genome)

    found = run(fitness=fitness, n_trials=137)
    assert len(calls) == len(found.evaluated) == 137
    assert len(set(calls)) == 137
    assert [one.number for one in found.evaluated] == list(range(137))
    assert not found.exhausted


def test_the_dead_stay_behind():
    found = run(fitness=lambda genome: Words().fitness(genome) if genome[0] == "d" else (math.inf,))
    assert math.isfinite(found.best.fitness[0])
    assert any(math.isinf(one.fitness[0]) for one in found.evaluated)
    dead = run(fitness=lambda genome: (math.inf,), n_trials=50)
    assert (len(dead.evaluated), dead.best.number) == (50, 0)


def test_it_stops_where_there_is_nothing_new():
    class Few(Words):
        def grow(self, rng):
            return str(rng.choice(list("abc")))

        def vary(self, parent, mate, rng):
            return self.grow(rng), "mutation"

    found = run(breeder=Few(), fitness=lambda genome: (float(ord(genome)),))
    assert found.exhausted
    assert sorted(one.genome for one in found.evaluated) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_trials": 0}, "n_trials=0; use a whole number, 1 or more"),
        ({"n_trials": 2.5}, "n_trials=2.5"),
        ({"population_size": 1}, "population_size=1; use a whole number, 2 or more"),
        ({"tournament_size": True}, "tournament_size=True"),
        ({"tournament_size": 21}, "tournament_size=21 is more than population_size=20"),
    ],
)
def test_sizes_that_make_no_sense(wrong, words):
    with pytest.raises(SolverError, match=words):
        run(**wrong)
