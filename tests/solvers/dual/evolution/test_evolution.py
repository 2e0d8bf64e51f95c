import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.solvers.dual.evolution.evolution import KINDS, EvolutionSettings, evolve
from spotsvm.solvers.dual.evolution.swarm import SwarmSettings, swarm
from spotsvm.solvers.dual.exact.coordinate import coordinate_ascent

METHODS = [*KINDS, "swarm"]


def run(method, problem, seed=0, **changes):
    rng = np.random.default_rng(seed)
    if method == "swarm":
        return swarm(problem, rng, SwarmSettings(**changes))
    return evolve(problem, method, rng, EvolutionSettings(**changes))


def plain_evolution(problem, kind, rng, s):
    """Run the same evolution with every individual evaluated in full, O(n^2), on the same random numbers."""
    n, size, bounds = problem.n, s.population_size, problem.C * problem.y
    lower, upper = np.minimum(bounds, 0), np.maximum(bounds, 0)

    def individual(beta):
        return problem.y @ beta - 0.5 * beta @ (problem.K @ beta), beta

    pool = [individual(beta) for beta in rng.random((size, n)) * bounds]
    parents, best, idle, generation, step = pool, -np.inf, 0, 0, s.step
    free, gaussian, waiting = np.arange(n), kind == "gaussian", kind == "two_stage"
    while generation < s.max_generations and (idle < s.patience or waiting):
        if generation:
            fitness = np.array([f for f, _ in pool])
            drawn = rng.integers(len(pool), size=(size - 1, s.tournament_size))
            parents = [pool[fitness.argmax()], *(pool[d[fitness[d].argmax()]] for d in drawn)]
        if waiting and idle >= s.patience:
            values = np.array([beta for _, beta in parents])
            free = np.array([i for i in range(n) if values[:, i].any() and (values[:, i] != bounds[i]).any()], dtype=int)
            gaussian, waiting, idle = True, False, 0
        couples = rng.permutation(size)[: size // 2 * 2].reshape(-1, 2)
        couples = couples[rng.random(len(couples)) < s.crossover_probability]
        rows = list(parents)
        if len(couples):
            bits = np.unpackbits(np.frombuffer(rng.bytes(-(-len(couples) * n // 8)), np.uint8), count=len(couples) * n)
            for swapped, (a, b) in zip(bits.reshape(-1, n).astype(bool), couples, strict=True):
                rows.append(individual(np.where(swapped, parents[b][1], parents[a][1])))
                rows.append(individual(np.where(swapped, parents[a][1], parents[b][1])))
        mutants = []
        if gaussian:
            noise = np.zeros((len(rows), n))
            noise[:, free] = rng.standard_normal((len(rows), len(free))) * (step * problem.C[free])
            mutants = [individual(np.clip(row[1] + z, lower, upper)) for row, z in zip(rows, noise, strict=True)]
            share = np.mean([mutant[0] > row[0] for mutant, row in zip(mutants, rows, strict=True)])
            if share != 0.2:
                step *= s.adaptation if share < 0.2 else 1 / s.adaptation
        else:
            count = rng.binomial(len(rows) * n, 1 / n)
            hits = np.sort(rng.choice(len(rows) * n, count, replace=False, shuffle=False))
            values = bounds[hits % n] * (rng.random(count) if kind == "hybrid" else 1.0)
            for r, (_, beta) in enumerate(rows):
                mine = hits // n == r
                if mine.any():
                    i = hits[mine] % n
                    mutant = beta.copy()
                    mutant[i] = np.where(mutant[i] != 0, 0.0, values[mine])
                    mutants.append(individual(mutant))
        pool = rows + mutants
        highest = max(f for f, _ in pool)
        idle = 0 if best == -np.inf or highest > best + 1e-12 * abs(best) else idle + 1
        best, generation = highest, generation + 1
    return np.abs(max(pool, key=lambda member: member[0])[1]), generation


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("matrix", "C"), [("rbf", 100.0), ("sigmoid", 1.0)])
def test_the_same_evolution_as_with_full_evaluations(drawn, kind, matrix, C):
    problem = drawn(0, 40, matrix, C)
    for seed, changes in ((0, {}), (1, {"patience": 80, "max_generations": 80})):
        s = EvolutionSettings(**changes)
        found = evolve(problem, kind, np.random.default_rng(seed), s)
        alpha, generations = plain_evolution(problem, kind, np.random.default_rng(seed), s)
        assert found.iterations == generations
        assert problem.objective(found.alpha) == pytest.approx(problem.objective(alpha), rel=1e-9)
        np.testing.assert_array_equal(found.alpha, alpha)


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


@pytest.mark.parametrize(
    ("pulls", "pull"),
    [("uniform", lambda rng, shape: rng.random(shape)), ("gaussian", lambda rng, shape: 1.0 + rng.standard_normal(shape))],
    ids=["uniform", "gaussian"],
)
def test_the_same_swarm_as_one_particle_at_a_time(drawn, pulls, pull):
    problem = drawn(0, 40, "sigmoid", 2.0)
    found = swarm(problem, np.random.default_rng(3), SwarmSettings(pulls=pulls))
    expected = plain_swarm(problem, np.random.default_rng(3), found.iterations, pull)
    np.testing.assert_allclose(found.alpha, expected, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(METHODS),
    st.sampled_from(["rbf", "sigmoid", "distance"]),
    st.integers(1, 7),
    st.floats(0, 1),
    st.sampled_from(["uniform", "gaussian"]),
)
def test_always_feasible_and_not_above_the_optimum(drawn, seed, method, matrix, size, crossover, pulls):
    bounds = 3.0 * np.random.default_rng(seed).choice([0.0, 0.1, 1.0], 20)
    bounds[0] = 1.0
    problem = drawn(seed, 20, matrix, bounds)
    own = {"pulls": pulls} if method == "swarm" else {"crossover_probability": crossover}
    found = run(method, problem, seed, population_size=size, max_generations=60, **own)
    assert (found.alpha >= 0).all()
    assert (found.alpha <= bounds).all()
    assert 1 <= found.iterations <= 60
    assert method != "swarm" or found.evaluations == size * (found.iterations + 1)
    if matrix == "rbf":
        optimum = problem.objective(coordinate_ascent(problem, np.zeros(20), 1e-8).alpha)
        assert problem.objective(found.alpha) <= optimum + 1e-6 * abs(optimum)


@pytest.mark.parametrize("method", ["switching", "swarm"])
def test_it_stops_by_its_rule_or_at_its_cap_and_tells(drawn, method):
    found = run(method, drawn(0, 40))
    assert (found.converged, found.message) == (True, "no improvement in 5 generations")
    assert found.iterations < 1000
    capped = run(method, drawn(0, 40), max_generations=3)
    assert (capped.converged, capped.iterations, capped.message) == (False, 3, "stopped at max_generations=3")


@pytest.mark.parametrize("method", METHODS)
def test_very_few_rows(drawn, method):
    for n in (1, 2, 3):
        assert np.isfinite(run(method, drawn(0, n, C=1e6)).alpha).all()


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        (EvolutionSettings, {"population_size": 0}, "population_size=0; use 1 or more"),
        (EvolutionSettings, {"population_size": 2.5}, "population_size=2.5; use 1 or more, a whole number"),
        (EvolutionSettings, {"max_generations": np.inf}, "max_generations=inf; use 1 or more"),
        (EvolutionSettings, {"patience": 0}, "patience=0"),
        (EvolutionSettings, {"step": np.inf}, "step=inf; use a number above 0, finite"),
        (EvolutionSettings, {"step": 0.0}, "step=0.0; use a number above 0"),
        (EvolutionSettings, {"tournament_share": np.nan}, "tournament_share=nan; use a number above 0, finite"),
        (EvolutionSettings, {"crossover_probability": "1"}, "crossover_probability='1'; use a number from 0 to 1"),
        (EvolutionSettings, {"crossover_probability": 1.5}, "crossover_probability=1.5; use a number from 0 to 1"),
        (EvolutionSettings, {"adaptation": 2.0}, "adaptation=2.0; use a number above 0 and at most 1"),
        (SwarmSettings, {"population_size": 2.5}, "population_size=2.5; use 1 or more, a whole number"),
        (SwarmSettings, {"max_generations": np.inf}, "max_generations=inf; use 1 or more"),
        (SwarmSettings, {"inertia": np.nan}, "inertia=nan; use a finite number, 0 or more"),
        (SwarmSettings, {"inertia": -0.1}, "inertia=-0.1; use a finite number, 0 or more"),
        (SwarmSettings, {"local_weight": "1"}, "local_weight='1'; use a finite number, 0 or more"),
        (SwarmSettings, {"pulls": np.array(["uniform"])}, "pulls=array.* is unknown; use 'uniform' or 'gaussian'"),
        (SwarmSettings, {"pulls": "strong"}, "pulls='strong' is unknown; use 'uniform' or 'gaussian'"),
    ],
)
def test_bad_settings(kind, changes, said):
    with pytest.raises(SolverError, match=said):
        kind(**changes)


def test_an_unknown_mutation(drawn):
    with pytest.raises(SolverError, match="kind='flip'; use one of gaussian, switching, hybrid"):
        run("flip", drawn(0))


@pytest.mark.parametrize("method", ["hybrid", "swarm"])
def test_a_problem_with_bias_is_refused(drawn, method):
    with pytest.raises(SolverError, match="bias=True; this method searches the box alone"):
        run(method, drawn(0, bias=True))


def test_the_second_stage_moves_only_what_the_first_left_between_the_bounds(drawn):
    problem = drawn(0, 60, C=5.0)
    first = run("switching", problem)
    stopped = run("two_stage", problem, max_generations=first.iterations)
    np.testing.assert_array_equal(stopped.alpha, first.alpha)
    assert not stopped.converged
    found = run("two_stage", problem)
    assert found.iterations > first.iterations
    assert problem.objective(found.alpha) > problem.objective(first.alpha)
    settled = (first.alpha == 0) | (first.alpha == 5.0)
    kept = found.alpha[settled] == first.alpha[settled]
    assert settled.sum() > 20
    assert kept.mean() > 0.9  # the other parents may differ from the best one at a few of them


def test_in_as_many_generations_two_stages_come_nearer_than_switching_and_hybrid(drawn):
    reached = {}
    for kind in KINDS:
        for seed in range(5):
            problem = drawn(seed, 60, C=10.0)
            optimum = problem.objective(coordinate_ascent(problem, np.zeros(60), 1e-8).alpha)
            found = run(kind, problem, seed, max_generations=300)
            reached.setdefault(kind, []).append(problem.objective(found.alpha) / optimum)
    medians = {kind: np.median(shares) for kind, shares in reached.items()}
    assert medians["two_stage"] > max(medians["switching"], medians["hybrid"]) + 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_more_generations_come_closer_to_the_optimum(drawn, kind):
    problem = drawn(0, 60, C=1.0)
    optimum = problem.objective(coordinate_ascent(problem, np.zeros(60), 1e-8).alpha)
    reached = []
    for generations in (5, 50, 2000):
        found = run(kind, problem, patience=generations, max_generations=generations)
        assert found.iterations == generations
        reached.append(problem.objective(found.alpha) / optimum)
    assert reached[0] < reached[1] < reached[2]
    assert reached[2] > 0.6
