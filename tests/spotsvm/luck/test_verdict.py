from dataclasses import replace
from math import isnan, nan

import pytest

from spotsvm.errors import ArgumentError
from spotsvm.luck.difference import Difference
from spotsvm.luck.estimate import ExpectedScore
from spotsvm.luck.verdict import Replaced, Rival, Verdict


def by(value, *interval, metric="accuracy"):
    return Difference(value, interval or (nan, nan), 0.02, metric=metric, how="held out")


def expect(value, *interval, metric="accuracy", how="rows", n_rows=200, out_of_fold=0.825):
    return ExpectedScore(value, interval or (nan, nan), 0.02, metric=metric, how=how, n_rows=n_rows, out_of_fold=out_of_fold,
                         out_of_fold_error=0.02)  # fmt: skip


HELPED = Verdict(
    "accuracy", "helped", "held-out better", "tuned", 7, {"svc__C": 2.0}, 0.8, 0.78, 0.03, 0.85, 0.84, 0.02, by(0.05),
    by(0.06, 0.02, 0.1), 50, 0.052, 4, 12, expected=expect(0.83, 0.79, 0.87),
)  # fmt: skip
KEPT = replace(HELPED, decision="did not help", reason="none better", recommended="default", number=3, difference=by(nan))
ERROR = "neg_root_mean_squared_error"
RMSE = replace(
    HELPED, metric=ERROR, default_held_out=-4.88, tuned_held_out=-4.14, difference=by(0.74, 0.17, 1.31, metric=ERROR),
    expected=expect(-3.8, -4.8, -3.0, metric=ERROR, out_of_fold=nan),
)  # fmt: skip
CONSTANT = Rival("constant", "always 'no'", 0.7, 0.7, 0.05, by(0.14, 0.05, 0.2), 0.001)
FOREST = Rival("forest", "a random forest", nan, 0.9, 0.02, by(-0.06, -0.1, -0.02), 0.5)


def test_it_comes_back_from_json():
    full = replace(HELPED, rivals=(CONSTANT, replace(FOREST, score=0.5)), replaced=Replaced(3, {"svc__C": 100.0}))
    for one in (HELPED, full, replace(HELPED, number=None, params={"kernel": None})):
        assert Verdict.from_dict(one.to_dict()).to_dict() == one.to_dict()
    gone = replace(HELPED, difference=by(nan), expected=expect(nan))
    assert gone.to_dict()["difference"]["interval"] == [None, None]
    again = Verdict.from_dict(gone.to_dict())
    assert isnan(again.difference.value)
    assert not again.difference.known
    assert again.sentence == gone.sentence == "Tuning helped: the 50 held-out rows have no score."
    assert again.expectation == ""
    with pytest.raises(ArgumentError, match="found has no 'metric'"):
        Verdict.from_dict({})


BOTH = "on the 50 held-out rows the tuned SVM has accuracy 0.84, the default SVM 0.78 (difference +0.06, 95 % interval"
UNDECIDED = {"decision": "no difference seen", "reason": "undecided", "difference": by(0.06, -0.02, 0.1)}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (HELPED, f"Tuning helped: {BOTH} +0.02 to +0.1)."),
        (
            replace(HELPED, **UNDECIDED),
            f"No difference can be seen between the tuned and the default SVM: {BOTH} -0.02 to +0.1). The tuned SVM is "
            "recommended: over folds and held-out rows together it is better by 0.052.",
        ),
        (
            replace(HELPED, **UNDECIDED, overall=-0.01, recommended="default"),
            f"No difference can be seen between the tuned and the default SVM: {BOTH} -0.02 to +0.1). The default SVM is "
            "recommended: over folds and held-out rows together the tuned SVM is not better.",
        ),
        (
            replace(HELPED, decision="did not help", reason="held-out worse", recommended="default"),
            f"Tuning did not help: {BOTH} +0.02 to +0.1). Keep the default SVM.",
        ),
        (
            replace(KEPT, n_better=0),
            "Tuning did not help: no candidate scores better than the default SVM on the folds. Keep the default SVM.",
        ),
        (
            RMSE,
            "Tuning helped: on the 50 held-out rows the tuned SVM has RMSE 4.14, the default SVM 4.88 (difference -0.74, 95 % "
            "interval -1.31 to -0.17).",
        ),
        (replace(HELPED, rivals=(CONSTANT,)), f"Tuning helped: {BOTH} +0.02 to +0.1)."),
        (
            replace(KEPT, n_better=0, rivals=(replace(CONSTANT, held_out=0.79, difference=by(-0.01, -0.05, 0.03)),)),
            "Tuning did not help: no candidate scores better than the default SVM on the folds. Keep the default SVM. The "
            "recommended SVM is no better than always 'no': accuracy 0.78 and 0.79 on the held-out rows.",
        ),
        (
            replace(HELPED, rivals=(replace(CONSTANT, difference=by(0.01, -0.05, 0.07)),)),
            f"Tuning helped: {BOTH} +0.02 to +0.1). Whether the recommended SVM is better than always 'no' cannot be told from "
            "these rows: accuracy 0.84 and 0.7 on the held-out rows; over all rows the difference is +0.01 "
            "(95 % interval -0.05 to +0.07).",
        ),
    ],
)
def test_the_sentence_has_the_numbers(found, said):
    assert found.sentence == said == found.to_dict()["sentence"]
    assert found.compares == (found.reason != "none better")


def test_what_to_expect_says_which_rows_it_rests_on():
    assert HELPED.expectation == (
        "On new rows expect accuracy 0.83 of the tuned SVM (95 % interval 0.79 to 0.87), as judged by 150 training rows out of "
        "fold and 50 held-out rows. The interval covers the luck of the rows and of the folds."
    )
    assert "expect RMSE 3.8 of the tuned SVM (95 % interval 3 to 4.8), as judged" in RMSE.expectation
    average = replace(HELPED, by="average", expected=expect(0.83, 0.79, 0.87, how="draws", n_rows=150))
    assert "by 150 training rows that the judged models had not seen." in average.expectation
    assert average.expectation.endswith("The interval covers the luck of the rows and of the choice among settings.")
    alone = replace(HELPED, expected=expect(0.83, n_rows=50))
    assert alone.expectation == "On new rows expect accuracy 0.83 of the tuned SVM, as judged by 50 held-out rows."
    assert (HELPED.score, HELPED.held_out, HELPED.held_out_error) == (0.85, 0.84, 0.02)
    assert (KEPT.score, KEPT.held_out, KEPT.held_out_error) == (0.8, 0.78, 0.03)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, ""),
        ({"tuned_held_out": 0.87}, ""),
        ({"tuned_held_out": 0.95}, "0.95, and the training rows out of fold 0.825: 4.4 standard errors apart."),
        ({"tuned_held_out": 0.95}, "They were drawn at random, so this is chance."),
        ({"tuned_held_out": 0.7}, "so this is chance, or the choice suits the training rows better than new ones."),
        ({"tuned_held_out": 0.7, "held_out_by": "groups"}, "This is chance, or the groups held out differ from the others."),
        ({"tuned_held_out": 0.7, "held_out_by": "time"}, "This is chance, or the later rows differ from the earlier ones."),
        ({"tuned_held_out": 0.7, "expected": expect(0.83, out_of_fold=nan)}, ""),
        ({"replaced": Replaced(3, {"svc__C": 100.0})}, "The search chose trial 3, with C = 100 at the end of the range;"),
        (
            {"rivals": (CONSTANT, FOREST)},
            "A random forest is better than the recommended SVM on the same held-out rows: accuracy 0.9",
        ),
        ({"rivals": (CONSTANT, replace(FOREST, difference=by(-0.06, -0.1, 0.02)))}, ""),
    ],
)
def test_what_else_a_reader_has_to_know(changed, said):
    warnings = replace(HELPED, **changed).warnings
    assert (len(warnings) == 0) == (said == "")
    assert said in " ".join(warnings)
