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


def test_two_generations_without_growth_end_it():
    # two children a generation: growth, none, growth, none, none
    improved, means = run(Phase(Counting([1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 9, 9]), 2))
    assert means == [0.0, 0.5, 0.5, 1.5, 1.5, 1.5]
    assert improved


def test_copies_of_the_better_raise_the_average():
    _, means = run(Phase(Counting([], first=(1.0, 0.0)), 2))
    assert means == [0.5, 1.0, 1.0, 1.0]


def test_nothing_to_improve():
    improved, means = run(Phase(Counting([-1] * 10), 2))
    assert (improved, means) == (False, [0.0] * 3)


def test_the_budget_ends_it():
    phase = Phase(Counting(range(10)), 2)
    _, means = run(phase, may_go_on=iter([True, True, False]).__next__)
    assert (len(means), phase.cut_short) == (3, True)
    run(phase)
    assert not phase.cut_short


def test_a_run_of_so_many_generations_at_most_renews_nothing():
    asked = []

    def renew(population, rng):
        asked.append(population.mean)

    phase = Phase(Counting([1, 1, 2, 2, 3, 3, 3, 3]), 2, renew, most=2)
    assert run(phase) == (True, [0.0, 1.0, 2.0])
    assert (phase.cut_short, asked) == (False, [])
    # it goes on where it was; this time it stagnates just as its generations are over, and is renewed after that
    assert run(phase)[1] == [2.0, 3.0, 3.0]
    assert run(phase)[1] == [3.0, 3.0, 3.0]
    run(phase)
    assert asked == [3.0]


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


def test_a_beginning_is_what_the_first_run_is_measured_by():
    phase = Phase(Counting([]), 2)
    phase.begin([5.0, 5.0], value)
    assert not phase.run(lambda individuals: value(individuals) - 1, np.random.default_rng(0))


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
    best = Phase(Counting([1, 0, 1, 1, 5, 5]), 2, progress=lambda population: population.best_fitness)
    _, means = run(best)
    assert means == [0.0, 0.5, 1.0, 5.0, 5.0, 5.0]
    best = Phase(Counting([1, 0, 0.5, 0, 0.7, 0, 5, 5]), 2, progress=lambda population: population.best_fitness)
    _, means = run(best)
    assert means == pytest.approx([0.0, 0.5, 0.75, 0.85])


def test_it_finds_an_optimum():
    phase = Phase(ModelGenetics([np.geomspace(0.01, 100, 5), np.geomspace(0.01, 100, 4)]), 20)

    def fitness(models):
        return np.array([[-(np.log(a / 3.0) ** 2) - np.log(b / 0.2) ** 2] for a, b in models])

    assert phase.run(fitness, np.random.default_rng(0))
    assert np.log(phase.population.best) == pytest.approx(np.log([3.0, 0.2]), abs=0.1)
