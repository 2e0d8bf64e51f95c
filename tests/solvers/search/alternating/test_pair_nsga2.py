import numpy as np
import pytest

from spotsvm.solvers.pareto import non_dominated
from spotsvm.solvers.search.alternating import ModelGenetics, SubsetGenetics
from spotsvm.solvers.search.alternating.pair_nsga2 import PairNsga2

CLASSES = np.arange(40) % 2


def conflict(rows, model):
    """More rows against fewer, and a model that is best at 3."""
    error = np.log(model[0] / 3.0) ** 2
    return np.array([1.0 / len(rows) + error, len(rows) + error])


def search(population=20, most=None, objectives=conflict, start=2):
    return PairNsga2(SubsetGenetics(CLASSES, start), ModelGenetics([(0.1, 1.0, 10.0)]), objectives, population, most)


def generations(n):
    return iter([True] * n + [False]).__next__


def test_a_front_of_sizes():
    front = search(most=20).run(np.random.default_rng(0), generations(60))
    sizes = sorted({len(rows) for rows, _ in front})
    assert sizes[0] == 4
    assert sizes[-1] >= 32
    assert len(sizes) >= 10
    values = np.array([conflict(*pair) for pair in front])
    assert len(non_dominated(values)) == len(np.unique(values, axis=0))
    assert np.median([model[0] for _, model in front]) == pytest.approx(3.0, rel=0.1)


@pytest.mark.parametrize(("start", "most", "sizes"), [(2, None, {2}), (3, 7, {3, 4, 5, 6, 7})])
def test_sizes_stay_within_their_bounds(start, most, sizes):
    seen = []

    def objectives(rows, model):
        seen.append(tuple(np.bincount(CLASSES[rows])))
        return conflict(rows, model)

    search(most=most, objectives=objectives, start=start).run(np.random.default_rng(0), generations(15))
    assert set(seen) == {(size, size) for size in sizes}


def test_no_pair_is_evaluated_twice_and_an_exhausted_space_ends_it():
    keys = []

    def objectives(rows, model):
        keys.append((rows.tobytes(), model))
        return np.array([float(rows[0]), float(rows[1])])

    few = PairNsga2(SubsetGenetics([0, 0, 1, 1], 1), ModelGenetics([(1.0,)]), objectives, 4)
    few.run(np.random.default_rng(0), generations(1000))
    assert len(keys) == len(set(keys)) <= 4


def test_survivors_do_not_get_worse_and_the_seed_decides():
    def run(seed):
        best = []
        search(most=20).run(np.random.default_rng(seed), generations(20), lambda _, values: best.append(values.min(axis=0)))
        return np.array(best)

    first = run(1)
    assert len(first) == 21
    assert (np.diff(first, axis=0) <= 0).all()
    np.testing.assert_array_equal(first, run(1))
    assert not np.array_equal(first, run(2))
