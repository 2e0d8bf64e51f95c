from functools import partial

import numpy as np
import pytest
from driven import drive, two_bowls, zdt1
from pymoo.algorithms.moo.nsga2 import NSGA2, binary_tournament
from pymoo.core.mixed import MixedVariableDuplicateElimination, MixedVariableGA, MixedVariableMating
from pymoo.core.population import Population
from pymoo.core.problem import ElementwiseProblem
from pymoo.core.variable import Choice, Integer, Real
from pymoo.indicators.hv import HV
from pymoo.operators.selection.tournament import TournamentSelection
from pymoo.operators.survival.rank_and_crowding import RankAndCrowding
from pymoo.optimize import minimize

from spotsvm.searches import Coordinate, Domain, Nsga2Search, RandomSearch

Nsga2 = partial(Nsga2Search, models=False)


class Zdt1(ElementwiseProblem):
    def __init__(self):
        super().__init__(n_var=4, n_obj=2, xl=0.0, xu=1.0)
        self.points = []

    def _evaluate(self, x, out, *args, **kwargs):
        self.points.append(x.copy())
        out["F"] = zdt1(x)


def test_the_points_are_those_of_pymoo():
    """Same seed, same first generation: pymoo's own minimize, with its own defaults, evaluates the very same points."""
    search = Nsga2(Domain.continuous(4), 3, population=12)
    drive(search, zdt1, 120)
    problem = Zdt1()
    minimize(problem, NSGA2(pop_size=12, sampling=search.points[:12]), ("n_gen", 10), seed=3)
    assert np.array_equal(search.points, problem.points)


def test_the_points_are_those_of_pymoo_for_variables_of_mixed_kinds():
    domain = Domain((Coordinate(), Coordinate(levels=9), Coordinate(levels=3, categorical=True), Coordinate(levels=40)))

    class Mixed(ElementwiseProblem):
        def __init__(self):
            kinds = {0: Real(bounds=(0, 1)), 1: Integer(bounds=(0, 8)), 2: Choice(options=[0, 1, 2]), 3: Integer(bounds=(0, 39))}
            super().__init__(vars=kinds, n_obj=2)
            self.points = []

        def point(self, x):
            return np.array([x[0], (x[1] + 0.5) / 9, (x[2] + 0.5) / 3, (x[3] + 0.5) / 40])

        def _evaluate(self, x, out, *args, **kwargs):
            self.points.append(self.point(x))
            out["F"] = two_bowls(self.points[-1])

    search = Nsga2(domain, 1, population=10)
    drive(search, two_bowls, 60)
    first = [{0: p[0], 1: int(9 * p[1]), 2: int(3 * p[2]), 3: int(40 * p[3])} for p in search.points[:10]]
    once = MixedVariableDuplicateElimination()
    mating = MixedVariableMating(selection=TournamentSelection(func_comp=binary_tournament), eliminate_duplicates=once)
    algorithm = MixedVariableGA(
        pop_size=10,
        sampling=Population.new(X=first),
        mating=mating,
        eliminate_duplicates=once,
        survival=RankAndCrowding(),
        advance_after_initial_infill=True,
    )
    algorithm.tournament_type = "comp_by_dom_and_crowding"
    problem = Mixed()
    minimize(problem, algorithm, ("n_gen", 6), seed=1)
    assert np.array_equal(search.points, problem.points)


def test_the_first_generation_is_a_latin_hypercube():
    search = Nsga2(Domain.continuous(3), 4, population=10)
    suggestions = drive(search, two_bowls, 20)
    assert [s.origin for s in suggestions] == ["design"] * 10 + ["generation"] * 10
    assert (np.sort((10 * search.points[:10]).astype(int), axis=0) == np.arange(10)[:, None]).all()


def test_a_slow_point_does_not_stop_the_others():
    search = Nsga2(Domain.continuous(2), population=6)
    batch = [search.ask().point for _ in range(6)]
    assert [search.ask().origin for _ in range(2)] == ["random", "random"]  # nothing is known yet
    for point in batch[1:]:
        search.tell(point, two_bowls(point))
    assert search.ask().origin == "generation"
    search.tell(batch[0], [0.0, 0.0])
    assert [s.origin for s in drive(search, two_bowls, 12)] == ["generation"] * 12
    near = np.abs(search.points[-6:] - batch[0]).max(axis=1)
    assert (near < 0.2).any()  # the late one, best of all, has become a parent


def test_failures_rank_behind_all_others_and_have_no_children():
    search = Nsga2(Domain.continuous(2), 2, population=10)
    drive(search, lambda u: [np.nan, np.nan] if u[0] > 0.5 else [u[0] + u[1], 2 - u[0] + u[1]], 100)
    late = search.points[60:]
    assert (late[:, 0] > 0.5).mean() < 0.3
    survivors = search._generations._algorithm._algorithm.pop
    assert (survivors.get("G") == 0).all()
    assert np.isfinite(survivors.get("F")).all()


@pytest.mark.parametrize(("n_told", "origins"), [(5, ["design"] * 3 + ["generation"]), (9, ["generation"])])
def test_points_told_before_take_the_place_of_as_many_of_the_first_generation(n_told, origins):
    search = Nsga2(Domain.continuous(2), population=8)
    for k in range(n_told):
        search.tell([k / n_told, 0.3], two_bowls(np.array([k / n_told, 0.3])))
    search.tell([0.9, 0.9], np.nan)
    assert search.n_foreseen == (3 if n_told == 5 else 8)
    assert [s.origin for s in drive(search, two_bowls, len(origins))] == origins


def parents(search):
    return [tuple(individual.X.values()) for individual in search._generations._algorithm._algorithm.pop]


def test_points_assumed_before_are_waited_for_and_compete_and_so_do_those_told_later():
    search, prior = Nsga2(Domain.continuous(2), population=6), np.array([[0.5, 0.5], [0.31, 0.31]])
    for point in prior:
        search.assume(point)
    batch = [search.ask().point for _ in range(4)]
    assert search.n_foreseen == 1
    for point in (*prior, *batch):
        search.tell(point, two_bowls(point))
    drive(search, two_bowls, 6)
    assert (0.5, 0.5) in parents(search)
    later = Nsga2(Domain.continuous(2), population=6)
    drive(later, two_bowls, 8)
    later.tell(prior[0], two_bowls(prior[0]))
    drive(later, two_bowls, 5)
    assert (0.5, 0.5) in parents(later)


@pytest.mark.parametrize("seed", range(3))
def test_it_covers_more_than_random_search(seed):
    search, other = Nsga2(Domain.continuous(4), seed), RandomSearch(Domain.continuous(4), seed)
    drive(search, zdt1, 200)
    drive(other, lambda u: 0.0, 200)
    volume = HV(ref_point=np.array([1.1, 6.0]))
    assert volume(search.values) > volume(np.array([zdt1(u) for u in other.points])) + 0.2
