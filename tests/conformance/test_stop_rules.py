"""The stop rules of the library keep the contract of `StopRule`, and a rule that breaks it is refused."""

import re

import pytest

from spotsvm import ImprovementBelowUncertainty, check_stop_rule
from spotsvm.errors import ArgumentError
from spotsvm.study.stop import AppliedRule


def stalled(study):
    values = [t.value for t in study.finished_trials if t.state == "ok"]
    if len(values) > 10 and min(values[-5:]) >= min(values[:-5]):
        return "five trials are no better than those before them"
    return None


@pytest.mark.parametrize("rule", [ImprovementBelowUncertainty(factor=1.0, patience=2, min_trials=8), stalled, lambda study: None])
def test_a_rule_that_keeps_the_contract_passes(rule):
    check_stop_rule(rule, n_trials=20)


class Counting:
    """Counts its own calls, in place of the trials."""

    n = 0

    def __call__(self, study):
        self.n += 1
        return "enough" if self.n > 12 else None


class FirstReason:
    """Keeps its first reason."""

    reason = None

    def __call__(self, study):
        if study.n_finished == 14 and self.reason is None:
            self.reason = "fourteen trials"
        return self.reason


def early(study):
    return "the first value is enough" if study.finished_trials[0].value < 10 else None


def impatient(study):
    return "all have been asked for" if len(study.trials) > 10 else None


def asking(study):
    if hasattr(study, "ask"):
        study.fail(study.ask(), "one more")


BROKEN = [
    (lambda study: study.n_finished > 12, "the rule returns False; return the reason to stop as text, or None"),
    (lambda study: "" if study.n_finished > 12 else None, "the rule returns ''; return the reason to stop as text"),
    (early, "after 1 trials, 1 of which failed and have no value; return None while the rule cannot judge, and use only trials"),
    (Counting(), "and before it returned None; compute the reason from study.finished_trials, and keep nothing between calls"),
    (FirstReason(), "and keep nothing between calls"),
    (impatient, "while others are under way, and None if none is; use study.finished_trials"),
    (asking, "the rule changes the study; only read its trials"),
]


@pytest.mark.parametrize(("rule", "message"), BROKEN, ids=range(len(BROKEN)))
def test_a_rule_that_breaks_the_contract_is_refused(rule, message):
    with pytest.raises(AssertionError, match=re.escape(message)):
        check_stop_rule(rule, n_trials=20)


def test_a_study_that_ends_elsewhere_after_an_interruption_is_refused(monkeypatch):
    monkeypatch.setattr(AppliedRule, "__call__", lambda self, study: "at once" if study.n_finished > 8 else None)
    with pytest.raises(AssertionError, match="an interrupted study ends after 9 trials, and an undisturbed study after"):
        check_stop_rule(stalled)


def test_what_is_no_rule_is_refused():
    with pytest.raises(ArgumentError, match="stop='soon' is not a stop rule"):
        check_stop_rule("soon")
