"""The coordinates of a study's cube as axes of pictures: names, and values at their ticks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.reports.page import short
from spotsvm.space.description import scale_of
from spotsvm.space.parameter import Parameter
from spotsvm.space.space import Space

Floats = NDArray[np.float64]
_MOST_TICKS = 7
_FEW_LEVELS = 10
_LONGEST = 14


@dataclass(frozen=True)
class StudyAxis:
    """A coordinate of the cube.

    Attributes
    ----------
    column : int
        Its place in a point.
    name : str
        The parameter, with what it depends on where others of that name exist.
    labels : tuple of str
        The values of a coordinate that has few, as text; empty where it is continuous or has many.
    parameter : Parameter or None
        The parameter; None where the coordinate is the choice of a dictionary.
    levels : int
        Number of values, 0 where continuous.
    ordered : bool
        Whether the values have an order.
    branches : frozenset of int
        The dictionaries in which it exists.
    """

    column: int
    name: str
    labels: tuple[str, ...]
    parameter: Parameter | None
    levels: int
    ordered: bool
    branches: frozenset[int]

    def grid(self, size: int) -> Floats:
        """Give places from one end to the other: all values of a discrete coordinate, up to `size` of a continuous one."""
        if self.levels == 0:
            return np.linspace(0.0, 1.0, size)
        chosen = np.unique(np.linspace(0, self.levels - 1, min(size, self.levels)).round().astype(int))
        return np.asarray((chosen + 0.5) / self.levels)

    def value_at(self, place: float) -> str:
        """Give the value at a place of the coordinate, as text."""
        if self.parameter is None:
            return self.labels[min(int(place * self.levels), self.levels - 1)]
        return shown(self.parameter.decode(place), 3)

    def ticks(self) -> tuple[list[float], list[str]]:
        """Give where ticks are due, and what to write there."""
        if self.parameter is None or (self.levels and not self.ordered):
            places = [(k + 0.5) / self.levels for k in range(self.levels)]
            return places, [cut(text) for text in self.labels]
        if self.levels:
            step = 1 if self.levels <= _FEW_LEVELS else -(-(self.levels - 1) // (_MOST_TICKS - 1))
            grid = [(k + 0.5) / self.levels for k in range(0, self.levels, step)]
            return grid, [cut(shown(self.parameter.decode(u))) for u in grid]
        values = _round_values(self.parameter)
        return [self.parameter.encode(value) for value in values], [short(value) for value in values]


def study_axes(space: Space) -> list[StudyAxis]:
    """Give the axes of a space, one a coordinate.

    Parameters
    ----------
    space : Space
        The space.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> axes = study_axes(Space([{"kernel": ["rbf"], "gamma": loguniform(1e-3, 1e3)}, {"kernel": ["linear"]}]))
    >>> [(axis.name, axis.ticks()[1]) for axis in axes]
    [('kernel', ['rbf', 'linear']), ('gamma', ['0.001', '0.01', '0.1', '1', '10', '100', '1000'])]
    """
    everywhere = frozenset(range(len(space.branches)))
    chosen, choices = branch_labels(space)
    found = []
    if len(space.branches) > 1:
        found.append(StudyAxis(0, chosen, tuple(choices), None, len(choices), False, everywhere))
    names = [axis.name for axis in space.axes]
    for axis in space.axes:
        where = f" ({', '.join(choices[k] for k in sorted(axis.branches))})" if names.count(axis.name) > 1 else ""
        p = axis.parameter
        few = p.levels and not (p.levels > _MOST_TICKS and not p.categorical)
        labels = tuple(shown(p.decode((k + 0.5) / p.levels)) for k in range(p.levels)) if few else ()
        found.append(StudyAxis(len(found), axis.name + where, labels, p, p.levels, not p.categorical, axis.branches))
    return found


def branch_labels(space: Space) -> tuple[str, list[str]]:
    """Give the name of the choice between a space's dictionaries, and of each: by fixed parameters that differ, else numbers."""
    fixed = [{name: p.decode(0.5) for name, p in branch.items() if p.levels == 1} for branch in space.branches]
    common = [name for name in fixed[0] if all(name in one for one in fixed)]
    telling = [name for name in common if len({repr(one[name]) for one in fixed}) > 1]
    labels = [", ".join(shown(one[name]) for name in telling) for one in fixed]
    if not telling or len(set(labels)) < len(labels):
        return "dictionary", [f"dictionary {k + 1}" for k in range(len(fixed))]
    return ", ".join(telling), labels


def shown(value: Any, digits: int = 4) -> str:
    """Give a value in short.

    Examples
    --------
    >>> shown(0.12345), shown("rbf"), shown(None), shown(True)
    ('0.1235', 'rbf', 'None', 'True')
    """
    return short(value, digits) if isinstance(value, float) else str(value)


def shown_params(params: Any) -> str:
    """Give a configuration in one line."""
    return ", ".join(f"{name} = {shown(value)}" for name, value in params.items())


def cut(text: str, longest: int = _LONGEST) -> str:
    """Give a text's beginning where it is long."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def cut_name(name: str, longest: int) -> str:
    """Give a parameter's name without its middle where it is long: those of a pipeline differ at their end.

    Examples
    --------
    >>> cut_name("preprocessing__scaler__with_mean", 20)
    'prepro…er__with_mean'
    """
    if len(name) <= longest:
        return name
    head = (longest - 1) // 3
    return f"{name[:head]}…{name[len(name) - (longest - 1 - head) :]}"


def _round_values(parameter: Parameter) -> list[float]:
    """Give round values between the bounds of a continuous parameter, evenly spread on its own scale."""
    from matplotlib.ticker import LogLocator, MaxNLocator  # on use: it takes half a second

    low, high = parameter.decode(0.0), parameter.decode(1.0)
    if scale_of(parameter) == "log" and high / low >= 10:
        whole = LogLocator(numticks=_MOST_TICKS + 1).tick_values(low, high)
        if np.sum((whole >= low) & (whole <= high)) < 3:
            whole = LogLocator(subs=(1.0, 2.0, 5.0), numticks=_MOST_TICKS + 1).tick_values(low, high)
    else:
        try:
            whole = MaxNLocator(_MOST_TICKS - 2, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
        except ValueError:  # beside 1e308 there is nothing round
            whole = [low, high]
    # 0.1 + 0.2 is not what anybody wants to read
    return [value for value in (float(f"{v:.12g}") for v in whole) if low <= value <= high]
