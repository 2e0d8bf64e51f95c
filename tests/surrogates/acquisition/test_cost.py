import numpy as np
import pytest
from scipy.optimize import approx_fprime

from spotsvm.searches import Domain
from spotsvm.surrogates.acquisition.chance import Chance, saving
from spotsvm.surrogates.acquisition.criterion import AveragedImprovement
from spotsvm.surrogates.kriging.correlation import Embedding
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble

SQUARE = Domain.continuous(2)
POINTS = np.random.default_rng(0).random((25, 2))
NEW = np.random.default_rng(1).random((70, 2))
SECONDS = 10.0 ** (3 * POINTS[:, 0] - 1)


def test_seconds_that_are_not_known_and_such_as_are_all_equal():
    embedding = Embedding.of(POINTS)
    some = np.where(np.arange(25) % 2, np.nan, SECONDS)
    known = np.isfinite(some)
    found = saving(embedding, POINTS, some).mean(NEW)
    assert np.array_equal(found, saving(embedding, POINTS[known], SECONDS[known]).mean(NEW))
    assert saving(embedding, POINTS, np.full(25, np.nan)) is None
    assert saving(embedding, POINTS, np.full(25, 3.0)) is None
    assert saving(embedding, POINTS, SECONDS * 1e-6) is None  # whatever is faster than a suggestion


@pytest.mark.parametrize("criterion", ["reinterpolation", "plain"])
@pytest.mark.parametrize("with_failures", [False, True])
def test_the_criterion_is_that_without_costs_and_what_is_saved(criterion, with_failures):
    models = KrigingEnsemble(SQUARE).fit(POINTS, ((POINTS - 0.4) ** 2).sum(axis=1), np.random.default_rng(0))
    chances = [Chance.of_success(models.embedding, POINTS, POINTS[:, 1] < 0.7)] if with_failures else []
    model = saving(models.embedding, POINTS, SECONDS)
    with_costs = AveragedImprovement(SQUARE, models, criterion, chances, savings=[model])
    plain = AveragedImprovement(SQUARE, models, criterion, chances)
    assert np.allclose(with_costs.value(NEW), plain.value(NEW) + model.mean(models.embedding.transform(NEW)), rtol=1e-9)
    assert np.array_equal(with_costs.cost_blind().value(NEW), plain.value(NEW))
    assert plain.cost_blind() is plain
    believing = with_costs.believe(NEW[:2])
    for acquisition in (with_costs, believing):
        for point in NEW[4:8]:
            value, gradient = acquisition.value_and_gradient(point)
            assert np.isclose(value, acquisition.value(point[None])[0])
            by_hand = approx_fprime(point, lambda u, a=acquisition: a.value(u[None])[0])
            assert np.allclose(gradient, by_hand, rtol=1e-3, atol=1e-3 * max(1, np.abs(gradient).max()))
