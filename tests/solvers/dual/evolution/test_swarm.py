import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.solvers.dual.evolution.swarm import SwarmSettings, swarm
from spotsvm.solvers.dual.exact.coordinate import coordinate_ascent
from spotsvm.solvers.errors import SolverError


def plain_swarm(problem, rng, generations, pull):
    """Move the particles one by one."""
    bounds = problem.C * problem.y
    lower, upper = np.minimum(bounds, 0), np.maximum(bounds, 0)

    def fitness(beta):
        return problem.y @ beta - 0.5 * beta @ problem.K @ beta

    places = list(rng.random((10, problem.n)) * bounds)
    velocities = [np.zeros(problem.n) for _ in places]
    own = [(fitness(place), place) for place in places]
    for generation in range(generations):
        leader = max(own, key=lambda best: best[0])[1]
        towards_own, towards_leader = pull(rng, (10, problem.n)), pull(rng, (10, problem.n))
        for k in range(10):
            inertia = 0.1 * (1 - generation / 1000)
            velocities[k] = (
                inertia * velocities[k] + towards_own[k] * (own[k][1] - places[k]) + towards_leader[k] * (leader - places[k])
            )
            places[k] = np.clip(places[k] + velocities[k], lower, upper)
        own = [max(best, (fitness(place), place), key=lambda b: b[0]) for best, place in zip(own, places, strict=True)]
    return np.abs(max(own, key=lambda best: best[0])[1])


@pytest.mark.parametrize("matrix", ["rbf", "sigmoid"])
@pytest.mark.parametrize(
    ("pulls", "pull"),
    [("uniform", lambda rng, shape: rng.random(shape)), ("gaussian", lambda rng, shape: 1.0 + rng.standard_normal(shape))],
    ids=["uniform", "gaussian"],
)
def test_the_same_swarm_as_one_particle_at_a_time(drawn, matrix, pulls, pull):
    problem = drawn(0, 40, matrix, 2.0)
    found = swarm(problem, np.random.default_rng(3), SwarmSettings(pulls=pulls))
    expected = plain_swarm(problem, np.random.default_rng(3), found.iterations, pull)
    np.testing.assert_allclose(found.alpha, expected, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["rbf", "sigmoid", "distance"]), st.sampled_from(["uniform", "gaussian"]))
def test_always_feasible_and_not_above_the_optimum(drawn, seed, matrix, pulls):
    bounds = 3.0 * np.random.default_rng(seed).choice([0.0, 0.1, 1.0], 20)
    bounds[0] = 1.0
    problem = drawn(seed, 20, matrix, bounds)
    found = swarm(problem, np.random.default_rng(seed), SwarmSettings(pulls=pulls, max_generations=60))
    assert (found.alpha >= 0).all()
    assert (found.alpha <= bounds).all()
    assert found.iterations <= 60
    assert found.evaluations == 10 * (found.iterations + 1)
    if matrix == "rbf":
        optimum = problem.objective(coordinate_ascent(problem, np.zeros(20), 1e-8).alpha)
        assert problem.objective(found.alpha) <= optimum + 1e-6 * abs(optimum)


def test_a_seed_gives_one_result(drawn):
    problem = drawn(4, 30)
    one, two, other = (swarm(problem, np.random.default_rng(seed)).alpha for seed in (7, 7, 8))
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_it_stops_by_its_rule_or_at_its_cap(drawn):
    problem = drawn(0, 40)
    found = swarm(problem, np.random.default_rng(0))
    assert found.converged
    assert found.message == "no improvement in 5 generations"
    capped = swarm(problem, np.random.default_rng(0), SwarmSettings(max_generations=3))
    assert (capped.converged, capped.iterations) == (False, 3)
    assert capped.message == "stopped at max_generations=3"


@pytest.mark.parametrize("n", [1, 2])
def test_very_few_rows(drawn, n):
    assert np.isfinite(swarm(drawn(0, n, C=1e6), np.random.default_rng(0)).alpha).all()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"population_size": 0}, "population_size=0; use 1 or more"),
        ({"population_size": 2.5}, "population_size=2.5; use 1 or more, a whole number"),
        ({"max_generations": np.inf}, "max_generations=inf; use 1 or more"),
        ({"inertia": np.nan}, "inertia=nan; use a finite number, 0 or more"),
        ({"local_weight": "1"}, "local_weight='1'; use a finite number, 0 or more"),
        ({"pulls": np.array(["uniform"])}, "pulls=array.*; use 'uniform' or 'gaussian'"),
        ({"inertia": -0.1}, "inertia=-0.1; use a finite number, 0 or more"),
        ({"pulls": "strong"}, "pulls='strong'; use 'uniform' or 'gaussian'"),
    ],
)
def test_bad_settings(changes, said):
    with pytest.raises(SolverError, match=said):
        SwarmSettings(**changes)


def test_a_problem_with_bias_is_refused(drawn):
    with pytest.raises(SolverError, match="bias=True; this method searches the box alone"):
        swarm(drawn(0, bias=True), np.random.default_rng(0))
