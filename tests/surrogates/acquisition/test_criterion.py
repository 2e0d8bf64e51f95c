from functools import cache

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from spotsvm.acquisition import expected_improvement, log_expected_improvement_gradient
from spotsvm.searches import Coordinate, Domain
from spotsvm.surrogates.acquisition._improvement_kernels import log_h
from spotsvm.surrogates.acquisition.chance import Chance
from spotsvm.surrogates.acquisition.criterion import AveragedImprovement
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
    return [Chance.of_success(fitted.embedding, DOMAIN.model_inputs(POINTS), POINTS[:, 1] < 0.7)]


def assert_gradient(acquisition, point):
    value, gradient = acquisition.value_and_gradient(point)
    assert np.isclose(value, acquisition.value(point[None])[0])
    by_hand = approx_fprime(point[:2], lambda u: acquisition.value(np.append(u, point[2])[None])[0])
    assert np.allclose(gradient[:2], by_hand, rtol=1e-3, atol=1e-3 * max(1, np.abs(gradient).max()))
    assert gradient[2] == 0.0


@pytest.mark.parametrize("criterion", ["reinterpolation", "plain"])
@pytest.mark.parametrize("with_failures", [False, True])
def test_gradient(criterion, with_failures):
    acquisition = AveragedImprovement(DOMAIN, models(), criterion, feasible(models()) if with_failures else [])
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


@pytest.mark.parametrize("criterion", ["reinterpolation", "plain"])
def test_believed_points_promise_less_and_the_gradient_is_right(criterion):
    acquisition = AveragedImprovement(DOMAIN, models(), criterion, feasible(models()))
    before = acquisition.value(NEW)
    believing = acquisition.believe(DOMAIN.model_inputs(NEW[:2]))
    assert (believing.value(NEW[:2]) < before[:2] - 1).all()
    assert np.array_equal(acquisition.value(NEW), before)
    assert_gradient(believing, NEW[4])


@pytest.mark.parametrize("criterion", ["reinterpolation", "plain"])
def test_climbing_ends_as_high_as_with_scipy(criterion):
    """From the same starts; two local maxima near a saddle may change places, so the best of all and most of the others count."""
    acquisition = AveragedImprovement(DOMAIN, models(), criterion, feasible(models()))
    free = np.array([True, True, False])
    ours, theirs = [], []
    for start in DOMAIN.snap(np.random.default_rng(1).random((40, 3))):
        point, value = acquisition.climb(start, free, 100)
        assert (0 <= point).all()
        assert (point <= 1).all()
        assert point[2] == start[2]
        assert np.isclose(value, acquisition.value(point[None])[0], rtol=1e-9)

        def negative(u, start=start):
            value, gradient = acquisition.value_and_gradient(np.append(u, start[2]))
            return -value, -gradient[:2]

        theirs.append(-minimize(negative, start[:2], jac=True, method="L-BFGS-B", bounds=[(0, 1)] * 2).fun)
        ours.append(value)
    assert np.isclose(max(ours), max(theirs), atol=1e-6)
    assert np.mean(np.array(ours) > np.array(theirs) - 1e-4) > 0.8


def test_logarithm_of_improvement_in_units_of_the_error():
    z = np.concatenate([np.linspace(-60, 10, 1401), -(10.0 ** np.arange(2, 7))])
    value, by_mean, by_sd = log_expected_improvement_gradient(-z, 1.0, 0.0)
    compiled = np.array([log_h(x) for x in z]).T
    assert np.allclose(compiled, [value, -by_mean, by_sd], rtol=1e-10, atol=1e-12)
