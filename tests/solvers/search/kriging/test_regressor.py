"""Other models and other acquisition functions in the Kriging search."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern, WhiteKernel
from sklearn.linear_model import BayesianRidge, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVR

from spotsvm import Kriging, Study
from spotsvm.acquisition import (
    expected_improvement,
    log_expected_improvement,
    lower_confidence_bound,
    minimum_of_mean,
    probability_of_improvement,
)
from spotsvm.errors import SolverError
from spotsvm.searches import SEARCHES, Domain, KochSearch, KrigingSearch, ParegoSearch
from tests.solvers.search.driven import bowl, drive


class ForestWithError(RandomForestRegressor):
    """A forest whose standard deviation is that of the predictions of its trees."""

    def predict(self, X, return_std=False):
        """Return the mean of the trees, and their standard deviation."""
        trees = np.array([tree.predict(X) for tree in self.estimators_])
        return (trees.mean(axis=0), trees.std(axis=0)) if return_std else trees.mean(axis=0)


def quadratic():
    return make_pipeline(PolynomialFeatures(), BayesianRidge())


def shrunk(mean, sd, best):
    """Return an improvement of a user's own, which is negative where none is expected."""
    return best - mean + 0.5 * sd


GPR = GaussianProcessRegressor(Matern(0.3, nu=2.5) + WhiteKernel(1e-3), n_restarts_optimizer=0)
PARTS = {
    "Kriging, EI": {"acquisition": expected_improvement},
    "Kriging, bound": {"acquisition": partial(lower_confidence_bound, kappa=1.0)},
    "Kriging, own": {"acquisition": shrunk},
    "GPR": {"surrogate": GPR},
    "GPR, PI": {"surrogate": GPR, "acquisition": probability_of_improvement},
    "ridge, log EI": {"surrogate": BayesianRidge(), "acquisition": log_expected_improvement},
    "ridge, mean": {"surrogate": quadratic(), "acquisition": minimum_of_mean},
    "forest, EI": {"surrogate": ForestWithError(5), "acquisition": expected_improvement},
}


def made(parts, domain=None, seed=0, **settings):
    return KrigingSearch(domain or Domain.continuous(2), seed, **PARTS[parts], **settings)


@pytest.mark.parametrize(("parts", "noise"), [(parts, k % 2 == 1) for k, parts in enumerate(PARTS)])
def test_the_parts_find_the_place_of_a_bowl(parts, noise):
    rng = np.random.default_rng(1)
    search = made(parts, seed=3, noise=noise)
    drive(search, lambda u: bowl(u) + 0.01 * noise * rng.normal(), 25)
    # a straight line has no minimum inside, and five trees know it coarsely
    nearest = np.abs(search.points[8:] - 0.3).max(axis=1).min()
    assert nearest < {"ridge, log EI": 0.5, "forest, EI": 0.25}.get(parts, 0.15)


def test_a_fit_that_fails_makes_a_random_suggestion():
    class Failing(BayesianRidge):
        def fit(self, X, y):
            raise np.linalg.LinAlgError("not positive definite")

    search = KrigingSearch(Domain.continuous(2), 0, noise=False, surrogate=Failing())
    suggestions = drive(search, bowl, 8)
    assert [s.origin for s in suggestions[6:]] == ["random", "random"]
    assert "the model failed: Failing: not positive definite" in suggestions[-1].note


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"surrogate": Ridge()}, r"surrogate=Ridge\(\) predicts no standard deviation"),
        ({"surrogate": SVR}, "is not an estimator"),
        ({"surrogate": "forest"}, "surrogate='forest' is not an estimator"),
        ({"acquisition": "ei"}, "acquisition='ei' is not a function"),
        ({"surrogate": BayesianRidge(), "correlation": "gaussian"}, "correlation='gaussian' is a setting of the Kriging model"),
        ({"surrogate": BayesianRidge(), "criterion": "plain"}, "criterion='plain' is a setting of the Kriging model"),
    ],
)
def test_parts_that_do_not_fit_are_refused(settings, said):
    with pytest.raises(SolverError, match=said):
        KrigingSearch(Domain.continuous(2), 0, **settings)


def test_an_acquisition_that_returns_one_number_is_refused():
    search = KrigingSearch(Domain.continuous(2), 0, noise=False, acquisition=lambda mean, sd, best: 1.0)
    with pytest.raises(SolverError, match="return one value for each mean"):
        drive(search, bowl, 8)


@pytest.mark.parametrize("search", [partial(KrigingSearch, per_second=True), KochSearch, SEARCHES["koch2011"]])
def test_other_searches_of_the_family_take_the_parts(search):
    space = {"x": uniform(0, 1)}
    study = Study(space, partial(search, acquisition=lower_confidence_bound), seed=0).run(
        lambda p: (p["x"] - 0.2) ** 2, n_trials=13
    )
    assert abs(study.best_trial.params["x"] - 0.2) < 0.05


def test_parego_takes_the_parts():
    search = partial(ParegoSearch, surrogate=Kriging(random_state=0), acquisition=expected_improvement)
    study = Study({"x": uniform(0, 1)}, search, seed=0, direction=("minimize", "minimize"))
    study.run(lambda p: ((p["x"] - 0.2) ** 2, (p["x"] - 0.6) ** 2), n_trials=12)
    assert len(study.pareto()) > 4
