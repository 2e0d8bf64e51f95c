"""An objective as the workers of a study call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spotsvm.study.early_stopping import with_extrapolation
from spotsvm.trials.evaluation import CurrentTrial, takes_trial
from spotsvm.trials.judging import outcome_of, sweep_outcome
from spotsvm.trials.outcome import Outcome, failed_by
from spotsvm.trials.sweep import SweptParameter
from spotsvm.trials.trial import Trial


def with_trial(trial: Trial, told_before: Sequence[Trial] = ()) -> dict[str, Any]:
    """Return the data sent to workers for an objective that takes the trial.

    The data include the trials told before this trial was asked for, if any of them reported steps. So a worker can decide by
    itself whether to end the trial early, and every worker decides in the same way.
    """
    finished = [t for t in told_before if t.state in ("ok", "stopped")] if any(t.steps for t in told_before) else []
    sent = tuple(replace(t, attributes={}, answers=None, lost=(), note="") for t in finished)
    return {"params": dict(trial.params), "number": trial.number, "seed": trial.seed, "point": trial.point, "finished": sent}


@dataclass(frozen=True)
class WrappedObjective:
    """An objective as workers call it: with the parameters, or with the result of `with_trial` if it takes the trial.

    `swept` is the parameter of its sweeps, and `listed` are the values of that parameter if it is a list. `early_stopping` is the
    rule that ends trials early, with the domain of their points and the sign of their values.
    """

    objective: Callable[..., Any]
    takes_trial: bool
    swept: str | None = None
    listed: Sequence[Any] = ()
    early_stopping: Callable[[CurrentTrial], str | None] | None = None
    domain: Any = None
    sign: float = 1.0

    def __call__(self, sent: Mapping[str, Any]) -> Outcome:
        """Return the outcome, with attributes and steps of the trial; raise errors unless the objective takes the trial."""
        if not self.takes_trial:
            return self._outcome(self.objective(sent))
        trial = CurrentTrial(
            sent["number"], sent["seed"], point=sent["point"], finished=sent["finished"], domain=self.domain, sign=self.sign,
            _rule=self.early_stopping,
        )  # fmt: skip
        try:
            outcome = self._outcome(self.objective(sent["params"], trial))
        except Exception as error:
            outcome = failed_by(error)
        return with_extrapolation(trial.ended(outcome), trial)

    def _outcome(self, returned: Any) -> Outcome:
        return outcome_of(returned) if self.swept is None else sweep_outcome(returned, self.swept, None, self.listed)


def wrapped(
    objective: Callable[..., Any],
    swept: SweptParameter | None,
    early_stopping: Callable[[CurrentTrial], str | None] | None = None,
    domain: Any = None,
    sign: float = 1.0,
) -> Callable[..., Any]:
    """Return an objective as workers call it: itself if it takes the parameters alone and returns no sweeps."""
    takes = takes_trial(objective)
    if swept is not None:
        return WrappedObjective(objective, takes, swept.name, swept.listed)
    return WrappedObjective(objective, takes, None, (), early_stopping, domain, sign) if takes else objective
