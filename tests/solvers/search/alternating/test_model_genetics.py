import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.solvers.search.alternating import ModelGenetics

GRID = [(0.1, 1, 10, 100), (0.01, 0.1, 1, 10, 100)]
POSITIVE = st.floats(1e-6, 1e6)
PAIRS = st.tuples(POSITIVE, POSITIVE)


def test_the_first_population_is_the_paper_s_grid():
    models = ModelGenetics(GRID).initial(7, np.random.default_rng(0))
    assert len(models) == len(set(models)) == 20
    assert models[:6] == [(0.1, 0.01), (0.1, 0.1), (0.1, 1.0), (0.1, 10.0), (0.1, 100.0), (1.0, 0.01)]


@given(PAIRS, PAIRS, st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_children_are_positive_and_on_the_parents_line(a, b, seed):
    """One weight moves both parameters, unless one would not be positive."""
    child = ModelGenetics(GRID, crossover_probability=1.0).cross(a, b, np.random.default_rng(seed))
    for x, x_a, x_b in zip(child, a, b, strict=True):
        assert x > 0
        low, high = sorted((x_a - 0.5 * (x_a - x_b), x_a + 1.5 * (x_a - x_b)))
        assert low * (1 - 1e-9) - 1e-9 <= x <= high * (1 + 1e-9) + 1e-9
    if min(2.5 * a[k] - 1.5 * b[k] for k in range(2)) > 0 and min(abs(a[k] - b[k]) / a[k] for k in range(2)) >= 1e-3:
        weights = [(child[k] - a[k]) / (a[k] - b[k]) for k in range(2)]
        assert weights[0] == pytest.approx(weights[1], rel=1e-6, abs=1e-6)


def test_a_single_value_is_fixed():
    genetics = ModelGenetics([(5.0,), (0.1, 1.0)], crossover_probability=1.0, mutation_probability=1.0)
    rng = np.random.default_rng(0)
    models = genetics.initial(20, rng)
    for _ in range(100):
        models.append(genetics.mutate(genetics.cross(models[-1], models[-2], rng), rng))
    assert {C for C, _ in models} == {5.0}
    assert len({gamma for _, gamma in models}) > 50
    tiny = ModelGenetics([(1e-20,), (1.0, 2.0)], crossover_probability=1.0, mutation_probability=1.0)
    for _ in range(20):
        assert tiny.mutate(tiny.cross((1e-20, 1.0), (1e-20, 2.0), rng), rng)[0] == 1e-20


def test_models_stay_within_what_can_be_computed_with():
    genetics, rng = ModelGenetics([(1.0, 2.0)], crossover_probability=1.0), np.random.default_rng(0)
    model, last = (1e11,), (1.0,)
    for _ in range(200):
        model, last = genetics.cross(model, last, rng), model
        assert 1e-12 <= model[0] <= 1e12


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([(1.0, 0.0)], {}, r"values=\(1.0, 0.0\)"),
        ([()], {}, "one positive number or more"),
        ([(1.0, np.inf)], {}, "from 1e-12 to 1e"),
        ([(1.0, 1e-13)], {}, "several from 1e-12 to 1e"),
        ([(np.inf,)], {}, "one positive number"),
        ([(0.0,)], {}, "one positive number"),
        ([(1.0,)], {"crossover_probability": 1.2}, "crossover_probability=1.2 is not in"),
        ([(1.0,)], {"mutation_probability": -1}, "mutation_probability=-1"),
        ([(1.0,)], {"mutation_range": 1}, r"mutation_range=1 is not in \[0, 1\)"),
    ],
)
def test_bad_input(values, options, message):
    with pytest.raises(SolverError, match=message):
        ModelGenetics(values, **options)
