"""The tuning of a table by TunedSVC and TunedSVR: its model is that of the class, and it is compared on held-out rows."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import accuracy_score, f1_score, root_mean_squared_error
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import TableEncoder, TunedSVC, TunedSVR
from spotsvm.common.text import short
from spotsvm.errors import ArgumentError
from spotsvm.tables import Choices, Limits, make_table, read_table
from spotsvm.tuning.code import reading_code
from spotsvm.tuning.job import Job
from spotsvm.tuning.results import HeldOutResult, recommended
from spotsvm.tuning.results_folder import MANIFEST
from spotsvm.tuning.saved import load_model, save_model
from spotsvm.tuning.summary import summary
from spotsvm.tuning.svm_average import SVMAverage
from tests.spotsvm.reports.pages import check_page


def mixed(n=120):
    """A table with numbers, gaps, categories, yes or no and dates."""
    rng = np.random.default_rng(0)
    size, age = rng.normal(size=n), rng.normal(size=n).round(3)
    colour = rng.choice(["red", "green", "blue"], n)
    frame = pd.DataFrame({"size": size.round(3), "age": age, "colour": colour, "new": rng.choice(["yes", "no"], n)})
    frame["day"] = pd.date_range("2024-01-01", periods=n).strftime("%d.%m.%Y")[rng.permutation(n)]
    frame.loc[::9, "age"] = np.nan
    frame.loc[::11, "colour"] = None
    return frame.assign(kind=np.where(size + (colour == "red") + 0.3 * rng.normal(size=n) > 0.3, "a", "b"))


@pytest.fixture(scope="module", params=["classification", "regression"])
def done(request, tmp_path_factory):
    """A job from a file, its results, and what it has said."""
    folder = tmp_path_factory.mktemp("tuned")
    frame = mixed() if request.param == "classification" else load_diabetes(as_frame=True).frame[:100]
    frame.to_csv(folder / "t.csv", index=False)
    target = frame.columns[-1]
    table = read_table(folder / "t.csv", target)
    source = reading_code(folder / "t.csv", target, "auto", Choices())
    job = Job.of(SVMAverage, table, out=folder / "out", file="t.csv", source=source, command="spotsvm tune t.csv")
    said = []
    return job, job.run(say=said.append), said


def says_the_same(job, tuned, model):
    """The command counts the held-out rows too, and so does the class if it gets them."""
    train, test = job.split
    assert tuned.estimator.verdict_.rows == model.verdict_.rows | {"held out": len(test.y)}
    for name in ("value", "interval", "error"):
        assert getattr(model.verdict_, name) == pytest.approx(getattr(tuned.estimator.verdict_.on_training_rows, name))
    model.add_held_out(test.X, test.y, model.default_estimator().fit(train.X, train.y), test.groups)
    assert model.verdict_.sentence == tuned.estimator.verdict_.sentence
    assert model.verdict_.sentence.split(".")[0] in tuned.verdict.sentence
    for name in ("expected_score_", "default_score_", "constant_score_"):
        assert getattr(model, name) == getattr(tuned.estimator, name)


def test_the_model_is_that_of_the_class_on_the_same_rows(done):
    job, (_, tuned), said = done
    train, test = job.split
    frame = pd.read_csv(job.out.parent / "t.csv")
    X, y = frame.drop(columns=train.y.name), frame[train.y.name]
    if job.table.task == "classification":
        model = TunedSVC(random_state=0).fit(X.loc[train.X.index], y[train.X.index])
        np.testing.assert_array_equal(tuned.estimator.predict_proba(test.X), model.predict_proba(X.loc[test.X.index]))
    else:
        model = TunedSVR(scoring="neg_root_mean_squared_error", random_state=0).fit(X.loc[train.X.index], y[train.X.index])
        plain = TunedSVR(random_state=0).fit(X.loc[train.X.index], y[train.X.index])
        np.testing.assert_array_equal(plain.predict(X), model.predict(X))
    np.testing.assert_array_equal(tuned.estimator.predict(test.X), model.predict(X.loc[test.X.index]))
    says_the_same(job, tuned, model)
    assert said[-1] == f"fit: {model!r} to {len(train.y)} training rows"


def test_scores_and_verdict(done):
    job, (default, tuned), _ = done
    train, test = job.split
    classify = job.table.task == "classification"
    scaled = make_pipeline(TableEncoder(scaler=StandardScaler()), SVC() if classify else SVR())
    machine = (scaled if classify else TransformedTargetRegressor(scaled, transformer=StandardScaler())).fit(train.X, train.y)
    score = accuracy_score if classify else lambda y, p: -root_mean_squared_error(y, p)
    model, verdict = tuned.estimator, tuned.verdict
    assert default.held_out == pytest.approx(score(test.y, machine.predict(test.X)))
    assert tuned.held_out == score(test.y, model.predict(test.X))
    assert (default.out_of_fold, tuned.out_of_fold) == (model.default_score_.out_of_fold, model.expected_score_.out_of_fold)
    assert verdict.gain == model.verdict_
    assert verdict.gain.on_held_out_rows.value == pytest.approx(tuned.held_out - default.held_out)
    n, m = len(train.y), len(test.y)
    for result, expected in ((default, verdict.default), (tuned, verdict.tuned)):
        assert expected.value == pytest.approx((n * result.out_of_fold + m * result.held_out) / (n + m))
    keep = verdict.recommended == "default"
    assert verdict.expected == (model.default_score_ if keep else model.expected_score_)
    assert f"as judged by {n} training rows out of fold and {m} held-out rows." in verdict.expectation
    assert [rival.code for rival in verdict.rivals] == ["constant", "linear", "forest"]
    assert verdict.rivals[0].out_of_fold == model.constant_score_.out_of_fold
    assert {rival.difference.metric for rival in verdict.rivals} == {job.metric}  # the sign of an error follows from it
    text = " ".join(summary(job, [default, tuned]).split())
    assert verdict.sentence in text
    assert f"an average of {len(model.members_)} of {len(model.settings_)} candidates" in text
    assert f"Recommended: {'the default SVM' if keep else repr(model)}" in text


def test_the_other_models_see_the_same_rows():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    job = Job.of(SVMAverage, make_table(X[:60], y[:60]), seed=3)
    results = job.run()
    train, test = job.split
    forest = make_pipeline(TableEncoder(scaler=StandardScaler()), RandomForestRegressor(200, random_state=3)).fit(
        train.X, train.y
    )
    assert results[-1].verdict.rivals[-1].held_out == -root_mean_squared_error(test.y, forest.predict(test.X))
    fewer = replace(job, compare=False).run()
    assert [rival.code for rival in fewer[-1].verdict.rivals] == ["constant"]
    np.testing.assert_array_equal(fewer[-1].estimator.predict(test.X), results[-1].estimator.predict(test.X))


def test_the_files(done):
    job, results, _ = done
    out, model = job.out, results[-1].estimator
    table = pd.read_csv(out / "comparison.csv").set_index("model")
    assert "on_folds" not in table
    assert table.loc["tuned", "out_of_fold"] == pytest.approx(abs(model.expected_score_.out_of_fold))
    assert table.loc["tuned", "expected"] == pytest.approx(abs(model.expected_score_.value))
    assert list(table.index[:5]) == ["constant", "default", "tuned", "linear", "forest"]
    assert list(pd.read_csv(out / "settings.csv")) == list(model.settings_)
    assert sorted(path.name for path in out.iterdir()) == [
        "columns.csv", "comparison.csv", "model.skops", "parameters.json", "report.html", "settings.csv", MANIFEST
    ]  # fmt: skip
    saved = load_model(out)
    if results[-1].verdict.recommended == "tuned":
        assert str(saved.pipeline.verdict_) == str(model.verdict_)
    np.testing.assert_array_equal(saved.pipeline.predict(job.table.X), recommended(results).predict(job.table.X))


def test_the_page(done):
    job, (_, tuned), _ = done
    html = (job.out / "report.html").read_text(encoding="utf-8")
    check_page(html)
    text = unescape(html)
    assert tuned.verdict.sentence in text
    assert tuned.verdict.expectation in text
    assert "spotsvm tune t.csv" in text
    assert short(tuned.estimator.members_["weight"][0]) in text
    assert "out of fold" in text
    assert "on the folds" not in text


def test_the_code_fits_the_same_model(done, capsys):
    job, (_, tuned), _ = done
    names = {}
    exec(tuned.code, names)
    np.testing.assert_array_equal(names["model"].predict(names["test"].X), tuned.estimator.predict(names["test"].X))
    verdict, expected = capsys.readouterr().out.splitlines()
    assert verdict == str(tuned.estimator.verdict_)
    assert expected == str(tuned.verdict.expected)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_what_is_saved_predicts_the_same(task, tmp_path):
    frame = mixed(60)
    target = "kind" if task == "classification" else "size"
    table = make_table(frame.drop(columns=target), frame[target], categorical=("age",))
    kind = TunedSVC if task == "classification" else TunedSVR
    model = kind(budget=4, random_state=0).fit(table.X, table.y)
    save_model(tmp_path / "m.skops", model, table)
    saved = load_model(tmp_path / "m.skops")
    assert hasattr(model, "members_")
    np.testing.assert_array_equal(saved.pipeline.predict(table.X), model.predict(table.X))
    if task == "classification":
        np.testing.assert_array_equal(saved.probabilities(table.X), model.predict_proba(table.X))
        np.testing.assert_array_equal(saved.pipeline.predict_set(table.X), model.predict_set(table.X))
    else:
        np.testing.assert_array_equal(saved.pipeline.predict_interval(table.X), model.predict_interval(table.X))


def test_groups_and_time(tmp_path):
    frame = mixed(60).drop(columns=["colour", "age"]).assign(person=np.repeat(np.arange(20), 3))
    frame.to_csv(tmp_path / "t.csv", index=False)
    grouped = Job.of(SVMAverage, read_table(tmp_path / "t.csv", "kind", choices=Choices(groups="person")), compare=False)
    _, tuned = grouped.run()
    train, test = grouped.split
    same = TunedSVC(random_state=0).fit(train.X, train.y, groups=train.groups)
    np.testing.assert_array_equal(tuned.estimator.predict_proba(test.X), same.predict_proba(test.X))
    says_the_same(grouped, tuned, same)
    assert tuned.verdict.held_out_by == "groups"
    assert "groups=train.groups" in tuned.code
    later = Job.of(SVMAverage, read_table(tmp_path / "t.csv", "kind", choices=Choices(time_split="day")), cv=3, compare=False)
    _, tuned = later.run()
    train, test = later.split
    same = TunedSVC(cv=TimeSeriesSplit(3), random_state=0).fit(train.X, train.y)
    np.testing.assert_array_equal(tuned.estimator.predict_proba(test.X), same.predict_proba(test.X))
    says_the_same(later, tuned, same)
    assert (tuned.verdict.held_out_by, len(train.y), len(test.y)) == ("time", 45, 15)


def test_categories_that_the_user_names():
    frame = mixed(80)
    table = make_table(frame[["size"]].assign(code=np.arange(80.0) % 4), frame["kind"], categorical=("code",))
    _, tuned = Job.of(SVMAverage, table, compare=False).run()
    assert tuned.estimator.columns_.set_index("column").loc["code", "kind"] == "category"
    assert "categorical=('code',)" in tuned.code


def test_a_large_table_has_samples():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=list("ab"))
    table = make_table(X, pd.Series(X["a"] + 0.3 * rng.normal(size=200), name="y"))
    limits = Limits(many=150, tested=40, fitted=60)
    said = []
    _, tuned = Job.of(SVMAverage, table, limits=limits).run(say=said.append)
    assert "plan: the default SVM and other models are fitted to 60 of 160 training rows" in said
    assert tuned.estimator.n_rows_ == 160
    assert tuned.verdict.n_held_out == 40
    assert "share=0.2" in tuned.code


def test_a_time_limit_is_that_of_the_fit_too():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    _, tuned = Job.of(SVMAverage, make_table(X[:100], y[:100]), timeout=60.0).run()
    assert 30.0 < tuned.estimator.timeout <= 45.0
    assert [rival.code for rival in tuned.verdict.rivals] == ["constant", "linear", "forest"]
    with pytest.raises(ArgumentError, match="timeout=-1"):
        Job.of(SVMAverage, make_table(X, y), timeout=-1.0).run()


@pytest.mark.parametrize("scoring", ["neg_log_loss", "average_precision"])
def test_other_scores(scoring):
    frame = mixed(60)
    job = Job.of(SVMAverage, make_table(frame[["size", "age"]], frame["kind"]), scoring=scoring, compare=False)
    default, tuned = job.run()
    train, test = job.split
    positive = tuned.estimator.pos_label
    says_the_same(job, tuned, TunedSVC(scoring=scoring, pos_label=positive, random_state=0).fit(train.X, train.y))
    assert tuned.held_out == pytest.approx(tuned.estimator.score(test.X, test.y))
    assert isinstance(default.estimator, CalibratedClassifierCV) == (scoring == "neg_log_loss")
    assert tuned.estimator.scoring == scoring


def test_the_rarer_class_is_the_positive_one_whatever_its_place():
    frame = mixed(60)
    y = pd.Series(np.where((np.arange(60) % 3 == 0) ^ (frame["size"] > 2), "a", "b"), name="y")
    job = Job.of(SVMAverage, make_table(frame[["size", "age"]], y), scoring="f1", compare=False)
    _, tuned = job.run()
    _, test = job.split
    assert tuned.estimator.pos_label == y.value_counts().idxmin()
    f1 = f1_score(test.y, tuned.estimator.predict(test.X), pos_label=tuned.estimator.pos_label)
    assert tuned.held_out == pytest.approx(f1)
    assert tuned.estimator.score(test.X, test.y) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("scoring", "task", "said"),
    [
        ("precision", "classification", "--scoring 'precision' is no score of TunedSVC; use one of accuracy, .*or --model svm"),
        ("max_error", "regression", "--scoring 'max_error' is no score of TunedSVR; use one of r2, .*or --model svm"),
    ],
)
def test_scores_that_the_average_does_not_have(scoring, task, said):
    frame = mixed(60)
    y = pd.Series(np.where(np.arange(60) < 20, "a", "b"), name="y") if task == "classification" else frame["size"].rename("y")
    with pytest.raises(ArgumentError, match=said):
        Job.of(SVMAverage, make_table(frame[["age", "colour"]], y), scoring=scoring).run()


def test_a_class_of_few_rows_needs_no_fewer_folds():
    X = pd.DataFrame({"x": np.arange(63.0) % 7, "z": np.arange(63.0)})
    table = make_table(X, pd.Series(["a", "b"] * 30 + ["rare"] * 3, name="y"))
    _, tuned = Job.of(SVMAverage, table, compare=False).run()
    assert tuned.estimator.cv == 5
    assert list(tuned.estimator.classes_) == ["a", "b", "rare"]


def test_rows_without_a_target_are_predicted(tmp_path):
    frame = mixed(80)
    frame.loc[:4, "kind"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    job = Job.of(SVMAverage, read_table(tmp_path / "t.csv", "kind"), out=tmp_path / "out", compare=False)
    results = job.run()
    written = pd.read_csv(tmp_path / "out" / "predictions.csv")
    np.testing.assert_array_equal(written["prediction"], recommended(results).predict(job.table.unlabelled))
    np.testing.assert_allclose(written.filter(regex="probability").sum(axis=1), 1.0)


def test_the_closing_table(done):
    job, results, _ = done
    lines = summary(job, results).splitlines()
    start = next(k for k, line in enumerate(lines) if "held-out rows" in line)
    found = [re.split("  +", line)[0] for line in lines[start + 1 : start + 6]]
    linear = "logistic regression" if job.table.task == "classification" else "ridge regression"
    constant = results[-1].verdict.rivals[0].name
    assert found == [constant, "default SVM", "tuned SVM", linear, "a random forest"]
    assert max(len(line) for line in lines) <= 100
    assert isinstance(results[0], HeldOutResult)
