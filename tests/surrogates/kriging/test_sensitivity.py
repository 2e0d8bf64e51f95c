import numpy as np
import pytest

from spotsvm.searches import Coordinate, Domain
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble
from spotsvm.surrogates.kriging.sensitivity import left_out_predictions, left_out_share, predict_averages, predict_mean

RNG = np.random.default_rng(5)
DOMAIN = Domain((Coordinate(), Coordinate(), Coordinate(levels=3, categorical=True)))
POINTS = DOMAIN.snap(RNG.random((40, 3)))
VALUES = 3 * POINTS[:, 0] ** 2 + POINTS[:, 1] * (POINTS[:, 2] > 0.4) + 0.05 * RNG.normal(size=40)


@pytest.fixture(scope="module")
def models():
    return KrigingEnsemble(DOMAIN, warped=False).fit(POINTS, VALUES, np.random.default_rng(0))


def inputs(number):
    return DOMAIN.model_inputs(DOMAIN.snap(np.random.default_rng(1).random((number, 3))))


def test_the_mean_and_the_average_of_one_point_are_the_ensembles(models):
    new = inputs(20)
    expected = models.predict(new)
    assert predict_mean(models, new) == pytest.approx(expected[0], abs=1e-9)
    np.testing.assert_allclose(predict_averages(models, new[:, None, :]), expected, atol=1e-7)


def test_the_error_of_an_average_takes_the_correlations_into_account(models):
    """Compared with the joint covariance of the points, member by member."""
    group = inputs(12)
    mean, error = predict_averages(models, group[None])
    assert mean[0] == pytest.approx(models.predict(group)[0].mean(), abs=1e-9)
    embedded = models.embedding.transform(group)
    means, variances = [], []
    for member in models.members:
        p = member.process
        inverse = np.linalg.inv(p.L @ p.L.T)
        psi = p.correlation.value(square(embedded * p.scale, p.points))
        among = p.correlation.value(square(embedded * p.scale, embedded * p.scale))
        ones = np.ones(len(p.points))
        rest = 1 - psi @ inverse @ ones
        joint = among - psi @ inverse @ psi.T + np.outer(rest, rest) / (ones @ inverse @ ones)
        variances.append(p.sigma2 * joint.mean())
        means.append((p.mu + psi @ p.a).mean())
    assert error[0] == pytest.approx(models.unit * np.sqrt(np.mean(variances) + np.var(means)), rel=1e-6)


def square(a, b):
    return ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)


def test_the_left_out_share_is_that_of_leaving_each_point_out(models):
    """By hand, with each member's hyperparameters and mean as they are."""
    shares = []
    for member in models.members:
        p, seen = member.process, member.response.mean
        R = p.L @ p.L.T
        errors = []
        for k in range(len(seen)):
            rest = np.delete(np.arange(len(seen)), k)
            predicted = p.mu + R[k, rest] @ np.linalg.solve(R[np.ix_(rest, rest)], seen[rest] - p.mu)
            errors.append(seen[k] - predicted)
        shares.append(1 - np.sum(np.square(errors)) / np.sum((seen - seen.mean()) ** 2))
    seen, predicted, error = left_out_predictions(models)
    assert seen == pytest.approx(VALUES)
    assert np.corrcoef(seen, predicted)[0, 1] > 0.95
    assert np.mean(np.abs(seen - predicted) <= 2 * error) > 0.8
    assert left_out_share(models) == pytest.approx(np.mean(shares), abs=1e-6)
    assert left_out_share(models) > 0.9
