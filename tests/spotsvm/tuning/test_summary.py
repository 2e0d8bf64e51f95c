from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from spotsvm.trials.scores.optimism import Optimism
from spotsvm.trials.trial import Trial
from spotsvm.tuning.job import TuningJob
from spotsvm.tuning.results import HeldOutResult
from spotsvm.tuning.summary import short_names, tuning_summary
from spotsvm.tuning.tables.table import make_table

TABLE = make_table(pd.DataFrame({"a": range(8)}), pd.Series([0, 1] * 4, name="y"))


def search(n=10, failed=0):
    """What the summary needs of a search."""
    trials = [
        Trial(k, {}, (), "failed", reason="ValueError: no") if k < failed else Trial(k, {}, (), "ok", 0.5) for k in range(n)
    ]
    study = SimpleNamespace(n_finished=n, trials=tuple(trials), findings={})
    return SimpleNamespace(study_=study, best_params_={"svc__C": 12.3456, "svc__gamma": 0.000123456})


def flat(text):
    return " ".join(text.split())


def summary(tuned=0.9, test=0.8, error=0.02, given=None, optimism=None, **changed):
    given = search() if given is None else given
    results = [
        HeldOutResult("default", 0.75, 0.7, 0.1, DummyClassifier()),
        HeldOutResult("kriging", tuned, test, error, DummyClassifier(), given, optimism),
    ]
    return tuning_summary(TuningJob(**({"table": TABLE} | changed)), results)


def test_the_table():
    lines = summary().splitlines()
    assert lines[1].split() == ["tuned", "score", "test", "score", "gap"]
    assert lines[2].split() == ["default", "SVM", "0.7500", "0.7000", "+-", "0.1000", "+0.0500"]
    assert lines[3].split() == ["kriging", "(10", "trials)", "0.9000", "0.8000", "+-", "0.0200", "+0.1000"]
    assert len({len(line) for line in lines[1:4]}) == 1
    assert "Chosen by kriging: C = 12.35, gamma = 0.0001235" in lines
    alone = tuning_summary(TuningJob(TABLE), [HeldOutResult("default", 0.75, 0.7, 0.1, DummyClassifier())])
    assert alone.splitlines()[1:3] == [lines[1], lines[2]]
    assert "Chosen by" not in alone


@pytest.mark.parametrize(
    ("tuned", "test", "error", "verdict"),
    [
        (0.9, 0.8, 0.02, "On the held-out rows kriging scores 0.1000 less than its tuned score, more than two standard errors."),
        (0.9, 0.8, 0.06, "On the held-out rows kriging scores 0.1000 less than its tuned score, within two standard errors."),
        (0.9, 0.9, 0.02, "On the held-out rows kriging reaches its tuned score."),
        (0.8, 0.9, 0.02, "On the held-out rows kriging reaches its tuned score."),
        (0.9, np.nan, 0.02, "The held-out rows are too few to judge the tuned score of kriging."),
        (0.9, 0.8, np.nan, "The held-out rows are too few to judge the tuned score of kriging."),
    ],
)
def test_the_gap_in_words(tuned, test, error, verdict):
    assert verdict in flat(summary(tuned, test, error))


NUMBERS = make_table(TABLE.X, TABLE.y, "regression")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"cv": 7}, ["Score: accuracy;", "mean over 7 folds"]),
        ({"scoring": "f1"}, ["Score: f1;"]),
        ({"table": NUMBERS}, ["Score: negative root mean squared error;"]),
        ({"pipeline": "spectra"}, ["Pipeline spectra: principal components", "with class weights and cutoffs."]),
        ({"pipeline": "spectra", "table": NUMBERS}, ["Pipeline spectra: principal", "an RBF support vector machine."]),
        ({"pipeline": "stormwater", "table": NUMBERS}, ["two leaky sums of the rain", "the last quarter, +- its standard"]),
    ],
)
def test_the_score_the_folds_and_the_pipeline_are_named(changed, said):
    text = flat(summary(**changed))
    assert all(part in text for part in said)
    assert ("Pipeline" in text) == ("pipeline" in changed)


def test_parameters_are_told_from_each_other_by_their_last_parts():
    assert short_names(["v__cutoff__1", "v__class_weight__1", "v__cutoff__x__y"]) == ["cutoff__1", "class_weight__1", "y"]
    assert short_names(["C", "svc__C"]) == ["C", "svc__C"]


def test_failed_trials_and_where_the_results_are(tmp_path):
    assert "Failed trials of kriging: 3 failed; 3 x ValueError: no" in summary(given=search(failed=3))
    assert "ailed" not in summary()
    assert summary().endswith("Use --out FOLDER to save the trials, the parameters and a record that can be resumed.")
    assert f"Written to {tmp_path}: report.html; comparison.csv" in flat(summary(out=tmp_path))


def luck(method, optimism=0.02, interval=(-0.01, 0.05), outer=(0.83, 0.93), notes=()):
    rows = ({"tuned": 0.9},) * 5
    return Optimism(
        optimism, interval, 0.95, method, "nadeau-bengio", 0.9, 0.9 - optimism, outer, 10, "accuracy", rows, notes=notes
    )


@pytest.mark.parametrize(
    ("found", "answer", "method"),
    [
        (
            luck("folds", notes=("A note on the interval.",)),
            "Expect a score of 0.88 on new data (95 % interval 0.83 to 0.93). The tuned score, 0.9, is too high by 0.02. On the "
            "held-out rows",
            "Method folds: estimated from the scores of all 10 trials in each fold (Tibshirani and Tibshirani 2009), without "
            "further fits. This is a rough estimate and never below 0; its interval comes from the spread of the folds.",
        ),
        (
            luck("repeats", notes=("No runner-up beats the winner.",)),
            "The tuned score, 0.9, is too high by 0.02 (-0.01 to 0.05).",
            "Method repeats: the winner and the runners-up, 5 in total, were scored again on fresh splits. No runner-up beats "
            "the winner. This covers the luck of the splits, not that of the rows; --oversearching nested covers both.",
        ),
        (
            luck("partitions"),
            "The tuned score, 0.9, is too high by 0.02 (-0.01 to 0.05).",
            "Method partitions: the search itself scored its winner on 5 random partitions that had no part in the choice, "
            "without further fits. This covers the luck of the splits, not that of the rows; --oversearching nested covers both.",
        ),
        (
            luck("nested", -0.02),
            "Expect a score of 0.92 on new data (95 % interval 0.83 to 0.93). The mean tuned score of the repeated searches, "
            "0.9, is not too high: -0.02 (-0.01 to 0.05).",
            "Method nested: the whole search was repeated 5 times, each time without some of the rows, on which its winner was "
            "then scored. This covers the whole search, for similar data.",
        ),
        (
            luck("repeats", interval=(np.nan, np.nan), outer=(np.nan, np.nan)),
            "Expect a score of 0.88 on new data. The tuned score, 0.9, is too high by 0.02.",
            "Method repeats",
        ),
    ],
)
def test_how_much_is_luck_comes_first_and_then_how_that_was_found(found, answer, method):
    answered, found_by, score = summary(optimism=found).split("\n\n")[1:4]
    assert flat(answered).startswith("How much of it is luck? Expect ")
    assert answer in flat(answered)
    assert flat(found_by).startswith(method)
    assert "A note on the interval." not in found_by
    assert score.startswith("Score: accuracy;")


def test_no_line_is_longer_than_the_table_is_wide_or_100_columns(tmp_path):
    given = search(failed=3)
    names = [f"cutoffclassifier__class_weight__{k}" for k in range(12)]
    given.best_params_ = dict.fromkeys(names, 0.123456)
    given.study_.findings = {
        name: {"sentence": f"Of the {name} it is to be said: {'so it is, ' * 40}."} for name in ("stop", "judgement")
    }
    lines = summary(given=given, optimism=luck("nested"), pipeline="spectra", out=tmp_path).splitlines()
    assert max(map(len, lines)) <= 100
    assert "Of the judgement it is to be said:" in flat(" ".join(lines))
    # no parameter stands on another line than its value
    assert sum(line.count("class_weight__") for line in lines) == sum(line.count(" = 0.1235") for line in lines) == 12
    assert all(line.count("class_weight__") == line.count(" = 0.1235") for line in lines)
