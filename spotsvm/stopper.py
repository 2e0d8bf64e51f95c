"""A stop rule at work: it looks at a study between its trials, and says in the end what it did."""

from __future__ import annotations

from typing import Any

from spotsvm.ask_tell_study import AskTellStudy
from spotsvm.errors import ArgumentError
from spotsvm.stop_rule import Look, StopRule, checked_stop

FINDING = "stop"


class Stopper:
    """Looks at a study after its trials, as far as the rule needs it.

    Whether it stops after n trials depends on the first n that were told alone: a study that is resumed ends where it would have.

    Parameters
    ----------
    study : AskTellStudy
        What is being run.
    stop : {"uncertainty"} or StopRule
        The rule.

    Raises
    ------
    ArgumentError
        If there is no such rule, or the study has several objectives.
    """

    def __init__(self, study: AskTellStudy, stop: Any):
        self._study, self._rule = study, checked_stop(stop)
        self._looks: dict[int, Look | None] = {}
        # of the trials told before one was last asked for, the rule did not stop
        self._judged = study.n_finished - study.n_told_since_asked
        self._stopped_at: int | None = None
        if study.objectives.several:
            raise ArgumentError(f"stop={stop!r} is for one objective, and the study has {len(study.objectives)}; leave it out")

    def reached(self) -> bool:
        """Tell whether to stop: whether after one of the trials the last ones, as many as the rule has patience, all said so."""
        while self._stopped_at is None and self._judged < self._study.n_finished:
            self._judged += 1
            if all(self._says_stop(self._judged - k) for k in range(self._rule.patience)):
                self._stopped_at = self._judged
        return self._stopped_at is not None

    def _says_stop(self, n: int) -> bool:
        look = self._look(n)
        return look is not None and look.expected_improvement < self._rule.factor * look.uncertainty

    def _look(self, n: int) -> Look | None:
        if n not in self._looks:
            study = self._study
            trials = [study.trials[number] for number in study.told_numbers[:n]]
            sign = float(study.objectives.signs[0])
            self._looks[n] = (
                self._rule.look(trials, study.space, sign=sign, noise=study.noise, seed=study.seed)
                if len(trials) == n > 0
                else None
            )
        return self._looks[n]

    def report(self) -> None:
        """Keep as the study's finding "stop" what the rule did."""
        stopped = self.reached()
        n = self._study.n_finished if self._stopped_at is None else self._stopped_at
        look = self._look(n)
        finding: dict[str, Any] = {"stopped": stopped, "n_trials": n, "rule": repr(self._rule)}
        if look is not None:
            finding |= {"expected_improvement": look.expected_improvement, "uncertainty": look.uncertainty, "basis": look.basis}
        self._study.add_finding(FINDING, finding | {"sentence": stop_sentence(self._rule, n, look, stopped=stopped)})


_BASES = {
    "folds": "the standard error of the incumbent's score over its folds",
    "noise": "the standard error of what is predicted of the incumbent",
}


def stop_sentence(rule: StopRule, n: int, look: Look | None, *, stopped: bool) -> str:
    """Say in a sentence what a stop rule did after n trials, and what it saw last.

    Examples
    --------
    >>> from spotsvm.stop_rule import ImprovementBelowUncertainty
    >>> look = Look(30, 0.0004, 0.02, "folds")
    >>> stop_sentence(ImprovementBelowUncertainty(0.1, 5), 30, look, stopped=True)
    "The search stopped after 30 trials: the largest expected improvement, 0.0004, was below 0.1 times the uncertainty of the \
score for 5 trials in a row (0.02, the standard error of the incumbent's score over its folds)."
    """
    if look is None:
        return f"The stop rule did not stop the search: {n} trials are too few for it to judge."
    if look.basis == "none":
        return (
            "The stop rule did not stop the search: the objective is deterministic and tells no fold scores, so its value has no "
            "uncertainty to compare with."
        )
    basis = f"({look.uncertainty:.3g}, {_BASES[look.basis]})"
    times = "" if rule.factor == 1 else f"{rule.factor:g} times "
    if stopped:
        return (
            f"The search stopped after {n} trials: the largest expected improvement, {look.expected_improvement:.3g}, was below "
            f"{times}the uncertainty of the score for {rule.patience} trials in a row {basis}."
        )
    return (
        f"The stop rule did not stop the search: after {n} trials the largest expected improvement is "
        f"{look.expected_improvement:.3g}, and {times}the uncertainty of the score {rule.factor * look.uncertainty:.3g} {basis}."
    )
