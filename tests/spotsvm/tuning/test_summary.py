import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from spotsvm import ExpectedScore, Optimism, Space, Trial
from spotsvm.common.notices import Notice
from spotsvm.common.text import short_names
from spotsvm.luck.difference import Difference, TuningGain
from spotsvm.luck.estimate import Estimate
from spotsvm.luck.verdict import Rival, Verdict
from spotsvm.tables import make_table
from spotsvm.tuning import summary as module
from spotsvm.tuning.job import Job
from spotsvm.tuning.results import HeldOutResult, comparison
from spotsvm.tuning.svm_search import SVMSearch

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


ROWS = {"out of fold": 150, "held out": 50}
RIVALS = (
    Rival("constant", "always 'no'", 0.5, 0.07, Difference(0.3, (0.2, 0.4)), 0.001, 0.51, 0.505, 0.52),
    Rival("linear", "logistic regression", 0.75, 0.03, Difference(0.05, (-0.02, 0.12)), 0.01),
)


def expected(value, *interval, metric="accuracy", how="draws", out_of_fold=0.85, held_out=0.8):
    return ExpectedScore(
        value, interval or (np.nan, np.nan), 0.02, metric=metric, how=how, n_rows=200, out_of_fold=out_of_fold,
        out_of_fold_error=0.02, held_out=held_out, held_out_error=0.02,
    )  # fmt: skip


VERDICT = Verdict(
    "accuracy", TuningGain(0.1, (0.04, 0.16), metric="accuracy", rows=ROWS), "tuned", 4,
    {"svc__C": 12.3456, "svc__gamma": 0.000123456},
    expected(0.74, how="rows", out_of_fold=0.75, held_out=0.7), expected(0.84), True, 0.76, 0.9,
)  # fmt: skip


def results(held_out=0.8, error=0.02, given=None, optimism=None, verdict=VERDICT, **more):
    return [
        HeldOutResult("default", DummyClassifier(), 0.7, 0.1, 0.75, 0.76),
        HeldOutResult(
            "kriging", DummyClassifier(), held_out, error, 0.85, 0.9, search() if given is None else given, optimism, verdict,
            seconds=2.5, **more,
        ),
    ]  # fmt: skip


def summary(given=None, optimism=None, verdict=VERDICT, error=0.02, **changed):
    return module.summary(
        Job.of(SVMSearch, **({"table": TABLE, "cv": 5} | changed)),
        results(error=error, given=given, optimism=optimism, verdict=verdict),
    )


def test_the_table():
    lines = summary().splitlines()
    assert re.split("  +", lines[1]) == ["accuracy", "on the folds", "out of fold", "held-out rows", "new rows", "fit"]
    assert lines[2].split() == ["default", "SVM", "0.7600", "0.7500", "0.7000", "+-", "0.1000", "0.7400"]
    assert lines[3].split() == ["kriging", "(10", "trials)", "0.9000", "0.8500", "0.8000", "+-", "0.0200", "0.8400", "2.5", "s"]
    assert len({len(line) for line in lines[1:4]}) == 1
    assert "Recommended: trial 4 of kriging: C = 12.35, gamma = 0.0001235" in lines
    alone = module.summary(Job.of(SVMSearch, TABLE), results()[:1])
    assert alone.splitlines()[2].split() == lines[2].split()[:-1]
    assert "Recommended" not in alone
    unknown = summary(error=np.nan).splitlines()[3]
    assert unknown.split()[3:] == ["0.9000", "0.8500", "0.8000", "0.8400", "2.5", "s"]
    assert len(unknown) == len(lines[1])


def test_an_average_has_no_score_on_folds_that_it_has_optimised():
    frame = comparison([replace(one, on_folds=np.nan) for one in results()])
    assert "on_folds" not in frame
    assert frame["out_of_fold"].tolist() == [0.75, 0.85]
    assert frame["expected"].tolist() == [0.74, 0.84]
    assert "on_folds" in comparison(results())


def test_all_models_are_in_the_table():
    lines = summary(verdict=replace(VERDICT, rivals=RIVALS)).splitlines()
    names = [re.split("  +", line)[0] for line in lines[2:6]]
    assert names == ["always 'no'", "default SVM", "kriging (10 trials)", "logistic regression"]
    assert lines[2].split() == ["always", "'no'", "0.5200", "0.5100", "0.5000", "+-", "0.0700", "0.5050", "0.001", "s"]
    assert lines[5].split() == ["logistic", "regression", "0.7500", "+-", "0.0300", "0.01", "s"]
    assert len({len(line) for line in lines[1:6]}) == 1
    alone = summary(verdict=replace(VERDICT, rivals=RIVALS[:1]))
    assert "always 'no' " in alone
    assert "logistic" not in alone


def test_an_error_is_shown_in_its_own_unit():
    """Nothing is negative: neither in the table nor in any sentence."""
    error = "neg_root_mean_squared_error"
    rmse = replace(
        VERDICT, metric=error, gain=TuningGain(0.8, (0.1, 1.5), metric=error, rows=ROWS), default_on_folds=-3.6,
        tuned_on_folds=-3.4,
        default=expected(-4.2, metric=error, how="rows", out_of_fold=-4.1, held_out=-4.9),
        tuned=expected(-3.8, -4.8, -3.0, metric=error, out_of_fold=-3.7, held_out=-4.1), rivals=(
            Rival("constant", "always the mean", -9.0, 0.8, Difference(5.4, (4.3, 6.4), metric=error), 0.001, -9.2, -9.1, -9.3),
            Rival("forest", "a random forest", -4.0, 0.6, Difference(-0.1, (-0.8, 0.6), metric=error), 0.7),
        ),
    )  # fmt: skip
    found = luck("nested", 0.27, (0.1, 0.4), tuned=-3.4, metric="neg_root_mean_squared_error")
    given = search()
    given.study_.trials = tuple(replace(t, value=-3.4) for t in given.study_.trials)
    models = [
        HeldOutResult("default", DummyClassifier(), -4.9, 0.8, -4.1, -3.6),
        HeldOutResult("kriging", DummyClassifier(), -4.1, 0.7, -3.7, -3.4, given, found, rmse),
    ]
    text = flat(module.summary(Job.of(SVMSearch, NUMBERS), models))
    assert "negative" not in text
    assert re.findall(r"(?<![\w.])-\d[\d.]*", text) == ["-0.8", "-1.5", "-0.1"]  # the difference: the tuned SVM has less
    assert "RMSE: smaller is better." in text
    assert "always the mean 9.3000 9.2000 9.0000 +- 0.8000 9.1000" in text
    assert "The tuned RMSE of 3.40 is probably 0.27 (95 % interval 0.10 to 0.40) too low." in text
    frame = comparison(models).set_index("model")
    scores = frame[["on_folds", "out_of_fold", "held_out", "expected", "expected_low", "expected_high"]]
    assert (scores.stack().dropna() > 0).all()
    assert frame.loc["default", ["difference", "low", "high"]].tolist() == [-0.8, -1.5, -0.1]
    assert frame.loc["constant", ["difference", "low", "high"]].tolist() == [-5.4, -6.4, -4.3]
    assert frame.loc["kriging", ["expected", "expected_low", "expected_high"]].tolist() == [3.8, 3.0, 4.8]
    assert set(frame["better"]) == {"smaller is better"}


def test_notices_stand_above_the_verdict_and_in_the_comparison():
    told = results(notices=(Notice("column", "Column 'a' is odd."),))
    text = module.summary(Job.of(SVMSearch, TABLE), told)
    assert text.splitlines()[0] == "notice: Column 'a' is odd."
    assert text.index("notice:") < text.index("Tuning helped")
    assert comparison(told)["note"].tolist() == ["", "recommended", "notice: Column 'a' is odd."]


def test_the_verdict_comes_first_and_the_recommendation_follows_it():
    def paragraphs(**changed):
        return [flat(one) for one in summary(verdict=replace(VERDICT, **changed)).split("\n\n")[1:]]

    said = paragraphs(tuned=expected(0.88, 0.83, 0.93, out_of_fold=0.9))
    assert said[0].startswith(
        "Tuning helped: over 150 training rows out of fold and 50 held-out rows, accuracy of the tuned model less"
    )
    assert said[1].startswith("On new rows expect accuracy 0.88 of the tuned SVM (95 % interval 0.83 to 0.93), as judged by 150")
    assert said[2].startswith(
        "The 50 held-out rows have accuracy 0.8, and the 150 training rows out of fold 0.9: 3.5 standard errors"
    )
    keep = {"recommended": "default", "number": 3, "params": {"svc__C": 1.0, "svc__gamma": 0.5}}
    kept = paragraphs(**keep, compares=False, default=expected(0.75, how="held out", out_of_fold=np.nan))
    assert kept[0].endswith("no candidate scores better than the default SVM on the folds. Keep the default SVM.")
    assert kept[1].startswith("On new rows expect accuracy 0.75 of the default SVM, as judged by 50 held-out rows.")
    assert "Recommended: the default SVM: C = 1, gamma = 0.5" in kept


def test_a_trial_is_told_among_the_values_on_the_paths():
    given = search()
    given.study_.trials = tuple(Trial(k, {}, (), "ok", 0.5, sweep=k - k % 5) for k in range(10))
    assert "Recommended: trial 4 of kriging, one of the 10 values in the sweeps of 2 trials: C = 12.35," in flat(
        summary(given=given)
    )


NUMBERS = make_table(TABLE.X, TABLE.y, "regression")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"cv": 7}, ["accuracy: larger is better.", "mean over 7 folds"]),
        ({"scoring": "f1"}, ["F1: larger is better."]),
        ({"table": NUMBERS}, ["RMSE: smaller is better."]),
        ({"pipeline": "spectra"}, ["Pipeline spectra: principal components", "with class weights and cutoffs."]),
        ({"pipeline": "spectra", "table": NUMBERS}, ["Pipeline spectra: derivatives", "an RBF support vector regression."]),
        ({"pipeline": "stormwater", "table": NUMBERS}, ["two leaky sums of the rain", "the last quarter, +- the standard"]),
    ],
)
def test_the_score_the_folds_and_the_pipeline_are_named(changed, said):
    text = flat(summary(**changed))
    assert all(part in text for part in said)
    assert ("Pipeline" in text) == ("pipeline" in changed)


def test_parameters_are_told_from_each_other_by_their_last_parts():
    names = short_names(["v__cutoff__1", "v__class_weight__1", "v__cutoff__x__y"])
    assert list(names.values()) == ["cutoff__1", "class_weight__1", "y"]
    assert short_names(["C", "svc__C"]) == {"C": "C", "svc__C": "svc__C"}


def test_failed_trials_and_where_the_results_are(tmp_path):
    assert "Failed trials of kriging: 3 failed; 3 x ValueError: no" in summary(given=search(failed=3))
    assert "ailed" not in summary()
    assert summary().endswith("Use --out FOLDER to save the trials, the parameters and a record that can be resumed.")
    said = flat(summary(out=tmp_path))
    assert f"Written to {tmp_path}: report.html; model.skops, for spotsvm predict; parameters.json of the recommended SVM" in said


def luck(method, optimism=0.02, interval=(-0.01, 0.05), tuned=0.9, metric="accuracy", notes=()):
    expected = Estimate(tuned - optimism, metric=metric, how=method)
    return Optimism(
        optimism, interval, metric=metric, how=method, tuned_score=tuned, expected_score=expected, n_trials=10,
        rows=({"tuned": tuned},) * 5, notes=notes,
    )  # fmt: skip


def test_an_estimate_that_says_nothing_is_left_out():
    for nothing in (luck("folds", 0.0), luck("nested", 0.0, (np.nan, np.nan)), luck("nested", 0.0, (0.0, 0.0))):
        said = summary(optimism=nothing)
        assert "luck?" not in said
        assert "Method" not in said
        assert said == summary()
    assert "shows no optimism (0.000, 95 % interval -0.010 to 0.050)." in flat(summary(optimism=luck("nested", 0.0)))


@pytest.mark.parametrize(
    ("found", "answer", "method"),
    [
        (
            luck("folds", notes=("A note on the interval.",)),
            "The tuned accuracy of 0.900 is probably 0.020 (95 % interval -0.010 to 0.050) too high.",
            "Method: fold scores (Tibshirani and Tibshirani 2009). In each of 5 folds the score of the best of 10 candidates in "
            "that fold is compared with the winner's score. Nothing was fitted.",
        ),
        (
            luck("nested", -0.02),
            "The tuned accuracy of 0.900 shows no optimism (-0.020, 95 % interval -0.010 to 0.050).",
            "This difference can be explained by chance. Method: nested resampling. In each of 5 outer folds the whole search of "
            "10 trials was repeated without the fold's rows, and its winner was scored on them.",
        ),
        (
            luck("nested", interval=(np.nan, np.nan)),
            "The tuned accuracy of 0.900 is probably 0.020 too high.",
            "The uncertainty of this estimate is unknown. Method: nested resampling.",
        ),
    ],
)
def test_how_much_is_luck_comes_first_and_then_how_that_was_found(found, answer, method):
    answered, found_by, score = summary(optimism=found).split("\n\n")[3:6]
    assert flat(answered).startswith("How optimistic is it? The ")
    assert "expect" not in flat(answered)
    assert answer in flat(answered)
    assert flat(found_by).startswith(method)
    assert all(note in flat(found_by) for note in found.notes)
    assert score.startswith("accuracy: larger is better.")


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
