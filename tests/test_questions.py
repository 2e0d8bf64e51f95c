"""Each message of the page "Questions by error message" is what its mistake raises."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from installed_command import main
from scipy.stats import loguniform, uniform
from sklearn.datasets import load_iris
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import SpotSearchCV, Study, TableEncoder, TunedSVC, TunedSVR, expected_score, load_study

PAGE = (Path(__file__).parent.parent / "docs" / "guide" / "questions.md").read_text()
#: the message of each question
MESSAGES = dict(re.findall(r"^### ([^\n]*)\n\n```text illustration\n(.*?)^```", PAGE, flags=re.S | re.M))
X, y = load_iris(return_X_y=True)
SVM = make_pipeline(StandardScaler(), SVC())
SPACE = {"svc__C": loguniform(0.1, 100), "svc__gamma": loguniform(1e-3, 1)}
UNIT = {"x": (0.0, 1.0)}
PRECOMPUTED = SVC(kernel="precomputed")
C = {"C": loguniform(0.1, 10)}


def value(params):
    return params["x"]


def search(estimator=SVM, space=SPACE, **arguments):
    return SpotSearchCV(estimator, space, n_iter=2, random_state=0, **arguments)


def tuned(rows=X, target=y):
    return TunedSVC(families=["rbf"], random_state=0).fit(rows, target)


def run(objective, n_trials=8):
    return Study(UNIT, seed=0).run(objective, n_trials=n_trials)


def command(*arguments):
    """Run the command `spotsvm` here; its error is raised, with the message only."""
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code > 0
    raise RuntimeError(done.stderr.strip().splitlines()[-1].removeprefix("spotsvm: error: "))


def all_asked():
    study = Study({"x": [1, 2, 3]}, "random", seed=0, noise=False)
    for _ in range(4):
        study.tell(study.ask(), 1.0)


def constant():
    run(lambda params: 1.0, 12).importance()


def text_in_x():
    search().fit(pd.DataFrame({"a": np.arange(20.0), "b": ["u", "v"] * 10}), np.arange(20) % 2)


def gap_in_x():
    rows = X.copy()
    rows[3, 1] = np.nan
    search().fit(rows, y)


def cells(*some, fit=None):
    """Fit a column of numbers, or of other cells, and predict others."""
    frame = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0)})
    encoder = TableEncoder().fit(frame if some else frame.assign(b=fit))
    encoder.transform(frame.assign(b=list(some)))


def other_order():
    frame = pd.DataFrame(X, columns=list("abcd"))
    tuned(frame).predict(frame[list("abdc")])


def told_twice():
    study = Study({"x": [1, 2, 3]}, "random", seed=0)
    trial = study.tell(study.ask(), 1.0)
    study.tell(trial, 2.0)


def used_up_folds():
    expected_score(search(cv=StratifiedKFold(3).split(X, y)).fit(X, y), X, y)


def another_process():
    code = "from spotsvm import Study; Study({'x': (0.0, 1.0)}, seed=0, path='busy.db')"
    with Study(UNIT, seed=0, path="busy.db"):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    raise RuntimeError(done.stderr.strip().splitlines()[-1].removeprefix("spotsvm.errors.StorageError: "))


def open_twice():
    with Study(UNIT, seed=0, path="a.db"):
        Study(UNIT, seed=0, path="a.db")


def recorded(space=UNIT, **arguments):
    with Study(space, seed=0, path="a.db", **arguments) as study:
        study.run(value, n_trials=2)


def changed_space():
    recorded()
    recorded({"x": (0.0, 0.5)})


def changed_data():
    search(path="a.db").fit(X, y)
    search(path="a.db").fit(X[:140], y[:140])


def nothing_left():
    study = run(value, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study.run(value, n_trials=3)


def no_record():
    Path("text.db").write_text("hello" * 100)
    load_study("text.db")


def read_only():
    recorded()
    load_study("a.db").run(value)


def without_constraint():
    recorded(constraints=lambda params: params["x"] < 0.5)
    load_study("a.db", read_only=False)


def table(name, *left_out):
    frame = pd.DataFrame({"age": np.arange(40), "city": ["Bonn", "Trier"] * 20, "income": 1.5, "class": ["no", "yes"] * 20})
    frame.drop(columns=[*left_out]).to_csv(name, index=False)


def misspelt_target():
    table("t.csv")
    command("tune", "t.csv", "--target", "klass", "--out", "r")


def no_city():
    table("t.csv")
    table("nocity.csv", "city")
    assert CliRunner().invoke(main, ["tune", "t.csv", "--target", "class", "--out", "r", "--no-compare"]).exit_code == 0
    command("predict", "r/model.skops", "nocity.csv")


def no_csv():
    Path("rows.csv").write_text('[{"a": 1, "class": "no"}]')
    command("tune", "rows.csv", "--target", "class")


def no_model():
    table("t.csv")
    command("predict", "t.csv", "t.csv")


MISTAKES = {
    "A parameter that the estimator does not have": lambda: search(space=C).fit(X, y),
    "The logarithm of zero": lambda: Study({"x": loguniform(0, 1)}),
    "A range the wrong way round": lambda: Study({"x": (1.0, 0.0)}),
    "Something that is no range": lambda: Study({"x": "0..1"}),
    "A starting point outside the space": lambda: Study(UNIT, start=[{"x": 2.0}]),
    "A sweep of the wrong parameter": lambda: search(sweep="C").fit(X, y),
    "A finite space is used up": all_asked,
    "One argument for each parameter": lambda: Study({"C": (0.0, 1.0), "gamma": (0.0, 1.0)}).run(lambda C, gamma: C + gamma),
    "Nothing is returned": lambda: run(lambda params: None),
    "Every value is nan": lambda: run(lambda params: float("nan")),
    "Every trial raises the same error": lambda: run(lambda params: 1 / 0),
    "A text instead of a number": lambda: run(lambda params: "0.5"),
    "Several values": lambda: run(lambda params: (1.0, 2.0)),
    "Every value is the same": constant,
    "Pictures after a few trials": lambda: run(value, 4).importance(),
    "Words of another library": lambda: Study(UNIT, sampler="kriging"),
    "A wrong number of trials": lambda: SpotSearchCV(SVM, SPACE, n_trials=5),
    "A direction": lambda: Study(UNIT, direction="max"),
    "A search that does not exist": lambda: Study(UNIT, "bayes"),
    "A score that does not exist": lambda: search(scoring="acuracy").fit(X, y),
    "A score that TunedSVC does not have": lambda: TunedSVC(scoring="precision").fit(X, y),
    "A score of one of two classes": lambda: search(scoring="f1").fit(X[:100], np.array(["no", "yes"])[y[:100]]),
    "C in the space of TunedSVC": lambda: TunedSVC(space=C).fit(X, y),
    "Text in X": text_in_x,
    "A gap in X": gap_in_x,
    "Cells that are no numbers": lambda: cells(fit=["-", "12 mg", *range(38)]),
    "A column in which nothing can be read": lambda: cells(*(f"${k}" for k in range(40))),
    "Lists in cells": lambda: cells(fit=[[k, k + 1] for k in range(40)]),
    "y is missing": lambda: search().fit(X),
    "Texts as a target of a regression": lambda: TunedSVR().fit(X, ["a"] * 150),
    "Numbers as classes": lambda: TunedSVC().fit(X, X[:, 0]),
    "One class": lambda: TunedSVC().fit(X[:40], y[:40]),
    "Fewer rows than folds": lambda: search(SVR(), C).fit(X[:4], X[:4, 0]),
    "X and y of different lengths": lambda: TunedSVC().fit(X, y[:100]),
    "Groups are missing": lambda: search(cv=GroupKFold(3)).fit(X, y),
    "All rows are in one group": lambda: TunedSVC().fit(X, y, groups=np.zeros(150)),
    "New rows with other columns": lambda: tuned().predict(X[:, :2]),
    "Columns in another order": other_order,
    "A kernel matrix that is not square": lambda: search(PRECOMPUTED, C).fit(X, y),
    "Predictions with a precomputed kernel": lambda: search(PRECOMPUTED, C).fit(X @ X.T, y).predict(X),
    "No fit yet": lambda: TunedSVC().predict(X),
    "No probabilities": lambda: search().fit(X, y).predict_proba(X),
    "A coverage in percent": lambda: tuned().predict_set(X, coverage=95),
    "All candidates fail": lambda: SpotSearchCV(SVC(), {"C": uniform(-2, 1), "gamma": (0.1, 1.0)}, n_iter=8).fit(X, y),
    "Nothing has run": lambda: Study(UNIT).best_params,
    "The best trial of several objectives": lambda: Study(UNIT, direction=["minimize", "maximize"]).recommend(),
    "A value is reported twice": told_twice,
    "Folds from an exhausted iterator": used_up_folds,
    "Another process is writing": another_process,
    "The study is still open here": open_twice,
    "The space has changed": changed_space,
    "The data have changed": changed_data,
    "Nothing is evaluated": nothing_left,
    "There is no record": lambda: load_study("nothere.db"),
    "The file is no record": no_record,
    "A record is open for reading": read_only,
    "A constraint is missing": without_constraint,
    "The target is misspelt": misspelt_target,
    "A table without a column of the training table": no_city,
    "A file that is no CSV": no_csv,
    "A file that is no model": no_model,
    "No file": lambda: command("tune", "nothere.csv", "--target", "class"),
}


def test_every_question_has_its_mistake():
    assert list(MESSAGES) == list(MISTAKES)
    assert len(MESSAGES) == len(re.findall(r"^### ", PAGE, flags=re.M)) > 50


@pytest.mark.parametrize("question", MISTAKES)
def test_the_message_is_what_the_mistake_raises(question, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((Exception, UserWarning)) as raised:
        MISTAKES[question]()
    told = " ".join(str(raised.value).split())
    parts = " ".join(MESSAGES[question].split()).split("…")
    assert re.fullmatch(".*".join(map(re.escape, parts)), told), told


def test_messages_fit_a_page():
    assert [line for message in MESSAGES.values() for line in message.splitlines() if len(line) > 80] == []
