from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons
from sklearn.preprocessing import scale

from spotsvm import EvolvedKernelSVC, EvolvedKernelSVR
from spotsvm.estimators.evolved.evolve_kernel import NumbersSpace, _finalists, choose_kernel, evolve_kernel
from spotsvm.estimators.evolved.fitness import Judged, KernelFitness
from spotsvm.estimators.evolved.matrix_task import ClassificationTask, RegressionTask, holdouts
from spotsvm.estimators.evolved.settings import KernelSetting, read_settings
from spotsvm.kernels import Expression
from spotsvm.solvers.kernels.expressions import InnerProducts
from spotsvm.solvers.search.genetic_programming.steady_state import Evolution, Individual

X, CODE = make_classification(n_samples=90, n_features=4, random_state=0)


def evolved(seed=0, indefinite="reject", **options):
    settings = read_settings(
        EvolvedKernelSVC(n_trials=30, population_size=6, tournament_size=4, n_tuning_trials=0, indefinite=indefinite, **options)
    )
    task = ClassificationTask(CODE, np.ones(2), indefinite, settings.smoothness)
    return evolve_kernel(X, task, CODE, settings, seed)


def test_finalists_differ_in_form_and_include_the_first():
    def one(number, expression, loss, origin):
        judged = Judged(expression, KernelSetting(1.0) if np.isfinite(loss) else None, loss, loss, 3, "semidefinite")
        return Individual(expression, (loss,), origin, number), judged

    gaussians = [Expression("gaussian", value=v) for v in (1.0, 2.0, 3.0)]
    pairs = [
        one(0, Expression("linear", value=1.0), 0.5, "start"),
        one(1, gaussians[0], 0.2, "variation"),
        one(2, gaussians[1], 0.1, "variation"),
        one(3, Expression("rational", value=1.0), 0.3, "growth"),
        one(4, Expression("square", (gaussians[2],)), 0.4, "growth"),
        one(5, Expression("damping", value=1.0), np.inf, "start"),
    ]
    evolution = Evolution(evaluated=[individual for individual, _ in pairs])
    found = _finalists(evolution, [judged for _, judged in pairs], 2)
    assert [judged.expression.text() for judged in found] == [pairs[k][1].expression.text() for k in (2, 3, 0)]


MOONS, MOON = make_moons(100, noise=0.2, random_state=0)
MOONS = scale(MOONS)
LINEAR, NARROW = Expression("linear", value=1.0), Expression("gaussian", value=200.0)
GAUSSIAN = Expression("gaussian", value=1.0)


def setting_of(regression=False, **options):
    settings = read_settings((EvolvedKernelSVR if regression else EvolvedKernelSVC)(**options))
    task = RegressionTask(MOONS[:, 0] ** 2) if regression else ClassificationTask(MOON, np.ones(2), "reject", 0.5)
    splits = holdouts(None if regression else MOON, 100, 1 / 3, 1, np.random.default_rng(0))
    fitness = KernelFitness(
        task,
        InnerProducts.between(MOONS),
        splits,
        settings.ranges,
        design_factor=3,
        parsimony=settings.parsimony,
        scale=0.5,
        seed=0,
        relative=True,
    )
    return fitness, settings


def choose(finalists, fitness, settings, strata=MOON, seed=0):
    return choose_kernel(finalists, fitness, strata, settings, np.random.default_rng(seed))


def test_the_final_takes_the_better_kernel_at_its_best_C():
    fitness, settings = setting_of(n_tuning_trials=0)
    lucky = Judged(NARROW, KernelSetting(C=0.01), 0.0, 0.0, 6, "semidefinite")
    chosen, error = choose([lucky, fitness.judge(LINEAR), replace(lucky, expression=GAUSSIAN)], fitness, settings)
    assert chosen.expression == GAUSSIAN
    assert chosen.setting.C > 0.01
    assert error < 0.1


def test_tuning_the_numbers():
    fitness, settings = setting_of(n_tuning_trials=25)
    poor = Judged(Expression("gaussian", value=40.0), KernelSetting(C=0.5), 0.3, 0.3, 6, "semidefinite")
    untuned, before = choose([poor], fitness, replace(settings, n_tuning_trials=0))
    tuned, after = choose([poor], fitness, settings)
    assert untuned.expression == poor.expression
    assert 5.0 <= tuned.expression.value < 40.0
    assert after < before


BOTH = Expression("add", (Expression("gaussian", value=0.5), Expression("linear", value=2.0)))
SYMBOLIC = Expression("multiply", (Expression("c3"), Expression("linear", value=2.0)))


def space(expression, setting, with_epsilon=False):
    return NumbersSpace(Judged(expression, setting, 0.1, 0.1, 3, "semidefinite"), with_epsilon=with_epsilon)


@pytest.mark.parametrize(
    ("expression", "setting", "with_epsilon", "dimension"),
    [
        (BOTH, KernelSetting(4.0), False, 3),
        (BOTH, KernelSetting(4.0, (), 0.1), True, 4),
        (SYMBOLIC, KernelSetting(4.0, (0.3,)), False, 3),
        (SYMBOLIC, KernelSetting(4.0, (0.3,), 0.1), True, 4),
    ],
)
def test_the_start_is_what_it_has(expression, setting, with_epsilon, dimension):
    numbers = space(expression, setting, with_epsilon)
    assert numbers.dimension == dimension
    found, same = numbers.at(numbers.start)
    np.testing.assert_allclose(found.values, expression.values)
    np.testing.assert_allclose([same.C, same.epsilon, *same.constants], [setting.C, setting.epsilon, *setting.constants])


def test_each_coordinate_is_a_number_on_a_log_scale():
    numbers = space(BOTH, KernelSetting(4.0))
    expression, setting = numbers.at(np.array([1.0, 0.0, 0.75]))
    np.testing.assert_allclose([setting.C, *expression.values], [32.0, 0.5 / 8, 2.0 * np.sqrt(8)])
