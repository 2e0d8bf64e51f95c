from dataclasses import replace
from math import isnan, nan

import pytest

from spotsvm import ExpectedScore
from spotsvm.errors import ArgumentError
from spotsvm.luck.difference import Difference, TuningGain
from spotsvm.luck.verdict import Replaced, Rival, Verdict

ROWS = {"out of fold": 150, "held out": 50}


def by(value, *interval, metric="accuracy"):
    return Difference(value, interval or (nan, nan), 0.02, metric=metric, how="held out")


def gained(value, *interval, metric="accuracy", rows=ROWS):
    return TuningGain(value, interval or (nan, nan), 0.02, metric=metric, rows=rows)


def expect(value, *interval, metric="accuracy", how="draws", out_of_fold=0.825, held_out=0.84):
    return ExpectedScore(value, interval or (nan, nan), 0.02, metric=metric, how=how, n_rows=200, out_of_fold=out_of_fold,
                         out_of_fold_error=0.02, held_out=held_out, held_out_error=0.02)  # fmt: skip


HELPED = Verdict(
    "accuracy", gained(0.05, 0.01, 0.09), "tuned", 7, {"svc__C": 2.0}, expect(0.78, 0.7, 0.84, how="rows", held_out=0.78),
    expect(0.83, 0.79, 0.87), True, 0.8, 0.85, 4, 12,
)  # fmt: skip
UNDECIDED = replace(HELPED, gain=gained(0.02, -0.02, 0.06))
WORSE = replace(HELPED, gain=gained(-0.05, -0.09, -0.01), recommended="default", number=3)
NONE = replace(HELPED, compares=False, gain=gained(0.0), recommended="default", number=3)
ERROR = "neg_root_mean_squared_error"
RMSE = replace(
    HELPED, metric=ERROR, gain=gained(0.74, 0.17, 1.31, metric=ERROR),
    tuned=expect(-3.8, -4.8, -3.0, metric=ERROR, out_of_fold=-3.7, held_out=-4.14),
)  # fmt: skip
CONSTANT = Rival("constant", "always 'no'", 0.7, 0.05, by(0.14, 0.05, 0.2), 0.001)
LINEAR = Rival("linear", "logistic regression", 0.86, 0.02, by(-0.02, -0.05, 0.01), 0.01)
FOREST = Rival("forest", "a random forest", 0.9, 0.02, by(-0.06, -0.1, -0.02), 0.5)


def test_it_comes_back_from_json():
    full = replace(HELPED, rivals=(CONSTANT, FOREST), replaced=Replaced(3, {"svc__C": 100.0}))
    for one in (HELPED, full, NONE, replace(HELPED, number=None, params={"kernel": None})):
        again = Verdict.from_dict(one.to_dict())
        assert again.to_dict() == one.to_dict()
        assert again.sentence == one.sentence
    gone = replace(HELPED, gain=gained(nan), tuned=expect(nan))
    assert gone.to_dict()["gain"]["interval"] == [None, None]
    assert isnan(Verdict.from_dict(gone.to_dict()).gain.value)
    assert gone.expectation == ""
    with pytest.raises(ArgumentError, match="found has no 'metric'"):
        Verdict.from_dict({})


OVER = "over 150 training rows out of fold and 50 held-out rows"
BY = "accuracy of the tuned model less that of the default is"
SEEN = "No difference can be seen between the tuned and the default model"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (HELPED, f"Tuning helped: {OVER}, {BY} +0.05 (95 % interval +0.01 to +0.09)."),
        (
            UNDECIDED,
            f"{SEEN}: {OVER}, {BY} +0.02 (95 % interval -0.02 to +0.06). The tuned SVM is recommended: it has the better score "
            "on these rows, which may be chance.",
        ),
        (
            replace(UNDECIDED, gain=gained(-0.01, -0.05, 0.03), recommended="default"),
            f"{SEEN}: {OVER}, {BY} -0.01 (95 % interval -0.05 to +0.03). The default SVM is recommended: it is simpler, and no "
            "worse on these rows.",
        ),
        (WORSE, f"Tuning did not help: {OVER}, {BY} -0.05 (95 % interval -0.09 to -0.01). Keep the default SVM."),
        (NONE, "Tuning did not help: no candidate scores better than the default SVM on the folds. Keep the default SVM."),
        (
            RMSE,
            f"Tuning helped: {OVER}, RMSE of the tuned model less that of the default is -0.74 (95 % interval -1.31 to -0.17).",
        ),
        (replace(HELPED, rivals=(CONSTANT,)), f"Tuning helped: {OVER}, {BY} +0.05 (95 % interval +0.01 to +0.09)."),
        (
            replace(HELPED, rivals=(CONSTANT, LINEAR)),
            f"Tuning helped: {OVER}, {BY} +0.05 (95 % interval +0.01 to +0.09); on the 50 held-out rows, where the tuned SVM has "
            "accuracy 0.84, logistic regression (0.86) is level with it.",
        ),
        (
            replace(UNDECIDED, rivals=(CONSTANT, LINEAR, FOREST)),
            f"{SEEN}: {OVER}, {BY} +0.02 (95 % interval -0.02 to +0.06); on the 50 held-out rows, where the tuned SVM has "
            "accuracy 0.84, a random forest (0.9) is better and logistic regression (0.86) is level with it. Of the SVMs the "
            "tuned one is recommended, but a random forest is the better choice here.",
        ),
        (
            replace(HELPED, rivals=(CONSTANT, LINEAR, replace(FOREST, difference=by(-0.06, -0.1, 0.02)))),
            f"Tuning helped: {OVER}, {BY} +0.05 (95 % interval +0.01 to +0.09); on the 50 held-out rows, where the tuned SVM has "
            "accuracy 0.84, logistic regression (0.86) and a random forest (0.9) are level with it.",
        ),
        (
            replace(HELPED, rivals=(replace(CONSTANT, difference=by(0.01, -0.05, 0.07)),)),
            f"Tuning helped: {OVER}, {BY} +0.05 (95 % interval +0.01 to +0.09). The tuned SVM cannot be distinguished from "
            "always 'no' (accuracy less that of the constant is +0.01 (95 % interval -0.05 to +0.07)).",
        ),
        (
            replace(NONE, rivals=(replace(CONSTANT, difference=by(-0.01, -0.05, 0.03)),)),
            "Tuning did not help: no candidate scores better than the default SVM on the folds. Keep the default SVM. "
            "The default SVM is no better than always 'no' "
            "(accuracy less that of the constant is -0.01 (95 % interval -0.05 to +0.03)).",
        ),
    ],
)
def test_the_sentence_has_the_numbers(found, said):
    assert found.sentence == said == found.to_dict()["sentence"]


def test_the_decision_is_that_of_the_gain():
    assert [one.decision for one in (HELPED, UNDECIDED, WORSE, NONE)] == [
        "helped", "no difference seen", "did not help", "did not help"
    ]  # fmt: skip
    # both begin with the same words
    assert UNDECIDED.sentence.startswith(UNDECIDED.gain.sentence.removesuffix("."))


def test_what_to_expect_says_which_rows_it_rests_on():
    assert HELPED.expectation == (
        "On new rows expect accuracy 0.83 of the tuned SVM (95 % interval 0.79 to 0.87), as judged by 150 training rows out of "
        "fold and 50 held-out rows. The interval covers the sampling of the rows and the choice among candidates."
    )
    assert "expect RMSE 3.8 of the tuned SVM (95 % interval 3 to 4.8), as judged" in RMSE.expectation
    assert "accuracy 0.78 of the default SVM" in WORSE.expectation
    assert "The interval covers the sampling of the rows and the folds." in WORSE.expectation
    alone = replace(HELPED, tuned=expect(0.83, out_of_fold=nan))
    assert alone.expectation == "On new rows expect accuracy 0.83 of the tuned SVM, as judged by 50 held-out rows."
    assert (HELPED.expected, WORSE.expected, HELPED.n_held_out) == (HELPED.tuned, WORSE.default, 50)


FAR = expect(0.83, 0.79, 0.87, held_out=0.7)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, ""),
        ({"tuned": expect(0.83, held_out=0.87)}, ""),
        ({"tuned": expect(0.83, held_out=0.95)}, "0.95, and the 150 training rows out of fold 0.825: 4.4 standard errors apart."),
        ({"tuned": expect(0.83, held_out=0.885)}, "Chance alone sets rows so far apart in 3.4 % of tables."),
        ({"tuned": FAR, "held_out_by": "groups"}, "and the groups held out may differ from the others."),
        ({"tuned": FAR, "held_out_by": "time"}, "and the later rows may differ from the earlier ones."),
        ({"tuned": expect(0.83, held_out=0.7, out_of_fold=nan)}, ""),
        ({"replaced": Replaced(3, {"svc__C": 100.0})}, "The search chose trial 3, with C = 100 at the end of the range;"),
    ],
)
def test_what_else_a_reader_has_to_know(changed, said):
    warnings = replace(HELPED, **changed).warnings
    assert (len(warnings) == 0) == (said == "")
    assert said in " ".join(warnings)
    assert "this is chance" not in " ".join(warnings)


PLS = Rival("pls", "partial least squares", 0.92, 0.02, by(nan), 0.5, 0.9, 0.905)
OF_PLS = replace(
    HELPED, rivals=(CONSTANT, PLS), rival="pls", of_rival=expect(0.905, 0.87, 0.93, held_out=0.92), over_svm=by(0.08)
)


def test_a_rival_is_recommended_in_place_of_the_svm():
    assert OF_PLS.expected == OF_PLS.of_rival
    assert OF_PLS.of_svm == OF_PLS.tuned
    assert OF_PLS.sentence.endswith(
        "Recommended in place of the SVM is partial least squares: its accuracy on rows that the judged models had not seen is "
        "0.905, that of the tuned SVM 0.83."
    )
    assert OF_PLS.expectation.startswith(
        "On new rows expect accuracy 0.905 of partial least squares (95 % interval 0.87 to 0.93)"
    )
    assert (
        "where partial least squares has accuracy 0.92, a random forest (0.94) is better"
        in replace(OF_PLS, rivals=(CONSTANT, replace(FOREST, held_out=0.94), PLS)).sentence
    )
    useless = replace(CONSTANT, difference=by(-0.02, -0.05, 0.01))
    assert "Partial least squares is no better than always 'no' (" in replace(OF_PLS, rivals=(useless, PLS)).sentence
    again = Verdict.from_dict(OF_PLS.to_dict())
    assert again.to_dict() == OF_PLS.to_dict()
    assert again.sentence == OF_PLS.sentence


def test_a_verdict_of_version_0_2_0_had_no_such_rival():
    new = ("rival", "of_rival", "over_svm")
    old = {name: value for name, value in HELPED.to_dict().items() if name not in new}
    assert Verdict.from_dict(old).to_dict() == HELPED.to_dict()
