import numpy as np
import pytest

from spotsvm.solvers.search.alternating import ModelGenetics, Phase


class Counting:
    """Individuals are numbers; children come from a list, in turn."""

    def __init__(self, children, first=(0.0, 0.0)):
        self.children, self.first = list(children), list(first)

    def initial(self, size, rng):
        return self.first

    def cross(self, better, worse, rng):
        return self.children.pop(0) if self.children else better

    def mutate(self, individual, rng):
        return individual


def value(individuals):
    return np.array([[float(one)] for one in individuals])


def run(phase, **options):
    means = []
    improved = phase.run(value, np.random.default_rng(0), lambda population: means.append(population.mean), **options)
    return improved, means


@pytest.mark.parametrize(
    ("children", "first", "expected"),
    [
        # two children a generation: growth, none, growth, none, none
        ([1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 9, 9], (0.0, 0.0), [0.0, 0.5, 0.5, 1.5, 1.5, 1.5]),
        ([], (1.0, 0.0), [0.5, 1.0, 1.0, 1.0]),  # copies of the better raise the average
        ([-1] * 10, (0.0, 0.0), [0.0] * 3),
    ],
)
def test_two_generations_without_growth_end_it(children, first, expected):
    assert run(Phase(Counting(children, first), 2)) == (expected[-1] > expected[0], expected)


def test_a_run_must_surpass_the_best_earlier_one():
    phase = Phase(Counting([3, 3, 3, 3]), 2)
    assert run(phase)[0]
    assert phase.highest_mean == 3.0
    assert not run(phase)[0]
    # another fixed partner: all are worth less, then somewhat more, and yet less than once
    worse = np.random.default_rng(0)
    assert not phase.run(lambda individuals: value(individuals) - 2.5, worse)
    assert phase.highest_mean == 3.0
    assert phase.run(lambda individuals: value(individuals) + 0.5, worse)
    begun = Phase(Counting([]), 2)
    begun.begin([5.0, 5.0], value)
    assert not begun.run(lambda individuals: value(individuals) - 1, worse)


def test_what_is_renewed_and_when():
    asked = []

    def renew(population, rng):
        asked.append(population.best)
        return [population.best + 10, 0.0] if len(asked) == 1 else None

    phase = Phase(Counting([1, 1]), 2, renew)
    run(phase)
    assert asked == []
    _, means = run(phase)
    assert asked == [1.0]
    assert means[0] == 5.5
    _, means = run(phase)
    assert means[0] == 11.0


def test_another_measure_of_progress():
    for children, means in [
        ([1, 0, 1, 1, 5, 5], [0.0, 0.5, 1.0, 5.0, 5.0, 5.0]),
        ([1, 0, 0.5, 0, 0.7, 0, 5], [0, 0.5, 0.75, 0.85]),
    ]:
        best = Phase(Counting(children), 2, progress=lambda population: population.best_fitness)
        assert run(best)[1] == pytest.approx(means)


def test_it_finds_an_optimum():
    phase = Phase(ModelGenetics([np.geomspace(0.01, 100, 5), np.geomspace(0.01, 100, 4)]), 20)

    def fitness(models):
        return np.array([[-(np.log(a / 3.0) ** 2) - np.log(b / 0.2) ** 2] for a, b in models])

    assert phase.run(fitness, np.random.default_rng(0))
    assert np.log(phase.population.best) == pytest.approx(np.log([3.0, 0.2]), abs=0.1)
