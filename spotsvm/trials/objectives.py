"""The objectives of a study: their names and directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.text import printable_line
from spotsvm.errors import ArgumentError, StorageError
from spotsvm.trials.trial import EXTRAPOLATED, Trial

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

    `names` are "0", "1" and so on by default; empty for a single objective without a name.
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
