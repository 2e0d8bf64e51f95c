import numpy as np
import pytest

from spotsvm.estimators.reduced.fitness import SubsetFitness
from spotsvm.solvers.pareto import non_dominated


class Table:
    """A machine whose results are those of a table: (accuracy, support vectors) by the first row and C."""

    n_classes = 2

    def __init__(self, results):
        self.results, self.trained = results, []

    def train(self, rows, C, gamma):
        self.trained.append((rows[0], C))
        accuracy, n_support = self.results[int(rows[0]), C]
        return type("Trained", (), {"support": np.arange(n_support), "accuracy": accuracy})

    def accuracy(self, trained, gamma):
        return trained.accuracy


def fitness(results, fewer_vectors=True):
    return SubsetFitness(Table(results), fewer_vectors)


def rows(first):
    return np.array([first, 100], dtype=np.intp)


def test_a_pair_that_comes_again_is_not_trained_again():
    ours = fitness({(0, 1.0): (0.5, 3), (1, 1.0): (0.6, 4)})
    values = [ours(rows(k), (1.0, 2.0)).tolist() for k in (0, 1, 0, 1)]
    assert values == [[0.5, -3], [0.6, -4], [0.5, -3], [0.6, -4]]
    assert ours.n_evaluations == len(ours.machine.trained) == 2


@pytest.mark.parametrize(("fewer_vectors", "best"), [(True, 2), (False, 1)])
def test_the_best_pair_and_its_ties(fewer_vectors, best):
    ours = fitness({(0, 1.0): (0.5, 1), (1, 1.0): (0.8, 9), (2, 1.0): (0.8, 5), (3, 1.0): (0.8, 7)}, fewer_vectors)
    values = [ours(rows(k), (1.0, 2.0)) for k in range(4)]
    assert {len(value) for value in values} == {1 + fewer_vectors}
    assert ours.best.rows[0] == best


def test_what_is_evaluated_aside_is_not_kept():
    ours = fitness({(0, 1.0): (0.9, 1), (1, 1.0): (0.2, 9)})
    assert ours.evaluate(rows(0), (1.0, 2.0), aside=True) == (0.9, 1)
    assert (ours.front, ours.n_evaluations) == ([], 1)
    ours(rows(1), (1.0, 2.0))
    assert ours.best.rows[0] == 1
    # until it is met again in its own right; it is not trained again
    ours(rows(0), (1.0, 2.0))
    assert (ours.best.rows[0], ours.n_evaluations) == (0, 2)
    assert len(ours.front) == 1


def test_machines_that_are_kept_are_not_trained_again():
    results = {(k, 1.0): (0.5, k + 1) for k in range(4)}
    ours = SubsetFitness(Table(results), True, n_kept=2)
    for k in range(4):
        ours(rows(k), (1.0, 2.0))
    assert [len(ours.support(rows(k))) for k in (3, 2)] == [4, 3]
    assert len(ours.machine.trained) == 4
    # others are, with the same result, and are no evaluations
    assert len(ours.support(rows(0))) == 1
    assert (len(ours.machine.trained), ours.n_evaluations) == (5, 4)
    assert len(ours.support(rows(2))) == 3
    assert len(ours.machine.trained) == 5


def test_the_front_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    results = {(k, 1.0): (float(rng.integers(20)) / 20, int(rng.integers(1, 15))) for k in range(200)}
    ours = fitness(results)
    for k in range(200):
        ours(rows(k), (1.0, 2.0))
    table = np.array(list(results.values()))
    expected = non_dominated(np.column_stack([table[:, 1], -table[:, 0]]))
    frame = ours.front_frame()
    np.testing.assert_array_equal(frame[["accuracy", "n_support_vectors"]], table[expected])
    assert set(frame["n_per_class"]) == {1.0}
    assert [int(one.rows[0]) for one in ours.front] == expected.tolist()
