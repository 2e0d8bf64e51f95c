"""The configurations at which a study starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SpaceError, StudyMismatchError
from spotsvm.space import Space
from spotsvm.trial import Trial

Floats = NDArray[np.float64]
#: the origin of a trial that a study was told to start at
START = "start"


def start_points(start: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None, space: Space) -> list[Floats]:
    """Give the points of the cube at which to start, in the order given; of equal ones the first.

    Parameters
    ----------
    start : dict, sequence of dict, or None
        Values by name, of all parameters of the space or of one of its dictionaries.
    space : Space
        The search space.

    Raises
    ------
    SpaceError
        If it is no such thing, or the space does not hold a configuration: it names the parameter, the value and the range.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> start_points([{"x": 1.0}, {"x": 3.0}, {"x": 1.0}], Space({"x": uniform(0, 4)}))
    [array([0.25]), array([0.75])]
    """
    if start is None:
        return []
    given = [start] if isinstance(start, Mapping) else start
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise SpaceError(f"start={start!r} is not a configuration; use a dictionary of parameters, or a list of such")
    points: dict[bytes, Floats] = {}
    for k, params in enumerate(given):
        name = "start" if isinstance(start, Mapping) else f"start[{k}]"
        if not isinstance(params, Mapping):
            raise SpaceError(f"{name}={params!r} is not a dictionary of parameters")
        try:
            point = space.encode(params)
        except SpaceError as error:
            raise SpaceError(f"{name} is not in the space: {error}") from error
        points.setdefault(point.tobytes(), point)
    return list(points.values())


def starts_left(points: Sequence[Floats], trials: Sequence[Trial], path: Path | None) -> list[Floats]:
    """Give the starts that no trial of a record has been at.

    Without any start given, those of the record count. Given ones may be more or fewer than those that the record's study
    was made with, as long as all at which it has started are among them: the rest of a list may be changed, what was
    evaluated cannot.

    Raises
    ------
    StudyMismatchError
        If the record has started at a configuration that is not among them.
    """
    given = {point.tobytes() for point in points}
    for trial in trials if points else ():
        if trial.origin == START and np.array(trial.point).tobytes() not in given:
            raise StudyMismatchError(
                f"{path} holds a study with another start: it began with {dict(trial.params)!r}, which is not among the "
                "start given. Add it, leave start out, or use another file"
            )
    been = {np.array(trial.point).tobytes() for trial in trials}
    return [point for point in points if point.tobytes() not in been]
