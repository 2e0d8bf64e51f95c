"""What was found about a study beside its trials: JSON by name, and the entries that the library itself reads as attributes."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeVar, get_args, get_type_hints

Kind = TypeVar("Kind")
#: names of findings; `Findings` reads those that decide anything
STOP, TIMEOUT, VERDICT, TABLE, NOTICES, ROWS = "stop", "timeout", "verdict", "table", "notices", "rows fitted on"
OVERSEARCHING, JUDGEMENT, REPEAT, APPLIED = "oversearching", "judgement", "repeat", "applied to other sets"


@dataclass(frozen=True)
class Stop:
    """The decision of a stop rule, or of a callback that has ended the run; the figures are those of the rule "uncertainty"."""

    stopped: bool
    n_trials: int
    rule: str
    sentence: str
    expected_improvement: float | None = None
    uncertainty: float | None = None
    basis: str | None = None


#: the rule of a run that a callback has ended
CALLBACK = "callback"


@dataclass(frozen=True)
class TimedOut:
    """Whether a time limit has ended the run."""

    sentence: str
    timed_out: bool
    n_trials: int
    timeout: float


@dataclass(frozen=True)
class Compared:
    """The trial that a comparison with the default recommends, if it is one; and how many trials the comparison covers."""

    number: int | None = None
    of_trials: int | None = None


@dataclass(frozen=True)
class Repeat:
    """The code and the command that repeat a tuning."""

    code: str | None = None
    command: str | None = None


@dataclass(frozen=True)
class Applied:
    """The values of a search's winner on other sets of data."""

    number: int
    values: dict[str, Any]


def content_of(finding: Stop | TimedOut | Repeat | Applied) -> dict[str, Any]:
    """Return a finding as JSON."""
    return {name: value for name, value in asdict(finding).items() if value is not None}


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Mapping[str, dict[str, Any]]):
    """The findings of a study: a mapping from names to JSON, of which each access returns a copy.

    Those that decide anything are attributes; they are None if there are none, or if something else has their name.
    """

    content: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def noted(self, name: str, finding: Mapping[str, Any]) -> Findings:
        """Return the findings with a further one, in place of an earlier one of that name."""
        return Findings({**self.content, name: dict(finding)})

    @property
    def stop(self) -> Stop | None:
        """Whether a stop rule or a callback has ended the run, and why."""
        return self._read(STOP, Stop)

    @property
    def timeout(self) -> TimedOut | None:
        """Whether the time limit has ended the run."""
        return self._read(TIMEOUT, TimedOut)

    @property
    def ended_early(self) -> bool:
        """Whether a stop rule, a callback or the time limit has ended the run."""
        return (self.stop is not None and self.stop.stopped) or (self.timeout is not None and self.timeout.timed_out)

    @property
    def repeat(self) -> Repeat | None:
        """The code and the command that repeat a tuning."""
        return self._read(REPEAT, Repeat)

    @property
    def applied(self) -> Applied | None:
        """The values of the winner on other sets of data."""
        return self._read(APPLIED, Applied)

    @property
    def notices(self) -> list[str]:
        """The sentences of the warnings to read before a score is trusted."""
        pairs = self.content.get(NOTICES, {}).get("notices")
        pairs = [pair for pair in pairs if isinstance(pair, list | tuple) and len(pair) == 2] if isinstance(pairs, list) else []
        return [str(sentence) for _, sentence in pairs]

    @property
    def table(self) -> Mapping[str, Any]:
        """What is known of the table behind a study; empty if nothing is."""
        return self.content.get(TABLE, {})

    def compared(self, n_finished: int) -> Compared | None:
        """Return the comparison with the default; None if the study has none, or has got further trials since."""
        found = self._read(VERDICT, Compared)
        # a verdict of an earlier version has no number of trials
        return None if found is None or found.of_trials not in (None, n_finished) else found

    def _read(self, name: str, kind: type[Kind]) -> Kind | None:
        found, types = self.content.get(name), get_type_hints(kind)
        if found is None:
            return None
        known = {one.name: found[one.name] for one in fields(kind) if one.name in found}  # type: ignore[arg-type]
        try:
            return kind(**known) if all(_is(value, types[key]) for key, value in known.items()) else None
        except TypeError:  # it lacks an entry
            return None

    def __getitem__(self, name: str) -> dict[str, Any]:
        return copy.deepcopy(dict(self.content[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.content))

    def __len__(self) -> int:
        return len(self.content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and dict(self) == dict(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(dict(self))


def _is(value: Any, kind: Any) -> bool:
    """Return whether a JSON value is of the type of a field."""
    kinds = (dict,) if kind == dict[str, Any] else get_args(kind) or (kind,)
    if isinstance(value, bool):
        return bool in kinds
    return isinstance(value, (*kinds, int) if float in kinds else kinds)
