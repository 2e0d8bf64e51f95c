"""The objectives of a study: their directions, the checks of returned values, and objectives that take the trial."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.text import printable_line, shown_value
from spotsvm.errors import ArgumentError, StorageError
from spotsvm.trials.sweep import SweptParameter, sweep_outcome
from spotsvm.trials.trial import EXTRAPOLATED, Outcome, State, Trial, as_attributes, as_float, failed_by, outcome_of

Direction = Literal["minimize", "maximize"]
#: which values are better, in words
BETTER: dict[Direction, str] = {"minimize": "smaller is better", "maximize": "larger is better"}
Directions = Direction | Sequence[Direction] | Mapping[str, Direction]
Floats = NDArray[np.float64]
#: objectives of a study, and the length of their names
MOST_OBJECTIVES = 20
LONGEST_NAME = 1000


@dataclass(frozen=True)
class Objectives:
    """The objectives of a study, each to be minimised or maximised.

    Attributes
    ----------
    names : tuple of str
        One per objective, "0", "1" and so on by default; empty for a single objective without a name.
    directions : tuple of {"minimize", "maximize"}
        One per objective.

    Examples
    --------
    >>> objectives = Objectives.of({"error": "minimize", "margin": "maximize"})
    >>> objectives.columns
    ('value_error', 'value_margin')
    >>> objectives.turned((0.1, 3.0)).tolist()
    [0.1, -3.0]
    """

    names: tuple[str, ...]
    directions: tuple[Direction, ...]

    @classmethod
    def of(cls, direction: Any) -> Objectives:
        """Create the objectives from a study's `direction`: "minimize", "maximize", or two or more of them, by name if wanted."""
        if isinstance(direction, str) or not isinstance(direction, Sequence | Mapping):
            return cls((), (_checked(direction, "direction"),))
        if len(direction) < 2:
            raise ArgumentError(
                f"direction={direction!r} names {len(direction)} objectives; name two or more, or use 'minimize' or 'maximize'"
            )
        if len(direction) > MOST_OBJECTIVES:
            raise ArgumentError(f"direction names {len(direction):,} objectives; use at most {MOST_OBJECTIVES}")
        given: dict[Any, Any] = dict(direction) if isinstance(direction, Mapping) else dict(enumerate(direction))
        names = list(given) if isinstance(direction, Mapping) else [str(k) for k in given]
        for name in names:
            if not isinstance(name, str) or not name:
                raise ArgumentError(f"direction has an objective named {name!r}; use a non-empty string")
            if len(name) > LONGEST_NAME:
                raise ArgumentError(f"direction has an objective named {name[:40]!r}...; use at most {LONGEST_NAME:,} characters")
        return cls(tuple(names), tuple(_checked(one, f"direction[{key!r}]") for key, one in given.items()))

    @classmethod
    def described(cls, description: Any, trials: Sequence[Trial]) -> Objectives:
        """Create the objectives from their description in a record; StorageError if a trial has another number of values."""
        try:
            objectives = cls.of(description)
        except ArgumentError as error:
            raise StorageError(f"the record is damaged: {printable_line(str(error), 300)}") from error
        for t in trials:
            if t.values is not None and len(t.values) != len(objectives):
                raise StorageError(f"the record is damaged: trial {t.number} has {len(t.values)} values, not {len(objectives)}")
        return objectives

    def describe(self) -> str | dict[str, str]:
        """Describe the objectives in JSON's types; two studies with the same ones have the same description."""
        return dict(zip(self.names, self.directions, strict=True)) if self.several else self.directions[0]

    def __len__(self) -> int:
        return len(self.directions)

    @property
    def several(self) -> bool:
        """Whether there is more than one."""
        return len(self.directions) > 1

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table of trials that hold the values."""
        return tuple(f"value_{name}" for name in self.names) if self.several else ("value",)

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of axes: the name, and whether smaller or larger values are better."""
        names = [f"value {name}" if name.isdecimal() else name for name in self.names] or ["value"]
        return tuple(f"{name} ({BETTER[one]})" for name, one in zip(names, self.directions, strict=True))

    @property
    def signs(self) -> Floats:
        """1 where smaller is better, -1 where larger is; shape (m,). All conversions of directions use it."""
        return np.array([1.0 if one == "minimize" else -1.0 for one in self.directions])

    def turned(self, values: Any) -> Floats:
        """Return values converted so that smaller is better, or converted back; shape (..., m), any shape for one objective."""
        return np.asarray(self.signs * np.asarray(values, dtype=float))

    def response(self, trial: Trial) -> Any:
        """Return the value to tell a search for a finished trial, an array for several objectives; nan if it failed.

        For a trial that was stopped early it is the extrapolated value.
        """
        if trial.state == "stopped" and not self.several:
            return float(self.turned(trial.extra.get(EXTRAPOLATED, trial.steps[-1][1]))[0])
        if not self.several:
            return np.nan if trial.value is None else float(self.turned(trial.value)[0])
        return np.full(len(self), np.nan) if trial.values is None else self.turned(trial.values)

    def judged(self, outcome: Outcome) -> tuple[Outcome, str]:
        """Return the outcome with one value per objective, in their order, and an empty text.

        If the evaluation returned another number of values or other names, return a failed outcome and the reason.
        """
        if outcome.nothing:
            return outcome, outcome.reason
        if outcome.state != "ok" or (not self.several and outcome.values is None):
            return outcome, ""
        given = outcome.values if outcome.values is not None else (cast("float", outcome.value),)
        if isinstance(given, Mapping):
            if set(given) != set(self.names):
                return self._wrong(outcome, f"values named {', '.join(map(repr, given))}")
            given = tuple(given[name] for name in self.names)
        if len(given) != len(self):
            shown = ", ".join(f"{value:g}" for value in given[:8]) + ", ..." * (len(given) > 8)
            return self._wrong(outcome, f"{'one value' if len(given) == 1 else f'{len(given)} values'} ({shown})")
        return replace(outcome, value=None if self.several else given[0], values=given if self.several else None), ""

    def _wrong(self, outcome: Outcome, given: str) -> tuple[Outcome, str]:
        if self.several:
            named = ", ".join(f"{name}: {one}" for name, one in zip(self.names, self.directions, strict=True))
            wanted = f"the study has {len(self)} objectives ({named}); return {{'values': [...]}} with one each"
        else:
            wanted = (
                "the study has one objective; for several use a Study with direction=('minimize', 'maximize'), one direction "
                "each, and search='nsga2' or 'parego'"
            )
        reason = f"the objective returned {given}, and {wanted}"
        return replace(outcome, state="failed", value=None, values=None, reason=reason), reason

    def require_one(self, wanted: str) -> None:
        """Raise ArgumentError if there are several objectives, for which there is no best trial."""
        if self.several:
            raise ArgumentError(
                f"{wanted} needs one objective, but the study has {len(self)}, so that no trial is the best; "
                "use pareto(), which returns the trials that no other trial dominates"
            )

    def require_several(self, wanted: str) -> None:
        """Raise ArgumentError if there is only one objective."""
        if not self.several:
            raise ArgumentError(
                f"{wanted} needs several objectives, but the study has one; use recommend(), or a study with several directions"
            )


def _checked(direction: Any, name: str) -> Direction:
    if not isinstance(direction, str) or direction not in ("minimize", "maximize"):
        raise ArgumentError(f"{name}={direction!r} is unknown; use 'minimize' or 'maximize'")
    return cast("Direction", direction)


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
            outcome = replace(outcome, state=state, value=None, values=None, reason=self._reason, nothing=False)
        attributes = {**outcome.attributes, **as_attributes(self.attributes)}
        return replace(outcome, attributes=attributes, steps=tuple(self.steps))


def takes_trial(objective: Callable[..., Any]) -> bool:
    """Return whether a callable requires two positional arguments: the parameters and the trial.

    Examples
    --------
    >>> (
    ...     takes_trial(lambda params, trial: 0.0),
    ...     takes_trial(lambda params, scale=1.0: 0.0),
    ...     takes_trial(abs),
    ... )
    (True, False, False)
    """
    return len(_required(objective)) == 2


def check_takes_params(objective: Callable[..., Any], names: Sequence[str]) -> None:
    """Raise ArgumentError if a callable has an argument for each parameter, in place of one for all.

    Examples
    --------
    >>> check_takes_params(lambda C: C["C"], ["C", "gamma"])
    """
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


def with_trial(trial: Trial, told_before: Sequence[Trial] = ()) -> dict[str, Any]:
    """Return the data sent to workers for an objective that takes the trial.

    The data include the trials told before this trial was asked for, if any of them reported steps. So a worker can decide by
    itself whether to end the trial early, and every worker decides in the same way.
    """
    finished = [t for t in told_before if t.state in ("ok", "stopped")] if any(t.steps for t in told_before) else []
    sent = tuple(replace(t, attributes={}, lost=(), note="") for t in finished)
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
