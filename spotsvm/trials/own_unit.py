"""A study as its reports show it: errors, which scorers return as negative numbers, are positive and minimised."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from spotsvm.common.code import literal
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.recommendation import Recommendation
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import Trial

_SCORING, _OPTIMISED = "context: scoring", "context: metric to optimise"
_NEGATED = re.compile(r"make_scorer\((\w+), greater_is_better=False")
#: longer texts are not names of scorers
_LONGEST = 10_000
_OF_A_FOLD = re.compile(r"(split\d+_(?:test|train)_)(.+)")


@dataclass(frozen=True)
class OwnUnits:
    """The units of the scores of a study; `errors` are the names under which trials have fold scores that are negated errors.

    `units` have the scorer's name, else the objective's; `turned` marks negated errors; `objectives` are as shown: an error under
    its own name, to be minimised.
    """

    units: tuple[ScoreUnit, ...]
    turned: tuple[bool, ...]
    objectives: Objectives
    errors: frozenset[str]

    @classmethod
    def of(cls, about: Mapping[str, Any], objectives: Objectives) -> OwnUnits:
        """Return the units, given the description of a study and its objectives."""
        scorers = _scorers(about.get(_SCORING))
        first = next(iter(scorers), "score")
        optimised = str(about.get(_OPTIMISED))
        keys = objectives.names if objectives.several else (optimised if optimised in scorers else first,)
        units = tuple(ScoreUnit(scorers.get(key, key)) for key in keys)
        turned = tuple(unit.is_error and way == "maximize" for unit, way in zip(units, objectives.directions, strict=True))
        shown = objectives
        if any(turned):
            names = objectives.names or keys
            shown = Objectives(
                tuple(unit.title if turn else name for unit, turn, name in zip(units, turned, names, strict=True)),
                tuple("minimize" if turn else way for turn, way in zip(turned, objectives.directions, strict=True)),
            )
        errors = [key for key, turn in zip(keys, turned, strict=True) if turn]
        if "maximize" in objectives.directions:  # the search that made the study takes scorers
            errors += [key for key, scorer in scorers.items() if ScoreUnit(scorer).is_error]
        return cls(units, turned, shown, frozenset(errors))

    @property
    def error(self) -> ScoreUnit | None:
        """The unit of the only objective if its values are negated errors; else None."""
        return self.units[0] if self.turned == (True,) else None

    def values(self, values: tuple[float, ...]) -> tuple[float, ...]:
        """Return the values of a trial as they are shown."""
        pairs = zip(self.units, self.turned, values, strict=True)
        return tuple(unit.value(value) if turn else value for unit, turn, value in pairs)

    def trial(self, trial: Trial) -> Trial:
        """Return a trial with its values and fold scores as they are shown."""
        if not self.errors:
            return trial
        values = None if trial.values is None else self.values(trial.values)
        extra: dict[str, float] = {}
        for name, number in trial.extra.items():
            of_fold = _OF_A_FOLD.fullmatch(name)
            if of_fold and of_fold[2] in self.errors:
                extra[of_fold[1] + of_fold[2].removeprefix("neg_")] = 0.0 - number
            else:
                extra[name] = number
        return replace(trial, value=None if trial.value is None or values is None else values[0], values=values, extra=extra)


def _scorers(text: Any) -> dict[str, str]:
    """Return the name of the scorer of each metric, by the name of its fold scores, from the text that a study records."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        return {}
    if negated := _NEGATED.match(text):
        return {"score": f"neg_{negated[1]}"}
    scoring = literal(text)
    if isinstance(scoring, str):
        return {"score": scoring}
    if isinstance(scoring, Mapping):
        return {str(name): str(scorer) for name, scorer in scoring.items()}
    return {str(name): str(name) for name in scoring} if isinstance(scoring, list | tuple | set) else {}


class StudyInOwnUnit(StudyResults):
    """The results of a study of negated errors with the errors in their own unit; `source` is the study itself."""

    def __init__(self, source: StudyResults, own: OwnUnits):
        ledger = source.ledger.with_trials(map(own.trial, source.trials))
        super().__init__(ledger, source.space, own.objectives, source.noise, source.swept)
        self.source, self._own = source, own

    def recommend(self) -> Recommendation:
        """Return the recommendation of the study itself, with its values as they are shown."""
        found = self.source.recommend()
        (value,), (seen,) = self._own.values((found.value,)), self._own.values((found.best_seen_value,))
        return replace(found, value=value, best_seen_value=seen)


def in_own_unit(study: StudyResults, of: StudyResults | None = None) -> StudyResults:
    """Return a study of negated errors as a study of errors that are minimised; return any other study unchanged.

    `of` is the study to compare with, if there is one: it determines whether the values are errors.
    """
    own = OwnUnits.of((of or study).about, study.objectives)
    return StudyInOwnUnit(study, own) if own.errors else study
