import json
import re
import warnings
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR

from spotsvm import Optimism, load_study, oversearching, tuning_verdict
from spotsvm.commands.tune import demo, tune
from spotsvm.common.copies import DistinctKFold
from spotsvm.errors import ArgumentError, DataError, StudyMismatchError
from spotsvm.luck.verdict import Verdict
from spotsvm.search_cv.refit import refitted
from spotsvm.study.workers.process import TimeUpError
from spotsvm.tables import Limits, Table, make_table
from spotsvm.trials.findings import ROWS
from spotsvm.trials.metrics import ScoreUnit, named_scorer
from spotsvm.tuning.job import Job
from spotsvm.tuning.pipelines.default_spaces import table_pipeline
from spotsvm.tuning.results import comparison, recommended
from spotsvm.tuning.results_folder import MANIFEST
from spotsvm.tuning.saved import load_model, machine_parameters
from spotsvm.tuning.summary import summary
from spotsvm.tuning.svm_search import SVMSearch
from tests.spotsvm.reports.pages import without_predictions

BUDGET = 8


@contextmanager
def quiet(name, budget):
    yield None


def telling(told):
    """Return a progress that keeps the trials it is told of."""

    @contextmanager
    def progress(name, budget):
        yield lambda study, trial: told.append(trial)

    return progress


def iris(labels=None):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, y = X.iloc[50:].reset_index(drop=True), y.iloc[50:].reset_index(drop=True)
    return make_table(X, y if labels is None else y.map(dict(zip([1, 2], labels, strict=True))))


def diabetes(n=80):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return make_table(X.iloc[:n], y.iloc[:n], "regression")


def job(table, **changed):
    return Job.of(SVMSearch, table, **({"n_trials": BUDGET, "cv": 3, "seed": 1, "compare": False} | changed))


def trials(results, which=-1):
    """What does not depend on the clock."""
    frame = results[which].search.study_.frame()
    return frame.drop(columns=[c for c in frame if c.endswith(("seconds", "_time"))])


@pytest.fixture(scope="module", params=["classification", "regression"])
def done(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    given = job(iris() if request.param == "classification" else diabetes(), out=out, baseline="random", compare=True)
    return given, given.run(quiet)


def paths(search):
    """Return the trials of each suggestion: of a classifier a sweep of values of C, of a regression one."""
    found = {}
    for t in search.study_.trials:
        found.setdefault(t.number if t.sweep is None else t.sweep, []).append(t)
    return list(found.values())


def short(params):
    return {name.rpartition("__")[2]: value for name, value in params.items()}


def test_both_searches_begin_with_the_default_and_the_centre(done):
    _, results = done
    first, again = (paths(c.search)[:3] for c in results[1:])
    known, repeated = ([[(t.params, t.value) for t in path] for path in found[:2]] for found in (first, again))
    assert known == repeated
    assert [path[0].origin == "start" for path in first] == [True, True, False]
    features = results[0].estimator.n_features_in_
    own = {"C": 1.0, "gamma": 1 / features} | ({"epsilon": 0.1} if "epsilon" in short(first[0][0].params) else {})
    (default,) = (t for t in first[0] if short(t.params) == pytest.approx(own))
    assert any((short(t.params)["C"], short(t.params)["gamma"]) == pytest.approx((2.0**5, 2.0**-6)) for t in first[1])
    assert (default.number, short(default.params)["C"]) == (0, 1.0)
    assert default.value == pytest.approx(results[0].on_folds, abs=1e-9)
    # the default competes in each search, which is then never worse by what it compares
    for c in results[1:]:
        assert c.on_folds >= default.value


def test_the_default_wins_ties():
    X = pd.DataFrame({"a": np.tile([0.0, 1.0], 30)})  # any machine is right
    given = job(make_table(X, pd.Series(np.tile(list("xy"), 30), name="y")), search="random", n_trials=6)
    default, tuned = given.run(quiet)
    assert tuned.search.study_.trials[0].value == tuned.on_folds == default.on_folds == 1.0
    assert short(tuned.search.best_params_) == pytest.approx({"C": 1.0, "gamma": 1.0})
    verdict = tuned.verdict
    assert (verdict.decision, verdict.recommended, verdict.number) == ("did not help", "default", 0)
    assert "no candidate scores better than the default SVM on the folds. Keep the default SVM." in " ".join(
        summary(given, [default, tuned]).split()
    )


def test_test_scores_are_those_of_rows_that_nothing_was_fitted_on(done):
    given, results = done
    train, test = given.split
    assert set(train.X.index).isdisjoint(test.X.index)
    assert set(train.X.index) | set(test.X.index) == set(given.table.X.index)
    assert len(test.y) == pytest.approx(len(given.table.y) / 4, abs=1)
    for c in results:
        predicted = c.estimator.predict(test.X)
        hand = accuracy_score(test.y, predicted) if test.task == "classification" else -root_mean_squared_error(test.y, predicted)
        assert c.held_out == pytest.approx(hand)
        machine = c.estimator[-1]
        fitted = machine if test.task == "classification" else machine.regressor_
        assert fitted.shape_fit_[0] == len(train.y)


def check_scores(given, results, folds=None):
    """Check the tuned scores against scikit-learn's on the same folds, and the test scores on the rows held out."""
    train, test = given.split
    scorer = named_scorer(given.metric)
    if folds is None:
        classify = train.task == "classification"
        folds = (StratifiedKFold if classify else KFold)(3, shuffle=True, random_state=1)
        if train.groups is not None:  # two of the iris flowers are equal
            folds = DistinctKFold(3, shuffle=True, random_state=1, stratify=classify)
    for result in results:
        again = cross_val_score(result.estimator, train.X, train.y, groups=train.groups, cv=folds, scoring=scorer).mean()
        assert result.on_folds == pytest.approx(again)
        assert result.held_out == pytest.approx(scorer(result.estimator, test.X, test.y))


def test_tuned_scores_are_cross_validated_on_the_same_folds(done):
    given, results = done
    check_scores(given, results)
    for c in results[1:]:
        study = c.search.study_
        number = study.recommend().number
        assert c.on_folds == study.trials[number].value or (number, results[0].on_folds) == (
            c.verdict.number, pytest.approx(study.trials[number].value),
        )  # fmt: skip
        if study.recommend().basis == "observed":
            assert c.on_folds == study.best_trial.value
    verdict = results[-1].verdict
    train, test = given.split
    for expected, on_folds, c in (
        (verdict.default, verdict.default_on_folds, results[0]), (verdict.tuned, verdict.tuned_on_folds, results[-1])
    ):  # fmt: skip
        assert on_folds == c.on_folds
        assert (expected.held_out, expected.held_out_error) == (c.held_out, c.error)
        assert expected.out_of_fold == c.out_of_fold
        n, m = len(train.y), len(test.y)
        assert expected.value == pytest.approx((n * c.out_of_fold + m * c.held_out) / (n + m))
    if verdict.compares:
        assert verdict.gain.on_held_out_rows.value == pytest.approx(results[-1].held_out - results[0].held_out)
        assert verdict.gain.on_training_rows.value == pytest.approx(results[-1].out_of_fold - results[0].out_of_fold)
        # the class says the same on the same rows
        alone = tuning_verdict(results[-1].search, train.X, train.y)
        assert alone.value == pytest.approx(verdict.gain.on_training_rows.value)
        assert alone.interval == pytest.approx(verdict.gain.on_training_rows.interval)
    assert Verdict.from_dict(results[-1].search.study_.findings["verdict"]).to_dict() == verdict.to_dict()


def test_the_files(done):
    given, results = done
    table = pd.read_csv(given.out / "comparison.csv")
    pd.testing.assert_frame_equal(table, comparison(results).replace("", np.nan))
    assert list(table["model"][:6]) == ["constant", "default", "random", "kriging", "linear", "forest"]
    unit = ScoreUnit(given.metric)
    for c in results[1:]:
        written = pd.read_csv(given.out / f"{c.name}_trials.csv")
        best = written.iloc[c.search.best_index_]
        assert best["value"] == c.search.best_score_
        assert c.on_folds == unit.value(table.set_index("model")["on_folds"][c.name])
        assert list(written["number"]) == list(range(len(c.search.study_.trials)))
        assert written.get("sweep", written["number"]).nunique() == BUDGET
        params = json.loads((given.out / f"{c.name}_parameters.json").read_text())
        for name, value in c.search.best_params_.items():
            assert params[name] == value == best[f"param_{name}"]
        assert {name.rpartition("__")[2] for name in params} >= {"C", "gamma"}
    assert not (given.out / "default_trials.csv").exists()
    model, use = load_model(given.out / "model.skops"), recommended(results)
    assert (use is results[0].estimator) == (results[-1].verdict.recommended == "default")
    np.testing.assert_array_equal(model.pipeline.predict(given.table.X), use.predict(given.table.X))
    params = json.loads((given.out / "parameters.json").read_text())
    machine = SVC if given.table.task == "classification" else SVR
    assert machine(**params).get_params() == machine_parameters(use)
    endings = (".db", "_trials.csv", "_folds.csv", "_parameters.json")
    files = {"comparison.csv", "columns.csv", "report.html", "model.skops", "parameters.json", MANIFEST} | {
        f"{n}{e}" for n in ("random", "kriging") for e in endings
    }
    assert {f.name for f in given.out.iterdir()} == files
    text = (given.out / "report.html").read_text(encoding="utf-8")
    count = len(results[-1].search.study_.trials)
    on_paths = f"{BUDGET}, with {count} values in their sweeps; each value has its own number and is called a trial below"
    words = str(BUDGET) if count == BUDGET else on_paths
    assert f"<dt>Search</dt><dd>kriging</dd></div>\n<div><dt>Trials</dt><dd>{words}</dd>" in text
    drawn = sum(len(path) for path in paths(results[1].search)[2:])
    drawn_from = f"the {drawn} values of the baseline, a random search"  # but for the two starts
    assert (drawn_from in text) == ("Band: random search ends between" in text)  # no band where all that is drawn scores alike
    assert results[-1].verdict.sentence in text
    kriging, random = (load_study(given.out / f"{name}.db") for name in ("kriging", "random"))
    again = kriging.report(given.out.with_suffix(".html"), random).read_text(encoding="utf-8")
    assert without_predictions(again) == without_predictions(text)


def same_but_for_seconds(first, second):
    pd.testing.assert_frame_equal(*(comparison(one).drop(columns="seconds") for one in (first, second)))


def test_again_with_the_same_folder_evaluates_nothing(done, no_pictures):
    given, results = done
    timed = ("comparison.csv", "report.html")  # with the seconds of fits

    def files():
        kept = (f for f in given.out.iterdir() if f.suffix not in (".db", ".skops") and f.name not in (*timed, MANIFEST))
        return {f.name: f.read_text() for f in kept}

    before, told = files(), []
    again = given.run(telling(told))
    assert told == []
    same_but_for_seconds(again, results)
    assert files() == before


def test_the_seed_decides_everything_and_workers_nothing():
    a, b, c = (
        job(iris(), n_trials=3, seed=seed, workers=w, search="lhs", baseline="random").run(quiet)
        for seed, w in ((1, 1), (1, 2), (2, 1))
    )
    same_but_for_seconds(a, b)
    for k in (1, 2):
        pd.testing.assert_frame_equal(trials(a, k), trials(b, k))
        assert not trials(a, k)["param_svc__C"].equals(trials(c, k)["param_svc__C"])
    assert not comparison(a)["held_out"].equals(comparison(c)["held_out"])


@pytest.mark.parametrize(
    ("table", "changed", "error", "message"),
    [
        (iris(), {"scoring": "acuracy"}, ArgumentError, "--scoring 'acuracy' is unknown; use accuracy"),
        (iris(), {"scoring": ""}, ArgumentError, "--scoring '' is unknown; use one of"),
        (
            iris(),
            {"scoring": "neg_log_loss"},
            ArgumentError,
            "loss' cannot score this classification: .*predict_proba.*; use another, such as accuracy",
        ),
        (
            diabetes(),
            {"scoring": "roc_auc"},
            ArgumentError,
            "'roc_auc' cannot score this regression: .*; use another, such as neg_root_mean",
        ),
        (
            diabetes(20),
            {"scoring": "r2", "cv": 15},
            ArgumentError,
            "cannot score this regression: the score is nan in some folds",
        ),
    ],
)
def test_what_is_refused_before_any_trial(table, changed, error, message, tmp_path):
    with pytest.raises(error, match=message):
        job(table, out=tmp_path, **changed).run(quiet)
    assert list(tmp_path.iterdir()) == []


def test_trials_that_cannot_be_scored_fail_and_the_rest_counts():
    X = pd.DataFrame({"a": np.linspace(0, 1, 60)})
    table = make_table(X, pd.Series(np.exp(8 * X["a"]) / 50, name="y"), "regression")
    last = job(table, scoring="neg_mean_squared_log_error", search="random", n_trials=12, seed=0).run(quiet)[-1]
    states = [t.state for t in last.search.study_.trials]
    assert set(states) == {"ok", "failed"}
    assert np.isfinite(last.on_folds)


def test_a_class_that_a_resample_lacks_is_no_error():
    """Some of the y are taken for z, also in resamples that have no z."""
    y = pd.Series(np.repeat(list("xyyz"), [30, 25, 8, 12]), name="y")
    X = pd.DataFrame({"a": np.repeat([0.0, 5.0, 10.0, 10.0], [30, 25, 8, 12])})
    results = job(make_table(X, y), scoring="balanced_accuracy", search="random", n_trials=2).run(quiet)
    assert all(np.isfinite(c.error) for c in results)
    assert "z" in results[0].estimator.predict(X[y == "y"])


def test_the_cap_on_iterations_is_no_news(monkeypatch):
    def capped(task, n_samples, *more):
        pipeline, space = table_pipeline(task, n_samples, *more)
        return pipeline.set_params(svc__max_iter=3), space

    monkeypatch.setattr("spotsvm.tuning.pipelines.registry.table_pipeline", capped)
    given = job(iris(), search="random", n_trials=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        default = given.run(quiet)[0].estimator
    assert caught == []
    train, _ = given.split
    with pytest.warns(ConvergenceWarning, match="terminated early"):
        default.fit(train.X, train.y)


def test_few_rows_are_refused():
    with pytest.raises(DataError, match="too few to learn from"):
        diabetes(1)
    short = storm()
    series = Table(short.X[:3], short.y[:3], "regression", short.history)
    for few in (job(diabetes(3)), stormy(table=series)):
        with pytest.raises(DataError, match="few"):
            few.run(quiet)


def test_the_choice_the_optimism_and_the_stop_are_found_out_and_kept(done):
    given, results = done
    random, final = results[1:]
    assert final.search.study_.recommend().number == final.verdict.number
    assert "verdict" not in random.search.study_.findings
    assert final.optimism == oversearching(final.search, method="folds")
    assert [c.optimism for c in results[:-1]] == [None, None]
    assert Optimism.from_dict(load_study(given.out / "kriging.db").findings["oversearching"]) == final.optimism
    stopping = job(iris(), search="random", stop=True).run(quiet)
    assert stopping[-1].search.study_.findings["stop"]["n_trials"] == BUDGET


def storm(n=420, missing=False):
    """A tank's level after rain, hour by hour."""
    rng = np.random.default_rng(0)
    hours = pd.date_range("2011-03-31", periods=n, freq="h", name="time")
    rain = pd.DataFrame({"rain": rng.exponential(size=n) * (rng.random(n) < 0.2)}, index=hours)
    level = pd.Series(
        np.convolve(rain["rain"], 0.8 ** np.arange(30))[:n] + rng.normal(scale=0.05, size=n), index=hours, name="level"
    )
    known = np.arange(n) % 3 == 0 if missing else np.ones(n, dtype=bool)
    return Table(rain[known], level[known], "regression", history=rain)


def stormy(**changed):
    return job(**{"table": storm(), "pipeline": "stormwater", "search": "random", "n_trials": 3, **changed})


def test_a_series_is_tested_on_its_last_quarter():
    given = stormy(table=storm(missing=True), search="kriging", n_trials=6)
    train, test = given.split
    assert len(test.y) == pytest.approx(len(given.table.y) / 4, abs=1)
    assert list(train.X.index) + list(test.X.index) == sorted(given.table.X.index)
    results = given.run(quiet)
    check_scores(given, results, TimeSeriesSplit(3))
    assert all(result.error > 0 for result in results)
    # the rain between rows with a target is known to the pipeline
    assert results[-1].held_out > -0.7 * test.y.std()


def test_a_series_is_resumed_and_workers_change_nothing(tmp_path, no_pictures):
    one, two = (stormy(workers=w, out=tmp_path / str(w)).run(quiet) for w in (1, 2))
    same_but_for_seconds(one, two)
    told = []
    same_but_for_seconds(stormy(out=tmp_path / "1").run(telling(told)), one)
    assert told == []
    with pytest.raises(StudyMismatchError, match="holds a study with another"):
        stormy(out=tmp_path / "1", horizon=3).run(quiet)
    wetter = storm()
    wetter.history.iloc[len(wetter.history) // 2] += 1.0
    with pytest.raises(StudyMismatchError, match="parameter of the estimator"):
        stormy(out=tmp_path / "1", table=replace(storm(), history=wetter.history)).run(quiet)


def test_a_horizon_past_the_end_is_told_as_such():
    with pytest.raises(DataError, match=r"^horizon=5000 is past the end: X has n_samples="):
        stormy(horizon=5000).run(quiet)


@pytest.mark.parametrize("table", [iris(["a", "b"]), diabetes()])
def test_spectra(table, tmp_path, no_pictures):
    changed = {"search": "random", "n_trials": 2}
    given = job(table, pipeline="spectra", out=tmp_path, **changed)
    results = given.run(quiet)
    assert given.metric == ("mean_class_accuracy" if table.task == "classification" else "neg_root_mean_squared_error")
    check_scores(given, results)
    same_but_for_seconds(given.run(quiet), results)
    with pytest.raises(StudyMismatchError, match="holds a study with another"):
        job(table, out=tmp_path, scoring=given.metric, **changed).run(quiet)


def test_nested_resampling_keeps_its_searches(tmp_path, no_pictures):
    given = job(iris(), search="random", n_trials=2, out=tmp_path, oversearching="nested")
    found = given.run(quiet)[-1].optimism
    looks = {len(load_study(record).trials) for record in (tmp_path / "random_outer").glob("*.db")}
    assert (found.how, len(found.frame())) == ("nested", 5)
    assert found.n_trials in looks
    assert min(looks) > 2 * 4
    assert len(list((tmp_path / "random_outer").glob("*.db"))) == 5
    assert given.run(quiet)[-1].optimism == found


def test_luck_need_not_be_estimated():
    assert job(iris(), search="random", n_trials=1, oversearching="none").run(quiet)[-1].optimism is None


@pytest.mark.parametrize("n_trials", [1, 2])
def test_any_number_of_trials_is_enough(n_trials, tmp_path):
    results = job(iris(), n_trials=n_trials, out=tmp_path if n_trials == 1 else None, baseline="random").run(quiet)
    assert [r.search.study_.n_finished for r in results[1:]] == [n_trials] * 2
    assert all(r.on_folds > 0.5 for r in results)
    assert len(list(tmp_path.glob("*.db"))) == (2 if n_trials == 1 else 0)


def test_the_searches_share_the_time_limit():
    given = job(iris(), search="random", timeout=1e-9)
    results = given.run(quiet)
    assert results[-1].search.study_.n_finished == 1
    assert "The run ended after 1 trial, because its time was up" in " ".join(summary(given, results).split())
    with pytest.raises(ArgumentError, match="timeout=-1 is not a time"):
        job(iris(), timeout=-1).run(quiet)
    assert {"timeout", "trial_timeout"} <= {option.name for command in (tune, demo) for option in command.params}


def test_groups_stay_together_in_the_folds(tmp_path):
    X = pd.DataFrame({"a": np.sin(np.arange(96.0)), "b": np.cos(np.arange(96.0))})
    y = pd.Series(np.arange(96) % 2, name="y")
    given = job(replace(make_table(X, y), groups=pd.Series(np.arange(96) // 4)), search="random", n_trials=2)
    search = given.run(quiet)[-1].search
    train, _ = given.split
    for one, other in search.cv.split(train.X, train.y, train.groups):
        assert set(train.groups.iloc[one]).isdisjoint(train.groups.iloc[other])
    own = cross_val_score(search.best_estimator_, train.X, train.y, cv=search.cv, groups=train.groups)
    assert search.best_score_ == pytest.approx(own.mean())


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_table_of_all_kinds_of_columns(task, tmp_path, no_pictures):
    n = 80
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.normal(size=n), "town": rng.choice(["Ulm", "Bonn", "Rom"], n), "smoker": rng.choice(["y", "n"], n)}
    )
    X["gap"] = np.where(rng.random(n) < 0.2, np.nan, X["a"])
    X["day"] = pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d")
    y = X["a"] + (X["town"] == "Ulm")
    table = make_table(X, y > y.median() if task == "classification" else y, task)
    given = job(table, n_trials=2, out=tmp_path, search="random")
    results = given.run(quiet)
    assert np.isfinite([results[-1].on_folds, results[-1].held_out]).all()
    pd.testing.assert_frame_equal(trials(given.run(quiet)), trials(results))
    assert "tableencoder" in (tmp_path / "random_parameters.json").read_text()


def test_the_work_of_many_columns_is_that_of_their_numbers(monkeypatch):
    """Of a frame scikit-learn checks each column by itself, which would take longer than all the rest."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 60)))
    X.columns = [f"c{k}" for k in X.columns]
    table = make_table(X, pd.Series(np.where(X["c0"] > 0, "a", "b")))
    named = job(table, search="random", n_trials=1).run(quiet)
    monkeypatch.setattr("spotsvm.tuning.job._WIDE", 50)
    wide = job(table, search="random", n_trials=1).run(quiet)
    assert not hasattr(wide[-1].estimator, "feature_names_in_")
    assert hasattr(named[-1].estimator, "feature_names_in_")
    assert wide[-1].on_folds == pytest.approx(named[-1].on_folds, abs=1e-9)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_large_table_is_tuned_on_a_sample_and_fitted_on_more(task, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(900, 3)), columns=list("abc"))
    y = X["a"] * X["b"] + 0.1 * rng.normal(size=900)
    table = make_table(X, (y > 0).map({True: "yes", False: "no"}) if task == "classification" else y)
    limits = Limits(whole=500, sampled=80, fitted=600, many=500, tested=150)
    said = []
    given = job(table, search="random", n_trials=3, limits=limits, out=tmp_path, compare=True)
    default, tuned = given.run(quiet, said.append)
    assert said[0].startswith("rows: 900; 150 are held out")
    assert "plan: the parameters are tuned on a sample of 80 of 750 training rows" in said
    told = "parameters were tuned on 80, and the model is fitted to 600, of 750 training rows"
    assert said[-2:] == ["fit: the recommended SVM to 600 of 750 training rows", f"notice: {told}"]
    assert [(one.sentence, one.share) for one in tuned.notices if one.code == "rows"] == [(told, pytest.approx(0.2))]
    fitted = (c.estimator[-1] for c in (default, tuned))
    # the default, or the tuned one: whichever is recommended
    assert sorted((m if task == "classification" else m.regressor_).shape_fit_[0] for m in fitted) == [80, 600]
    found = load_study(tmp_path / "random.db").findings[ROWS]
    assert (found["rows tuned on"], found["rows fitted on"], found["training rows"]) == (80, 600, 750)
    assert found["score on held-out rows"] > found["score of the sample"]
    use = tuned if tuned.verdict.recommended == "tuned" else default
    assert found["score on held-out rows"] == use.held_out == tuned.verdict.expected.held_out
    # the models beside the recommended one are fitted to the same rows
    train, test = given.split
    some = limits.to_fit(train, 3)
    machine = LogisticRegression(max_iter=1000) if task == "classification" else Ridge()
    linear = make_pipeline(*clone(default.estimator)[:-1], machine).fit(some.X, some.y)
    assert tuned.verdict.rivals[1].held_out == pytest.approx(given.scorer(linear, test.X, test.y))
    assert found["sentence"].startswith(f"P{told[1:]}. On the 150 held-out rows it has ")
    first, rest = (tmp_path / "report.html").read_text().split("Recommended parameters</h2>")
    assert found["sentence"] in unescape(first)  # with what came out, not as something further
    assert "Further findings" not in rest


def test_a_large_table_has_one_time_limit(monkeypatch):
    given = job(iris(), timeout=10.0, limits=Limits(whole=60, sampled=30, many=60, tested=20), search="random", n_trials=2)
    limits = []
    monkeypatch.setattr("spotsvm.tuning.svm_search.refitted", lambda *args: limits.append(args[5]) or refitted(*args))
    tuned = given.run(quiet)[-1]
    assert 0 < tuned.search.timeout <= 5.0
    assert 0 < limits[0] < 10.0


def test_a_fit_to_more_rows_that_takes_too_long_leaves_the_model_of_the_sample(tmp_path, monkeypatch):
    def too_long(call, seconds):
        raise TimeUpError

    limits = Limits(whole=60, sampled=30, fitted=50, many=60, tested=20)
    free = job(iris(), limits=limits, search="random", n_trials=2).run(quiet)
    monkeypatch.setattr("spotsvm.search_cv.refit.call_within", too_long)
    said = []
    given = job(iris(), timeout=600.0, limits=limits, search="random", n_trials=2, out=tmp_path)
    results = given.run(quiet, said.append)
    (notice,) = (one for one in results[-1].notices if one.code == "rows")
    assert re.fullmatch(
        r"the model is fitted to the 30 of 80 training rows that its parameters were tuned on, as a fit to 50 rows took longer "
        r"than the .* left", notice.sentence,
    )  # fmt: skip
    assert said[-1] == f"notice: {notice.sentence}"
    assert results[-1].search.study_.findings[ROWS]["rows fitted on"] == 30
    of_sample = results[0 if results[-1].verdict.recommended == "default" else -1]
    assert of_sample.estimator[-1].shape_fit_[0] == 30
    assert recommended(free)[-1].shape_fit_[0] == 50
    assert "\n# a fit to 50 rows took longer than the " in results[-1].code
    assert notice.sentence in unescape((tmp_path / "report.html").read_text())


def test_the_facts_keep_the_day_of_the_first_run():
    table = make_table(pd.DataFrame({"a": np.arange(40.0), "b": 1.0}), pd.Series(["x", "y"] * 20, name="kind"))
    facts = Job.of(SVMSearch, table, scoring="neg_log_loss", file="a\x1b.csv").facts()
    assert facts == {
        "File": "a\\x1b.csv", "Rows": "40, 10 of them held out", "Columns": 2, "Target": "kind", "Task": "classification",
        "Score": "log loss; smaller is better", "Date": date.today().isoformat(),
    }  # fmt: skip
    again = Job.of(SVMSearch, table).facts({"Date": "2020-02-03"})
    assert again["Date"] == "2020-02-03"
    assert "File" not in again
