import json
import os
import zipfile
from dataclasses import replace
from operator import itemgetter

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, SVR

from spotsvm.common.fingerprint import versions
from spotsvm.errors import DataError, StorageError
from spotsvm.tables import Choices, make_table, named_pipeline, read_table
from spotsvm.tuning.predict import predictions
from spotsvm.tuning.saved import load_model, machine_parameters, save_model

N = 60


def frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=N), "town": rng.choice(["Ulm", "Bonn", "7"], N), "smoker": rng.choice(["y", "n"], N)})
    X["gap"] = np.where(rng.random(N) < 0.2, np.nan, X["a"].round(3))
    X["day"] = pd.date_range("2024-01-01", periods=N).strftime("%Y-%m-%d")
    return X


def fitted(table, name="svm", **more):
    pipeline = named_pipeline(name, table, **more).estimator
    return clone(pipeline).fit(table.X, table.y)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A table with columns of all kinds, its file, the model of it, and the file of that."""
    folder = tmp_path_factory.mktemp("saved")
    X = frame()
    X.assign(kind=np.where(X["a"] > 0, "good", "bad")).to_csv(folder / "table.csv", index=False)
    table = read_table(folder / "table.csv", "kind")
    pipeline = fitted(table)
    save_model(folder / "model.skops", pipeline, table, "accuracy", table)
    return table, folder / "table.csv", pipeline, folder / "model.skops"


def predicted(file, given, **more):
    told = []
    return predictions(load_model(file), given, say=told.append, **more), told


def test_a_later_table_is_read_by_the_same_rules(saved, tmp_path):
    table, path, pipeline, file = saved
    whole, _ = predicted(file, path)
    pd.testing.assert_frame_equal(predicted(file.parent, path)[0], whole)  # its folder
    found, told = predicted(file, path, only=True)
    names = ["row", "prediction", "decision", "probability_bad", "probability_good"]
    assert (list(found), list(found["row"])) == (names, list(range(1, N + 1)))
    pd.testing.assert_frame_equal(whole[names], found)
    pd.testing.assert_frame_equal(whole.drop(columns=names), pd.read_csv(path))
    np.testing.assert_array_equal(found["prediction"], pipeline.predict(table.X))
    np.testing.assert_array_equal(found["decision"], pipeline.decision_function(table.X))
    assert set(found["prediction"]) == {"good", "bad"}
    accuracy = (found["prediction"] == pd.read_csv(path)["kind"]).mean()
    assert told == [
        f"notice: the probabilities come from the decision values, by a logistic regression on the {N} rows held out in tuning",
        f"score: accuracy {accuracy:.4g} on the {N} rows with a target; larger is better",
    ]
    # other order, separator and decimal mark, further columns, a blank row, and no target
    other = pd.read_csv(path)[["day", "town", "smoker", "gap", "a"]].assign(more=1.5, row=range(N))
    other.loc[[3]] = np.nan
    other.to_csv(tmp_path / "later.csv", sep=";", decimal=",", index=False)
    again, told = predicted(file, tmp_path / "later.csv")
    assert told[0] == "notice: 2 columns are not used: 'more', 'row'"
    assert list(again)[-6:] == ["row", "row_", *names[1:]]
    text = (tmp_path / "later.csv").read_text().replace(";", "^").replace(",", ".")
    (tmp_path / "odd.csv").write_text(text, encoding="utf-16-le")
    odd, _ = predicted(file, tmp_path / "odd.csv", how=Choices(sep="^", encoding="utf-16-le"))
    pd.testing.assert_frame_equal(odd, again)
    assert list(again["row_"]) == [k for k in range(1, N + 1) if k != 4]
    again, _ = predicted(file, tmp_path / "later.csv", only=True)
    pd.testing.assert_frame_equal(again.reset_index(drop=True), found.drop(index=3).reset_index(drop=True))


def test_probabilities_are_those_of_a_logistic_regression_on_held_out_rows(saved):
    table, path, pipeline, file = saved
    found, _ = predicted(file, path)
    chance = found["probability_good"]
    assert np.allclose(chance + found["probability_bad"], 1.0)
    # its maximum likelihood makes the mean probability the share of the class
    assert chance.mean() == pytest.approx((table.y == "good").mean(), abs=1e-4)
    assert (np.diff(chance[np.argsort(found["decision"])]) >= 0).all()


def test_rows_unlike_the_training_table_and_other_versions_are_told(saved, tmp_path):
    _, path, _, file = saved
    later = pd.read_csv(path).drop(columns="kind")
    later.loc[[0, 1], "town"] = "Paris"
    later.loc[2, "smoker"] = None
    later.loc[[3, 4], "a"] = [1e6, -1e6]
    later.to_csv(tmp_path / "later.csv", index=False)
    _, told = predicted(file, tmp_path / "later.csv")
    assert told[:3] == [
        f"notice: column 'town' has levels unknown to the training rows in 2 of {N} rows (3.33 %): 'Paris' (2 times)",
        f"notice: 1 of {N} rows has a gap in a column that has none in the training table (in 'smoker')",
        f"notice: 2 of {N} rows have a number far outside the range of the training table (in 'a')",
    ]
    told = []
    older = replace(load_model(file), versions=versions() | {"scikit-learn": "1.0"})
    predictions(older, path, say=told.append)
    assert told[0].startswith(f"warning: the model was made with scikit-learn 1.0, and this is {versions()['scikit-learn']}: ")


def test_a_target_of_other_classes_has_no_score(saved, tmp_path):
    _, path, _, file = saved
    pd.read_csv(path).assign(kind="ugly").to_csv(tmp_path / "later.csv", index=False)
    _, told = predicted(file, tmp_path / "later.csv")
    assert told[-1] == "score: none, as the target 'kind' has a class that the training table does not have: 'ugly'"


def test_what_never_ends_is_no_model_and_what_unpacks_to_far_more_than_its_size_neither(saved, tmp_path):
    with pytest.raises(StorageError, match=r"model\.skops: there is no such file; name a model"):
        load_model(tmp_path)
    os.mkfifo(tmp_path / "pipe.skops")
    for path in (tmp_path / "pipe.skops", "/dev/zero"):
        with pytest.raises(StorageError, match="is not a regular file"):
            load_model(path)
    forged = tmp_path / "forged.skops"
    forged.write_bytes(saved[-1].read_bytes())
    with zipfile.ZipFile(forged, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("big.npy", "w") as member:
        for _ in range(300):
            member.write(bytes(1 << 20))
    with pytest.raises(StorageError, match=r"unpacks to 30\d MiB, far more than its size of \d+ KiB, so it is not loaded"):
        load_model(forged)


def test_levels_that_look_like_numbers_and_new_ones(saved, tmp_path):
    _, path, pipeline, file = saved
    some = pd.read_csv(path).query("town == '7'")
    some.to_csv(tmp_path / "seven.csv", index=False)  # where the whole column is numbers
    found, _ = predicted(file, tmp_path / "seven.csv")
    np.testing.assert_array_equal(found["prediction"], pipeline.predict(some.drop(columns="kind").assign(town="7")))
    some.assign(town="Paris", smoker=None, gap=None).to_csv(tmp_path / "new.csv", index=False)
    assert len(predicted(file, tmp_path / "new.csv")[0]) == len(some)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.drop(columns=["a", "day"]), "later.csv lacks the 2 columns 'a', 'day' of the training table; it has 'town'"),
        (lambda X: X.assign(a="x"), "column 'a': none of its 60 values can be read as a number, .* the first is 'x'; write them"),
        (lambda X: X[:0], "has no rows"),
    ],
)
def test_what_cannot_be_predicted_is_an_error(saved, change, message, tmp_path):
    change(frame()).to_csv(tmp_path / "later.csv", index=False)
    with pytest.raises(DataError, match=message):
        predicted(saved[-1], tmp_path / "later.csv")


def test_gaps_that_the_training_table_had_not(tmp_path):
    X = pd.DataFrame({"a": np.arange(20.0), "b": np.tile([1.0, 2.0], 10)})
    table = make_table(X, pd.Series(np.sin(X["a"]), name="y"))
    save_model(tmp_path / "m.skops", fitted(table), table)
    X.mask(X == 5.0).to_csv(tmp_path / "gap.csv", index=False)
    found, told = predicted(tmp_path / "m.skops", tmp_path / "gap.csv", only=True)
    assert list(found) == ["row", "prediction"]
    assert told == ["notice: 1 of 20 rows has a gap in a column that has none in the training table (in 'a')"]
    median = fitted(table).predict(X.replace({"a": {5.0: X["a"].median()}}))
    assert found["prediction"].to_numpy() == pytest.approx(median)


@pytest.mark.parametrize("labels", [[0, 1], [True, False], ["a", "b"]])
def test_labels_are_those_of_the_training_table(labels, tmp_path):
    X = pd.DataFrame({"a": np.arange(20.0), "b": np.tile([1.0, 2.0], 10)})
    table = make_table(X, pd.Series(np.tile(labels, 10), name="y"))
    save_model(tmp_path / "m.skops", fitted(table), table)
    X.to_csv(tmp_path / "x.csv", index=False)
    assert predicted(tmp_path / "m.skops", tmp_path / "x.csv")[0]["prediction"].tolist() == labels * 10


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(("name", "more"), [("spectra", {}), ("svm", {"scale": "power"})])
def test_every_pipeline_of_tables_comes_back(task, name, more, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(N, 4)), columns=list("abcd"))
    table = make_table(X, pd.Series(np.where(X["a"] > 0, 1, 2) if task == "classification" else X["b"], name="y"), task)
    pipeline = fitted(table, name, **more)
    save_model(tmp_path / "m.skops", pipeline, table)
    found = load_model(tmp_path / "m.skops")
    np.testing.assert_array_equal(found.pipeline.predict(X), pipeline.predict(X))
    assert (found.task, found.target, found.columns, found.versions) == (task, "y", tuple("abcd"), versions())
    assert set(found.versions) >= {"spotsvm", "scikit-learn", "numpy"}
    machine = SVC if task == "classification" else SVR
    params = json.loads(json.dumps(machine_parameters(pipeline)))
    assert machine(**params).get_params() == machine().get_params() | params


def test_nothing_of_others_is_loaded(saved, tmp_path):
    table = saved[0]
    for name, tool in (("itemgetter", itemgetter(0)), ("system", FunctionTransformer(print))):
        file = tmp_path / f"{name}.skops"
        save_model(file, make_pipeline(tool, SVC()), table)
        with pytest.raises(StorageError, match="has types that are neither spotsvm's nor scikit-learn's, so it is not loaded: "):
            load_model(file)
    own = skops.io.get_untrusted_types(file=saved[-1])
    assert {name.partition(".")[0] for name in own} <= {"numpy", "skrub", "spotsvm"}


def test_what_is_no_model_is_an_error(saved, tmp_path):
    (tmp_path / "text.skops").write_text("a,b")
    skops.io.dump(SVC(), tmp_path / "bare.skops")
    (tmp_path / "cut.skops").write_bytes(saved[-1].read_bytes()[:-200])
    damaged = bytearray(saved[-1].read_bytes())
    damaged[2000:4000] = b"x" * 2000
    (tmp_path / "damaged.skops").write_bytes(bytes(damaged))
    with zipfile.ZipFile(tmp_path / "bare.skops", "a") as archive:
        archive.writestr("spotsvm.json", json.dumps({"target": "y"}))
    for name in ("text", "bare", "cut", "damaged", "none"):
        with pytest.raises(StorageError, match=rf"{name}.skops.*model\.skops"):
            load_model(tmp_path / f"{name}.skops")


def with_description(file, place, change):
    """Write a copy of a model whose spotsvm.json was changed."""
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            content = old.read(member)
            new.writestr(member.filename, change(content) if member.filename == "spotsvm.json" else content)
    return place


def put(**changed):
    return lambda content: json.dumps({**json.loads(content), **changed}).encode()


def without(name):
    return lambda content: json.dumps({key: value for key, value in json.loads(content).items() if key != name}).encode()


def deep(where, value):
    """Change a value in one of the parts."""

    def change(content):
        about = json.loads(content)
        *path, last = where
        inner = about
        for name in path:
            inner = inner[name]
        inner[last] = value
        return json.dumps(about).encode()

    return change


FIELDS = ("target", "task", "columns", "cells", "seen", "metric", "positive", "calibration", "versions")
DAMAGED = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "null": lambda content: b"null",
    "a list": lambda content: b"[]",
    "a number": lambda content: b"3",
    "no object": lambda content: b'"text"',
    "nothing in it": lambda content: b"{}",
    "deep": lambda content: b"[" * 100_000,
    "deep inside": lambda content: b'{"target": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "large": lambda content: b" " * (1 << 24) + content,
    "UTF-16": lambda content: content.decode().encode("utf-16"),
    "Latin-1": lambda content: content.replace(b"kind", b"k\xefnd"),
    "zeros": lambda content: bytes(len(content)),
    "a name twice": lambda content: content.replace(b'"target"', b'"target": "a", "target"', 1),
    "a huge number": lambda content: content.replace(b'"gaps": false', b'"gaps": ' + b"9" * 9999, 1),
    "other columns": put(columns=["a", "b"]),
    "columns in another order": lambda content: put(columns=json.loads(content)["columns"][::-1])(content),
    "a column twice": lambda content: put(columns=json.loads(content)["columns"] * 2)(content),
    "another task": put(task="regression"),
    "an unknown task": put(task="clustering"),
    "cells of another column": deep(("cells", "names"), ["z"] * 5),
    "cells of fewer columns": deep(("cells", "names"), ["a"]),
    "words that are no texts": deep(("cells", "missing"), [1]),
    "a decimal mark that is none": deep(("cells", "decimal"), "x"),
    "a column of another number": deep(("cells", "columns", "9"), {}),
    "a column that is no number": deep(("cells", "columns", "a"), {}),
    "a column without its cells": deep(("cells", "columns", "1"), {"name": "town"}),
    "a column of something else": deep(("cells", "columns", "1", "holds"), "secrets"),
    "a column with more": deep(("cells", "columns", "1", "further"), 1),
    "levels that are numbers": deep(("cells", "columns", "1", "levels"), [1, 2]),
    "a mark of two letters": deep(("cells", "columns", "1", "notation", "thousands"), "ab"),
    "a notation that is null": deep(("cells", "columns", "1", "notation"), None),
    "a date that is null": deep(("cells", "columns", "4", "written"), None),
    "a truth that is a text": deep(("cells", "columns", "1", "truth"), "yes"),
    "seen nothing": deep(("seen", "a"), {}),
    "a lower end alone": deep(("seen", "a"), {"gaps": False, "low": 1.0}),
    "ends that are texts": deep(("seen", "a"), {"gaps": False, "low": "1", "high": "2"}),
    "ends that are no numbers": deep(("seen", "a"), {"gaps": False, "low": float("nan"), "high": 1.0}),
    "ends that are huge": deep(("seen", "a"), {"gaps": False, "low": 1.0, "high": 10**400}),
    "probabilities without coefficients": put(calibration={"rows": 3}),
    "probabilities of three classes": put(calibration={"coef": [[1.0]] * 3, "intercept": [0.0] * 3, "rows": 9}),
    "probabilities of unequal rows": put(calibration={"coef": [[1.0], [1.0, 2.0]], "intercept": [0.0], "rows": 9}),
    "probabilities that are texts": put(calibration={"coef": [["a"]], "intercept": [0.0], "rows": 9}),
    "probabilities that are infinite": put(calibration={"coef": [[float("inf")]], "intercept": [0.0], "rows": 9}),
    "versions in a list": put(versions=["0.2.0"]),
    "a version that is a number": put(versions={"spotsvm": 3}),
    **{f"without {name}": without(name) for name in FIELDS},
    **{f"{name} is a number": put(**{name: 3.5}) for name in FIELDS if name != "positive"},
    **{f"{name} is a list of lists": put(**{name: [[1]]}) for name in FIELDS},
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_description_is_told_in_one_sentence(damage, saved, tmp_path):
    file = with_description(saved[-1], tmp_path / "model.skops", DAMAGED[damage])
    with pytest.raises(StorageError) as error:
        load_model(file)
    said = str(error.value)
    assert said.startswith(str(file))
    assert "use a model.skops that " in said
    assert len(said) < 500
    assert "\n" not in said


def test_a_description_of_another_version_with_more_in_it_is_read(saved, tmp_path):
    _, path, _, file = saved
    later = with_description(
        file, tmp_path / "later.skops", put(further=[1], versions={"spotsvm": "99.0", "scikit-learn": "9.0"})
    )
    found, told = predicted(later, path)
    pd.testing.assert_frame_equal(found, predicted(file, path)[0])
    assert told[0].startswith("warning: the model was made with spotsvm 99.0, and this is ")


def test_a_model_of_the_first_version_names_it(saved, tmp_path):
    """That version had no description of the cells of a table."""
    file = with_description(saved[-1], tmp_path / "old.skops", without("cells"))
    with pytest.raises(StorageError, match=rf"which spotsvm {versions()['spotsvm']} has written has no 'cells'\); use a model"):
        load_model(file)


def test_new_rows_in_another_form_are_predicted_alike(saved, tmp_path):
    _, path, _, file = saved
    known, _ = predicted(file, path, only=True)
    other = pd.read_csv(path)
    other["a"] = [f"{v:.17g}".replace(".", ",") for v in other["a"]]
    other["day"] = pd.to_datetime(other["day"]).dt.strftime("%d.%m.%Y")
    other["town"], other["smoker"] = other["town"].str.upper(), other["smoker"].map({"y": " Yes", "n": "NO"})
    other["gap"] = ["n.a." if k == 3 else v for k, v in enumerate(other["gap"])]
    other.to_csv(tmp_path / "other.csv", index=False)
    found, told = predicted(file, tmp_path / "other.csv", only=True)
    rows = np.arange(N) != 3
    assert found["decision"][rows].to_numpy() == pytest.approx(known["decision"][rows].to_numpy())
    assert told[0] == (
        "notice: column 'a' is written otherwise than in the training rows, and read as numbers: "
        f"'{other['a'][0]}' has a decimal comma"
    )
    assert any(
        line.startswith("notice: column 'gap' has a cell that is no number") and line.endswith("in line 5") for line in told
    )


def test_a_table_of_categories_by_choice(tmp_path):
    X = pd.DataFrame({"a": np.arange(40.0), "c": np.tile([1, 2, 3, 4], 10)})
    X.assign(y=X["c"] > 2).to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", "y", choices=Choices(categorical=["c"]))
    pipeline = fitted(table)
    save_model(tmp_path / "m.skops", pipeline, table)
    found = predicted(tmp_path / "m.skops", tmp_path / "t.csv")[0]["prediction"]
    np.testing.assert_array_equal(found, pipeline.predict(table.X))
    assert pd.api.types.is_bool_dtype(found)
