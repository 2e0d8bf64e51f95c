"""Objectives that take the trial beside its parameters."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError
from spotsvm.trials.sweep import SweptParameter, sweep_outcome
from spotsvm.trials.trial import Outcome, State, Trial, as_attributes, as_float, failed_by, outcome_of


@dataclass(eq=False)
class CurrentTrial:
    """What an objective that takes two arguments gets as the second.

    An objective that learns in steps reports them, and ends early where the trial is not worth the rest.

    Attributes
    ----------
    number : int
        Of the trial, from 0.
    seed : int
        A random seed of the trial's own, from the study's seed and the number; the same wherever, and however often, it runs.
    attributes : dict
        Empty; what the objective puts there is kept with the trial, also if it fails: anything that JSON can hold.
    steps : list of (float, float)
        The steps reported so far, with their values.
    point : tuple of float
        The parameters as a point of the unit cube.
    finished : tuple of Trial
        The trials that had ended, and did not fail, when this one was asked for; empty if none of them reported steps.
    domain : Domain or None
        What the coordinates of points mean; None if the trial is not to end early.
    sign : float
        1 if a smaller value is better, -1 if a larger one is.

    See Also
    --------
    Study.run : Takes the objective, and the rule that decides, as `early_stopping`.
    EarlyStopping : What a rule of your own has.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from spotsvm import Study
    >>> def objective(params, trial):
    ...     for step in range(1, 21):
    ...         value = (params["x"] - 0.3) ** 2 + 1 / step
    ...         trial.report(step, value)
    ...         if trial.should_stop():
    ...             break
    ...     return value
    >>> study = Study({"x": uniform(0, 1)}, "random", seed=0).run(objective, n_trials=20)
    >>> {trial.state for trial in study.trials} == {"ok", "stopped"}
    True
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
            At least 0, and above the last one reported: epochs, rounds, rows. Of all trials in the same unit.
        value : float
            What the objective would return if it ended here. One that is not finite, as of a training that diverges, is not kept:
            `should_stop` then returns True, and the trial has failed.

        Raises
        ------
        ArgumentError
            If the step or the value is not such a number.
        """
        at, number = as_float(step), as_float(value)
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
        """Return whether to end now; what the objective then returns is not used, and it may return nothing.

        It is False as long as too few trials are complete, once the last step of these is reached, if the same parameters were
        evaluated before (a search repeats a trial to see the noise), and in a study of several objectives or with a `sweep`. A
        trial that goes on nevertheless, and reports a further step, is not stopped.
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
        """Return the outcome of the trial, given that of what the objective returned or raised."""
        if self._reason is not None and outcome.error is None:
            state: State = "failed" if self._not_finite else "stopped"
            outcome = replace(outcome, state=state, value=None, values=None, reason=self._reason, nothing=False)
        attributes = {**outcome.attributes, **as_attributes(self.attributes)}
        return replace(outcome, attributes=attributes, steps=tuple(self.steps))


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


def with_trial(trial: Trial, told_before: Sequence[Trial] = ()) -> dict[str, Any]:
    """Return what is sent to workers for an objective that takes the trial.

    With it go the trials that were told before it was asked for, if any of them reported steps, so that a worker can decide
    by itself whether to end the trial early, and decides the same wherever and whenever it runs.
    """
    finished = [t for t in told_before if t.state in ("ok", "stopped")] if any(t.steps for t in told_before) else []
    sent = tuple(replace(t, attributes={}, lost=(), note="") for t in finished)
    return {"params": dict(trial.params), "number": trial.number, "seed": trial.seed, "point": trial.point, "finished": sent}


@dataclass(frozen=True)
class WrappedObjective:
    """An objective as workers call it: with the parameters, or with what `with_trial` returns if it takes the trial.

    `swept` is the parameter that it returns sweeps of, and `listed` are its values if it is a list. `early_stopping` is the rule
    that ends trials early, with the domain of their points and the sign of their values.
    """

    objective: Callable[..., Any]
    takes_trial: bool
    swept: str | None = None
    listed: Sequence[Any] = ()
    early_stopping: Callable[[CurrentTrial], str | None] | None = None
    domain: Any = None
    sign: float = 1.0

    def __call__(self, sent: Mapping[str, Any]) -> Outcome:
        """Return the outcome, with what the objective has set and reported; raise its errors unless it takes the trial."""
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
        return trial.ended(outcome)

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
