"""The out-of-fold table of a search: its answers come back with the scores, and every number follows from them."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, get_scorer, log_loss, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from spotsvm import SpotSearchCV, TunedSVC, expected_score, tuning_verdict
from spotsvm.errors import ArgumentError

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:120], Y[:120]
SVM = make_pipeline(StandardScaler(), SVC())
SPACE = {"svc__C": loguniform(0.01, 100), "svc__gamma": loguniform(1e-3, 1)}
FOLDS = StratifiedKFold(4, shuffle=True, random_state=1)
OPTIONS = {"n_iter": 5, "cv": FOLDS, "random_state": 0}


@pytest.fixture(scope="module")
def search():
    return SpotSearchCV(SVM, SPACE, **OPTIONS).fit(X, Y)


class Counted(ClassifierMixin, BaseEstimator):
    """A decision tree that counts its fits."""

    fits = 0

    def __init__(self, max_depth=None, fails=False):
        self.max_depth, self.fails = max_depth, fails

    def fit(self, X, y):
        type(self).fits += 1
        if self.fails:
            raise ValueError("as it was asked to")
        self.tree_ = DecisionTreeClassifier(max_depth=self.max_depth, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)

    def predict_proba(self, X):
        return self.tree_.predict_proba(X)


@pytest.mark.parametrize(
    ("options", "of_model"), [({}, 1), ({"refit": "average"}, None), ({"calibrate": True}, 1), ({"refit": False}, 0)]
)
def test_a_search_makes_no_fits_but_those_of_candidates_on_folds_and_of_its_members(options, of_model):
    Counted.fits = 0
    search = SpotSearchCV(Counted(), {"max_depth": [1, 2, 3, None]}, n_iter=4, cv=FOLDS, random_state=0, **options).fit(X, Y)
    if of_model is None:
        of_model = len(search.best_estimator_.estimators_)
    table = search.out_of_fold_
    assert Counted.fits == 4 * 4 + of_model
    if search.refit:
        assert expected_score(search, X, Y).to_dict() == search.expected_score_.to_dict()
        assert tuning_verdict(search, X, Y).to_dict() == search.verdict_.to_dict()  # None is the tree's own depth
    table.expected("neg_log_loss")
    assert Counted.fits == 4 * 4 + of_model


def test_answers_are_those_of_models_fitted_on_the_other_folds(search):
    table = search.out_of_fold_
    assert table.response == "decision_function"
    for k in (0, len(table.settings) - 1):
        model = clone(SVM).set_params(**search.cv_results_["params"][k])
        np.testing.assert_allclose(
            table.answers[k, :, 0], cross_val_predict(model, X, Y, cv=FOLDS, method="decision_function"), atol=0.02
        )
    trees = SpotSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]}, n_iter=3, cv=FOLDS).fit(X, Y)
    found = trees.out_of_fold_
    assert (found.response, found.answers.shape) == ("predict_proba", (3, len(Y), 2))
    for depth, answers in zip(found.settings["param_max_depth"], found.answers, strict=True):
        tree = DecisionTreeClassifier(max_depth=int(depth), random_state=0)
        np.testing.assert_allclose(answers, cross_val_predict(tree, X, Y, cv=FOLDS, method="predict_proba"))
        assert found.scores("neg_log_loss")[depth - 1] == pytest.approx(-log_loss(Y, answers))


def test_the_table_has_what_cv_results_has(search):
    table, results = search.out_of_fold_, search.cv_results_
    assert table.settings["param_svc__C"].tolist() == results["param_svc__C"].tolist()
    assert table.weights[search.best_index_] == table.weights.sum() == 1.0
    by_fold = [
        np.mean([accuracy_score(Y[test], answers[test, 0] > 0) for _, test in FOLDS.split(X, Y)]) for answers in table.answers
    ]
    np.testing.assert_allclose(by_fold, results["mean_test_score"])
    for k, answers in enumerate(table.answers):
        assert table.scores("roc_auc")[k] == pytest.approx(roc_auc_score(Y, answers[:, 0]))


class Named(Counted):
    """A tree whose parameters have the names of columns of the table."""

    def __init__(self, number=None, state=2, answered=0.0):
        self.number, self.state, self.answered = number, state, answered

    def fit(self, X, y):
        self.tree_ = DecisionTreeClassifier(
            max_depth=self.number, min_samples_leaf=self.state, ccp_alpha=self.answered, random_state=0
        ).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self


def test_parameters_with_the_names_of_its_columns_replace_no_column():
    space = {"number": [1, 2], "state": [2, 9], "answered": [0.0, 0.01]}
    search = SpotSearchCV(Named(), space, n_iter=8, cv=FOLDS, random_state=0).fit(X, Y)
    settings = search.out_of_fold_.settings
    assert settings["number"].tolist() == list(range(8))
    assert set(settings["state"]) == {"ok"}
    assert settings["answered"].all()
    for name in space:
        assert settings[f"param_{name}"].tolist() == search.cv_results_[f"param_{name}"].tolist()


def test_a_reader_recomputes_the_expected_score(search):
    table = search.out_of_fold_
    right = (table.answers[..., 0] > 0) == (table.y == 1)
    n, drawn = len(table.y), np.random.default_rng(table.seed).integers(len(table.y), size=(200, len(table.y)))
    scores = []
    order = np.argsort(-search.cv_results_["mean_test_score"], kind="stable")
    order = [search.best_index_, *order[order != search.best_index_]]
    for rows in drawn:
        chosen = order[np.argmax(right[order][:, rows].mean(axis=1))]
        left_out = np.setdiff1d(np.arange(n), rows)
        scores.append(right[chosen, left_out].mean())
    value = 0.632 * np.mean(scores) + 0.368 * right[search.best_index_].mean()
    assert value == pytest.approx(search.expected_score_.value, abs=1e-6)


def test_every_refit_has_a_score_to_expect(search):
    for refit in (True, "1se", "average", lambda results: int(np.argmax(results["mean_test_score"]))):
        other = SpotSearchCV(SVM, SPACE, refit=refit, **OPTIONS).fit(X, Y)
        assert other.expected_score_.how == "draws"
        assert other.expected_score_.to_dict() == other.out_of_fold_.expected().to_dict() == expected_score(other, X, Y).to_dict()
        assert other.constant_score_.value == pytest.approx(max(Y.mean(), 1 - Y.mean()), abs=0.02)
        assert other.verdict_.to_dict() == other.out_of_fold_.verdict().to_dict() == tuning_verdict(other, X, Y).to_dict()


class Remembering(ClassifierMixin, BaseEstimator):
    """Answers for rows, which are numbers, as a setting of another model has answered them."""

    answers = None

    def __init__(self, setting=-1):
        self.setting = setting

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        answers = type(self).answers[self.setting][np.asarray(X)[:, 0].astype(int)]
        return answers[:, 0] if len(self.classes_) == 2 else answers

    def predict(self, X):
        decisions = self.decision_function(X)
        return self.classes_[decisions.argmax(axis=1) if decisions.ndim > 1 else (decisions > 0).astype(int)]


@pytest.mark.parametrize(
    ("load", "scoring"),
    [(load_breast_cancer, "accuracy"), (load_breast_cancer, "neg_log_loss"), (load_wine, "balanced_accuracy")],
)
def test_a_search_and_a_tuned_model_answer_the_same_question_alike(load, scoring):
    rows, y = (part[::4] for part in load(return_X_y=True))
    splits = list(StratifiedKFold(3, shuffle=True, random_state=2).split(rows, y))
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    tuned = TunedSVC(families=["rbf"], budget=1, cv=splits, scoring=scoring, random_state=seed).fit(rows, y)
    table = tuned.out_of_fold_
    Remembering.answers = {**dict(enumerate(table.answers)), -1: table.default.public(table.judged_rows)[0]}
    m, numbers = len(table.settings), np.arange(len(y), dtype=float)[:, None]
    # a score of probabilities cannot choose among candidates without them, so the table is asked for it
    by = "accuracy" if scoring == "neg_log_loss" else scoring
    search = SpotSearchCV(
        Remembering(), {"setting": list(range(m))}, n_iter=m, cv=splits, scoring=by, refit="average", calibrate=True,
        random_state=0,
    ).fit(numbers, y)  # fmt: skip
    if scoring == "neg_log_loss":
        assert search.out_of_fold_.expected(scoring).metric == scoring
        return
    np.testing.assert_allclose(search.out_of_fold_.weights, tuned.out_of_fold_.weights)
    np.testing.assert_allclose(
        search.best_estimator_.calibration.slope, tuned.out_of_fold_.combination.calibration.slope, rtol=1e-4
    )
    np.testing.assert_allclose(search.oof_predict_proba_, tuned.oof_predict_proba_, atol=1e-5)
    for mine, theirs in (
        (search.expected_score_, tuned.expected_score_),
        (search.constant_score_, tuned.constant_score_),
        (tuning_verdict(search, numbers, y), tuned.verdict_),
    ):
        np.testing.assert_allclose([mine.value, *mine.interval], [theirs.value, *theirs.interval], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "options", [{"n_jobs": 2}, {"executor": "threading", "n_jobs": 2, "batch_size": 1}, {"trial_timeout": 60.0}]
)
def test_answers_come_back_from_workers(search, options):
    other = SpotSearchCV(SVM, SPACE, **OPTIONS, **options).fit(X, Y)
    assert other.out_of_fold_.answers.shape == search.out_of_fold_.answers.shape
    np.testing.assert_allclose(other.out_of_fold_.answers, search.out_of_fold_.answers, atol=0.02)


@pytest.mark.parametrize("refit", [True, "average"])
def test_a_resumed_search_has_the_same_table(refit, tmp_path):
    options = OPTIONS | {"path": tmp_path / "record.db", "refit": refit}
    first = SpotSearchCV(SVM, SPACE, **options | {"n_iter": 3}).fit(X, Y)
    resumed = SpotSearchCV(SVM, SPACE, **options).fit(X, Y)
    whole = SpotSearchCV(SVM, SPACE, **options | {"path": None}).fit(X, Y)
    m = len(first.out_of_fold_.settings)
    np.testing.assert_array_equal(resumed.out_of_fold_.answers[:m], first.out_of_fold_.answers)
    np.testing.assert_allclose(resumed.out_of_fold_.answers, whole.out_of_fold_.answers, atol=0.02)
    again = SpotSearchCV(SVM, SPACE, **options).fit(X, Y)
    np.testing.assert_array_equal(again.out_of_fold_.answers, resumed.out_of_fold_.answers)
    assert again.expected_score_.to_dict() == resumed.expected_score_.to_dict()


def test_rows_in_several_folds_and_in_none():
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    tree, space = DecisionTreeClassifier(random_state=0), {"max_depth": [2, None]}
    search = SpotSearchCV(tree, space, n_iter=2, cv=cv, random_state=0).fit(X, Y)
    table, splits = search.out_of_fold_, list(cv.split(X, Y))
    deep = DecisionTreeClassifier(max_depth=2, random_state=0)
    each = [cross_val_predict(deep, X, Y, cv=splits[k : k + 3], method="predict_proba") for k in range(0, 12, 3)]
    np.testing.assert_allclose(table.answers[0], np.mean(each, axis=0))
    # a mean of four trees is a forest: scores are those of single trees
    assert table.scores()[0] == pytest.approx(np.mean([accuracy_score(Y, one.argmax(axis=1)) for one in each]))
    assert search.expected_score_.n_rows == table.confusion().to_numpy().sum() == len(Y)
    later = SpotSearchCV(tree, space, n_iter=2, cv=TimeSeriesSplit(3), random_state=0).fit(X, Y)
    assert np.isnan(later.out_of_fold_.answers[:, : len(Y) // 4]).all()
    assert len(later.out_of_fold_.rows) == 90


def test_failed_settings_stand_in_the_table_without_answers():
    with pytest.warns(match="1 of 3 candidates failed"):
        search = SpotSearchCV(Counted(), [{"max_depth": [1, 2]}, {"fails": [True]}], n_iter=3, cv=FOLDS, random_state=0).fit(X, Y)
    table = search.out_of_fold_
    failed = table.settings["state"] == "failed"
    assert failed.sum() == 1
    assert (table.settings["answered"] == ~failed).all()
    assert table.scores().isna().equals(failed)
    assert len(table.answers) == 2


def test_several_metrics_have_one_table():
    metrics = ["accuracy", "roc_auc"]
    search = SpotSearchCV(SVM, SPACE, scoring=metrics, refit="roc_auc", **OPTIONS).fit(X, Y)
    table = search.out_of_fold_
    assert search.expected_score_.metric == "roc_auc"
    assert table.expected("accuracy").metric == "accuracy"
    fronts = SpotSearchCV(SVM, SPACE, search="nsga2", scoring=metrics, refit="accuracy", **OPTIONS).fit(X, Y)
    assert fronts.out_of_fold_.expected("roc_auc").value > 0.9
    assert SpotSearchCV(SVM, SPACE, scoring=metrics, refit=False, **OPTIONS).fit(X, Y).out_of_fold_.scores("accuracy").max() > 0.9


def test_regression_of_one_and_of_several_targets():
    rows, y = load_diabetes(return_X_y=True)
    rows, y = rows[:100], y[:100]
    cv = KFold(3, shuffle=True, random_state=0)
    search = SpotSearchCV(SVR(), {"C": loguniform(1, 100)}, n_iter=3, cv=cv, random_state=0).fit(rows, y)
    table = search.out_of_fold_
    k = search.best_index_
    predicted = cross_val_predict(SVR(**search.cv_results_["params"][k]), rows, y, cv=cv)
    np.testing.assert_allclose(table.answers[k, :, 0], predicted, rtol=0.01)
    assert table.scores("neg_mean_absolute_error")[k] == pytest.approx(-np.abs(predicted - y).mean(), rel=0.01)
    assert np.isfinite(table.expected("neg_root_mean_squared_error").interval).all()
    both = SpotSearchCV(Ridge(), {"alpha": loguniform(0.1, 10)}, n_iter=3, cv=cv, random_state=0).fit(rows, np.stack([y, -y], 1))
    assert both.out_of_fold_.answers.shape == (3, 100, 2)
    assert both.out_of_fold_.predictions().shape == (100, 2)
    assert not hasattr(both, "expected_score_")
    with pytest.raises(ArgumentError, match="a target of one column"):
        both.out_of_fold_.expected()


def test_predictions_that_are_not_those_of_the_largest_answer_count_in_scores():
    cut = FixedThresholdClassifier(make_pipeline(StandardScaler(), LogisticRegression()), threshold=0.9)
    space = {"estimator__logisticregression__C": [0.1, 1.0]}
    search = SpotSearchCV(cut, space, n_iter=2, cv=FOLDS, random_state=0).fit(X, Y)
    table = search.out_of_fold_
    model = search.best_estimator_
    predicted = cross_val_predict(model, X, Y, cv=FOLDS)
    assert table.scores()[search.best_index_] == pytest.approx(accuracy_score(Y, predicted))
    np.testing.assert_array_equal(table.predictions(), predicted)
    assert table.scores("roc_auc")[search.best_index_] == pytest.approx(
        roc_auc_score(Y, cross_val_predict(model, X, Y, cv=FOLDS, method="predict_proba")[:, 1])
    )


def test_the_table_can_be_dropped_or_is_not_there(search):
    dropped = SpotSearchCV(SVM, SPACE, keep_out_of_fold=False, **OPTIONS).fit(X, Y)
    assert not hasattr(dropped, "out_of_fold_")
    assert all(trial.answers is None for trial in dropped.study_.trials)
    assert expected_score(dropped, X, Y).value == pytest.approx(search.expected_score_.value, abs=0.02)
    with pytest.raises(AttributeError, match="SpotSearchCV has no out_of_fold_: keep_out_of_fold=False"):
        dropped.out_of_fold_  # noqa: B018
    averaged = SpotSearchCV(SVM, SPACE, keep_out_of_fold=False, refit="average", **OPTIONS).fit(X, Y)
    assert averaged.expected_score_.how == "draws"
    assert not hasattr(averaged, "out_of_fold_")
    groups = SpotSearchCV(KMeans(n_init=1), {"n_clusters": [2, 3]}, n_iter=2, cv=3, random_state=0).fit(X)
    with pytest.raises(
        AttributeError,
        match="no out_of_fold_: it has no answers for rows, as its estimator is neither",
    ):
        groups.out_of_fold_  # noqa: B018
    with pytest.raises(ArgumentError, match="keep_out_of_fold=1"):
        SpotSearchCV(SVM, SPACE, keep_out_of_fold=1, **OPTIONS).fit(X, Y)


def test_a_scorer_that_needs_the_model_itself_is_an_error_of_the_table_alone():
    def size(model, X, y):
        return -model[-1].n_support_.sum()

    search = SpotSearchCV(SVM, SPACE, scoring=size, **OPTIONS).fit(X, Y)
    assert search.out_of_fold_.scores("accuracy").max() > 0.8
    assert not hasattr(search, "expected_score_")
    with pytest.raises(ArgumentError, match="cannot be computed from answers"):
        search.out_of_fold_.scores()
    small, _ = search.out_of_fold_.limited(search.out_of_fold_.answers.nbytes // 4)
    assert small.settings["answered"].to_numpy()[search.best_index_]


def test_weights_of_rows_and_groups_reach_the_table():
    weights = 1.0 + Y
    search = SpotSearchCV(
        RandomForestClassifier(20, random_state=0), {"max_depth": [2, 3]}, n_iter=2, cv=FOLDS, random_state=0
    ).fit(X, Y, sample_weight=weights)
    table = search.out_of_fold_
    # without metadata routing weights are those of the fit, not of the scores, as in scikit-learn
    assert (table.sample_weight == 1.0).all()
    np.testing.assert_allclose(table.judged_rows.fit_weights, weights / weights.mean())
    groups = np.arange(len(Y)) // 3
    grouped = SpotSearchCV(SVM, SPACE, **OPTIONS | {"cv": GroupKFold(3)}).fit(X, Y, groups=groups)
    assert grouped.expected_score_.units == len(np.unique(groups))
    assert expected_score(grouped, X, Y, groups=groups // 2).units == len(np.unique(groups // 2))


def test_known_and_unknown_scorers_of_a_table(search):
    table = search.out_of_fold_
    mcc = table.scores("matthews_corrcoef")
    assert mcc.max() <= 1.0
    np.testing.assert_allclose(table.scores(get_scorer("jaccard")), table.scores("jaccard"))


def test_the_best_candidates_keep_answers_where_all_have_too_many_bytes(search, monkeypatch):
    size = search.out_of_fold_.answers[0].nbytes
    monkeypatch.setattr("spotsvm.search_cv.run.MOST_BYTES", 5 * size)
    with pytest.warns(match=f"out_of_fold_ has the answers of the 5 best of {len(search.out_of_fold_.settings)} settings"):
        small = SpotSearchCV(SVM, SPACE, **OPTIONS).fit(X, Y)
    kept = small.out_of_fold_.settings["answered"].to_numpy()
    scores = small.cv_results_["mean_test_score"]
    assert (kept.sum(), kept[small.best_index_]) == (5, True)
    assert scores[kept].min() >= np.sort(scores)[-5]


def test_own_parameters_that_are_arrays_and_targets_that_are_sparse():
    priors = [np.array([0.5, 0.5]), np.array([0.2, 0.8]), None]
    model = QuadraticDiscriminantAnalysis(priors=np.array([0.5, 0.5]), reg_param=0.5)
    search = SpotSearchCV(model, {"priors": priors}, n_iter=3, cv=FOLDS, random_state=0).fit(X, Y)
    assert search.verdict_.to_dict() == search.out_of_fold_.verdict().to_dict()
    labels = csr_matrix(np.column_stack([Y, 1 - Y]))
    each = OneVsRestClassifier(DecisionTreeClassifier(random_state=0))
    several = SpotSearchCV(each, {"estimator__max_depth": [1, 2]}, n_iter=2, cv=KFold(3), random_state=0).fit(X, labels)
    assert not hasattr(several, "out_of_fold_")
    assert several.predict(X[:2]).shape == (2, 2)
    with pytest.raises(ArgumentError, match="has chosen the settings, and rows cannot be drawn by it"):
        SpotSearchCV(SVM, SPACE, scoring=lambda model, X, y: 1.0, **OPTIONS).fit(X, Y).out_of_fold_.expected("accuracy")


class Unsure(DecisionTreeClassifier):
    """Has probabilities that are not finite at a depth of 1."""

    def predict_proba(self, X, check_input=True):
        return super().predict_proba(X) * (np.nan if self.max_depth == 1 else 1.0)

    def predict(self, X, check_input=True):
        return self.classes_[super().predict_proba(X).argmax(axis=1)]


def test_answers_that_are_not_finite_give_way_to_votes():
    search = SpotSearchCV(Unsure(random_state=0), {"max_depth": [1, 2]}, n_iter=2, cv=FOLDS, random_state=0).fit(X, Y)
    table = search.out_of_fold_
    assert (table.response, len(table.rows)) == ("predict", len(Y))
    assert np.isfinite(table.answers).all()


def test_the_chosen_candidate_has_answers_where_a_record_has_none(tmp_path):
    options = OPTIONS | {"path": tmp_path / "record.db"}
    SpotSearchCV(SVM, SPACE, **options | {"n_iter": 3}, keep_out_of_fold=False).fit(X, Y)
    resumed = SpotSearchCV(SVM, SPACE, **options).fit(X, Y)
    table = resumed.out_of_fold_
    assert table.weights[resumed.best_index_] == 1.0
    assert table.settings["answered"].to_numpy()[resumed.best_index_]


def test_a_table_of_too_many_bytes_still_has_the_chosen_candidate(search):
    simplest = SpotSearchCV(SVM, SPACE, refit="1se", **OPTIONS).fit(X, Y)
    for one in (search, simplest):
        small, _ = one.out_of_fold_.limited(one.out_of_fold_.answers.nbytes // 4)
        assert small.kept[small.pool[small.best]] == one.best_index_
        np.testing.assert_array_equal(small.decisions(), one.out_of_fold_.decisions())
