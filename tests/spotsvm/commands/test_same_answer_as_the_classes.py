"""`spotsvm tune` and the classes say the same about the same rows: scores to expect, verdict and notices."""

import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from spotsvm import TunedSVC, TunedSVR, load_study, tuning_verdict
from spotsvm.commands.main import main
from spotsvm.errors import DataWarning
from spotsvm.tables import held_out, read_table
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuning.saved import load_model


def frame(task, n=90):
    """A table with gaps, cells that cannot be read, an identifier and a constant."""
    rng = np.random.default_rng(0)
    size, age = rng.normal(size=n), rng.normal(size=n).round(3)
    found = pd.DataFrame({"person": [f"p{k:05d}" for k in range(n)], "size": size.round(3), "age": age, "one": 1})
    found["age"] = found["age"].astype(object)
    found.loc[::9, "age"] = None
    found.loc[[5, 50], "age"] = "?!"
    noisy = size + 0.3 * rng.normal(size=n)
    return found.assign(target=np.where(noisy > 0.3, "a", "b") if task == "classification" else noisy.round(4))


@pytest.fixture(scope="module", params=["classification", "regression"])
def path(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "t.csv"
    frame(request.param).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A table of more than 3,000 training rows, of which three each are of a person."""
    path = tmp_path_factory.mktemp("table") / "many.csv"
    rng = np.random.default_rng(0)
    found = pd.DataFrame(
        {"a": rng.normal(size=4200).round(4), "b": rng.normal(size=4200).round(4), "person": np.arange(4200) // 3}
    )
    found.assign(target=np.where(found["a"] * found["b"] + 0.3 * rng.normal(size=4200) > 0.8, "x", "y")).to_csv(path, index=False)
    return path


def tune(path, out, *more):
    result = CliRunner().invoke(main, ["tune", str(path), "--target", "target", "--out", str(out), "--no-compare", *more])
    assert result.exit_code == 0, result.stderr
    return result, pd.read_csv(out / "comparison.csv").set_index("model")


def columns_told(caught):
    (told,) = (one.message for one in caught if issubclass(one.category, DataWarning))
    return {notice.column for notice in told.notices}


def test_an_average(path, tmp_path):
    result, table = tune(path, tmp_path / "out")
    train, test = held_out(read_table(path, "target"), 2, 0)
    rows = pd.read_csv(path)
    X, y = rows.drop(columns="target"), rows["target"]
    model = (TunedSVC if train.task == "classification" else TunedSVR)(random_state=0)
    if train.task == "regression":
        model.set_params(scoring="neg_root_mean_squared_error")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X.loc[train.X.index], y.loc[train.X.index])
    columns = columns_told(caught)
    assert columns == {"person", "age", "one"}
    assert all(f"notice: column {name!r}" in result.stderr for name in columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        default = model.default_estimator().fit(X.loc[train.X.index], y.loc[train.X.index])
        model.add_held_out(X.loc[test.X.index], y.loc[test.X.index], default)
    unit = ScoreUnit(model.scoring_)
    for name, score in (("default", model.default_score_), ("tuned", model.expected_score_), ("constant", model.constant_score_)):
        said = [table.loc[name, column] for column in ("expected", "out_of_fold", "held_out", "held_out_error")]
        found = [unit.value(one) for one in (score.value, score.out_of_fold, score.held_out)]
        assert said == pytest.approx([*found, score.held_out_error])
    text = " ".join(result.stdout.split())
    assert model.verdict_.sentence.split(":")[0] in text
    assert f"{model.verdict_.rows['out of fold']} training rows out of fold and {len(test.y)} held-out rows" in text


def test_a_search(path, tmp_path):
    more = ["--model", "svm", "--trials", "4", "--search", "random", "--cv", "3", "--code"]
    result, table = tune(path, tmp_path / "out", *more)
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(result.stdout.partition("This Python code repeats it:")[2], names)  # a SpotSearchCV on the same rows
        search, train, test = (names[name] for name in ("search", "train", "test"))
        gain = tuning_verdict(search, train.X, train.y)
    assert all(f"notice: column {name!r}" in result.stderr for name in ("person", "age", "one"))
    said = load_study(tmp_path / "out" / "random.db").findings["verdict"]["gain"]
    assert said["on_training_rows"]["value"] == pytest.approx(gain.value)
    assert said["on_training_rows"]["interval"] == pytest.approx(gain.interval)
    unit = ScoreUnit(search.expected_score_.metric)
    assert table.loc["random", "out_of_fold"] == pytest.approx(unit.value(search.expected_score_.value))
    assert table.loc["constant", "out_of_fold"] == pytest.approx(unit.value(search.constant_score_.value))
    assert table.loc["random", "held_out"] == pytest.approx(unit.value(search.score(test.X, test.y)))
    assert said["rows"] == {"out of fold": len(train.y), "held out": len(test.y)}


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_default_model_of_a_table_with_categories(task, tmp_path):
    rng = np.random.default_rng(0)
    town, path = rng.integers(0, 12, 90), tmp_path / "t.csv"
    found = frame(task).drop(columns=["person", "one"]).assign(town=[f"town {k}" for k in town])
    found.to_csv(path, index=False)
    _, average = tune(path, tmp_path / "average")
    _, searched = tune(
        path, tmp_path / "search", "--model", "svm", "--trials", "2", "--search", "random", "--oversearching", "none"
    )
    assert searched.loc["default", "held_out"] == pytest.approx(average.loc["default", "held_out"], rel=1e-6)
    assert searched.loc["default", "out_of_fold"] == pytest.approx(average.loc["default", "out_of_fold"], rel=0.1)


def test_a_search_of_many_rows(many, tmp_path):
    more = ["--model", "svm", "--trials", "2", "--search", "random", "--cv", "2", "--groups", "person", "--code"]
    result, table = tune(many, tmp_path / "out", *more)
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(result.stdout.partition("This Python code repeats it:")[2], names)
    search, train, test = (names[name] for name in ("search", "train", "test"))
    model = load_model(tmp_path / "out").pipeline
    assert (model.decision_function(test.X) == names["model"].decision_function(test.X)).all()
    assert (model.decision_function(test.X) == search.decision_function(test.X)).all()
    assert train.groups.iloc[search.sampled_rows_].value_counts().eq(3).all()
    said = result.stderr + result.stdout + (tmp_path / "out" / "comparison.csv").read_text()
    n = len(search.sampled_rows_)
    assert f"fitted to {n}" not in said  # the model of the sample, which is no longer there
    sentence = f"Parameters were tuned on {n}, and the model is fitted to {len(train.y)}, of {len(train.y)} training rows."
    assert sentence in " ".join(result.stdout.split())
    unit = ScoreUnit(search.default_score_.metric)
    assert table.loc["default", "out_of_fold"] == pytest.approx(unit.value(search.default_score_.value))
    assert table.loc["random", "on_folds"] == pytest.approx(unit.value(search.best_score_))
    assert table.loc["random", "held_out"] == pytest.approx(unit.value(search.score(test.X, test.y)))
