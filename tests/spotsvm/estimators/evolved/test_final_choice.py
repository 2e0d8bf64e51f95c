from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.preprocessing import scale

from spotsvm.estimators.evolved.evolve_kernel import choose_kernel
from spotsvm.estimators.evolved.evolved_kernel_svc import EvolvedKernelSVC
from spotsvm.estimators.evolved.evolved_kernel_svr import EvolvedKernelSVR
from spotsvm.estimators.evolved.fitness import Judged, KernelFitness
from spotsvm.estimators.evolved.matrix_task import ClassificationTask, RegressionTask, holdouts
from spotsvm.estimators.evolved.settings import Setting, read_settings
from spotsvm.solvers.kernels.expressions import Expression, InnerProducts

X, CODE = make_moons(100, noise=0.2, random_state=0)
X = scale(X)
LINEAR, NARROW = Expression("linear", value=1.0), Expression("gaussian", value=200.0)
GAUSSIAN = Expression("gaussian", value=1.0)


def setting_of(regression=False, **options):
    settings = read_settings((EvolvedKernelSVR if regression else EvolvedKernelSVC)(**options))
    task = RegressionTask(X[:, 0] ** 2) if regression else ClassificationTask(CODE, np.ones(2), "reject", 0.5)
    splits = holdouts(None if regression else CODE, 100, 1 / 3, 1, np.random.default_rng(0))
    fitness = KernelFitness(
        task,
        InnerProducts.between(X),
        splits,
        settings.ranges,
        design_factor=3,
        parsimony=settings.parsimony,
        scale=0.5,
        seed=0,
        relative=True,
    )
    return fitness, settings


def choose(finalists, fitness, settings, strata=CODE, seed=0):
    return choose_kernel(finalists, fitness, strata, settings, np.random.default_rng(seed))


def test_without_a_final_the_first_is_taken():
    fitness, settings = setting_of(grammar="paper")
    judged = [fitness.judge(LINEAR), fitness.judge(GAUSSIAN)]
    chosen, error = choose(judged, fitness, settings)
    assert chosen is judged[0]
    assert np.isnan(error)


def test_the_final_takes_the_better_kernel_at_its_best_C():
    fitness, settings = setting_of(n_tuning_trials=0)
    lucky = Judged(NARROW, Setting(C=0.01), 0.0, 0.0, 6, "semidefinite")
    chosen, error = choose([lucky, fitness.judge(LINEAR), replace(lucky, expression=GAUSSIAN)], fitness, settings)
    assert chosen.expression == GAUSSIAN
    assert chosen.setting.C > 0.01
    assert error < 0.1


def test_tuning_the_numbers():
    fitness, settings = setting_of(n_tuning_trials=25)
    poor = Judged(Expression("gaussian", value=40.0), Setting(C=0.5), 0.3, 0.3, 6, "semidefinite")
    untuned, before = choose([poor], fitness, replace(settings, n_tuning_trials=0))
    tuned, after = choose([poor], fitness, settings)
    assert untuned.expression == poor.expression
    assert 5.0 <= tuned.expression.value < 40.0
    assert after < before


def test_epsilon_is_tuned_too():
    fitness, settings = setting_of(regression=True, n_tuning_trials=10)
    rough = Judged(GAUSSIAN, Setting(C=1.0, epsilon=0.4), 0.5, 0.5, 6, "semidefinite")
    tuned, error = choose([rough], fitness, settings, strata=None)
    assert tuned.setting.epsilon < 0.4
    assert error < 0.3


def test_a_simpler_kernel_is_preferred_where_it_is_as_good():
    fitness, settings = setting_of(n_tuning_trials=0, parsimony=0.01)
    twice = Expression("add", (GAUSSIAN, GAUSSIAN))
    judged = [fitness.judge(kernel) for kernel in (twice, GAUSSIAN)]
    assert choose(judged, fitness, settings)[0].expression == GAUSSIAN


@pytest.mark.parametrize("trials", [0, 5])
def test_the_same_seed_is_the_same_choice(trials):
    fitness, settings = setting_of(n_tuning_trials=trials)
    judged = [fitness.judge(kernel) for kernel in (LINEAR, GAUSSIAN)]
    assert choose(judged, fitness, settings) == choose(judged, fitness, settings)
