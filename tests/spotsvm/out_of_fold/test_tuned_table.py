"""The out-of-fold table of TunedSVC and TunedSVR: every number of the fit follows from it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, get_scorer, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import TimeSeriesSplit

from spotsvm import OutOfFold, TunedSVC, TunedSVR
from spotsvm.errors import ArgumentError

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:120], Y[:120]
FRUIT = np.where(Y == 1, "plum", "fig")
SMALL = {"families": ["rbf"], "budget": 2, "cv": 3, "random_state": 0}


@pytest.fixture(scope="module")
def two_classes():
    return TunedSVC(**SMALL).fit(X, FRUIT)


@pytest.fixture(scope="module")
def several_classes():
    rows, classes = load_wine(return_X_y=True)
    return TunedSVC(**SMALL, scoring="neg_log_loss").fit(rows[::2], classes[::2])


@pytest.fixture(scope="module")
def numbers():
    rows, target = load_diabetes(return_X_y=True)
    return TunedSVR(**SMALL).fit(rows[:120], target[:120])


@pytest.fixture(params=["two_classes", "several_classes", "numbers"])
def model(request):
    return request.getfixturevalue(request.param)


def test_the_table_of_a_fit(model):
    table = model.out_of_fold_
    assert isinstance(table, OutOfFold)
    m, n = len(model.settings_), table.n_samples
    assert table.answers.shape[:2] == (m, n)
    assert table.settings["answered"].all()
    pd.testing.assert_frame_equal(table.settings.drop(columns="answered"), model.settings_.drop(columns=["weight", "score"]))
    np.testing.assert_array_equal(table.weights, model.settings_["weight"])
    assert f"{m} of {m} settings" in repr(table)


def test_expected_score_and_verdict_follow_from_the_table(model):
    table = model.out_of_fold_
    assert table.expected().to_dict() == model.expected_score_.to_dict()
    assert table.verdict().to_dict() == model.verdict_.to_dict()
    assert table.expected(confidence=0.8).interval[0] > model.expected_score_.interval[0]
    np.testing.assert_allclose(table.scores(), model.settings_["score"], rtol=1e-12)


def test_scores_are_those_of_scikit_learn(two_classes, numbers):
    table = two_classes.out_of_fold_
    for k, decisions in enumerate(table.answers[..., 0]):
        assert table.scores("roc_auc")[k] == pytest.approx(roc_auc_score(FRUIT == "plum", decisions))
        assert table.scores("accuracy")[k] == pytest.approx(accuracy_score(FRUIT == "plum", decisions > 0))
    table = numbers.out_of_fold_
    scorer = get_scorer("neg_median_absolute_error")  # none of the known scores
    errors = [np.median(np.abs(one[:, 0] - table.y)) for one in table.answers]
    np.testing.assert_allclose(table.scores("neg_median_absolute_error"), -np.array(errors))
    np.testing.assert_allclose(table.scores(scorer), -np.array(errors))


def test_a_second_metric_needs_no_second_fit(two_classes):
    table = two_classes.out_of_fold_
    loss, area = table.expected("neg_log_loss"), table.expected("roc_auc")
    assert (loss.metric, area.metric) == ("neg_log_loss", "roc_auc")
    assert loss.interval[0] < loss.value < loss.interval[1] <= 0.0
    assert area.value == pytest.approx(roc_auc_score(FRUIT, table.probabilities()[:, 1]), abs=0.02)
    assert -loss.value == pytest.approx(log_loss(FRUIT, table.probabilities()), abs=0.03)


def test_probabilities_predictions_and_confusion(two_classes, several_classes):
    for model in (two_classes, several_classes):
        table = model.out_of_fold_
        np.testing.assert_allclose(table.probabilities(), model.oof_predict_proba_)
        predicted = model.classes_[table.probabilities().argmax(axis=1)]
        np.testing.assert_array_equal(table.predictions(), predicted)
        matrix = table.confusion()
        np.testing.assert_array_equal(matrix, confusion_matrix(table.y, predicted))
        assert list(matrix.index) == list(matrix.columns) == list(model.classes_)
        np.testing.assert_allclose(table.confusion("true").sum(axis=1), 1.0)


def test_a_threshold_moves_predictions_and_scores_of_labels():
    model = TunedSVC(**SMALL, threshold=0.9, pos_label="plum").fit(X, FRUIT)
    table = model.out_of_fold_
    np.testing.assert_array_equal(table.predictions() == "plum", table.probabilities()[:, 1] >= 0.9)
    assert table.expected("f1").metric == "f1"
    assert table.expected().to_dict() == model.expected_score_.to_dict()


def test_rows_in_no_fold_and_weights():
    weights = np.where(np.arange(len(Y)) % 10 == 0, 0.0, 1.0 + Y)
    model = TunedSVC(**SMALL | {"cv": TimeSeriesSplit(3)}).fit(X, FRUIT, sample_weight=weights)
    table = model.out_of_fold_
    assert np.isnan(table.answers[:, weights == 0]).all()
    assert np.isnan(table.answers).any(axis=(0, 2)).sum() == len(Y) - len(table.rows)
    assert {one for one in table.predictions() if one is not None} == {"fig", "plum"}
    assert table.confusion().to_numpy().sum() == pytest.approx(table.sample_weight.sum())
    some = table.rows
    scores = [accuracy_score(FRUIT[some] == "plum", one[some, 0] > 0, sample_weight=weights[some]) for one in table.answers]
    np.testing.assert_allclose(table.scores(), scores)


def test_weights_count_once_in_the_constant():
    often = np.where(FRUIT == "fig", 3, 1)
    weighted = TunedSVC(**SMALL, scoring="neg_log_loss").fit(X, FRUIT, sample_weight=often)
    share = often[FRUIT == "fig"].sum() / often.sum()
    entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert -weighted.constant_score_.value == pytest.approx(entropy, abs=0.01)


def test_the_table_can_be_dropped(two_classes):
    dropped = TunedSVC(**SMALL, keep_out_of_fold=False).fit(X, FRUIT)
    assert not hasattr(dropped, "out_of_fold_")
    assert dropped.expected_score_.to_dict() == two_classes.expected_score_.to_dict()
    np.testing.assert_array_equal(dropped.predict_set(X), two_classes.predict_set(X))
    with pytest.raises(ArgumentError, match="keep_out_of_fold='no'"):
        TunedSVC(**SMALL, keep_out_of_fold="no").fit(X, FRUIT)


def test_a_table_of_too_many_bytes_keeps_the_best_settings(two_classes):
    table = two_classes.out_of_fold_
    small, notice = table.limited(table.answers.nbytes // 3)
    kept = small.settings["answered"].to_numpy()
    assert 0 < kept.sum() < len(kept)
    assert kept[table.weights > 0].all()
    assert notice.code == "table limited"
    assert f"the {kept.sum()} best of {len(kept)} settings" in notice.sentence
    assert small.answers.shape[0] == kept.sum()
    np.testing.assert_array_equal(np.isfinite(small.scores()), kept)
    assert table.limited() == (table, None)


def test_what_a_table_cannot_give(numbers, two_classes):
    table = numbers.out_of_fold_
    with pytest.raises(ArgumentError, match="regression, which has no probabilities"):
        table.probabilities()
    with pytest.raises(ArgumentError, match="regression, which has no confusion matrix"):
        table.confusion()
    with pytest.raises(ArgumentError, match="scoring='rok_auc' is unknown; did you mean 'roc_auc'"):
        two_classes.out_of_fold_.scores("rok_auc")
    with pytest.raises(ArgumentError, match=r"scoring='f1' is of the class 1, .* pass make_scorer\(f1_score, pos_label='plum'\)"):
        two_classes.out_of_fold_.expected("f1")
    assert two_classes.out_of_fold_.expected(make_scorer(f1_score, pos_label="fig")).value > 0.5
    with pytest.raises(ArgumentError, match="cannot be computed from answers"):
        two_classes.out_of_fold_.scores(lambda estimator, X, y: estimator.support_vectors_.mean())
    with pytest.raises(ArgumentError, match="rows cannot be drawn again"):
        table.expected(lambda estimator, X, y: 1.0)
    with pytest.raises(ArgumentError, match="normalize='rows'"):
        two_classes.out_of_fold_.confusion("rows")


def test_searched_settings_are_in_the_table():
    model = TunedSVC(**SMALL | {"budget": 5}, space={"gamma": loguniform(0.1, 1)}).fit(X, FRUIT)
    assert len(model.out_of_fold_.settings) == len(model.settings_) == model.out_of_fold_.answers.shape[0]


@pytest.mark.parametrize("machine", [TunedSVC, TunedSVR])
def test_members_for_which_the_time_was_up_count_nowhere(machine, monkeypatch):
    """All numbers are of the members that are there: the first kernel alone."""
    classifies = machine is TunedSVC
    whole = machine(timeout=600, random_state=0).fit(X, Y)
    monkeypatch.setattr("spotsvm.tuned.base._FIT_SHARE", 0.0)
    model = machine(timeout=600, random_state=0).fit(X, Y)
    assert whole.complete_
    assert not model.complete_
    assert len(model.settings_) == len(whole.settings_)
    assert 0 < len(model.members_) < len(whole.members_)
    assert model.members_["width"].nunique() == 1
    table, weights = model.out_of_fold_, model.settings_["weight"].to_numpy()
    assert weights.sum() == pytest.approx(1.0)
    assert table.weights.tolist() == weights.tolist()
    scales = np.abs(table.answers).mean(axis=(1, 2)) if classifies else np.ones(len(weights))
    average = np.tensordot(weights / scales, table.answers, 1)[:, 0]
    assert model.average_oof_.ravel() == pytest.approx(average, rel=1e-4)
    again = pickle.loads(pickle.dumps(model)).out_of_fold_
    assert again.expected().to_dict() == table.expected().to_dict() == model.expected_score_.to_dict()
    assert again.weights.tolist() == weights.tolist()
    if classifies:
        assert again.probabilities() == pytest.approx(model.oof_predict_proba_)
