"""What a search's fit was given beside X and y reaches every estimate that fits or scores again."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, make_scorer, recall_score
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneOut, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from spotsvm import CutoffClassifier, SpotSearchCV, TunedSVC, expected_score, oversearching
from spotsvm.errors import ArgumentError

X, Y = make_classification(160, 4, n_informative=3, n_redundant=0, weights=[0.85], class_sep=0.7, random_state=0)
WEIGHT = np.where(Y == 1, 12.0, 1.0)
CV = StratifiedKFold(3, shuffle=True, random_state=0)
BAYES = make_pipeline(StandardScaler(), GaussianNB())
SPACE = {"gaussiannb__var_smoothing": [1e-9, 0.1]}
STEP = "gaussiannb__sample_weight"
OWN_RECALL = make_scorer(lambda y, predicted: recall_score(y, predicted))


def searched(estimator=BAYES, space=SPACE, fit_params=None, **options):
    options = {"n_iter": 2, "search": "random", "cv": CV, "random_state": 0, "scoring": "recall", **options}
    return SpotSearchCV(estimator, space, **options).fit(X, Y, **({STEP: WEIGHT} if fit_params is None else fit_params))


@pytest.mark.parametrize(
    ("scoring", "refit"),
    [("recall", True), ("balanced_accuracy", "average"), ("balanced_accuracy", True), (OWN_RECALL, "average")],
)
def test_expected_scores_fit_with_the_weights_of_the_search(scoring, refit):
    search = searched(scoring=scoring, refit=refit)
    found = expected_score(search, X, Y)
    assert found.value == pytest.approx(search.best_score_, abs=0.1)
    assert found == expected_score(search, X, Y, fit_params={STEP: WEIGHT})
    without = expected_score(search, X, Y, fit_params={})
    assert without.value < found.value - 0.15


def test_a_search_that_does_not_keep_its_weights_is_refused_without_them():
    of_class, scoring = GridSearchCV(BAYES, SPACE, scoring="recall", cv=CV).fit(X, Y, **{STEP: WEIGHT}), "balanced_accuracy"
    with pytest.raises(ArgumentError, match="has a mean score of .* pass that as fit_params"):
        expected_score(of_class, X, Y)
    search = GridSearchCV(BAYES, SPACE, scoring=scoring, cv=CV).fit(X, Y, **{STEP: WEIGHT})
    assert expected_score(search, X, Y, fit_params={STEP: WEIGHT}).value == pytest.approx(search.best_score_, abs=0.08)
    with pytest.raises(
        ArgumentError, match=r"best candidate has a mean score of .* pass that as fit_params, such as fit_params="
    ):
        expected_score(search, X, Y)
    plain = GridSearchCV(BAYES, SPACE, scoring=scoring, cv=CV).fit(X, Y)
    assert expected_score(plain, X, Y).value == pytest.approx(plain.best_score_, abs=0.08)
    with pytest.raises(ArgumentError, match="these are not the rows of the search"):
        expected_score(search, X[::-1], Y, fit_params={STEP: WEIGHT})


def test_what_was_given_for_other_rows_is_refused():
    search = searched()
    with pytest.raises(
        ArgumentError, match=rf"search was fitted with {STEP} of 160 rows, and X has 100; pass X and y of that fit"
    ):
        expected_score(search, X[:100], Y[:100])
    with pytest.raises(ArgumentError, match=f"search was fitted with {STEP} of 160 rows"):
        oversearching(search, X[:100], Y[:100])
    assert expected_score(search, X[:100], Y[:100], fit_params={STEP: WEIGHT[:100]}).known


def test_groups_of_the_fit_are_drawn_and_kept_together():
    groups = np.arange(160) // 4
    search = searched(scoring=None, cv=GroupKFold(4), fit_params={"groups": groups})
    assert expected_score(search, X, Y) == expected_score(search, X, Y, groups=groups)
    found = oversearching(search, X, Y, outer=GroupKFold(3), curve=False)
    assert found == oversearching(search, X, Y, outer=GroupKFold(3), curve=False, groups=groups)


def test_oversearching_fits_with_the_weights_of_the_search():
    search = searched()
    options = {"outer": CV, "curve": False}
    given, without = (oversearching(search, X, Y, **options, fit_params=params) for params in (None, {}))
    assert given == oversearching(search, X, Y, **options, fit_params={STEP: WEIGHT})
    assert given.expected_score.value > without.expected_score.value + 0.15


def test_scores_are_weighted_where_the_search_has_weighted_them():
    """A third of the rows have the wrong class, and no weight in the score."""
    wrong = np.random.default_rng(0).random(160) < 0.33
    y, weight = np.where(wrong, 1 - Y, Y), np.where(wrong, 0.01, 1.0)
    with config_context(enable_metadata_routing=True):
        scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
        options = {"n_iter": 2, "search": "random", "cv": CV, "random_state": 0}
        for scoring in (scorer, {"weighted": scorer, "plain": "accuracy"}):
            plan = {"scoring": scoring, "refit": "weighted" if isinstance(scoring, dict) else True, **options}
            if isinstance(scoring, dict):
                plan["scoring"]["plain"] = get_scorer("accuracy").set_score_request(sample_weight=False)
            estimator = LogisticRegression().set_fit_request(sample_weight=False)
            search = SpotSearchCV(estimator, {"C": [0.1, 1.0]}, **plan).fit(X, y, sample_weight=weight)
            by_grid = GridSearchCV(estimator, {"C": [0.1, 1.0]}, scoring=plan["scoring"], refit=plan["refit"], cv=CV)
            by_grid.fit(X, y, sample_weight=weight)
            assert search.best_score_ == by_grid.best_score_ > 0.75
            found = expected_score(search, X, y)
            assert found.value == pytest.approx(search.best_score_, abs=0.05)
            assert expected_score(by_grid, X, y, fit_params={"sample_weight": weight}).value == pytest.approx(
                found.value, abs=0.02
            )
            luck = oversearching(search, X, y, outer=CV)
            assert luck.expected_score.value == pytest.approx(search.best_score_, abs=0.06)
        average = SpotSearchCV(estimator, {"C": [0.1, 1.0]}, scoring=scorer, refit="average", **options)
        value = average.fit(X, y, sample_weight=weight).expected_score_.value
        assert value == pytest.approx(average.best_score_, abs=0.05)
        for factor in (1e-6, 1e6):
            again = average.fit(X, y, sample_weight=factor * weight).expected_score_
            assert again.value == pytest.approx(value, abs=1e-6)


WAYS = {
    "shared": (SVC(class_weight="balanced"), {"C": [0.003, 0.03], "gamma": [0.1]}, {}),
    "swept": (SVC(), {"C": (1e-3, 1.0, "log"), "class_weight": [None, "balanced"]}, {"sweep": "class_weight"}),
    "scikit-learn": (SVC(class_weight="balanced"), {"C": [0.003, 0.03], "gamma": [0.1]}, {"engine": "sklearn"}),
    "tree": (DecisionTreeClassifier(class_weight="balanced", random_state=0), {"min_samples_leaf": [10, 20]}, {}),
    "pipeline": (make_pipeline(StandardScaler(), SVC(class_weight="balanced", C=0.01)), {"svc__gamma": [0.01, 0.1]}, {}),
    "cutoffs": (CutoffClassifier(SVC(C=0.01, class_weight="balanced")), {"cutoff__1": [0.45, 0.5, 0.55]}, {}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("refit", [True, "average"])
def test_leave_one_out_with_balanced_weights_does_not_tell_coins(way, refit):
    """The class left out would weigh more by as much as makes the sums of the classes equal, but for rounding."""
    estimator, space, options = WAYS[way]
    values = []
    for seed in range(3 if way == "shared" else 1):
        rng = np.random.default_rng(seed)
        rows, coins = rng.normal(size=(40, 5)), rng.permutation(np.arange(40) % 2)
        n_iter = {"svc__gamma": 2, "cutoff__1": 3}.get(next(iter(space)), 2)
        search = SpotSearchCV(estimator, space, n_iter=n_iter, cv=LeaveOneOut(), refit=refit, random_state=0, **options)
        with pytest.warns(UserWarning, match="each fold tests rows of one class alone"):
            search.fit(rows, coins)
        found = search.expected_score_ if refit == "average" else expected_score(search, rows, coins)
        values.append(found.value)
    assert 0.1 < min(values) <= max(values) < 0.85
    assert way != "shared" or np.mean(values) == pytest.approx(0.5, abs=0.15)


def test_tuned_svc_does_not_tell_coins_either():
    rng = np.random.default_rng(0)
    rows, coins = rng.normal(size=(40, 5)), rng.permutation(np.arange(40) % 2)
    model = TunedSVC(class_weight="balanced", cv=LeaveOneOut(), budget=2, random_state=0).fit(rows, coins)
    assert model.expected_score_.value == pytest.approx(0.5, abs=0.16)


@pytest.mark.parametrize(("seed", "scoring"), [(10, "neg_median_absolute_error"), (34, "d2_absolute_error_score")])
def test_few_rows_of_the_search_are_known_as_its_rows(seed, scoring):
    """A score that only a scorer can compute is estimated on other folds, and compared with the search on its own."""
    rng = np.random.default_rng(seed)
    rows, target = rng.normal(size=(15, 2)), rng.normal(size=15)
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=3, scoring=scoring).fit(rows, target)
    assert expected_score(search, rows, target).metric == scoring
