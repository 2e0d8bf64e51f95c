from functools import cache

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from spotsvm.surrogates.acquisition.acquisition import expected_improvement
from spotsvm.surrogates.acquisition.averaged_improvement import AveragedImprovement
from spotsvm.surrogates.acquisition.feasibility import Feasibility
from spotsvm.surrogates.domain import Coordinate, Domain
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble

RNG = np.random.default_rng(4)
DOMAIN = Domain((Coordinate(), Coordinate(), Coordinate(levels=2, categorical=True)))
POINTS = DOMAIN.snap(RNG.random((20, 3)))
VALUES = (POINTS[:, 0] - 0.4) ** 2 + POINTS[:, 1] + 0.3 * (POINTS[:, 2] > 0.5) + 0.05 * RNG.normal(size=20)
NEW = DOMAIN.snap(RNG.random((6, 3)))


@cache
def models(warped=True):
    return KrigingEnsemble(DOMAIN, warped=warped).fit(POINTS, VALUES, np.random.default_rng(0))


def feasible(fitted):
    return Feasibility(fitted.embedding, DOMAIN.model_inputs(POINTS), POINTS[:, 1] < 0.7)


def assert_gradient(acquisition, point):
    value, gradient = acquisition.value_and_gradient(point)
    assert np.isclose(value, acquisition.value(point[None])[0])
    by_hand = approx_fprime(point[:2], lambda u: acquisition.value(np.append(u, point[2])[None])[0])
    assert np.allclose(gradient[:2], by_hand, rtol=1e-3, atol=1e-3 * max(1, np.abs(gradient).max()))
    assert gradient[2] == 0.0


@pytest.mark.parametrize("criterion", ["reinterpolation", "plain"])
@pytest.mark.parametrize("with_failures", [False, True])
def test_gradient(criterion, with_failures):
    acquisition = AveragedImprovement(DOMAIN, models(), criterion, feasible(models()) if with_failures else None)
    for point in NEW:
        assert_gradient(acquisition, point)


def test_it_is_the_mean_of_the_members_expected_improvements():
    fitted = models(warped=False)
    embedded = fitted.embedding.transform(DOMAIN.model_inputs(NEW))
    each = []
    for member in fitted.members:
        mean, variance = member.process.predict(embedded)
        each.append(expected_improvement(mean, np.sqrt(variance), member.response.mean.min()))
    assert np.allclose(np.exp(AveragedImprovement(DOMAIN, fitted, "plain").value(NEW)), np.mean(each, axis=0))


def test_reinterpolation_promises_nothing_at_evaluated_points():
    acquisition = AveragedImprovement(DOMAIN, models(), "reinterpolation")
    assert acquisition.value(POINTS).max() < acquisition.value(NEW).max() - 5
    value, gradient = acquisition.value_and_gradient(POINTS[0])
    assert np.isfinite([value, *gradient]).all()


def test_failures_are_avoided():
    fitted = models()
    chance = np.exp(feasible(fitted).log_chance(fitted.embedding.transform(DOMAIN.model_inputs(POINTS))))
    failed = POINTS[:, 1] >= 0.7
    assert chance[failed].max() < chance[~failed].min()
    assert ((chance >= Feasibility.LEAST) & (chance <= 1)).all()


@pytest.mark.parametrize("criterion", ["reinterpolation", "plain"])
def test_believed_points_promise_less_and_the_gradient_is_right(criterion):
    acquisition = AveragedImprovement(DOMAIN, models(), criterion, feasible(models()))
    before = acquisition.value(NEW)
    believing = acquisition.believe(DOMAIN.model_inputs(NEW[:2]))
    assert (believing.value(NEW[:2]) < before[:2] - 1).all()
    assert np.array_equal(acquisition.value(NEW), before)
    assert_gradient(believing, NEW[4])
