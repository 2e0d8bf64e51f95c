from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from spotsvm.tabular import make_table
from spotsvm.trial import Trial
from spotsvm.tuning_job import Contestant, TuningJob, comparison
from spotsvm.tuning_summary import tuning_summary

TABLE = make_table(pd.DataFrame({"a": range(8)}), pd.Series([0, 1] * 4, name="y"))


def search(n=10, failed=0):
    """What the summary needs of a search."""
    trials = [
        Trial(k, {}, (), "failed", reason="ValueError: no") if k < failed else Trial(k, {}, (), "ok", 0.5) for k in range(n)
    ]
    study = SimpleNamespace(n_finished=n, trials=tuple(trials))
    return SimpleNamespace(study_=study, best_params_={"svc__C": 12.3456, "svc__gamma": 0.000123456})


def summary(tuned=0.9, test=0.8, error=0.02, given=None, **changed):
    given = search() if given is None else given
    contestants = [
        Contestant("default", 0.75, 0.7, 0.1, DummyClassifier()),
        Contestant("kriging", tuned, test, error, DummyClassifier(), given),
    ]
    return tuning_summary(TuningJob(TABLE, **changed), contestants)


def test_the_table():
    lines = summary().splitlines()
    assert lines[1].split() == ["tuned", "score", "test", "score", "gap"]
    assert lines[2].split() == ["default", "SVM", "0.7500", "0.7000", "+-", "0.1000", "+0.0500"]
    assert lines[3].split() == ["kriging", "(10", "trials)", "0.9000", "0.8000", "+-", "0.0200", "+0.1000"]
    assert len({len(line) for line in lines[1:4]}) == 1
    assert "Chosen by kriging: C = 12.35, gamma = 0.0001235" in lines


@pytest.mark.parametrize(
    ("tuned", "test", "error", "verdict"),
    [
        (0.9, 0.8, 0.02, "Of the tuned score of kriging, 0.1000 was not there on new rows: more than two standard errors"),
        (0.9, 0.8, 0.06, "Of the tuned score of kriging, 0.1000 was not there on new rows: within two standard errors"),
        (0.9, 0.9, 0.02, "The tuned score of kriging was reached on new rows too."),
        (0.8, 0.9, 0.02, "The tuned score of kriging was reached on new rows too."),
        (0.9, np.nan, 0.02, "The new rows are too few to judge the tuned score of kriging."),
        (0.9, 0.8, np.nan, "The new rows are too few to judge the tuned score of kriging."),
    ],
)
def test_the_gap_in_words(tuned, test, error, verdict):
    assert verdict in summary(tuned, test, error)


@pytest.mark.parametrize(
    ("changed", "score"),
    [
        ({}, "Score: accuracy;"),
        ({"scoring": "f1"}, "Score: f1;"),
        ({"table": make_table(TABLE.X, TABLE.y, "regression")}, "Score: negative root mean squared error;"),
    ],
)
def test_the_score_and_the_folds_are_named(changed, score):
    text = tuning_summary(TuningJob(**({"table": TABLE, "cv": 7} | changed)), [Contestant("default", 0.7, 0.7, 0.1, None)])
    assert score in text
    assert "mean over 7 folds" in text


def test_trials_are_those_that_there_were_and_not_those_of_the_budget():
    assert "kriging (12 trials)" in summary(given=search(12), budget=10)


def test_failed_trials_are_told():
    assert "Failed trials of kriging: 3 failed; 3 x ValueError: no" in summary(given=search(failed=3))
    assert "ailed" not in summary()


def test_where_the_results_are(tmp_path):
    assert summary().endswith("Use --out FOLDER to keep the trials, the parameters and a record that can be resumed.")
    assert f"Written to {tmp_path}: comparison.csv" in summary(out=tmp_path)


def test_the_comparison_as_a_frame():
    frame = comparison([Contestant("default", 0.75, 0.5, 0.1, None)])
    assert frame.to_dict("records") == [
        {"search": "default", "tuned_score": 0.75, "test_score": 0.5, "test_error": 0.1, "gap": 0.25}
    ]
