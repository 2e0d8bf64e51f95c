"""The parameters of a study as axes of pictures: names, ticks, and values as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spotsvm.common.text import short, short_names, value_text
from spotsvm.reports.html.cells import cut_text
from spotsvm.reports.model import Floats
from spotsvm.space.description import scale_of
from spotsvm.space.parameter import Parameter
from spotsvm.space.space import Space

_MOST_TICKS = 7
_FEW_LEVELS = 10
_LONGEST = 14


@dataclass(frozen=True)
class StudyAxis:
    """A coordinate of the space, or the choice between its dictionaries."""

    column: int
    name: str  # with its dictionaries, if other dictionaries have a parameter of the same name
    labels: tuple[str, ...]  # texts of the values, if there are few
    parameter: Parameter | None  # None for the choice between dictionaries
    levels: int  # 0 if continuous
    ordered: bool
    branches: frozenset[int]  # the dictionaries in which it exists
    short: str  # the shortest ending of the name that no other parameter has
    full: str  # the name in the space

    def grid(self, size: int) -> Floats:
        """Return up to `size` positions from end to end; for a discrete coordinate the middles of its values."""
        if self.levels == 0:
            return np.linspace(0.0, 1.0, size)
        chosen = np.unique(np.linspace(0, self.levels - 1, min(size, self.levels)).round().astype(int))
        return np.asarray((chosen + 0.5) / self.levels)

    def value_at(self, place: float) -> str:
        """Return the value at a position of the coordinate, as text."""
        if self.parameter is None:
            return self.labels[min(int(place * self.levels), self.levels - 1)]
        return value_text(self.parameter.decode(place), 3)

    def ticks(self) -> tuple[list[float], list[str]]:
        """Return the positions of the ticks, and their labels."""
        if self.parameter is None or (self.levels and not self.ordered):
            places = [(k + 0.5) / self.levels for k in range(self.levels)]
            return places, [cut_text(text, _LONGEST) for text in self.labels]
        if self.levels:
            step = 1 if self.levels <= _FEW_LEVELS else -(-(self.levels - 1) // (_MOST_TICKS - 1))
            grid = [(k + 0.5) / self.levels for k in range(0, self.levels, step)]
            return grid, [cut_text(value_text(self.parameter.decode(u)), _LONGEST) for u in grid]
        values = _round_values(self.parameter)
        return [self.parameter.encode(value) for value in values], [short(value) for value in values]


def study_axes(space: Space) -> list[StudyAxis]:
    """Return the axes of a space, one per coordinate."""
    everywhere = frozenset(range(len(space.branches)))
    chosen, choices = branch_labels(space)
    found = []
    names = [axis.name for axis in space.axes]
    short = short_names(space.names)
    if len(space.branches) > 1:
        called = ", ".join(short.get(name, name) for name in chosen.split(", "))
        found.append(StudyAxis(0, chosen, tuple(choices), None, len(choices), False, everywhere, called, chosen))
    for axis in space.axes:
        where = f" ({', '.join(choices[k] for k in sorted(axis.branches))})" if names.count(axis.name) > 1 else ""
        p = axis.parameter
        few = p.levels and not (p.levels > _MOST_TICKS and not p.categorical)
        labels = tuple(value_text(p.decode((k + 0.5) / p.levels)) for k in range(p.levels)) if few else ()
        name, called = axis.name + where, short[axis.name] + where
        found.append(StudyAxis(len(found), name, labels, p, p.levels, not p.categorical, axis.branches, called, axis.name))
    return found


def branch_labels(space: Space) -> tuple[str, list[str]]:
    """Return a name for the choice between the dictionaries of a space, and names for them, by fixed parameters that differ."""
    fixed = [{name: p.decode(0.5) for name, p in branch.items() if p.levels == 1} for branch in space.branches]
    common = [name for name in fixed[0] if all(name in values for values in fixed)]
    telling = [name for name in common if len({repr(values[name]) for values in fixed}) > 1]
    labels = [", ".join(value_text(values[name]) for name in telling) for values in fixed]
    if not telling or len(set(labels)) < len(labels):
        return "dictionary", [f"dictionary {k + 1}" for k in range(len(fixed))]
    return ", ".join(telling), labels


def cut_name(name: str, longest: int) -> str:
    """Shorten a long parameter name in its middle, as names in a pipeline differ at the end."""
    if len(name) <= longest:
        return name
    head = (longest - 1) // 3
    return f"{name[:head]}…{name[len(name) - (longest - 1 - head) :]}"


def _round_values(parameter: Parameter) -> list[float]:
    """Return round values between the bounds of a continuous parameter, evenly spaced on its scale."""
    from matplotlib.ticker import LogLocator, MaxNLocator  # on use: it takes half a second

    low, high = parameter.decode(0.0), parameter.decode(1.0)
    if scale_of(parameter) == "log" and high / low >= 10:
        whole: Any = LogLocator(numticks=_MOST_TICKS + 1).tick_values(low, high)
        if np.sum((whole >= low) & (whole <= high)) < 3:
            whole = LogLocator(subs=(1.0, 2.0, 5.0), numticks=_MOST_TICKS + 1).tick_values(low, high)
    else:
        try:
            whole = MaxNLocator(_MOST_TICKS - 2, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
        except ValueError:  # near 1e308 there are no round values
            whole = [low, high]
    # removes rounding errors such as that of 0.1 + 0.2
    values = [value for value in (float(f"{v:.12g}") for v in whole) if low <= value <= high]
    return [v for v in values if v == int(v)] if parameter.whole else values
