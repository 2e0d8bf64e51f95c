import numpy as np
import pytest
from sklearn.datasets import load_wine, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from spotsvm.estimators.reduced.fitness import SubsetFitness, SubsetMachine
from spotsvm.solvers.dual.problem.one_vs_one import pair_labels, pair_rows, pairs
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

    def score(self, trained, gamma):
        return trained.accuracy


def fitness(results, fewer_vectors=True):
    return SubsetFitness(Table(results), fewer_vectors)


def rows(first):
    return np.array([first, 100], dtype=np.intp)


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


def test_the_front_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    results = {(k, 1.0): (float(rng.integers(20)) / 20, int(rng.integers(1, 15))) for k in range(200)}
    ours = fitness(results)
    for k in range(200):
        ours(rows(k), (1.0, 2.0))
    table = np.array(list(results.values()))
    expected = non_dominated(np.column_stack([table[:, 1], -table[:, 0]]))
    frame = ours.front_frame()
    np.testing.assert_array_equal(frame[["score", "n_support_vectors"]], table[expected])
    assert set(frame["n_per_class"]) == {1.0}
    assert [int(one.rows[0]) for one in ours.front] == expected.tolist()


MOONS = make_moons(n_samples=240, noise=0.2, random_state=0)
WINE, CULTIVAR = load_wine(return_X_y=True)
DATA = {"two": MOONS, "three": (scale(WINE), CULTIVAR)}


def machine(name, max_bytes=10**7):
    X, y = DATA[name]
    return SubsetMachine(X[::2], y[::2], X[1::2], y[1::2], 1e-6, max_bytes)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("max_bytes", [10**7, 5000], ids=["exact", "libsvm"])
def test_it_trains_and_scores_as_svc_does(name, max_bytes):
    ours = machine(name, max_bytes)
    rng = np.random.default_rng(0)
    for C, gamma in [(0.5, 0.1), (10.0, 1.0), (100.0, 0.02)]:
        rows = np.sort(np.concatenate([rng.choice(np.flatnonzero(ours.code == c), 12, False) for c in range(ours.n_classes)]))
        assert ours.fits(len(rows)) == (max_bytes > 24 * len(rows) ** 2)
        trained = ours.train(rows, C, gamma)
        plain = SVC(C=C, gamma=gamma, tol=1e-6, break_ties=True).fit(ours.X[rows], ours.code[rows])
        np.testing.assert_array_equal(trained.support, rows[plain.support_])
        np.testing.assert_array_equal(trained.n_support, plain.n_support_)
        np.testing.assert_allclose(trained.dual_coef, plain.dual_coef_, atol=1e-3 * C)
        np.testing.assert_allclose(trained.intercept, plain.intercept_, atol=1e-3)
        expected = plain.score(DATA[name][0][1::2], DATA[name][1][1::2])
        assert ours.score(trained, gamma) == pytest.approx(expected, abs=0.009)


@pytest.mark.parametrize("name", DATA)
def test_gains_are_minus_the_derivatives_of_the_hinge_loss(name):
    ours = machine(name)
    rng, gamma, step = np.random.default_rng(0), 0.3, 1e-7
    rows = np.sort(np.concatenate([rng.choice(np.flatnonzero(ours.code == c), 6, False) for c in range(ours.n_classes)]))
    trained, sample = ours.train(rows, 2.0, gamma), rng.choice(len(ours.X), 40, replace=False)
    gains = ours.gains(trained, gamma, sample)
    code, new = ours.code[sample], np.setdiff1d(np.arange(len(ours.X)), rows)[::7]
    decisions = (
        rbf_kernel(ours.X[sample], ours.X[trained.support], gamma) @ pair_rows(trained.dual_coef, trained.n_support).T
        + trained.intercept
    )
    for row, found in zip(new, gains(new), strict=True):
        change = step * rbf_kernel(ours.X[sample], ours.X[[row]], gamma)[:, 0]
        rate = 0.0
        for (i, j), of_pair in zip(pairs(ours.n_classes), decisions.T, strict=True):
            if ours.code[row] in (i, j):
                there = (code == i) | (code == j)
                labels = pair_labels(code == i, ours.n_classes)[there]
                sign = pair_labels(np.array([ours.code[row] == i]), ours.n_classes)[0]
                before, after = of_pair[there], (of_pair + sign * change)[there]
                rate += (np.maximum(0, 1 - labels * before) - np.maximum(0, 1 - labels * after)).sum() / step
        assert found == pytest.approx(rate, rel=1e-4, abs=1e-6)


def test_rows_of_which_the_machine_says_nothing_are_not_classified_correctly():
    # one vector of each class, a threshold of 0, and a kernel that is 0 in floating point but at the vectors
    X, code = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0, 1])
    far = np.array([[0.0, 1.0], [1.0, 0.0], [0.01, 0.0], [0.99, 1.0]])
    ours = SubsetMachine(X, code, far, np.array([0, 1, 0, 1]), 1e-3, 10**7)
    rows = np.arange(2)
    assert ours.score(ours.train(rows, 100.0, 1000.0), 1000.0) == 0.5
    # the size of C makes no decision a silent one
    near = SubsetMachine(X, code, far[2:], np.array([0, 1]), 1e-3, 10**7)
    for C in (1e-6, 1.0, 1e6):
        assert near.score(near.train(rows, C, 1.0), 1.0) == 1.0
