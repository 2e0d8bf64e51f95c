"""A swept parameter: each suggestion is scored with a sweep of its values, and the search sees the other parameters alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError, SpaceError
from spotsvm.space.parameter import Parameter
from spotsvm.space.space import Space
from spotsvm.trials.events import Row
from spotsvm.trials.outcome import Outcome
from spotsvm.trials.trial import START, Trial, holds_bounds

Floats = NDArray[np.float64]
#: key in `extra` of the last value in a sweep: the number of larger values that were skipped, as they would be no better
SPARED = "spared"
#: weights of the excess of the neighbours, and of the best five, in the response that the search models
_NEIGHBOURS, _BEST, _N_BEST = 0.25, 0.05, 5


@dataclass(frozen=True)
class SweptParameter:
    """A parameter that is swept, with one range or list of values in all dictionaries of the space.

    `searched` is the space that the search sees. ArgumentError if there is no such parameter, or no other one.
    """

    space: Space
    name: str
    searched: Space = field(init=False)
    _at: int = field(init=False)
    #: the coordinates of values of earlier sweeps: a quantile is slow, and sweeps often have the same values
    _coordinates: dict[float, float] = field(init=False, default_factory=dict, repr=False, compare=False)
    _grids: dict[int, list[float]] = field(init=False, default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        axes = [(k, axis) for k, axis in enumerate(self.space.axes) if axis.name == self.name]
        what = f"sweep={self.name!r}"
        if not axes:
            raise ArgumentError(f"{what} is not a parameter with a range; the space has {', '.join(self.space.names)}")
        (k, axis), *others = axes
        if others or len(axis.branches) < len(self.space.branches):
            raise ArgumentError(f"{what} needs the same range in all dictionaries of the space")
        object.__setattr__(self, "searched", self.space.without(self.name))
        if not self.searched.axes and len(self.space.branches) == 1:
            raise ArgumentError(f"{what} leaves nothing to search: no other parameter has two or more values")
        object.__setattr__(self, "_at", k + int(len(self.space.branches) > 1))

    @cached_property
    def _parameter(self) -> Parameter:
        return self.space.axes[self._at - int(len(self.space.branches) > 1)].parameter

    @cached_property
    def listed(self) -> tuple[Any, ...]:
        """The values of a parameter that is a list, all of which every sweep has; empty for a range."""
        return self._parameter.listed

    @property
    def ordered(self) -> bool:
        """Whether adjacent values in a sweep are neighbours: true for a range, and for a list that rises or falls."""
        return not self._parameter.categorical

    def values(self, n: int) -> list[float]:
        """Return `n` values from end to end of the range, evenly spaced on its scale; fewer if the range has fewer integers."""
        if n not in self._grids:
            self._grids[n] = list(dict.fromkeys(self._parameter.decode(u) for u in np.linspace(0.0, 1.0, n).tolist()))
        return list(self._grids[n])

    def value(self, key: float) -> Any:
        """Return the value of the parameter for a key in a sweep: the key itself, or the value at this index of the list."""
        return self.listed[int(key)] if self.listed else key

    def key(self, value: Any) -> float:
        """Return the key of a value in a sweep: the value itself, or its index in the list."""
        return int(self._parameter.encode(value) * len(self.listed)) if self.listed else value

    def coordinate(self, key: float) -> float:
        """Return the coordinate of the value with this key; SpaceError if the parameter has no such value."""
        if (n := len(self.listed)) == 0:
            if (known := self._coordinates.get(key)) is None:
                known = self._coordinates[key] = self._parameter.encode(key)
            return known
        if key not in range(n):
            raise SpaceError(f"{self.name}: {shown_value(key)} is not an index in its list of {n} values, counted from 0")
        return (int(key) + 0.5) / n

    def searched_point(self, point: ArrayLike) -> Floats:
        """Return a point of the whole cube as the search sees it."""
        return np.delete(np.asarray(point, dtype=float), self._at)

    def whole_point(self, point: ArrayLike, u: float = 0.5) -> Floats:
        """Return a point of the search as a point of the whole cube, with a coordinate `u` for the swept parameter."""
        return np.insert(np.asarray(point, dtype=float), self._at, u)

    def asked_params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters without the swept one."""
        return {name: value for name, value in params.items() if name != self.name}

    def _ordered(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters in the order of the space."""
        return {name: params[name] for name in self.space.names if name in params}

    def known_params(self, decoded: Mapping[str, Any], recorded: Mapping[str, Any]) -> dict[str, Any]:
        """Return decoded parameters without the swept one if the recorded ones lack it."""
        return dict(decoded) if self.name in recorded else self.asked_params(decoded)

    def rows(self, trial: Trial, sweep: Sequence[tuple[float, Outcome]], number: int, sign: float) -> tuple[Row, ...]:
        """Return a row for each value in the sweep of a running trial, the best first; the others are numbered from `number`.

        Values that satisfy the bounds come first; of equal ones that with the best neighbours. A start keeps its own value unless
        it failed: a search's first trial is where it starts. `sign` is 1 if smaller is better.
        """
        if not sweep:
            return ()
        points = np.tile(np.asarray(trial.point, dtype=float), (len(sweep), 1))
        points[:, self._at] = [self.coordinate(key) for key, _ in sweep]
        snapped = self.space.domain.snap(points)
        order = np.argsort(snapped[:, self._at], kind="stable").tolist()
        ordered = [sweep[k] for k in order]
        losses = np.array([np.nan if one.value is None else sign * one.value for _, one in ordered])
        held = np.array([holds_bounds(one) for _, one in ordered])
        if np.isfinite(losses[held]).any():
            losses[~held] = np.nan
        best = int(np.lexsort((self._beside(losses), losses))[0])  # nan comes last
        if trial.origin == START and self.name in trial.params:
            own = self.key(trial.params[self.name])
            best = next((k for k, (key, one) in enumerate(ordered) if key == own and one.state == "ok"), best)
        places = [best, *(k for k in range(len(ordered)) if k != best)]
        numbers = [trial.number, *range(number, number + len(places) - 1)]
        return tuple(
            Row(
                n,
                self._ordered({**trial.params, self.name: self.value(ordered[k][0])}),
                tuple(snapped[order[k]].tolist()),
                ordered[k][1],
            )
            for n, k in zip(numbers, places, strict=True)
        )

    def response(self, sweep: Sequence[Trial], sign: float) -> float:
        """Return the response that the search is told for a suggestion, smaller being better (:eq:`sweep-response`).

        The best value plus 0.25 times the mean excess of its neighbours (none in a list without order) plus 0.05 times that of
        the best five: broad optima win. Skipped values count as the last scored; nan if all failed.
        """
        ordered = sorted(sweep, key=lambda t: t.point[self._at])
        losses = np.array([np.nan if t.value is None else sign * t.value for t in ordered])
        spared = np.repeat(losses[-1:], int(ordered[-1].extra.get(SPARED, 0.0)))
        done = np.sort(np.concatenate([losses[np.isfinite(losses)], spared[np.isfinite(spared)]]))
        if not len(done):
            return float("nan")
        around = self._beside(losses)
        beside = float(np.min(around[losses == done[0]]))
        best = float(done[0])
        return best + _NEIGHBOURS * (beside - best) + _BEST * float(np.mean(done[:_N_BEST]) - best)

    def _beside(self, losses: Floats) -> Floats:
        """Return the mean of the neighbours of each value in a sweep; the value itself if there is no order."""
        return _neighbours(losses) if self.ordered else losses


def _neighbours(losses: Floats) -> Floats:
    """Return the mean of both neighbours of each value in a sweep; a failed or missing neighbour counts as the value itself."""
    padded = np.concatenate([[np.nan], losses, [np.nan]])
    both = np.stack([padded[:-2], padded[2:]])
    known = np.isfinite(both)
    return np.asarray(np.where(known, both, losses).mean(axis=0))


def described_sweep(about: Mapping[str, Any], space: Space) -> SweptParameter | None:
    """Return the swept parameter that the description of a study names, if any; ArgumentError if the space does not allow it."""
    name = about.get("sweep")
    return None if name is None else SweptParameter(space, name)
