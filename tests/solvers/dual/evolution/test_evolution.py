import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.solvers.dual.evolution.evolution import KINDS, EvolutionSettings, evolve
from spotsvm.solvers.dual.exact.coordinate import coordinate_ascent
from spotsvm.solvers.errors import SolverError

SEEDS = st.integers(0, 10_000)


def plain_evolution(problem, kind, rng, s):
    """Run the same evolution with every individual evaluated in full, O(n^2), on the same random numbers."""
    n, size, bounds = problem.n, s.population_size, problem.C * problem.y
    lower, upper = np.minimum(bounds, 0), np.maximum(bounds, 0)

    def individual(beta):
        return problem.y @ beta - 0.5 * beta @ (problem.K @ beta), beta

    pool = [individual(beta) for beta in rng.random((size, n)) * bounds]
    parents, best, idle, generation, step = pool, -np.inf, 0, 0, s.step
    while generation < s.max_generations and idle < s.patience:
        if generation:
            fitness = np.array([f for f, _ in pool])
            drawn = rng.integers(len(pool), size=(size - 1, s.tournament_size))
            parents = [pool[fitness.argmax()], *(pool[d[fitness[d].argmax()]] for d in drawn)]
        couples = rng.permutation(size)[: size // 2 * 2].reshape(-1, 2)
        couples = couples[rng.random(len(couples)) < s.crossover_probability]
        rows = list(parents)
        if len(couples):
            bits = np.unpackbits(np.frombuffer(rng.bytes(-(-len(couples) * n // 8)), np.uint8), count=len(couples) * n)
            for swapped, (a, b) in zip(bits.reshape(-1, n).astype(bool), couples, strict=True):
                rows.append(individual(np.where(swapped, parents[b][1], parents[a][1])))
                rows.append(individual(np.where(swapped, parents[a][1], parents[b][1])))
        mutants = []
        if kind == "gaussian":
            noise = rng.standard_normal((len(rows), n)) * (step * problem.C)
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
@pytest.mark.parametrize("matrix", ["rbf", "sigmoid"])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_the_same_evolution_as_with_full_evaluations(drawn, kind, matrix, C):
    problem = drawn(0, 60, matrix, C)
    for seed, changes in ((0, {}), (1, {"patience": 250, "max_generations": 250})):
        s = EvolutionSettings(**changes)
        found = evolve(problem, kind, np.random.default_rng(seed), s)
        alpha, generations = plain_evolution(problem, kind, np.random.default_rng(seed), s)
        assert found.iterations == generations
        assert problem.objective(found.alpha) == pytest.approx(problem.objective(alpha), rel=1e-9)
        np.testing.assert_array_equal(found.alpha, alpha)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.sampled_from(KINDS), st.sampled_from(["rbf", "sigmoid", "distance"]), st.integers(1, 7), st.floats(0, 1))
def test_always_feasible_and_not_above_the_optimum(drawn, seed, kind, matrix, size, crossover):
    bounds = 3.0 * np.random.default_rng(seed).choice([0.0, 0.1, 1.0], 20)
    bounds[0] = 1.0
    problem = drawn(seed, 20, matrix, bounds)
    s = EvolutionSettings(population_size=size, crossover_probability=crossover, max_generations=60)
    found = evolve(problem, kind, np.random.default_rng(seed), s)
    assert (found.alpha >= 0).all()
    assert (found.alpha <= bounds).all()
    assert 1 <= found.iterations <= 60
    if matrix == "rbf":
        optimum = problem.objective(coordinate_ascent(problem, np.zeros(20), 1e-8).alpha)
        assert problem.objective(found.alpha) <= optimum + 1e-6 * abs(optimum)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_one_result(drawn, kind):
    problem = drawn(4, 30)
    one, two, other = (evolve(problem, kind, np.random.default_rng(seed)).alpha for seed in (7, 7, 8))
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_switching_goes_only_to_the_ends(drawn):
    problem = drawn(0, 30, C=2.0)
    s = EvolutionSettings(patience=2000, max_generations=2000)
    alpha = evolve(problem, "switching", np.random.default_rng(0), s).alpha
    first = np.random.default_rng(0).random((10, 30)) * 2.0
    for i in range(30):
        assert alpha[i] in (0.0, 2.0, *first[:, i])  # a coordinate never hit keeps a value it started with
    assert np.isin(alpha, [0.0, 2.0]).sum() >= 15


@pytest.mark.parametrize("kind", KINDS)
def test_more_generations_come_closer_to_the_optimum(drawn, kind):
    problem = drawn(0, 60, C=1.0)
    optimum = problem.objective(coordinate_ascent(problem, np.zeros(60), 1e-8).alpha)
    reached = []
    for generations in (5, 50, 2000):
        s = EvolutionSettings(patience=generations, max_generations=generations)
        found = evolve(problem, kind, np.random.default_rng(0), s)
        assert found.iterations == generations
        reached.append(problem.objective(found.alpha) / optimum)
    assert reached[0] < reached[1] < reached[2]
    assert reached[2] > 0.6


def test_the_stopping_rule_is_told(drawn):
    found = evolve(drawn(0, 40), "switching", np.random.default_rng(0))
    assert found.converged
    assert found.message == "no improvement in 5 generations"
    assert found.iterations < 1000


def test_the_cap_is_told(drawn):
    found = evolve(drawn(0, 40), "hybrid", np.random.default_rng(0), EvolutionSettings(max_generations=3))
    assert (found.converged, found.iterations, found.message) == (False, 3, "stopped at max_generations=3")


def test_the_papers_settings():
    s = EvolutionSettings()
    assert (s.population_size, s.tournament_size, s.crossover_probability) == (10, 3, 0.9)
    assert (s.max_generations, s.patience, s.step) == (1000, 5, 0.1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_rows(drawn, kind, n):
    found = evolve(drawn(0, n, C=1e6), kind, np.random.default_rng(0))
    assert np.isfinite(found.alpha).all()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"population_size": 0}, "population_size=0; use 1 or more"),
        ({"population_size": 2.5}, "population_size=2.5; use 1 or more, a whole number"),
        ({"max_generations": np.inf}, "max_generations=inf; use 1 or more"),
        ({"patience": np.nan}, "patience=nan; use 1 or more"),
        ({"step": np.inf}, "step=inf; use a number above 0, finite"),
        ({"tournament_share": np.inf}, "tournament_share=inf; use a number above 0, finite"),
        ({"crossover_probability": "1"}, "crossover_probability='1'; use a number from 0 to 1"),
        ({"patience": 0}, "patience=0"),
        ({"crossover_probability": 1.5}, "crossover_probability=1.5; use a number from 0 to 1"),
        ({"step": 0.0}, "step=0.0; use a number above 0"),
        ({"adaptation": 2.0}, "adaptation=2.0; use a number above 0 and at most 1"),
        ({"tournament_share": float("nan")}, "tournament_share=nan"),
    ],
)
def test_bad_settings(changes, said):
    with pytest.raises(SolverError, match=said):
        EvolutionSettings(**changes)


def test_an_unknown_mutation(drawn):
    with pytest.raises(SolverError, match="kind='flip'; use one of gaussian, switching, hybrid"):
        evolve(drawn(0), "flip", np.random.default_rng(0))


def test_a_problem_with_bias_is_refused(drawn):
    with pytest.raises(SolverError, match="bias=True; this method searches the box alone"):
        evolve(drawn(0, bias=True), "hybrid", np.random.default_rng(0))
