"""The code that reads a table."""

import importlib
import io
import re
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from spotsvm.tables import Choices, Limits, read_series, read_table
from spotsvm.trials.findings import REPEAT
from spotsvm.tuning.code import reading_code, series_code
from spotsvm.tuning.job import Job
from spotsvm.tuning.results import recommended
from spotsvm.tuning.svm_search import SVMSearch

N = 90


@contextmanager
def quiet(name, budget):
    yield None


def write(folder):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(size=N).round(4), "b": rng.normal(size=N).round(4), "person": np.arange(N) // 3})
    frame["town"] = rng.choice(["Ulm", "Bonn", "Rom"], N)
    frame["kind"] = np.where(frame["a"] * frame["b"] + 0.3 * rng.normal(size=N) > 0, "y", "n")
    frame.to_csv(folder / "t.csv", sep=";", index=False)
    return folder / "t.csv"


def executed(code):
    """Run the code as it stands, and return its variables; what it imports of spotsvm must be public."""
    for module, names in re.findall(r"^from (spotsvm\S*) import (.*)$", code, flags=re.M):
        assert module in ("spotsvm", "spotsvm.tables")
        assert set(names.split(", ")) <= set(importlib.import_module(module).__all__)
    found = {}
    with redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "repeat.py", "exec"), found)
    return found, out.getvalue()


@pytest.mark.parametrize(
    ("choices", "changed"),
    [
        (Choices(sep=";", groups="person"), {"search": "random"}),
        (Choices(drop=["person", "town"]), {"search": "kriging", "scale": "power"}),
        (Choices(features=["a", "b"]), {"task": "regression", "target": "person", "search": "lhs", "scoring": "r2"}),
        (Choices(drop=["person", "town"]), {"pipeline": "spectra", "search": "random"}),
    ],
)
def test_the_code_runs_as_it_stands_and_finds_the_same(choices, changed, tmp_path):
    file = write(tmp_path)
    changed = {"task": "auto", "target": "kind", **changed}
    target, task = changed.pop("target"), changed.pop("task")
    source = reading_code(file, target, task, choices)
    given = Job.of(
        SVMSearch,
        read_table(file, target, task, choices),
        n_trials=4,
        cv=3,
        seed=5,
        source=source,
        command="spotsvm tune",
        compare=False,
        **changed,
    )
    results = given.run(quiet)
    found, printed = executed(results[-1].code)
    search = results[-1].search
    assert found["search"].best_params_ == search.best_params_
    assert found["search"].best_score_ == search.best_score_
    assert str(search.best_score_) in printed
    _, test = given.split
    np.testing.assert_array_equal(found["model"].predict(test.X), recommended(results).predict(test.X))
    assert search.study_.findings[REPEAT] == {"code": results[-1].code, "command": "spotsvm tune"}
    assert max(len(line.replace(str(tmp_path), "")) for line in results[-1].code.splitlines()) <= 150


@pytest.mark.filterwarnings("ignore:parameters were tuned:spotsvm.errors.DataWarning")
@pytest.mark.parametrize(
    ("choices", "target", "fitted", "copied"),
    [
        (Choices(groups="person", drop=["town"]), "kind", 45, False),
        (Choices(drop=["person", "town"]), "kind", 100, False),
        (Choices(drop=["person", "town"]), "kind", 45, True),
        (Choices(drop=["kind", "town"]), "b", 45, False),
    ],
    ids=["groups", "all", "copies", "regression"],
)
def test_the_code_of_a_large_table_gives_the_model(choices, target, fitted, copied, tmp_path):
    file = write(tmp_path)
    if copied:
        frame = pd.read_csv(file, sep=";")
        pd.concat([frame, frame[:20]]).to_csv(file, sep=";", index=False)
    limits = Limits(whole=40, sampled=30, fitted=fitted, many=60, tested=20)
    given = Job.of(SVMSearch,
        read_table(file, target, choices=choices), n_trials=3, cv=3, search="random", compare=False, limits=limits,
        source=reading_code(file, target, "auto", choices),
    )  # fmt: skip
    results = given.run(quiet)
    found, _ = executed(results[-1].code)
    search, train, test = (found[name] for name in ("search", "train", "test"))
    assert search.best_params_ == results[-1].search.best_params_
    assert search.sampled_rows_.tolist() == results[-1].search.sampled_rows_.tolist()
    rows = train.part(search.sampled_rows_)
    assert rows.X.equals(given.train.X)
    if choices.groups or copied:
        assert rows.groups.value_counts().equals(train.groups[train.groups.isin(rows.groups)].value_counts())
    (notice,) = (one for one in results[-1].notices if one.code == "rows") if fitted < len(train.y) else (None,)
    assert notice is None or f"and the model is fitted to {len(search.refit_rows_)}, of {len(train.y)}" in notice.sentence
    np.testing.assert_array_equal(found["model"].predict(test.X), recommended(results).predict(test.X))
    if results[-1].verdict.recommended == "tuned" and results[-1].verdict.params == search.best_params_:
        np.testing.assert_array_equal(search.predict(test.X), recommended(results).predict(test.X))


def test_the_code_of_a_series(tmp_path):
    rng = np.random.default_rng(0)
    rain = rng.exponential(size=420) * (rng.random(420) < 0.2)
    level = np.convolve(rain, 0.8 ** np.arange(30))[:420] + rng.normal(scale=0.05, size=420)
    file = tmp_path / "storm.csv"
    pd.DataFrame({"time": pd.date_range("2011-03-31", periods=420, freq="h"), "rain": rain, "level": level}).to_csv(
        file, index=False
    )
    source = series_code(file, "level", "time", "auto", 300)
    given = Job.of(SVMSearch,
        read_series(file, "level", "time", "auto", 300), n_trials=2, cv=3, search="random", pipeline="stormwater", horizon=2,
        source=source, compare=False,
    )  # fmt: skip
    results = given.run(quiet)
    found, _ = executed(results[-1].code)
    assert found["search"].best_params_ == results[-1].search.best_params_


def test_a_file_name_of_any_kind_stays_a_text():
    odd = Path("a'b\"; import os.csv")
    assert repr(str(odd)) in str(reading_code(odd, "y'", "auto", Choices()))
    compile(str(reading_code(odd, "y'", "auto", Choices(drop=["d'"]))), "x", "exec")
