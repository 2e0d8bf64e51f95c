from collections import Counter

import numpy as np
import pytest

from spotsvm.solvers.search.alternating import Population, high_low_children


class Recorded:
    """Operators that tell what they were asked."""

    def __init__(self):
        self.pairs = []

    def cross(self, better, worse, rng):
        self.pairs.append((better, worse))
        return better + worse

    def mutate(self, individual, rng):
        return individual + "*"


def population(n):
    return Population([chr(97 + k) for k in range(n)], -np.arange(n, dtype=float)[:, None])


@pytest.mark.parametrize(("n", "high", "low"), [(6, "abc", "def"), (5, "abc", "de"), (2, "a", "b"), (1, "a", "a")])
def test_parents_are_of_the_better_and_the_worse_half_and_each_is_as_likely(n, high, low):
    genetics, rng = Recorded(), np.random.default_rng(0)
    for _ in range(500):
        children = high_low_children(population(n), genetics, rng)
        assert len(children) == n
    for drawn, half in zip(zip(*genetics.pairs, strict=True), (high, low), strict=True):
        counts = Counter(drawn)
        assert set(counts) == set(half)
        assert list(counts.values()) == pytest.approx([500 * n / len(half)] * len(half), rel=0.15)
    assert children[-1] == "".join(genetics.pairs[-1]) + "*"


def test_the_fittest_survive_and_of_equals_the_older():
    parents = Population(["a", "b"], np.array([[0.5], [0.7]]))
    after = parents.joined(["c", "d"], np.array([[0.5], [0.9]]))
    assert after.individuals == ["d", "b"]
    assert after.joined(["e"], np.array([[0.7]])).individuals == ["d", "b"]
    assert (after.best, after.best_fitness, after.mean) == ("d", 0.9, 0.8)
    assert parents.individuals == ["b", "a"]
    ranked = Population(["a", "b", "c"], np.array([[0.5, -9.0], [0.5, -3.0], [0.6, -99.0]]))  # later columns break ties alone
    assert ranked.individuals == ["c", "b", "a"]
    assert ranked.mean == pytest.approx(1.6 / 3)
