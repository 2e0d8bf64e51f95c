import json
from math import nan, sqrt

import numpy as np
import pytest

from spotsvm import ExpectedScore
from spotsvm.errors import ArgumentError
from spotsvm.luck.difference import Difference, TuningGain, difference_on_folds, tuning_gain
from spotsvm.luck.drawn import Drawn
from spotsvm.luck.estimate import COVERS, Estimate
from spotsvm.luck.intervals import nadeau_bengio
from spotsvm.luck.sentences import DECISIONS, expectation

RMSE = "neg_root_mean_squared_error"
EXPECTED = ExpectedScore.of(
    0.9, 0.02, units=150.0, degrees=149.0, metric="accuracy", confidence=0.95, n_rows=150, row_error=0.3, out_of_fold=0.9
)


@pytest.mark.parametrize(
    "estimate",
    [
        Estimate(0.9, (0.8, 0.95), 0.03, 0.9, "accuracy", "nested"),
        Estimate(nan),
        EXPECTED,
        TuningGain(0.1, (0.0, 0.2), 0.05, metric=RMSE, over_constant=Difference(0.1, (-0.1, 0.3)), rows={"held out": 9}),
    ],
)
def test_it_comes_back_from_json(estimate):
    text = json.dumps(estimate.to_dict(), allow_nan=False)
    again = type(estimate).from_dict(json.loads(text))
    assert json.dumps(again.to_dict()) == text
    assert again.known == estimate.known
    with pytest.raises(ArgumentError, match=f"found has no 'value'; pass the result of {type(estimate).__name__}.to_dict"):
        type(estimate).from_dict({})


def test_texts_are_in_the_unit_of_the_metric():
    error = Estimate(-3.5, (-4.0, -3.0), metric=RMSE, how="rows")
    assert str(error) == "RMSE 3.5 (95 % interval 3 to 4)"
    assert expectation(error, "the tuned SVM") == "expect RMSE 3.5 of the tuned SVM (95 % interval 3 to 4)"
    assert Estimate(0.5, (0.2, 0.8), metric=RMSE).text(signed=True) == "-0.5 (95 % interval -0.8 to -0.2)"
    assert str(Estimate(0.25, confidence=0.9)) == "0.25"
    assert expectation(Estimate(0.25, metric="accuracy")) == "expect accuracy 0.25"


def test_an_interval_without_length_is_none():
    estimate = Estimate(0.0, (0.0, 0.0))
    assert not estimate.known
    assert not Estimate(0.184, (0.184, 0.184 * (1 + 1e-15))).known
    assert Estimate(1e-15, (1e-16, 1e-14)).known
    assert (estimate.side, estimate.interval_text()) == (0, "")


def test_what_it_covers_follows_from_how_it_was_made():
    assert len({Estimate(0.0, how=how).covers for how in COVERS}) == len(COVERS)
    with pytest.raises(ArgumentError, match="how='guess' is unknown; use one of draws, rows"):
        Estimate(0.0, how="guess")


def test_another_level_and_new_rows_change_the_interval_alone():
    surer = EXPECTED.at(0.99)
    assert (surer.value, surer.error, surer.confidence) == (EXPECTED.value, EXPECTED.error, 0.99)
    assert surer.interval[0] < EXPECTED.interval[0] < EXPECTED.interval[1] < surer.interval[1]
    assert surer.at(0.95) == EXPECTED
    widths = [high - low for low, high in (EXPECTED.of_rows(n) for n in (10, 100, 10_000_000))]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(EXPECTED.interval[1] - EXPECTED.interval[0], rel=1e-3)


def test_the_difference_on_folds_has_the_interval_of_nadeau_and_bengio():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=5), rng.normal(size=5) + 1
    gain = difference_on_folds(first, second, 0.25)
    assert gain.value == pytest.approx(np.mean(second - first))
    assert gain.interval == nadeau_bengio(second - first, 0.25)
    assert gain.error == pytest.approx(sqrt(0.45 * np.var(second - first, ddof=1)))
    back = gain.turned()
    assert (back.value, back.interval) == (-gain.value, (-gain.interval[1], -gain.interval[0]))
    assert DECISIONS[back.side] == back.decision
    assert not difference_on_folds(first[:1], second[:1], 0.25).known


def gain(tuned, default, constant, metric="accuracy"):
    return tuning_gain(
        *([Drawn(float(np.mean(scores)), scores, 100, 100.0)] for scores in (tuned, default, constant)), metric=metric
    )


def test_the_sentence_on_tuning_says_what_the_draws_show():
    rng = np.random.default_rng(0)
    default = 0.8 + 0.02 * rng.normal(size=200)
    noise = 0.01 * rng.normal(size=200)
    helped = gain(default + 0.05 + noise, default, np.full(200, 0.5))
    begins = "Tuning helped: over 100 training rows out of fold, accuracy of the tuned model less that of the default is +0.0"
    assert helped.sentence.startswith(begins)
    assert "constant" not in helped.sentence
    worse = gain(default - 0.05 + noise, default, default + 0.01)
    assert worse.sentence.startswith("Tuning did not help: ")
    assert worse.sentence.endswith("The tuned model cannot be distinguished from a constant.")
    alike = gain(default, default, np.full(200, 0.5))
    assert (alike.decision, alike.known) == ("no difference seen", False)
    # draws that agree up to rounding do not show their common error
    for shift in (0.184, 1e-17):
        agreed = gain(default + shift, default, np.full(200, 0.5))
        assert (agreed.decision, agreed.known) == ("no difference seen", False)
    nothing = gain(default * np.nan, default, default, "r2")
    assert nothing.sentence.endswith("default model: their R2 is undefined on 100 training rows out of fold.")
    assert isinstance(helped, Difference)
