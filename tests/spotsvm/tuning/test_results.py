from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import uniform
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.svm import SVC

from spotsvm import Study
from spotsvm.tuning.results import (
    HeldOutResult,
    RememberedPredictions,
    block_length,
    held_out_score,
    write_tuning_report,
)

X, Y = load_iris(return_X_y=True, as_frame=True)
TRAIN, TEST = X.iloc[::2], X.iloc[1::2]
CLASSES, TRUTH = Y.iloc[::2], Y.iloc[1::2]


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "neg_log_loss", "roc_auc_ovr", "f1_macro"])
def test_the_score_is_the_scorer_s(scoring):
    fitted = LogisticRegression(max_iter=500).fit(TRAIN, CLASSES)
    score, error = held_out_score(get_scorer(scoring), fitted, TEST, TRUTH, 0)
    assert score == pytest.approx(get_scorer(scoring)(fitted, TEST, TRUTH))
    assert error > 0


def test_what_cannot_be_predicted_is_no_missing_score():
    fitted = SVC().fit(TRAIN, CLASSES)
    gone = TEST.mask(TEST > 6)
    with pytest.raises(ValueError, match="contains NaN"):
        held_out_score(get_scorer("accuracy"), fitted, gone, TRUTH, 0)
    one_class = held_out_score(get_scorer("roc_auc_ovr"), LogisticRegression().fit(TRAIN, CLASSES), TEST[:20], TRUTH[:20], 0)
    assert np.isnan(one_class).all()


def test_remembered_responses_are_looked_up():
    fitted = SVC().fit(TRAIN, CLASSES)
    told = RememberedPredictions(fitted, TEST)
    rows = np.array([3, 3, 0])
    np.testing.assert_array_equal(told.predict(rows), fitted.predict(TEST.iloc[rows]))
    np.testing.assert_allclose(told.decision_function(rows), fitted.decision_function(TEST.iloc[rows]))
    fitted.predict = None  # each row has been predicted once
    np.testing.assert_array_equal(told.predict(rows[:1]), told.predict(rows)[:1])
    assert told.classes_.tolist() == [0, 1, 2]
    assert not hasattr(told, "predict_proba")


def test_the_error_of_independent_rows_is_that_of_the_mean():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"x": rng.normal(size=400)})
    y = pd.Series(rng.normal(size=400))
    fitted = LinearRegression().fit(x[:200], y[:200])
    scorer = get_scorer("neg_mean_absolute_error")
    misses = abs(y[200:] - fitted.predict(x[200:]))
    _, error = held_out_score(scorer, fitted, x[200:], y[200:], 0, resamples=1000)
    assert error == pytest.approx(misses.std() / np.sqrt(200), rel=0.1)


def test_blocks_see_that_neighbours_depend_on_each_other():
    """Each value is there 20 times: 400 rows say as much as 20."""
    rng = np.random.default_rng(0)
    y = pd.Series(np.repeat(rng.normal(size=20), 20))
    x = pd.DataFrame({"x": np.zeros(400)})
    fitted = LinearRegression().fit(x, y * 0)
    scorer = get_scorer("neg_mean_absolute_error")
    truth = abs(y[::20]).std() / np.sqrt(20)
    alone, together = (held_out_score(scorer, fitted, x, y, 0, block=b, resamples=500)[1] for b in (1, block_length(400)))
    assert alone < 0.3 * truth
    assert 0.6 * truth < together < 1.2 * truth


def test_blocks_have_as_many_rows():
    assert [block_length(n) for n in (1, 10, 400)] == [1, 3, 20]
    fitted = LinearRegression().fit(TRAIN, CLASSES)
    for n in (1, 2, 7, 10):
        score, _ = held_out_score(get_scorer("r2"), fitted, TEST[:n], TRUTH[:n], 0, block=4, resamples=3)
        assert np.isnan(score) == (n == 1)


def result(test_score, test_error=0.01, name="kriging", search=None):
    return HeldOutResult(name, 0.9, test_score, test_error, None, search)


def test_a_random_search_that_only_failed_is_no_baseline(tmp_path):
    def search(objective):
        return SimpleNamespace(study_=Study({"x": uniform(0, 1)}, "random", 0).run(objective, n_trials=3))

    failed, fine = search(lambda p: 1 / 0), search(lambda p: p["x"])
    results = [result(0.9, name="default"), result(0.9, name="random", search=failed), result(0.9, search=fine)]
    assert write_tuning_report(results, tmp_path) == [tmp_path / "report.html"]
    assert write_tuning_report(results[:1], tmp_path) == []
