"""Objectives that take the trial beside its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spotsvm.trials.sweep import SweptParameter, sweep_outcome
from spotsvm.trials.trial import Outcome, Trial, as_attributes, failed_by, outcome_of


@dataclass
class CurrentTrial:
    """What an objective that takes two arguments gets as the second.

    Attributes
    ----------
    number : int
        Of the trial, from 0.
    seed : int
        A random seed of the trial's own, from the study's seed and the number; the same wherever, and however often, it runs.
    attributes : dict
        Empty; what the objective puts there is kept with the trial, also if it fails: anything that JSON can hold.
    """

    number: int
    seed: int
    attributes: dict[str, Any] = field(default_factory=dict)


def takes_trial(objective: Callable[..., Any]) -> bool:
    """Return whether a callable requires two positional arguments: the parameters and the trial.

    Examples
    --------
    >>> takes_trial(lambda params, trial: 0.0), takes_trial(lambda params, scale=1.0: 0.0), takes_trial(abs)
    (True, False, False)
    """
    try:
        parameters = inspect.signature(objective).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional and p.default is inspect.Parameter.empty for p in parameters) == 2


def with_trial(trial: Trial) -> dict[str, Any]:
    """Return what is sent to workers for an objective that takes the trial."""
    return {"params": dict(trial.params), "number": trial.number, "seed": trial.seed}


@dataclass(frozen=True)
class WrappedObjective:
    """An objective as workers call it: with the parameters, or with what `with_trial` returns if it takes the trial.

    `swept` is the parameter that it returns sweeps of, and `listed` are its values if it is a list.
    """

    objective: Callable[..., Any]
    takes_trial: bool
    swept: str | None = None
    listed: Sequence[Any] = ()

    def __call__(self, sent: Mapping[str, Any]) -> Outcome:
        """Return the outcome, with the attributes that the objective has set; raise its errors unless it takes the trial."""
        if not self.takes_trial:
            return self._outcome(self.objective(sent))
        trial = CurrentTrial(sent["number"], sent["seed"])
        try:
            outcome = self._outcome(self.objective(sent["params"], trial))
        except Exception as error:
            outcome = failed_by(error)
        return replace(outcome, attributes={**outcome.attributes, **as_attributes(trial.attributes)})

    def _outcome(self, returned: Any) -> Outcome:
        return outcome_of(returned) if self.swept is None else sweep_outcome(returned, self.swept, None, self.listed)


def wrapped(objective: Callable[..., Any], swept: SweptParameter | None) -> Callable[..., Any]:
    """Return an objective as workers call it: itself if it takes the parameters alone and returns no sweeps."""
    takes = takes_trial(objective)
    if swept is None:
        return WrappedObjective(objective, takes) if takes else objective
    return WrappedObjective(objective, takes, swept.name, swept.listed)
