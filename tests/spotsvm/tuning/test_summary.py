from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from spotsvm.common.text import short_names
from spotsvm.space.space import Space
from spotsvm.trials.scores.optimism import Optimism
from spotsvm.trials.scores.verdict import Verdict
from spotsvm.trials.trial import Trial
from spotsvm.tuning.job import TuningJob
from spotsvm.tuning.results import HeldOutResult
from spotsvm.tuning.summary import tuning_summary
from spotsvm.tuning.tables.table import make_table

TABLE = make_table(pd.DataFrame({"a": range(8)}), pd.Series([0, 1] * 4, name="y"))


def search(n=10, failed=0, highest=1000.0):
    """What the summary needs of a search."""
    trials = [
        Trial(k, {}, (), "failed", reason="ValueError: no") if k < failed else Trial(k, {}, (), "ok", 0.5) for k in range(n)
    ]
    space = Space({"svc__C": (0.01, highest, "log-uniform"), "svc__gamma": (1e-5, 10.0, "log-uniform")})
    study = SimpleNamespace(n_finished=n, trials=tuple(trials), findings={}, space=space)
    return SimpleNamespace(study_=study)


def flat(text):
    return " ".join(text.split())


VERDICT = Verdict(
    "accuracy", "helped", "tuned", 4, {"svc__C": 12.3456, "svc__gamma": 0.000123456}, 0.75, 0.7, 0.1, 0.9, 0.8, 0.02, 0.15, 0.01,
    0.1, 0.03, (0.04, 0.16), 0.95, 50, "+0.15 on the folds",
)  # fmt: skip


def summary(tuned=0.9, test=0.8, error=0.02, given=None, optimism=None, verdict=VERDICT, **changed):
    given = search() if given is None else given
    results = [
        HeldOutResult("default", 0.75, 0.7, 0.1, DummyClassifier()),
        HeldOutResult("kriging", tuned, test, error, DummyClassifier(), given, optimism, verdict),
    ]
    return tuning_summary(TuningJob(**({"table": TABLE} | changed)), results)


def test_the_table():
    lines = summary().splitlines()
    assert lines[1].split() == ["tuned", "score", "test", "score", "gap"]
    assert lines[2].split() == ["default", "SVM", "0.7500", "0.7000", "+-", "0.1000", "+0.0500"]
    assert lines[3].split() == ["kriging", "(10", "trials)", "0.9000", "0.8000", "+-", "0.0200", "+0.1000"]
    assert len({len(line) for line in lines[1:4]}) == 1
    assert "Recommended: trial 4 of kriging: C = 12.35, gamma = 0.0001235" in lines
    alone = tuning_summary(TuningJob(TABLE), [HeldOutResult("default", 0.75, 0.7, 0.1, DummyClassifier())])
    assert alone.splitlines()[1:3] == [lines[1], lines[2]]
    assert "Recommended" not in alone


def test_the_verdict_comes_first_and_the_recommendation_follows_it():
    def paragraphs(**changed):
        return [flat(one) for one in summary(verdict=replace(VERDICT, **changed)).split("\n\n")[1:]]

    said = paragraphs(expected=0.88, expected_interval=(0.83, 0.93))
    assert said[:3] == [
        "Tuning helped: held-out +0.1 +- 0.03 (95 % interval +0.04 to +0.16); +0.15 on the folds.",
        "Expect a score of 0.88 on new data from the tuned SVM (95 % interval 0.83 to 0.93).",
        "The score on the 50 held-out rows, 0.8 (standard error 0.02), is below the interval of the expected score, 0.83 to "
        "0.93, which the training rows give: they are few, so this can be chance.",
    ]
    keep = {"decision": "did not help", "recommended": "default", "number": 3, "params": {"svc__C": 1.0, "svc__gamma": 0.5}}
    kept = paragraphs(**keep, reason="nothing was better", expected=0.75)
    assert kept[0] == "Tuning did not help on these rows; keep the default SVM: nothing was better."
    assert kept[1] == "Expect a score of 0.75 on new data from the default SVM."
    assert "Recommended: the default SVM: C = 1, gamma = 0.5" in kept


def test_a_trial_is_told_among_the_values_on_the_paths():
    given = search()
    given.study_.trials = tuple(Trial(k, {}, (), "ok", 0.5, suggestion=k - k % 5) for k in range(10))
    assert "Recommended: trial 4 of kriging, one of the 10 values on the paths of 2 trials: C = 12.35," in flat(
        summary(given=given)
    )


def test_a_higher_score_than_that_of_the_choice_is_explained():
    given = search()
    given.study_.trials = (*given.study_.trials, Trial(10, {}, (), "ok", 0.95))
    start = "The highest score on the folds, 0.95 of trial 10, is the best of many and so partly luck:"
    assert f"{start} what to compare with the default was chosen by the criterion of the search." in flat(summary(given=given))
    given.study_.findings["confirm"] = {"contenders": []}
    assert f"{start} what to compare with the default was chosen also by further partitions of the rows." in flat(
        summary(given=given)
    )
    assert "highest score" not in summary(given=given, tuned=0.95)
    assert "highest score" not in summary(given=given, verdict=replace(VERDICT, instead_of="Another one."))


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
    said = flat(summary(out=tmp_path))
    assert f"Written to {tmp_path}: report.html; model.skops, for spotsvm predict; parameters.json of the recommended SVM" in said


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
            "The tuned score of what the search chose, 0.9, is too high by 0.02.",
            "Method folds: estimated from the scores of all 10 configurations in each fold (Tibshirani and Tibshirani 2009), "
            "without further fits. This is a rough estimate and never below 0; its interval comes from the spread of the folds.",
        ),
        (
            luck("repeats", notes=("No runner-up beats the winner.",)),
            "The tuned score of what the search chose, 0.9, is too high by 0.02 (-0.01 to 0.05).",
            "Method repeats: the winner and the runners-up, 5 in total, were scored again on fresh splits. No runner-up beats "
            "the winner. This covers the luck of the splits, not that of the rows; --oversearching nested covers both.",
        ),
        (
            luck("partitions"),
            "The tuned score of what the search chose, 0.9, is too high by 0.02 (-0.01 to 0.05).",
            "Method partitions: the search itself scored its winner on 5 random partitions that had no part in the choice, "
            "without further fits. This covers the luck of the splits, not that of the rows; --oversearching nested covers both.",
        ),
        (
            luck("nested", -0.02),
            "The mean tuned score of the repeated searches, 0.9, is not too high: -0.02 (-0.01 to 0.05).",
            "Method nested: the whole search was repeated 5 times, each time without some of the rows, on which its winner was "
            "then scored. This covers the whole search, for similar data.",
        ),
        (
            luck("repeats", interval=(np.nan, np.nan), outer=(np.nan, np.nan)),
            "The tuned score of what the search chose, 0.9, is too high by 0.02.",
            "Method repeats",
        ),
    ],
)
def test_how_much_is_luck_comes_first_and_then_how_that_was_found(found, answer, method):
    answered, found_by, score = summary(optimism=found).split("\n\n")[2:5]
    assert flat(answered).startswith("How much of it is luck? The ")
    assert answer in flat(answered)
    assert flat(found_by).startswith(method)
    assert "A note on the interval." not in found_by
    assert score.startswith("Score: accuracy;")


def test_no_line_is_longer_than_the_table_is_wide_or_100_columns(tmp_path):
    given = search(failed=3)
    names = [f"cutoffclassifier__class_weight__{k}" for k in range(12)]
    given.study_.findings = {
        name: {"sentence": f"Of the {name} it is to be said: {'so it is, ' * 40}."} for name in ("stop", "timeout")
    }
    verdict = replace(VERDICT, params=dict.fromkeys(names, 0.123456))
    lines = summary(given=given, optimism=luck("nested"), verdict=verdict, pipeline="spectra", out=tmp_path).splitlines()
    assert max(map(len, lines)) <= 100
    assert "Of the timeout it is to be said:" in flat(" ".join(lines))
    # no parameter stands on another line than its value
    assert sum(line.count("class_weight__") for line in lines) == sum(line.count(" = 0.1235") for line in lines) == 12
    assert all(line.count("class_weight__") == line.count(" = 0.1235") for line in lines)


def test_a_best_value_at_the_end_of_its_range_is_told():
    assert "end of its range" not in flat(summary())
    said = flat(summary(given=search(highest=12.3456)))
    assert (
        'svc__C = 12.35 is at the upper end of its range, 0.01 to 12.35; where values beyond it are valid, search "svc__C":'
        in said
    )
