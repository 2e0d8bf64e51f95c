"""A regressor of scikit-learn as the model of a search."""

from functools import partial

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern, WhiteKernel
from sklearn.linear_model import BayesianRidge

from spotsvm.acquisition import (
    expected_improvement,
    log_expected_improvement,
    lower_confidence_bound,
)
from spotsvm.searches import Domain, KrigingSearch
from spotsvm.solvers.search.kriging.model import Evaluations, FittedCriterion, SearchModel
from spotsvm.solvers.search.kriging.regressor import RegressorModel
from spotsvm.solvers.search.registry import describe_search
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble
from tests.solvers.search.driven import MIXED, branin


def shrunk(mean, sd, best):
    """Return an improvement of a user's own, which is negative where none is expected."""
    return best - mean + 0.5 * sd


GPR = GaussianProcessRegressor(Matern(0.3, nu=2.5) + WhiteKernel(1e-3), n_restarts_optimizer=0)


def test_log_improvement_of_one_model_is_the_default_criterion():
    domain, rng = Domain.continuous(2), np.random.default_rng(0)
    points = rng.random((12, 2))
    for criterion, noise in (("plain", 0.0), ("reinterpolation", 0.1)):
        values = np.array([branin(u) for u in points]) + 20 * noise * rng.normal(size=12)
        values[3] = np.nan
        told = Evaluations(points, values, margins=(0.8 - points.sum(axis=1, keepdims=True)))
        model = SearchModel(KrigingEnsemble(domain, inference="mle"), False, 100)
        fit = model.fit(told, "deterministic" if criterion == "plain" else "noisy", np.random.default_rng(1), 1)
        usual = FittedCriterion.of(domain, fit, told, criterion, 100).improvement
        other = FittedCriterion.of(domain, fit, told, criterion, 100, log_expected_improvement).improvement
        new = rng.random((50, 2))
        for one, two in ((usual, other), (usual.believe(new[:2]), other.believe(new[:2]))):
            likely = one.value(new) > -300  # smaller chances are cut off
            assert likely.sum() > 10
            np.testing.assert_allclose((two.value(new) - np.log(fit.models.unit))[likely], one.value(new)[likely], rtol=1e-6)
        plain = FittedCriterion.of(domain, fit, told, criterion, 100, expected_improvement).improvement
        likely = other.value(new) > -300
        np.testing.assert_allclose(np.log(plain.value(new)[likely]), other.value(new)[likely], rtol=1e-6)


def test_failures_and_bounds_weigh_criteria_of_either_sign():
    domain = Domain.continuous(1)
    points = np.linspace(0.0, 1.0, 11)[:, None]
    values = np.where(points[:, 0] > 0.55, np.nan, 1.0 - points[:, 0])
    told = Evaluations(points, values)
    model = RegressorModel(domain, GPR, 100, 0)
    fit = model.fit(told, "deterministic", np.random.default_rng(0), 0)
    everywhere = Evaluations(points[:6], values[:6])
    new = np.array([[0.25], [0.95]])
    for acquisition in (expected_improvement, log_expected_improvement, shrunk, lower_confidence_bound):
        free = FittedCriterion.of(domain, fit, everywhere, "plain", 100, acquisition).improvement.value(new)
        weighed = FittedCriterion.of(domain, fit, told, "plain", 100, acquisition).improvement.value(new)
        assert weighed[1] < free[1]


def test_a_regressor_sees_indicators_and_standardised_means():
    seen = []

    class Spy(BayesianRidge):
        def fit(self, X, y):
            seen.append((X, y))
            return super().fit(X, y)

    points = MIXED.snap(np.random.default_rng(0).random((8, MIXED.dimension)))
    points[-1] = points[0]
    values = np.arange(8.0)
    fit = RegressorModel(MIXED, Spy(), 100, 0).fit(Evaluations(points, values), "noisy", np.random.default_rng(0), 0)
    ((X, y),) = seen
    assert len(X) == len(np.unique(points, axis=0))
    assert X.shape[1] > MIXED.dimension
    assert abs(y.mean()) < 1e-12
    assert abs(y.std() - 1) < 1e-12
    assert fit.models.noise == pytest.approx(np.sqrt(((7 - 0) / 2) ** 2 * 2))
    assert fit.models.mean_evaluated().shape == (8,)


def test_a_record_names_the_parts():
    search = partial(KrigingSearch, surrogate=GaussianProcessRegressor(alpha=0.1), acquisition=expected_improvement)
    assert describe_search(search) == (
        "KrigingSearch(acquisition=expected_improvement, "
        "surrogate=sklearn.gaussian_process._gpr.GaussianProcessRegressor(alpha=0.1))"
    )
