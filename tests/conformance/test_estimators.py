"""scikit-learn's checks of estimators: one test for each public estimator, as thousands of short tests take long to report.

A variant stands for another way through `fit` or `predict`, on problems as small as they may be.
"""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import check_estimator

import spotsvm
from spotsvm import (
    AverageClassifier,
    AverageRegressor,
    CompleteRowsRegressor,
    ConformalSVC,
    CutoffClassifier,
    DelayEmbedding,
    EvolvedKernelSVC,
    EvolvedKernelSVR,
    EvoSVC,
    ExactSVC,
    ExactSVR,
    ImportanceFraction,
    Kriging,
    LeakyRain,
    MarginErrorFront,
    MultiKernelSVC,
    MultiKernelSVR,
    PLSScores,
    PrincipalMonomials,
    ReducedSVC,
    SavitzkyGolay,
    ScatterCorrection,
    SpotSearchCV,
    TableEncoder,
    TunedSVC,
    TunedSVR,
)

WEIGHTS = {kind: f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}
EACH_ROW_ONCE = {WEIGHTS["dense"]: "every row counts once to gamma='scale', as in SVC"}
NOT_OF_SVC = {check: "SVC counts rows and not weights in gamma='scale'" for check in WEIGHTS.values()}
NOT_OF_SVR = {WEIGHTS["dense"]: "SVR does not pass it: LIBSVM stops within a tolerance"}
#: as scikit-learn expects of SVC and SVR
OF_ROWS = {check: "medians, relevance and draws are of rows, whatever their weights" for check in WEIGHTS.values()}
NO_BIAS = {"check_class_weight_classifiers": "class weights of 1000 and 0.0001 need a bias in the problem, not after it"}
ORDER_MATTERS = {
    "check_methods_sample_order_invariance": "rows are in order of time",
    "check_methods_subset_invariance": "a row is made of the rows before it",
}
TUNED = {"tune": "random", "n_trials": 1, "cv": 2, "random_state": 0}
EVOLVED = {"n_trials": 6, "population_size": 4, "tournament_size": 2, "n_tuning_trials": 0, "n_holdouts": 1, "random_state": 0}
EVOLVED_FRONT = {"n_exact": 2, "population_size": 4, "n_generations": 2}
SEARCHED = {"n_iter": 3, "search": "random", "cv": 3, "random_state": 0}
LEVELS = [0.1, 1.0, 10.0]
LOGISTIC = LogisticRegression(solver="newton-cholesky")

#: estimators, with the checks that each fails by design
ESTIMATORS = [
    *((machine(), EACH_ROW_ONCE) for machine in (ExactSVC, ExactSVR)),
    (ExactSVC(gamma="auto"), {}),
    (ExactSVC(kernel="precomputed"), {}),
    (ExactSVR(kernel="linear", tol=1e-5), {}),
    (EvoSVC(kernel="precomputed", bias=True), {}),
    (EvoSVC(method="hybrid", bias="after"), EACH_ROW_ONCE | NO_BIAS),
    (ConformalSVC(), EACH_ROW_ONCE),
    (ConformalSVC(factor="support", kappa="auto"), EACH_ROW_ONCE),
    (ConformalSVC(kernel="precomputed", solver="libsvm", kappa=0.5), {}),
    (ConformalSVC(kappa="auto", bias=True, gamma="auto"), {}),
    (MarginErrorFront(**EVOLVED_FRONT, kernel="linear", error="count", bias=False), {}),
    (MarginErrorFront(**EVOLVED_FRONT, sparse=True), {}),
    (ReducedSVC(method="gasvm", n_per_class=1, C=1.0, gamma="scale", n_trials=20), {}),
    (ReducedSVC(method="ga-model", n_trials=20), {}),
    (EvolvedKernelSVC(**EVOLVED, n_finalists=2), {}),
    (EvolvedKernelSVR(**EVOLVED, n_finalists=0, grammar="paper", breeding_tries=200), {}),
    (CutoffClassifier(), NOT_OF_SVC),
    (CutoffClassifier(ExactSVC(gamma="auto"), class_weight={}, response_method="soft_votes", excess="scale"), {}),
    (CutoffClassifier(LOGISTIC, weight_unit="balanced"), {}),
    *((machine(), EACH_ROW_ONCE) for machine in (MultiKernelSVC, MultiKernelSVR)),
    (MultiKernelSVC(kernel=["rbf", "linear"], scales=(0.5, 2.0), gamma="auto"), {}),
    (MultiKernelSVC(combine="product", gamma="auto"), {}),
    (MultiKernelSVR(**TUNED), {}),
    # one sweep; the grid adds only more of them
    *((machine, OF_ROWS) for machine in (TunedSVC(budget=1), TunedSVC(budget=1, average=False), TunedSVR(budget=1))),
    (Kriging(n_restarts=1, correlation="matern52", nugget=None), {}),
    (CompleteRowsRegressor(Ridge(), incomplete="mean"), {}),
    (CompleteRowsRegressor(SVR()), NOT_OF_SVR),
    (DelayEmbedding(), ORDER_MATTERS),
    (DelayEmbedding(dimensions=1), {}),
    (DelayEmbedding(3, 2, 1, missing="last", start="zero"), ORDER_MATTERS),
    (DelayEmbedding(2, 1, 2, missing="nan"), ORDER_MATTERS),
    (LeakyRain(), ORDER_MATTERS),
    (LeakyRain(0.3, 0), {}),
    (LeakyRain((0.1, 0.9), (2, 4), missing="nan"), ORDER_MATTERS),
    (LeakyRain(1.0, 3, missing="ignore", start="ignore"), ORDER_MATTERS),
    (PrincipalMonomials(2, n_kept=0.9, whiten=True), {}),
    (PrincipalMonomials(3, n_kept=0), {}),
    (PLSScores(2), {}),
    (SavitzkyGolay(5, deriv=1), {}),
    *((ScatterCorrection(method), {}) for method in ("snv", "msc")),
    (ImportanceFraction(n_estimators=5, random_state=0), {}),
    (TableEncoder(), {}),
    (SpotSearchCV(Ridge(), {"alpha": LEVELS}, **SEARCHED), {}),
    (SpotSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": LEVELS}, **SEARCHED), {}),
    (AverageClassifier([LOGISTIC, LogisticRegression(C=0.1, solver="newton-cholesky")]), {}),
    (AverageClassifier([RidgeClassifier(), RidgeClassifier(alpha=10.0)], scales=[1.0, 2.0]), {}),
    (AverageRegressor([Ridge(), KNeighborsRegressor()]), {}),
]
#: fails what a Pipeline fails, which its own test compares
ELSEWHERE = {"HistoryPipeline"}


def run_checks(estimator, expected):
    """Run all checks, of which those that are `expected` to fail must do so."""
    results = check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
    assert len(results) > 30
    failing = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert failing == set(expected) & {result["check_name"] for result in results}, "take what passes from the list"


@pytest.mark.filterwarnings(
    "ignore:The solver stopped early",
    "ignore:.* back to steps of which there is no row:spotsvm.errors.DataWarning",
    "ignore::sklearn.exceptions.FitFailedWarning",
    "ignore::numpy.exceptions.ComplexWarning",
    "ignore:invalid value encountered in cast:RuntimeWarning",
)
@pytest.mark.parametrize(("estimator", "expected"), ESTIMATORS, ids=lambda value: type(value).__name__)
def test_scikit_learn_s_checks(estimator, expected):
    run_checks(estimator, expected)


def test_every_public_estimator_is_checked():
    public = {name for name in spotsvm.__all__ if inspect.isclass(t := getattr(spotsvm, name)) and issubclass(t, BaseEstimator)}
    checked = {type(row[0]).__name__ for row in ESTIMATORS}
    assert public - checked - ELSEWHERE == set()
    assert not checked & ELSEWHERE


class Changing(PrincipalMonomials):
    """Breaks the contract: fit changes a parameter."""

    def fit(self, X, y=None):
        self.whiten = True
        return super().fit(X, y)


def test_an_estimator_that_breaks_the_contract_is_refused():
    with pytest.raises(AssertionError, match="Changing should not change or mutate  the parameter whiten from False to True"):
        run_checks(Changing(), {})
    with pytest.raises(AssertionError, match="take what passes from the list"):
        run_checks(LeakyRain(0.3, 0), ORDER_MATTERS)
