import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.estimators.reduced.fitness import SubsetFitness
from spotsvm.estimators.reduced.reduction import Reduction, given_part, held_out_part
from spotsvm.estimators.reduced.settings import Sizes, check_model, check_sizes
from spotsvm.solvers.search.alternating import ModelGenetics, SubsetGenetics

CLASSES = np.repeat([0, 1], 64)
GROWING = Sizes(2, 50)


class Toy:
    """A machine that needs `enough` rows, has a share of them as support vectors, and likes C = 3."""

    n_classes = 2

    def __init__(self, enough, share):
        self.enough, self.share = enough, share

    def train(self, rows, C, gamma):
        self.last = min(len(rows), self.enough) / self.enough - 0.1 * abs(np.log(C / 3.0)) + 1e-4 * rows.mean()
        return type("Trained", (), {"support": np.arange(max(2, int(self.share * len(rows))))})

    def score(self, trained, gamma):
        return self.last


def reduction(enough=40, share=1.0, sizes=GROWING, n_trials=None):
    return Reduction(
        SubsetFitness(Toy(enough, share), True),
        SubsetGenetics(CLASSES, sizes.start),
        ModelGenetics([(0.1, 1.0, 10.0), (1.0,)]),
        sizes,
        10,
        n_trials,
        np.random.default_rng(0),
    )


def sizes_of(one, kind="training set"):
    history = one.history
    return history[history["kind"] == kind].groupby("phase")["n_per_class"].first().tolist()


@pytest.mark.parametrize("method", ["alga", "gasvm"])
def test_sets_of_support_vectors_alone_double(method):
    one = reduction()
    one.run(method)
    sizes = sizes_of(one)
    unique = list(dict.fromkeys(sizes))
    assert unique[:5] == [2, 4, 8, 16, 32]
    assert len(one.fitness.best.rows) >= 40
    assert one.stopped_by == "no improvement"


@pytest.mark.parametrize("method", ["alga", "gasvm"])
def test_sets_grow_three_times_in_vain_and_no_more(method):
    class Step(Toy):
        def train(self, rows, C, gamma):
            trained = super().train(rows, C, gamma)
            self.last = float(len(rows) >= self.enough)
            return trained

    for enough, sizes in [(32, [2, 4, 8, 16]), (64, [2, 4, 8, 16])]:
        one = reduction()
        one.fitness.machine = Step(enough, 1.0)
        one.run(method)
        assert list(dict.fromkeys(sizes_of(one)))[:4] == sizes
        assert one.fitness.best.score == (1.0 if enough == 32 else 0.0)
        if enough == 64:
            assert max(sizes_of(one)) == 16


def test_growth_follows_the_share_of_support_vectors():
    one = reduction(share=0.65)
    one.run("alga")
    unique = list(dict.fromkeys(sizes_of(one)))
    for size, larger in zip(unique[1:], unique[2:], strict=False):
        share = int(0.65 * 2 * size) / (2 * size)
        assert larger == min(50, max(size + 1, int(size * (1 + (share - 0.3) / 0.7))))


@pytest.mark.parametrize("method", ["alga", "gasvm", "ga-model"])
def test_a_phase_that_the_budget_cuts_short_has_not_stopped_by_itself(method):
    free = reduction(sizes=Sizes(4, 4))
    free.run(method)
    assert free.stopped_by == "no improvement"
    for budget in range(1, free.fitness.n_evaluations, 97 if method == "alga" else 29):
        one = reduction(sizes=Sizes(4, 4), n_trials=budget)
        one.run(method)
        assert one.stopped_by == ("budget" if len(one.history) < len(free.history) else "no improvement")


def test_random_draws_end_when_there_is_nothing_new():
    one = Reduction(
        SubsetFitness(Toy(2, 1.0), True),
        SubsetGenetics([0, 0, 1, 1], 1),
        ModelGenetics([(1.0,), (1.0,)]),
        Sizes(1, 1),
        10,
        1000,
        np.random.default_rng(0),
    )
    one.run("random")
    assert one.stopped_by == "no new pairs"
    assert one.fitness.n_evaluations == 4


@given(st.lists(st.integers(2, 20), min_size=2, max_size=4), st.floats(0.01, 0.99), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_each_class_is_in_both_parts(counts, fraction, seed):
    code = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    X = np.arange(len(code), dtype=float)[:, None]
    part = held_out_part(X, code, np.arange(len(counts)), fraction, seed)
    held_out = part.X[:, 0].astype(int)
    assert sorted([*part.training, *held_out]) == list(range(len(code)))
    np.testing.assert_array_equal(part.code, code[held_out])
    for c, count in enumerate(counts):
        there = int((part.code == c).sum())
        assert 1 <= there <= count - 1
        assert abs(there - fraction * count) <= 1


def test_a_part_that_is_given():
    part = given_part((np.ones((3, 2)), ["b", "a", "c"]), np.array(["a", "b", "c"]), 7, 2)
    assert part.code.tolist() == [1, 0, 2]
    assert part.training.tolist() == list(range(7))


X = np.random.default_rng(0).normal(size=(50, 3))
GRID = (0.1, 1.0), (0.5, 5.0)


@pytest.mark.parametrize(
    ("n_per_class", "most", "n_features", "smallest", "sizes"),
    [
        (7, None, 2, 40, Sizes(7, 7)),
        ("grow", None, 2, 100, Sizes(4, 50)),
        ("grow", None, 9, 100, Sizes(9, 50)),
        ("grow", None, 500, 100, Sizes(16, 50)),
        ("grow", None, 500, 10_000, Sizes(16, 500)),
        ("grow", 2000, 500, 10_000, Sizes(16, 2000)),
        ("grow", None, 2, 5, Sizes(4, 4)),
        ("grow", None, 2, 2, Sizes(2, 2)),
        (1, None, 2, 1, Sizes(1, 1)),
        ("grow", 3, 8, 100, Sizes(3, 3)),
    ],
)
def test_sizes(n_per_class, most, n_features, smallest, sizes):
    found = check_sizes(n_per_class, most, n_features, {"a": smallest, "b": smallest + 5}, False)
    assert found == sizes
    assert found.grows == (sizes.most > sizes.start)


@pytest.mark.parametrize(
    ("method", "C", "gamma", "values"),
    [
        ("alga", None, None, ([0.1, 1.0], [0.5, 5.0])),
        ("gasvm", "grid", "grid", ([0.1, 1.0], [0.5, 5.0])),
        ("gasvm", 3, "grid", ([3.0], [0.5, 5.0])),
        ("nsga2", None, 2, ([0.1, 1.0], [2.0])),
        ("random", 1, "auto", ([1.0], [1 / 3])),
        ("alga", 1, "scale", ([1.0], [1 / (3 * X.var())])),
    ],
)
def test_models(method, C, gamma, values):
    of_C, of_gamma = check_model(method, C, gamma, *GRID, X)
    assert of_C == pytest.approx(values[0])
    assert of_gamma == pytest.approx(values[1])
