import numpy as np
import pytest

from spotsvm.searches import Coordinate, Domain
from spotsvm.surrogates.acquisition.criterion import AveragedImprovement
from spotsvm.surrogates.acquisition.expected_gain import expected_gain
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble

PLANE = Domain.continuous(2)


def bowl(points):
    return ((points - [0.3, 0.6]) ** 2).sum(axis=1)


def at(n):
    return np.random.default_rng(0).random((n, 2))


def gain(points, values, noisy=False, domain=PLANE):
    return expected_gain(domain, points, values, noisy=noisy, rng=np.random.default_rng(0))


@pytest.mark.parametrize("noisy", [False, True])
def test_it_is_the_largest_that_the_ensemble_expects(noisy):
    points = at(15)
    values = bowl(points) + 0.05 * np.random.default_rng(1).normal(size=15)
    found = gain(points, values, noisy)
    models = KrigingEnsemble(PLANE, warped=not noisy).fit(points, values, np.random.default_rng(0))
    acquisition = AveragedImprovement(PLANE, models, "reinterpolation" if noisy else "plain")
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 60)] * 2), axis=-1).reshape(-1, 2)
    on_grid = models.unit * np.exp(acquisition.value(grid).max())
    assert on_grid * 0.98 <= found.improvement <= on_grid * 1.3


def test_the_incumbent_is_the_best_seen_or_the_best_predicted():
    points = at(30)
    values = bowl(points)
    lucky = int(np.argmax(values))
    values[lucky] = -0.01
    assert gain(points, values).incumbent == lucky
    noisy = gain(points, bowl(points) + np.where(np.arange(30) == lucky, -1.0, 0.0), noisy=True)
    assert noisy.incumbent_error > 0
    assert noisy.incumbent != lucky or noisy.incumbent_error > 0.05


def test_failures_have_no_response_and_keep_their_numbers():
    points = at(12)
    values = bowl(points)
    values[[0, 4]] = np.nan
    found = gain(points, values)
    assert found.incumbent == np.nanargmin(values)
    assert found.improvement > 0


def test_a_finite_domain_that_is_used_up_has_nothing_left():
    domain = Domain((Coordinate(levels=2), Coordinate(levels=2, categorical=True)))
    points = domain.snap([[a, b] for a in (0.2, 0.8) for b in (0.2, 0.8)])
    assert gain(points, np.arange(4.0), domain=domain).improvement == 0.0
    assert gain(points[:3], np.arange(3.0), domain=domain).improvement > 0.0
