"""Results from elsewhere: trials that were evaluated before, and starts from another study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import pandas as pd

from spotsvm.common.errors import ArgumentError, NoCompletedTrialError, SpaceError, StudyMismatchError
from spotsvm.common.text import shown_value
from spotsvm.space.space import Space
from spotsvm.study.ask_tell import AskTellStudy, in_turn
from spotsvm.study.recorded import RecordedStudy
from spotsvm.study.workers.interrupts import interrupts_held
from spotsvm.trials.constraints import Constraints
from spotsvm.trials.from_table import trials_of_table
from spotsvm.trials.profile import Profile, checked_path, path_of, suggested
from spotsvm.trials.recommendation import CONFIRM, holds_bounds, summarise_failures, why_none
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import GIVEN, Outcome, Trial, as_float, checked_seconds, outcome_of

#: configurations of another study to start at
N_STARTS = 5


class EarlierResults(AskTellStudy):
    """Takes trials that were evaluated elsewhere, for a class that creates or restores search and record; see `Study`."""

    if TYPE_CHECKING:

        def __init__(self, space: Any, *args: Any, **options: Any): ...
        def close(self) -> None: ...  # noqa: D102

    def add_trial(
        self, params: Mapping[str, Any], value: float | Sequence[float] | Mapping[Any, Any], *, seconds: float | None = None
    ) -> Trial:
        """Add a trial that was evaluated elsewhere: the search is told of it as of a start, and the record has it.

        It is a finished trial and counts in `n_trials` of `run` as any other: to evaluate 20 more, run to
        `study.n_finished + 20`. Added trials take the place of points of an initial design, as starts do. Its origin is "given".

        Parameters
        ----------
        params : dict
            The configuration. It must be in the space.
        value : float, sequence or mapping
            What the objective returned, as `tell` takes it. nan makes a failed trial. Where a parameter is profiled, the value at
            these parameters, or a path.
        seconds : float, optional
            Time that the evaluation took.

        Returns
        -------
        Trial
            The trial as it is now recorded.

        Raises
        ------
        SpaceError
            If the configuration is not in the space, or violates a condition.
        ArgumentError
            If the value is not a number, or there are more or fewer than objectives; if `seconds` is not a time.
        StorageError
            If the record cannot be written.
        TrialStateError
            If `run` is under way.

        See Also
        --------
        from_frame : A study with all trials of a table.

        Examples
        --------
        >>> from scipy.stats import uniform
        >>> from spotsvm import Study
        >>> study = Study({"x": uniform(0, 1)}, seed=0)
        >>> study.add_trial({"x": 0.25}, 0.5).origin
        'given'
        >>> study.run(lambda p: (p["x"] - 0.3) ** 2, n_trials=12).n_finished
        12
        """
        return self._add(*self._given(params, value, seconds))

    def _given(self, params: Mapping[str, Any], value: Any, seconds: float | None) -> tuple[Mapping[str, Any], Outcome]:
        """Return the configuration and the outcome that `add_trial` is given; ArgumentError if they are none."""
        seconds = checked_seconds(seconds)
        if not isinstance(params, Mapping):
            raise ArgumentError(f"params={shown_value(params)} is not a dictionary of parameters")
        if self.profile is None:
            return params, _checked(outcome_of(value, seconds), value)
        name, path = self.profile.name, cast("Any", value)
        if name in params and (not isinstance(value, Mapping) or "value" in value):
            self.space.encode(params)
            path = [(params[name], _checked(outcome_of(value), value))]
        outcome = _checked(path_of(path, name, seconds, self.profile.listed), path)
        return {**params, name: self.profile.value(outcome.path[0][0])}, outcome

    @in_turn
    @interrupts_held()
    def _add(self, params: Mapping[str, Any], outcome: Outcome) -> Trial:
        """Add a finished trial: checked, recorded, and only then told to the search."""
        self._guard.check("add_trial")
        point = self.space.encode(params)
        outcome, wrong = (
            self.objectives.judged(outcome)
            if self.profile is None
            else checked_path(outcome, self.objectives.judged, self.profile)
        )
        if wrong:
            raise ArgumentError(wrong.replace("the objective returned", "the trial has"))
        number = len(self._trials)
        seed = int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0])
        given = self.space.decode(point, {k: v.item() if isinstance(v, np.generic) else v for k, v in params.items()})
        self._check_allowed(given)
        if self.profile is not None:
            for key, _ in outcome.path:
                self._check_allowed({**given, self.profile.name: self.profile.value(key)})
        told, path = self._told(Trial(number, given, tuple(point.tolist()), origin=GIVEN, seed=seed), outcome, number + 1)
        with self._search.taken(point, self._trials, self._events) as state:
            if self._record is not None:
                self._record.write_added(told, len(self._events), state, path)
        self._trials += [told, *path]
        self._events += [(len(self._events), "asked", number), (len(self._events) + 1, "told", number)]
        self._search.tell(told, path)
        return told

    def _add_missing(self, rows: Sequence[tuple[Mapping[str, Any], Outcome]]) -> None:
        """Add trials from elsewhere, but for those that the record has: each of its given trials must be one of them."""
        left = list(range(len(rows)))
        for trial in (t for t in suggested(self._trials) if t.origin == GIVEN):
            same = (k for k in left if _same(trial, self.space, *rows[k], self.profile))
            if (known := next(same, None)) is None:
                raise StudyMismatchError(
                    f"the record has other given trials: trial {trial.number}, {trial.params}, is none of the {len(rows)} passed "
                    "now; pass it as well, or use another file"
                )
            left.remove(known)
        for k in left:  # all, before the first is recorded
            self._check_allowed(rows[k][0])
        for k in left:
            self._add(*rows[k])

    def _check_allowed(self, params: Mapping[str, Any]) -> None:
        if name := self.constraints.violated(params):
            raise SpaceError(f"params={dict(params)!r} violates {name}; leave the trial out, or change the constraint")

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, space: Any, *args: Any, **options: Any) -> Self:
        """Return a study that has the trials of a table already, each as by `add_trial`.

        Parameters
        ----------
        frame : DataFrame
            As `frame` returns it, or with a column per parameter and `value`: `value_` and the name or the number of each of
            several objectives. Columns `param_`, `extra_`, `attribute_`, state, reason and seconds count if they are there, other
            ones do not.
            Rows without a value are failed trials; rows that are running are left out.
        space : dict or list of dict
            As `Study` takes it.
        *args, **options
            The further arguments of `Study`. With the `path` of a record that has some of these trials, the others are added.

        Returns
        -------
        Study

        Raises
        ------
        ArgumentError
            If the table lacks the columns, or a row has a value, a time or a state that is none; the message names it.
        SpaceError
            If a row is not in the space, or violates a condition; the message names it. No trial is then added.
        StudyMismatchError
            If the record at `path` has trials that were given to it and are not in this table.

        See Also
        --------
        add_trial : One trial.

        Examples
        --------
        >>> import pandas as pd
        >>> from spotsvm import Study
        >>> table = pd.DataFrame({"x": [1, 2, 3], "value": [0.5, 0.25, 0.75]})
        >>> Study.from_frame(table, {"x": [1, 2, 3, 4]}, seed=0).best_trial.params
        {'x': 2}
        """
        study = cls(space, *args, **options)
        try:
            study._add_missing(trials_of_table(frame, study.space, study.objectives, study.profile))
        except BaseException:
            study.close()
            raise
        return study


def _checked(outcome: Outcome, value: Any) -> Outcome:
    """Return the outcome for a value; raise ArgumentError if it is none, and not nan either."""
    number = as_float(value.get("value") if isinstance(value, Mapping) else value)
    if outcome.state == "failed" and (number is None or np.isfinite(number)):
        why = outcome.reason.replace("the objective returned", "it is")
        raise ArgumentError(f"value={shown_value(value)} is not what a trial can have: {why}; nan is for one that failed")
    return outcome


def _same(trial: Trial, space: Space, params: Mapping[str, Any], outcome: Outcome, profile: Profile | None) -> bool:
    point = tuple(space.encode(params).tolist())
    if profile is not None:
        return bool(np.array_equal(profile.searched_point(point), profile.searched_point(trial.point)))
    values = outcome.values if outcome.value is None else (outcome.value,)
    return point == trial.point and values == trial.values


def is_other_study(start: Any) -> bool:
    """Return whether a start is a study, or the path of its record, rather than configurations."""
    return isinstance(start, str | PathLike | StudyResults)


def best_configurations(
    start: Any, space: Space, profiled: str | None, constraints: Constraints, most: int = N_STARTS
) -> list[dict[str, Any]]:
    """Return the best configurations of another study, or of its record, that a space can hold, the best first.

    Of several objectives they are spread over the front. What a record has as text only, such as estimators, is in no space.
    Where a parameter is profiled, only the best value on a path counts. What violates a condition, or the other study's bounds,
    is left out.

    Raises
    ------
    NoCompletedTrialError
        If no trial of it has succeeded.
    SpaceError
        If there is no such record, or the space and the conditions allow none of them.
    """
    if not isinstance(start, StudyResults) and not Path(start).exists():
        raise SpaceError(
            f"start={shown_value(start)} is not a configuration; use a dictionary of parameters, or a list of such, or a study, "
            "or the path of its record: there is no such file"
        )
    study = start if isinstance(start, StudyResults) else RecordedStudy(start)
    done = [t for t in study.trials if t.values is not None]
    who = f"start={shown_value(start)}"
    if not done:
        raise NoCompletedTrialError(f"{who} is a study without a trial that has succeeded: {summarise_failures(study.trials)}")
    if not (done := [t for t in done if holds_bounds(t)]):
        raise NoCompletedTrialError(f"{who} is a study of which {why_none(study.trials)}")
    several = study.objectives.several
    ranked: Sequence[Trial]
    if several:
        ranked = study.pareto()
    else:
        sign = float(study.objectives.signs[0])
        chosen = getattr(study, "findings", {}).get(CONFIRM, {}).get("chosen")
        ranked = sorted(done, key=lambda t: (t.number != chosen, sign * float(t.value or 0.0), t.number))
    found: dict[bytes, dict[str, Any]] = {}
    why = ""
    for t in ranked:
        try:
            point = space.encode(t.params)
        except SpaceError as error:
            why = why or f"is in the space: {error}"
            continue
        if name := constraints.violated(space.decode(point)):
            why = why or f"is allowed: {dict(t.params)!r} violates {name}"
            continue
        params = dict(t.params)
        key = repr([item for item in sorted(params.items()) if item[0] != profiled]).encode()
        found.setdefault(point.tobytes() if profiled is None else key, params)
        if len(found) == most and not several:
            break
    if not found:
        raise SpaceError(f"{who} is a study none of whose best configurations {why}")
    kept = list(found.values())
    return [kept[k] for k in np.unique(np.linspace(0, len(kept) - 1, most).round().astype(int))] if several else kept
