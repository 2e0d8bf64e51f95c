import numpy as np

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


def test_no_pair_is_evaluated_twice_and_an_exhausted_space_ends_it():
    keys = []

    def objectives(rows, model):
        keys.append((rows.tobytes(), model))
        return np.array([float(rows[0]), float(rows[1])])

    few = PairNsga2(SubsetGenetics([0, 0, 1, 1], 1), ModelGenetics([(1.0,)]), objectives, 4)
    few.run(np.random.default_rng(0), generations(1000))
    assert len(keys) == len(set(keys)) <= 4
