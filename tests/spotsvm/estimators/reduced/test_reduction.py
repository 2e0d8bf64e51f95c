import numpy as np
import pytest

from spotsvm.estimators.reduced.fitness import SubsetFitness
from spotsvm.estimators.reduced.reduction import Reduction
from spotsvm.estimators.reduced.settings import Sizes
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

    def accuracy(self, trained, gamma):
        return self.last


def reduction(enough=40, share=1.0, sizes=GROWING, max_evaluations=None):
    return Reduction(
        SubsetFitness(Toy(enough, share), True),
        SubsetGenetics(CLASSES, sizes.start),
        ModelGenetics([(0.1, 1.0, 10.0), (1.0,)]),
        sizes,
        10,
        max_evaluations,
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
        assert one.fitness.best.accuracy == (1.0 if enough == 32 else 0.0)
        if enough == 64:
            assert max(sizes_of(one)) == 16


def test_growth_follows_the_share_of_support_vectors():
    one = reduction(share=0.65)
    one.run("alga")
    unique = list(dict.fromkeys(sizes_of(one)))
    for size, larger in zip(unique[1:], unique[2:], strict=False):
        share = int(0.65 * 2 * size) / (2 * size)
        assert larger == min(50, max(size + 1, int(size * (1 + (share - 0.3) / 0.7))))


def test_sets_with_rows_to_spare_do_not_grow():
    one = reduction(share=0.2, sizes=Sizes(8, 50))
    one.run("alga")
    assert set(sizes_of(one)) == {8}


def test_sets_grow_no_further_than_they_may():
    one = reduction(enough=100, sizes=Sizes(2, 11))
    one.run("alga")
    assert max(sizes_of(one)) == 11


def test_models_start_again_from_the_grid_after_sets_have_grown():
    one = reduction()
    tried = []
    train = one.fitness.machine.train

    def watch(rows, C, gamma):
        tried.append((len(rows), C))
        return train(rows, C, gamma)

    one.fitness.machine.train = watch
    one.run("alga")
    sizes = {size for size, _ in tried}
    assert len(sizes) > 3
    assert all({0.1, 1.0, 10.0} <= {C for size, C in tried if size == n} for n in sizes)


@pytest.mark.parametrize("method", ["alga", "gasvm", "ga-model", "nsga2", "random"])
def test_the_budget_ends_every_method_at_the_next_generation(method):
    one = reduction(max_evaluations=50, sizes=Sizes(4, 4))
    one.run(method)
    assert one.fitness.n_evaluations <= 50 + 2 * 10
    assert one.stopped_by == "budget"


@pytest.mark.parametrize("method", ["alga", "gasvm", "ga-model"])
def test_a_phase_that_the_budget_cuts_short_has_not_stopped_by_itself(method):
    free = reduction(sizes=Sizes(4, 4))
    free.run(method)
    assert free.stopped_by == "no improvement"
    for budget in range(1, free.fitness.n_evaluations, 41 if method == "alga" else 7):
        one = reduction(sizes=Sizes(4, 4), max_evaluations=budget)
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
