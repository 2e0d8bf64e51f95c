import numpy as np
import pytest

from spotsvm import Kriging
from spotsvm.searches import Domain
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble
from spotsvm.surrogates.kriging.maximum import maximize_likelihood

RNG = np.random.default_rng(3)
DOMAIN = Domain.continuous(2)
POINTS = RNG.random((30, 2))
SMOOTH = np.sin(5 * POINTS[:, 0]) + POINTS[:, 1] ** 2
NOISE = 0.5 * RNG.normal(size=30)


def test_chains_go_on_from_fit_to_fit_and_give_the_same_models_where_they_do_not_move():
    one = KrigingEnsemble(DOMAIN)
    first = one.fit(POINTS[:20], SMOOTH[:20], np.random.default_rng(1))
    before = one.chains.copy()
    other, still = KrigingEnsemble(DOMAIN), KrigingEnsemble(DOMAIN)
    other.chains, still.chains = before.copy(), before.copy()
    a, b = (chained.fit(POINTS, SMOOTH, np.random.default_rng(2)).predict_evaluated()[0] for chained in (one, other))
    assert np.array_equal(a, b)
    assert not np.array_equal(one.chains, before)
    again = still.fit(POINTS[:20], SMOOTH[:20], np.random.default_rng(2), sweeps=0)
    assert np.array_equal(still.chains, before)
    assert np.array_equal(first.predict_evaluated(), again.predict_evaluated())


@pytest.mark.parametrize("inference", ["mle", "mle-cmaes"])
def test_maximum_likelihood_is_that_of_kriging(inference):
    ensemble = KrigingEnsemble(DOMAIN, correlation="gaussian", inference=inference)
    models = ensemble.fit(POINTS, SMOOTH + 0.1 * NOISE, np.random.default_rng(0))
    assert len(models.members) == 1
    model = Kriging(random_state=0).fit(POINTS, SMOOTH + 0.1 * NOISE)
    assert np.allclose(models.predict_evaluated()[0], model.predict(POINTS), atol=1e-2)


def test_a_constant_response_leaves_models_to_explore_with():
    models = KrigingEnsemble(DOMAIN).fit(POINTS, np.full(30, 2.0), np.random.default_rng(0))
    mean, _ = models.predict_evaluated()
    assert np.allclose(mean, 2.0)
    assert models.members[0].process.sigma2 == 1.0


def test_the_error_at_one_evaluation_is_that_among_all():
    models = KrigingEnsemble(DOMAIN, warped=False).fit(POINTS, SMOOTH + NOISE, np.random.default_rng(0))
    assert np.allclose([models.error_evaluated(k)[0] for k in range(30)], models.error_evaluated(), rtol=1e-9)


@pytest.mark.parametrize("inference", ["mle", "mle-cmaes"])
def test_the_largest_likelihood_of_many_points_is_sought_on_some(inference, monkeypatch):
    sizes = []
    monkeypatch.setattr(KrigingEnsemble, "FIRST_POINTS", 20)
    ensemble = KrigingEnsemble(DOMAIN, inference=inference)

    def counted(problem, *, optimizer, **arguments):
        sizes.append((len(problem.response.mean), optimizer))
        return maximize_likelihood(problem, optimizer=optimizer, **arguments)

    monkeypatch.setattr("spotsvm.surrogates.kriging.ensemble.maximize_likelihood", counted)
    models = ensemble.fit(POINTS, SMOOTH, np.random.default_rng(0))
    assert sizes == [(20, "lbfgsb")]
    assert np.allclose(models.predict_evaluated()[0], SMOOTH, atol=0.02)


def test_many_points_start_on_a_subset(monkeypatch):
    monkeypatch.setattr(KrigingEnsemble, "FIRST_POINTS", 15)
    monkeypatch.setattr(KrigingEnsemble, "FULL_EFFORT", 5)
    models = KrigingEnsemble(DOMAIN).fit(POINTS, SMOOTH, np.random.default_rng(0))
    assert len(models.members) < 4
    assert np.corrcoef(models.predict_evaluated()[0], SMOOTH)[0, 1] > 0.99


def test_only_chains_that_give_a_member_move(monkeypatch):
    ensemble = KrigingEnsemble(DOMAIN)
    ensemble.fit(POINTS[:20], SMOOTH[:20], np.random.default_rng(0))
    before = ensemble.chains.copy()
    monkeypatch.setattr(KrigingEnsemble, "FULL_EFFORT", 5)
    models = ensemble.fit(POINTS, SMOOTH, np.random.default_rng(1))
    assert len(models.members) == 3
    assert (ensemble.chains[:3] != before[:3]).all()
    assert np.array_equal(ensemble.chains[3], before[3])
