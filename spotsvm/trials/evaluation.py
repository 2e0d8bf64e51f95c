"""The evaluation of one trial: the call of the objective, and what an objective that takes the trial may do."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from spotsvm.common.json_values import as_attributes, plain_number
from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError
from spotsvm.trials.judging import Values, outcome_of
from spotsvm.trials.outcome import Outcome, failed_by
from spotsvm.trials.trial import State, Trial

Objective = Callable[[dict[str, Any]], float | Sequence[float] | Mapping[str, float | Values] | Outcome]


def call(objective: Objective, params: dict[str, Any], limits: AbstractContextManager[None] | None = None) -> Outcome:
    """Evaluate the objective once within `limits`; an exception becomes a failed outcome."""
    began = time.perf_counter()
    try:
        with limits or nullcontext():
            returned = objective(params)
        return outcome_of(returned, time.perf_counter() - began)
    except Exception as error:
        return failed_by(error, time.perf_counter() - began)


@dataclass(eq=False)
class CurrentTrial:
    """The second argument of an objective that takes two.

    An objective that learns in steps reports each step with `report`, and ends early if `should_stop` returns True.

    Attributes
    ----------
    number : int
        Number of the trial, from 0.
    seed : int
        The trial's own random seed, from the study's seed and the number; the same in every worker and at every attempt.
    attributes : dict
        An empty dict; JSON values that the objective puts there are kept with the trial, even if it fails.
    steps : list of (float, float)
        The steps reported so far, with their values.
    point : tuple of float
        The parameters as a point of the unit cube.
    finished : tuple of Trial
        The trials that had ended without failure when this trial was asked for; empty if none of them reported steps.
    domain : Domain or None
        The domain of the points; None if the trial is not to end early.
    sign : float
        1 if a smaller value is better, -1 if a larger one is.

    See Also
    --------
    Study.run : Takes the objective, and the rule that decides, as `early_stopping`.
    EarlyStopping : The interface of your own rules.

    Examples
    --------
    >>> from spotsvm import Study
    >>> def objective(params, trial):
    ...     trial.attributes["about"] = f"trial {trial.number}"
    ...     for step in (1, 2, 3):
    ...         trial.report(step, params["x"] / step)
    ...     return params["x"] / step
    >>> study = Study({"x": (0.0, 1.0)}, "random", seed=0).run(
    ...     objective, n_trials=2
    ... )
    >>> [(t.attributes["about"], len(t.steps)) for t in study.trials]
    [('trial 0', 3), ('trial 1', 3)]
    """

    number: int
    seed: int
    attributes: dict[str, Any] = field(default_factory=dict)
    steps: list[tuple[float, float]] = field(default_factory=list)
    point: tuple[float, ...] = ()
    finished: tuple[Trial, ...] = ()
    domain: Any = None
    sign: float = 1.0
    _rule: Callable[[CurrentTrial], str | None] | None = None
    _reason: str | None = None
    _not_finite: str = ""
    _judged: int = 0

    def report(self, step: float, value: float) -> None:
        """Report the value after a step; the frame, the record and the report of the study show it.

        Parameters
        ----------
        step : int or float
            At least 0, and above the last reported step, in a unit that all trials share: epochs, rounds, rows.
        value : float
            The value that the objective would return if it ended here. A value that is not finite, for example when training
            diverges, is not kept: `should_stop` then returns True, and the trial has failed.

        Raises
        ------
        ArgumentError
            If the step or the value is not such a number.
        """
        at, number = plain_number(step), plain_number(value)
        if at is None or not 0.0 <= at < math.inf or isinstance(step, bool):
            raise ArgumentError(f"step={shown_value(step)} is not a step; use a finite number of at least 0")
        if self.steps and at <= self.steps[-1][0]:
            raise ArgumentError(
                f"step={step} is not above the step {self.steps[-1][0]:g} that was reported last; use a larger one"
            )
        if number is None:
            raise ArgumentError(f"value={shown_value(value)} is not a number; report the value that the objective would return")
        self._reason, self._not_finite = None, ""
        if math.isfinite(number):
            self.steps.append((at, number))
        else:
            self._not_finite = f"the objective reported {number} at step {at:g}"

    def should_stop(self) -> bool:
        """Return whether to end now; the return value of the objective is then not used, and may be None.

        The result is False as long as too few trials are complete; from the last step of the complete trials on; if the same
        parameters were evaluated before (a search repeats a trial to estimate the noise); and in a study of several objectives or
        with a `sweep`. A trial that continues nevertheless, and reports a further step, is not stopped.

        Returns
        -------
        bool
            True if the objective should end now.

        Raises
        ------
        ArgumentError
            If the rule returns something other than a text or None.
        """
        if self._not_finite:
            self._reason = self._not_finite
        elif self._rule is not None and len(self.steps) > self._judged:
            self._judged = len(self.steps)
            if all(t.point != self.point for t in self.finished):
                self._reason = self._rule(self)
            if self._reason is not None and not isinstance(self._reason, str):
                raise ArgumentError(
                    f"early_stopping={self._rule!r} returned {shown_value(self._reason)}; return the reason as text, or None"
                )
        return self._reason is not None

    def ended(self, outcome: Outcome) -> Outcome:
        """Return the outcome of the trial, from the outcome for the objective's result or error.

        Returns
        -------
        Outcome
            The outcome with the reported steps; its state is "stopped" if the rule ended the trial.
        """
        if self._reason is not None and outcome.error is None:
            state: State = "failed" if self._not_finite else "stopped"
            outcome = replace(outcome, state=state, value=None, values=None, named={}, sweep=(), reason=self._reason, fault="")
        attributes = {**outcome.attributes, **as_attributes(self.attributes)}
        return replace(outcome, attributes=attributes, steps=tuple(self.steps))


def takes_trial(objective: Callable[..., Any]) -> bool:
    """Return whether a callable requires two positional arguments: the parameters and the trial."""
    return len(_required(objective)) == 2


def check_takes_params(objective: Callable[..., Any], names: Sequence[str]) -> None:
    """Raise ArgumentError if a callable has an argument for each parameter, in place of one for all."""
    required = _required(objective)
    if len(required) > 1 and set(required) <= set(names):
        raise ArgumentError(
            f"the objective takes {', '.join(required)}, but is called with one dictionary of all parameters; define it with one "
            f"argument, params, and use params[{required[0]!r}]"
        )


def _required(function: Callable[..., Any]) -> list[str]:
    """Return the names of the positional arguments that a callable requires; none if they are not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in positional and p.default is inspect.Parameter.empty]
