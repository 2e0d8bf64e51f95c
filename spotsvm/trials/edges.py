"""Parameters of a configuration, such as the recommended one, at the end of their range, and the wider range to use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spotsvm.errors import SpaceError
from spotsvm.space.description import scale_of
from spotsvm.space.space import Space

#: largest distance from the end of a range that counts as being at the end, as a share of the range on its scale
NEAR = 0.02
#: extension of a wider range beyond the end, as a share of the range on its scale
_FURTHER = 0.5
_FARTHEST = 1e300


@dataclass(frozen=True)
class Edge:
    """A parameter whose value is at the end of its range; `wider` is longer by half beyond that end, as a space takes it."""

    name: str
    value: float
    side: Literal["lower", "upper"]
    range: tuple[float, float]
    wider: tuple[Any, ...]

    def __str__(self) -> str:
        low, high = self.range
        return (
            f"{self.name} = {self.value:.4g} is at the {self.side} end of its range, {low:.4g} to {high:.4g}; where values "
            f'beyond it are valid, search "{self.name}": {self.wider}.'
        )


def edges_of(params: Mapping[str, Any], space: Space) -> tuple[Edge, ...]:
    """Return the parameters of a configuration that are at an end of their range.

    Continuous: within 2 % of it, on its scale. Integers from 0 have no values below, and no wider range changes the sign.
    """
    for branch in space.branches:
        if set(branch) != set(params):
            continue
        try:
            places = {name: parameter.encode(params[name]) for name, parameter in branch.items()}
        except SpaceError:
            continue
        found = [_edge(name, p, params[name], places[name]) for name, p in branch.items() if p.levels != 1]
        return tuple(edge for edge in found if edge is not None)
    return ()


def _edge(name: str, parameter: Any, value: Any, place: float) -> Edge | None:
    if parameter.bounds is None:
        return None
    whole, (low, high) = parameter.whole, parameter.bounds
    sides = (value == low, value == high) if whole else (place <= NEAR, place >= 1.0 - NEAR)
    if sides[0] == sides[1] or (whole and low == 0 and sides[0]):
        return None
    log = low > 0 and (scale_of(parameter) == "log" or (scale_of(parameter) == "quantiles" and high / low >= 100.0))
    ends = np.log([low, high]) if log else np.array([low, high], dtype=float)
    further = ends + _FURTHER * (ends[1] - ends[0]) * np.array([-float(sides[0]), float(sides[1])])
    first, last = (
        float(f"{end:.3g}") for end in np.clip(np.exp(np.minimum(further, 690.0)) if log else further, -_FARTHEST, _FARTHEST)
    )
    new_low, new_high = (first if sides[0] else low), (last if sides[1] else high)
    if whole:
        new_low, new_high = int(min(np.floor(new_low), low - sides[0])), int(max(np.ceil(new_high), high + sides[1]))
    if low > 0 and sides[0]:
        new_low = max(new_low, 1 if whole and log else 0)
    if (new_low, new_high) == (low, high) or new_low > low or new_high < high:
        return None
    wider = (new_low, new_high, *(["log-uniform"] if log else []))
    return Edge(name, value, "lower" if sides[0] else "upper", (low, high), wider)
