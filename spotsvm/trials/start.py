"""The configurations that a study evaluates first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.common.errors import SpaceError, StudyMismatchError
from spotsvm.space.parameter import is_number
from spotsvm.space.space import Space
from spotsvm.trials.profile import Profile
from spotsvm.trials.trial import START, Trial, is_given

Floats = NDArray[np.float64]
#: how far a point may be off by rounding, where a distribution gives a probability for a quantile
ROUNDING = 1e-12
#: configurations to start at, as `Study` takes them
Start = Mapping[str, Any] | Sequence[Mapping[str, Any]]


def equal_start(space: Space | Start, first: Start | None = None) -> list[dict[str, Any]]:
    """Return the configurations that all searches of a comparison evaluate first: `first`, then the centre of the space.

    The centre is the median of each distribution, and the middle of integers and of lists of values. Several dictionaries have
    one centre each, in their order.

    Examples
    --------
    >>> from scipy.stats import randint, uniform
    >>> equal_start({"x": uniform(0, 4), "degree": randint(2, 5)}, {"x": 3.0, "degree": 2})
    [{'x': 3.0, 'degree': 2}, {'x': 2.0, 'degree': 3}]
    """
    space = space if isinstance(space, Space) else Space(space)
    first = [] if first is None else first
    start_points(first, space)
    given = [first] if isinstance(first, Mapping) else first
    return [*map(dict, given), *map(space.decode, space.centres())]


def start_points(start: Start, space: Space) -> list[Floats]:
    """Return the points of the cube that `starts` gives."""
    return [point for point, _ in starts(start, space)]


def starts(start: Start, space: Space) -> list[tuple[Floats, dict[str, Any]]]:
    """Return the points of the cube and the parameters to start with, in their order and without repetitions.

    A point within rounding of the centre is set to it, so that a search that starts there recognises it. The parameters are those
    given, without the rounding of a point. SpaceError is raised for a configuration outside the space.

    Examples
    --------
    >>> starts({"C": 0.1}, Space({"C": (1e-3, 1e3, "log-uniform")}))[0][1]
    {'C': 0.1}
    """
    given = [start] if isinstance(start, Mapping) else start
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise SpaceError(f"start={start!r} is not a configuration; use a dictionary of parameters, or a list of such")
    found: dict[bytes, tuple[Floats, dict[str, Any]]] = {}
    for k, params in enumerate(given):
        name = "start" if isinstance(start, Mapping) else f"start[{k}]"
        if not isinstance(params, Mapping):
            raise SpaceError(f"{name}={params!r} is not a dictionary of parameters")
        try:
            point = space.encode(params)
        except SpaceError as error:
            raise SpaceError(f"{name} is not in the space: {error}") from error
        point = _settled([point], space)[0]
        numbers = {name: float(value) for name, value in params.items() if is_number(value)}
        found.setdefault(point.tobytes(), (point, space.decode(point, numbers)))
    return list(found.values())


def starts_left(
    points: Sequence[Floats],
    trials: Sequence[Trial],
    space: Space,
    path: Path | None,
    profile: Profile | None = None,
    *,
    of_other: bool = False,
) -> list[Floats]:
    """Return the starts that no trial of a record has evaluated.

    They may be more or fewer than the record's study was created with, as long as those that it evaluated are among them;
    StudyMismatchError if one is not. Those `of_other`, a study that may have gone on meanwhile, may differ, and none is left once
    the search has gone on from them.
    """

    def place(point: Floats) -> bytes:
        return (point if profile is None else profile.searched_point(point)).tobytes()

    given = {place(point) for point in points}
    been = [place(point) for point in _settled([trial.point for trial in trials], space)]
    if of_other:
        n_started = sum(trial.origin == START for trial in trials)
        left = [point for point in points if place(point) not in been]
        return left[: len(points) - n_started] if all(map(is_given, trials)) else []
    for trial, at in zip(trials, been, strict=True):
        if trial.origin == START and at not in given:
            raise StudyMismatchError(
                f"{path} holds a study with another start: it began with {dict(trial.params)!r}, which is not among the "
                "start given. Add it, leave start out, or use another file"
            )
    return [point for point in points if place(point) not in been]


def _settled(points: ArrayLike, space: Space) -> Floats:
    """Return points, with those within rounding of a centre moved to it; shape (n, d)."""
    settled = np.array(points, dtype=float).reshape(-1, space.domain.dimension)
    for centre in space.centres():
        off = np.abs(settled - centre)
        settled[(off <= np.where(space.domain.discrete, 0.0, ROUNDING)).all(axis=1)] = centre
    return settled
