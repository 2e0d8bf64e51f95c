"""Rain and flow with any model: the steps as anybody would write them, without options."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import balanced_accuracy_score, get_scorer, log_loss, roc_auc_score
from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import (
    BlockSplit,
    DelayEmbedding,
    EvoSVC,
    HistoryPipeline,
    LeakyRain,
    SpotSearchCV,
    Study,
    default_space,
    oversearching,
    whole_history_scorer,
)
from spotsvm.errors import ArgumentError, DataError, DataWarning

N = 480


def series(n=N, seed=0):
    """Return rain, and the flow of a tank that keeps 0.9 of its water each hour."""
    rng = np.random.default_rng(seed)
    rain = rng.exponential(size=n) * (rng.random(n) < 0.2)
    hours = pd.date_range("2011-03-31", periods=n, freq="h")
    flow = pd.Series(np.convolve(rain, 0.9 ** np.arange(100))[:n], index=hours)
    return pd.DataFrame({"rain": rain}, index=hours), flow


X, FLOW = series()
#: the flow in three hours is above its 85 % quantile
ALARM = (FLOW.shift(-3).ffill() > FLOW.quantile(0.85)).astype(int)
FAR = BlockSplit(4, train="set 2", test="set 4")


def the_sentence():
    return make_pipeline(LeakyRain(), DelayEmbedding(), PCA(), StandardScaler(), EvoSVC(random_state=0))


def kinds_of(table):
    """Return a table by time, by position, and without an index."""
    return {"time": table, "position": table.reset_index(drop=True), "array": table.to_numpy()}


def recorded(call, *args, **options):
    """Return a result, and the warnings about data."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call(*args, **options)
    assert {one.category for one in caught} <= {DataWarning}
    return found, [one.message for one in caught]


@pytest.mark.parametrize("kind", ["time", "position", "array"])
@pytest.mark.parametrize("splitter", [TimeSeriesSplit(3), FAR, KFold(3), 3], ids=["later", "far", "blocks", "stratified"])
def test_the_pipeline_as_written_is_scored_on_any_folds(splitter, kind):
    scores, told = recorded(
        cross_val_score, the_sentence(), kinds_of(X)[kind], ALARM, cv=splitter, scoring="balanced_accuracy", error_score="raise"
    )
    assert np.isfinite(scores).all()
    assert len(scores) <= len(told) <= 2 * len(scores)
    assert all("rows look back to steps of which there is no row" in str(one) for one in told)
    if splitter is FAR:
        assert scores.min() > 0.55


@pytest.mark.parametrize(
    "model", [LogisticRegression(solver="newton-cholesky"), SVC(), SVR(), LinearRegression(), RandomForestRegressor(5)]
)
def test_any_model_at_the_end_is_fitted_and_asked_with_a_gap(model):
    y = ALARM if hasattr(model, "predict_proba") or isinstance(model, SVC) else FLOW
    train, test = slice(120, 240), slice(360, 480)
    pipeline = make_pipeline(LeakyRain(), DelayEmbedding(), PCA(), StandardScaler(), model)
    _, told = recorded(pipeline.fit, X[train], y[train])
    assert [str(one) for one in told] == [
        "120 of 120 rows look back to steps of which there is no row (LeakyRain looks 120 back): their sums are of the rows that "
        "there are"
    ]
    assert (told[0].notices[0].code, told[0].notices[0].share) == ("history", 1.0)
    answers, told = recorded(pipeline.predict, X[test])
    assert np.isfinite(answers).all()
    assert len(told) == 1
    later, told = recorded(pipeline.predict, X[240:300])
    assert np.isfinite(later).all()
    assert told == []  # the window of 120 begins with the training rows


@pytest.mark.parametrize("kind", ["time", "position", "array"])
@given(st.integers(60, 400), st.integers(0, 40), st.integers(1, 8), st.integers(1, 3), st.integers(0, 4))
@settings(max_examples=15, deadline=None)
def test_rows_that_follow_the_training_rows_have_their_history(kind, border, window, dimensions, delay, horizon):
    chain = make_pipeline(LeakyRain(0.9, window), DelayEmbedding(dimensions, delay, horizon))
    table = kinds_of(X)[kind]
    whole, _ = recorded(chain.fit_transform, table)
    fitted, _ = recorded(clone(chain).fit, table[:border])
    for model in (fitted, pickle.loads(pickle.dumps(fitted))):
        found, told = recorded(model.transform, table[border:])
        np.testing.assert_allclose(found, whole[border:], rtol=1e-12, atol=1e-12)
        assert told == []
    for rows in (table[:border], table):  # the training rows, and what follows
        found, _ = recorded(fitted.transform, rows)
        np.testing.assert_allclose(found, whole[: len(rows)], rtol=1e-12, atol=1e-12)


@given(st.integers(0, 30), st.integers(1, 6), st.integers(1, 3), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_lags_in_a_gap_repeat_the_first_reading_after_it(gap, dimensions, delay, horizon):
    train, test = X[100:140], X[140 + gap : 180 + gap]
    found, told = recorded(recorded(DelayEmbedding(dimensions, delay, horizon).fit, train)[0].transform, test)
    known = pd.concat([train, test])["rain"]
    lags = horizon + delay * np.arange(dimensions)
    short = 0
    for row, time in zip(found.to_numpy(), test.index, strict=True):
        wanted = [time - pd.Timedelta(hours=int(lag)) for lag in lags]
        short += not set(wanted) <= set(known.index)
        newest = wanted[0]
        for value, at in zip(row, wanted, strict=True):
            after = known[at:newest]
            assert value == (after.iloc[0] if len(after) else known[:newest].iloc[-1])
    assert sum(one.notices[0].rows.sum() for one in told) == short


def test_the_first_lags_of_all_repeat_the_first_reading():
    level = pd.DataFrame({"level": [3.0, 1.0, 4.0, 1.5]})
    found, told = recorded(DelayEmbedding(2, 1, horizon=1).fit_transform, level)
    np.testing.assert_array_equal(found, [[3.0, 3.0], [3.0, 3.0], [1.0, 3.0], [4.0, 1.0]])
    assert str(told[0]) == (
        "2 of 4 rows look back to steps of which there is no row (DelayEmbedding looks 2 back): the first reading after stands "
        "for those"
    )
    found, _ = recorded(DelayEmbedding(2, missing="last").fit_transform, np.array([[2.0], [np.nan], [np.nan], [5.0]]))
    np.testing.assert_array_equal(found, [[2.0, 2.0], [2.0, 2.0], [2.0, 2.0], [5.0, 2.0]])


def test_a_later_step_tells_of_further_rows_alone():
    chain = make_pipeline(LeakyRain(0.9, 10), DelayEmbedding(8))
    assert [one.notices[0].rows.sum() for one in recorded(chain.fit, X)[1]] == [10]
    assert [one.notices[0].rows.sum() for one in recorded(chain.fit, X.to_numpy())[1]] == [10]
    chain.set_params(delayembedding__dimensions=24)
    assert [one.notices[0].rows.sum() for one in recorded(chain.fit, X)[1]] == [10, 23]


def test_a_history_tells_only_of_the_rows_of_the_data():
    steps = [("leaky", LeakyRain(0.9, 30)), ("embed", DelayEmbedding(4))]
    chain = HistoryPipeline(steps, history=X)
    assert recorded(chain.fit, X[100:200])[1] == []
    assert recorded(chain.transform, X[300:])[1] == []
    told = recorded(chain.fit_transform, X[20:80])[1]
    assert [one.notices[0].rows.sum() for one in told] == [10]
    assert str(told[0]).startswith("10 of 60 rows look back")


def test_rows_without_an_index_are_said_to_follow():
    _, told = recorded(LeakyRain(0.9, 5).fit, X.to_numpy())
    assert str(told[0]).endswith("; X has no index, so rows of later calls count as following these")


def test_nan_stays_for_those_who_leave_such_rows_out():
    chain = make_pipeline(LeakyRain(0.9, 10, start="nan"), DelayEmbedding(2, start="nan", missing="nan"))
    found, told = recorded(chain.fit_transform, X)
    assert told == []
    np.testing.assert_array_equal(found.isna().any(axis=1), np.arange(N) < 11)
    after, told = recorded(recorded(LeakyRain(0.9, 10, start="nan").fit, X[:100])[0].transform, X[200:])
    assert told == []
    np.testing.assert_array_equal(after.isna().any(axis=1), np.arange(N - 200) < 10)


def test_folds_in_other_processes_give_the_same_numbers():
    pipeline = make_pipeline(make_union(LeakyRain(), PCA()), StandardScaler(), SVC())
    one, two = (recorded(cross_val_score, pipeline, X, ALARM, cv=TimeSeriesSplit(2), n_jobs=k)[0] for k in (1, 2))
    np.testing.assert_array_equal(one, two)


SPACE = {
    "leakyrain__decays": uniform(0.0, 0.99),
    "delayembedding__dimensions": randint(2, 10),
    "pca__n_components": randint(1, 3),
    "evosvc__C": loguniform(0.1, 100),
    "evosvc__gamma": loguniform(0.01, 10),
}
#: trained on set 2; set 3 follows it, and set 4 is after a gap
NEAR_AND_FAR = BlockSplit(4, train="set 2", test=["set 3", "set 4"])
SEARCHES = ["kriging", "cmaes", "lbfgsb", "vns"]


def accuracies(params):
    model = the_sentence().set_params(**params)
    scores = cross_val_score(model, X, ALARM, cv=NEAR_AND_FAR, scoring="balanced_accuracy", error_score="raise")
    return {"folds": scores}


@pytest.mark.parametrize("search", SEARCHES)
def test_each_search_tunes_an_evolutionary_svm_with_leaky_rain_and_pca_in_a_study(search, tmp_path):
    study, told = recorded(Study(SPACE, search, direction="maximize", seed=0).run, accuracies, n_trials=4)
    assert [t.state for t in study.trials] == ["ok"] * 4
    assert len(told) == 2 * 2 * 4 - 4  # a fit and a prediction on each fold, but set 3 has its history
    luck = oversearching(study)
    assert luck.n_trials == 4
    study.to_csv(tmp_path / "trials.csv")
    luck.to_csv(tmp_path / "luck.csv")
    assert [len(pd.read_csv(tmp_path / name)) for name in ("trials.csv", "luck.csv")] == [4, 2]
    assert "How optimistic is it" in study.report(tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("search", ["parego", "nsga2"])
def test_two_objectives_are_error_and_number_of_support_vectors(search, tmp_path):
    def error_and_size(params):
        model = the_sentence().set_params(**params).fit(X[120:240], ALARM[120:240])
        return 1 - model.score(X[360:], ALARM[360:]), float(len(model[-1].support_))

    study = Study(SPACE, search, direction={"error": "minimize", "size": "minimize"}, seed=0)
    study, _ = recorded(study.run, error_and_size, n_trials=5)
    assert [t.state for t in study.trials] == ["ok"] * 5
    assert study.pareto()
    study.to_csv(tmp_path / "front.csv")
    assert {"value_error", "value_size"} <= set(pd.read_csv(tmp_path / "front.csv"))


@pytest.mark.parametrize("search", [*SEARCHES, "parego"])
def test_each_search_tunes_it_in_a_search_of_scikit_learns_kind_and_tells_once(search):
    scoring = ["balanced_accuracy", "recall"] if search == "parego" else "balanced_accuracy"
    tuned = SpotSearchCV(
        the_sentence(),
        SPACE,
        n_iter=3,
        search=search,
        cv=NEAR_AND_FAR,
        scoring=scoring,
        refit="balanced_accuracy",
        random_state=0,
    )
    tuned, told = recorded(tuned.fit, X, ALARM)
    assert [one.notices[0].rows.sum() for one in told] == [120]
    by_hand, _ = recorded(accuracies, tuned.best_params_)
    assert tuned.best_score_ == pytest.approx(by_hand["folds"].mean())
    if search == "kriging":
        two, _ = recorded(clone(tuned).set_params(n_jobs=2).fit, X, ALARM)
        assert two.best_params_ == tuned.best_params_
        assert recorded(oversearching, tuned, method="folds")[0].n_trials == 3


def test_the_default_space_of_the_pipeline_as_written():
    space = default_space(the_sentence())
    assert list(space) == ["leakyrain__decays", "delayembedding__dimensions", "evosvc__C", "evosvc__gamma"]
    tuned = SpotSearchCV(the_sentence(), space, n_iter=2, search="random", cv=NEAR_AND_FAR, random_state=0)
    tuned, told = recorded(tuned.fit, X, ALARM)
    assert np.isfinite(tuned.cv_results_["mean_test_score"]).all()
    answers, told = recorded(tuned.predict, X[:100])
    assert len(told) == 1
    assert np.isfinite(answers).all()


@pytest.mark.parametrize("refit", [True, "average"])
@pytest.mark.parametrize("windows", [(50, 20), (20, 50)])
def test_a_search_tells_of_the_rows_of_all_steps_at_once(windows, refit):
    sums = make_union(*(LeakyRain(0.9, window) for window in windows))
    tuned = SpotSearchCV(make_pipeline(sums, SVR()), {"svr__C": [0.1, 1.0]}, n_iter=2, cv=2, refit=refit, random_state=0)
    tuned, told = recorded(tuned.fit, X, FLOW)
    assert [str(one).partition(":")[0] for one in told] == [
        "50 of 480 rows look back to steps of which there is no row (LeakyRain looks 50 back)"
    ]
    assert [one.notices[0].rows.sum() for one in recorded(tuned.predict, X[:100])[1]] == [50]
    chain = make_pipeline(LeakyRain(0.9, 10), DelayEmbedding(24), SVR())
    search = SpotSearchCV(chain, {"svr__C": [0.1, 1.0]}, n_iter=2, cv=2, refit=refit, random_state=0)
    assert [one.notices[0].rows.sum() for one in recorded(search.fit, X, FLOW)[1]] == [23]


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "roc_auc", "neg_log_loss"])
def test_a_score_can_leave_out_rows_that_lack_history(scoring):
    model = make_pipeline(
        LeakyRain(0.9, 30), DelayEmbedding(), PCA(), StandardScaler(), LogisticRegression(solver="newton-cholesky")
    )
    model, _ = recorded(model.fit, X[:240], ALARM[:240])
    scorer, plain = whole_history_scorer(scoring), get_scorer(scoring)
    assert recorded(scorer, model, X[240:], ALARM[240:]) == (pytest.approx(plain(model, X[240:], ALARM[240:])), [])
    found, told = recorded(scorer, model, X[300:], ALARM[300:])
    assert told == []
    known, _ = recorded(model.predict_proba, X[300:])
    alarm = ALARM[330:]
    expected = {
        "balanced_accuracy": lambda: balanced_accuracy_score(alarm, model.classes_[known[30:].argmax(axis=1)]),
        "roc_auc": lambda: roc_auc_score(alarm, known[30:, 1]),
        "neg_log_loss": lambda: -log_loss(alarm, known[30:]),
    }
    assert found == pytest.approx(expected[scoring]())
    weights = np.arange(180.0)
    assert scorer(model, X[300:], ALARM[300:], sample_weight=weights) != found
    with pytest.raises(DataError, match="none of the 20 rows has its whole history"):
        scorer(model, X[300:320], ALARM[300:320])


def test_such_a_score_is_that_of_a_search_and_scorers_are_checked():
    model = make_pipeline(LeakyRain(0.9, 30), DelayEmbedding(), SVR())
    scorer = whole_history_scorer("r2")
    search = SpotSearchCV(model, {"svr__C": [1.0, 10.0]}, n_iter=2, cv=FAR, scoring=scorer, random_state=0)
    search, _ = recorded(search.fit, X, FLOW)
    scores, _ = recorded(cross_val_score, clone(model).set_params(**search.best_params_), X, FLOW, cv=FAR, scoring=scorer)
    assert search.best_score_ == pytest.approx(scores.mean())
    for wrong in ("balance", 3):
        with pytest.raises(ArgumentError, match="scoring="):
            whole_history_scorer(wrong)
