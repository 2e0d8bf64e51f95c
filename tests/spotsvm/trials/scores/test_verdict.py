from dataclasses import replace
from math import isnan, nan

import pytest

from spotsvm.common.errors import ArgumentError
from spotsvm.trials.scores.verdict import Verdict

HELPED = Verdict(
    "accuracy", "helped", "tuned", 7, {"svc__C": 2.0}, 0.8, 0.78, 0.03, 0.85, 0.84, 0.02, 0.05, 0.01, 0.06, 0.02, (0.02, 0.1),
    0.95, 50, "+0.05 on the folds", 0.85, (0.8, 0.9),
)  # fmt: skip
KEPT = replace(HELPED, decision="did not help", recommended="default", number=3, reason="nothing was better")


def test_it_comes_back_from_json():
    for one in (HELPED, KEPT, replace(HELPED, number=None, params={"kernel": None})):
        assert Verdict.from_dict(one.to_dict()) == one
    gone = replace(HELPED, difference=nan, interval=(nan, nan), expected=nan, expected_interval=(nan, nan))
    assert gone.to_dict()["interval"] == [None, None]
    again = Verdict.from_dict(gone.to_dict())
    assert isnan(again.difference)
    assert isnan(again.interval[0])
    assert again.sentence == gone.sentence == "Tuning helped; +0.05 on the folds."
    with pytest.raises(ArgumentError, match="found has no 'metric'"):
        Verdict.from_dict({})


def test_the_sentence_has_the_numbers():
    assert HELPED.sentence == "Tuning helped: held-out +0.06 +- 0.02 (95 % interval +0.02 to +0.1); +0.05 on the folds."
    assert KEPT.sentence == "Tuning did not help on these rows; keep the default SVM: nothing was better."
    assert (HELPED.score, HELPED.held_out, HELPED.held_out_error) == (0.85, 0.84, 0.02)
    assert (KEPT.score, KEPT.held_out, KEPT.held_out_error) == (0.8, 0.78, 0.03)
    assert HELPED.to_dict()["sentence"] == HELPED.sentence


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, ""),
        ({"tuned_held_out": 0.92}, "0.92 (standard error 0.02), is above the interval of the expected score, 0.8 to 0.9, which"),
        ({"tuned_held_out": 0.92}, "they are few, so this can be chance."),
        ({"tuned_held_out": 1.0}, "they differ from the training rows."),
        ({"tuned_held_out": 0.7}, "is below the interval"),
        (
            {"recommended": "default", "default_held_out": 0.7},
            "The score on the 50 held-out rows, 0.7 (standard error 0.03), is below",
        ),
        ({"tuned_held_out": 1.0, "expected_interval": (nan, nan)}, ""),
        ({"recommended": "default", "default_held_out": 0.85, "interval": (-0.02, 0.1)}, ""),
        (
            {"recommended": "default", "default_held_out": 0.85},
            "On the 50 held-out rows the tuned machine is better by 0.06 (95 % interval 0.02 to 0.1). These rows can reject",
        ),
        ({"instead_of": "It takes the place of another."}, "It takes the place of another."),
    ],
)
def test_a_held_out_score_outside_its_interval_is_told(changed, said):
    warnings = replace(HELPED, **changed).warnings
    assert (len(warnings) == 0) == (said == "")
    assert said in " ".join(warnings)
