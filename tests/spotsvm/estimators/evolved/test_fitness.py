import math

import numpy as np
import pytest
from sklearn.datasets import make_classification

from spotsvm.estimators.evolved.fitness import KernelFitness, fingerprint, variance
from spotsvm.estimators.evolved.matrix_task import ClassificationTask, holdouts
from spotsvm.estimators.evolved.settings import Ranges
from spotsvm.kernels import Expression
from spotsvm.solvers.kernels.expressions import InnerProducts, evaluate

X, CODE = make_classification(n_samples=90, n_features=5, random_state=0)
PRODUCTS = InnerProducts.between(X)
SPLITS = holdouts(CODE, 90, 1 / 3, 1, np.random.default_rng(0))
RANGES = Ranges(C=(2.0**-8, 2.0**8), constants=(2.0**-8, 2.0**8))
C1, C2, X_I, X_J = (Expression(name) for name in ("c1", "c2", "x_i", "x_j"))
LINEAR = Expression("inner_product", (X_I, X_J))
AFFINE = Expression("add", (Expression("multiply", (C1, LINEAR)), C2))


def fitness(indefinite="reject", **options):
    task = ClassificationTask(CODE, np.ones(2), indefinite)
    return KernelFitness(
        task, PRODUCTS, SPLITS, RANGES, **{"design_factor": 3, "parsimony": 0.0, "scale": 0.5, "seed": 0, **options}
    )


def test_it_is_the_smallest_error_of_the_design():
    judge = fitness()
    found = judge.judge(AFFINE)
    assert found.n_machines == 9
    design = RANGES.design(2, 3, np.random.default_rng([0, fingerprint(AFFINE)]))
    errors = []
    for s in design:
        K = evaluate(AFFINE, PRODUCTS, {"c1": s.constants[0], "c2": s.constants[1]})
        errors.append(judge.task.scores(K, [s], SPLITS).error[0])
    assert found.error == min(errors)
    assert found.setting == design[int(np.argmin(errors))]
    assert judge(AFFINE) == (found.error,)
    assert judge.judged == [found]


@pytest.mark.parametrize(
    ("expression", "state"),
    [
        (Expression("exp", (Expression("exp", (Expression("exp", (Expression("square", (LINEAR,)),)),)),)), "not finite"),
        (Expression("divide", (LINEAR, Expression("subtract", (C1, C1)))), "not finite"),
        (Expression("subtract", (C1, LINEAR)), "indefinite"),
        (Expression("inner_product", (X_I, Expression("add_vectors", (X_I, X_J)))), "asymmetric"),
    ],
    ids=["overflow", "0/0", "indefinite", "asymmetric"],
)
def test_what_is_no_kernel_dies(expression, state):
    found = fitness().judge(expression)
    assert found.state == state
    assert math.isinf(found.error)
    assert found.setting is None
    assert found.bound == expression
    assert fitness()(expression) == (math.inf,)


def test_a_design_with_some_dead_points_lives():
    # c1 <x, z> - c2 is a kernel's only where c2 is small beside the rows' distance from the origin
    shifted = Expression("subtract", (Expression("exp", (Expression("multiply", (C1, LINEAR)),)), C2))
    judge = fitness(design_factor=12)
    design = RANGES.design(2, 12, np.random.default_rng([0, fingerprint(shifted)]))
    scores, states = judge.try_settings(shifted, design)
    assert {"semidefinite", "not finite"} <= set(states)
    np.testing.assert_array_equal(np.isfinite(scores.error), [state == "semidefinite" for state in states])
    assert math.isfinite(judge.judge(shifted).error)


def test_parsimony():
    plain, thrifty = fitness(), fitness(parsimony=0.01)
    error = plain.judge(LINEAR).error
    assert thrifty(LINEAR) == (error + 0.01 * 0.5 * 3, 3.0)
    assert thrifty.judged[0].error == error


def test_the_fingerprint_is_the_same_in_every_process():
    assert fingerprint(LINEAR) == 3498989998


def test_a_relative_fitness_does_not_depend_on_the_scale():
    judge = fitness(relative=True)
    one, two = (judge.judge(Expression("linear", value=value)) for value in (1.0, 2.0**-7))
    assert (one.error, one.loss, one.setting) == (two.error, two.loss, two.setting)
    assert one.n_machines == 6
    assert judge.absolute(two).C == pytest.approx(2.0**7 * judge.absolute(one).C)


def test_the_variance_of_the_mapped_rows():
    assert variance(PRODUCTS.G) == pytest.approx(X.var(axis=0).sum())
    assert variance(np.ones((4, 4))) == 1.0
    assert variance(np.zeros((4, 4))) == 1.0
