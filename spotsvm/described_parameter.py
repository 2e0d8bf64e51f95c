"""A parameter made from its description in a record, where nothing has to be executed, and the comparison of two descriptions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.errors import SpaceError
from spotsvm.parameter import (
    MOST_VALUES,
    QUANTILES,
    ChoiceParameter,
    ContinuousParameter,
    IntegerParameter,
    Parameter,
    are_quantiles,
)
from spotsvm.printable import printable_line

Floats = NDArray[np.float64]
Scale = Literal["linear", "log", "quantiles"]
_SAME = 1e-6
#: of integers, and how many of them there may be, so that they can be counted in 64 bits
_LARGEST = 2**62


@dataclass(frozen=True)
class QuantileLaw:
    """A distribution known by seven of its quantiles; between two of them the value, or its logarithm, is linear.

    Attributes
    ----------
    quantiles : tuple of float
        Those at 0, 0.1, 0.25, 0.5, 0.75, 0.9 and 1.
    scale : {"linear", "log", "quantiles"}
        Whether they are those of a uniform or of a log-uniform distribution, or of another one.
    """

    quantiles: tuple[float, ...]
    scale: Scale

    @property
    def _knots(self) -> Floats:
        knots = np.array(self.quantiles)
        return np.log(knots) if self.scale == "log" else knots

    def ppf(self, q: ArrayLike) -> Floats:
        """Give the quantile."""
        q = np.asarray(q, dtype=float)
        between = np.interp(q, QUANTILES, self._knots)
        values = np.exp(between) if self.scale == "log" else between
        for share, known in zip(QUANTILES, self.quantiles, strict=True):  # to the last bit
            values = np.where(q == share, known, values)
        return np.asarray(values)

    def cdf(self, x: ArrayLike) -> Floats:
        """Give the probability up to x."""
        x = np.asarray(x, dtype=float)
        return np.asarray(np.interp(np.log(x) if self.scale == "log" else x, self._knots, QUANTILES))


def described_parameter(name: str, description: Any) -> Parameter:
    """Make a parameter from what its `describe` gave.

    Values of a list that JSON does not have, such as estimators, are the texts that stand for them.

    Parameters
    ----------
    name : str
        Its name.
    description : mapping
        As `Parameter.describe` gives it.

    Raises
    ------
    SpaceError
        If it describes no parameter.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from spotsvm.parameter import make_parameter
    >>> again = described_parameter("C", make_parameter("C", loguniform(1e-2, 1e2)).describe())
    >>> round(again.decode(0.3), 9) == round(10**-0.8, 9)
    True
    """
    match description:
        case {"kind": "continuous", "quantiles": [*quantiles]} if are_quantiles(quantiles):
            known = tuple(float(value) for value in quantiles)
            return ContinuousParameter(name, QuantileLaw(known, _scale(known)), known[0], known[-1])
        case {"kind": "integer", "low": int(low), "high": int(high)} if (
            -_LARGEST <= low <= high <= _LARGEST and high - low < _LARGEST
        ):
            return IntegerParameter(name, low, high)
        case {"kind": "choice", "values": [_, *_] as values} if len(values) <= MOST_VALUES:
            contents = description.get("contents", [None] * len(values))
            if isinstance(contents, list) and len(contents) == len(values) and all(map(_is_hash, contents)):
                return ChoiceParameter(name, tuple(values), tuple(contents))
    raise SpaceError(printable_line(f"{name}={description!r}", 300) + " is not the description of a parameter")


def scale_of(parameter: Parameter) -> Scale | Literal["integers", "values"]:
    """Say how the values of a parameter lie on the unit interval.

    Examples
    --------
    >>> from scipy.stats import norm, truncnorm, uniform
    >>> from spotsvm.parameter import make_parameter
    >>> scale_of(make_parameter("x", uniform(-1, 2))), scale_of(make_parameter("x", truncnorm(-2, 2)))
    ('linear', 'quantiles')
    """
    match parameter.describe():
        case {"kind": "continuous", "quantiles": quantiles}:
            return _scale(tuple(quantiles))
        case {"kind": "integer"}:
            return "integers"
    return "values"


def octaves(parameter: Parameter) -> float | None:
    """Return the width of a log-uniform parameter in binary logarithms, None for any other.

    Examples
    --------
    >>> from scipy.stats import loguniform, uniform
    >>> from spotsvm.parameter import make_parameter
    >>> octaves(make_parameter("C", loguniform(2**-12, 2**12))), octaves(make_parameter("x", uniform(0, 24)))
    (24.0, None)
    """
    if not isinstance(parameter, ContinuousParameter) or scale_of(parameter) != "log":
        return None
    return math.log2(parameter.high) - math.log2(parameter.low)


def same_parameter(recorded: Any, given: Any) -> bool:
    """Return whether two descriptions are of the same parameter, or of the same space.

    Values that JSON does not have are compared by their contents. Where the recorded description lacks them, as in records of
    schema versions before 4, the texts decide.

    Examples
    --------
    >>> from spotsvm.parameter import make_parameter
    >>> one, other = (make_parameter("size", sizes).describe() for sizes in ([(1, 2)], [(1, 3)]))
    >>> same_parameter(one, one), same_parameter(one, other)
    (True, False)
    >>> same_parameter({"kind": "choice", "values": ["(1, 2)"]}, one)
    True
    """
    one, other = _identities(recorded, given)
    return json.dumps(one) == json.dumps(other)


def _is_hash(content: Any) -> bool:
    return content is None or (isinstance(content, str) and len(content) == 16)


def _scale(quantiles: tuple[float, ...]) -> Scale:
    """Tell of which distribution these are the quantiles."""
    if _even(np.array(quantiles)):
        return "linear"
    return "log" if quantiles[0] > 0 and _even(np.log(quantiles)) else "quantiles"


def _even(knots: Floats) -> bool:
    width = knots[-1] - knots[0]
    return bool(np.all(np.abs(knots - (knots[0] + width * np.array(QUANTILES))) <= _SAME * width))


def _identities(recorded: Any, given: Any) -> tuple[Any, Any]:
    """Return what identifies two descriptions of spaces or parameters."""
    match recorded, given:
        case [*before], [*now] if len(before) == len(now):
            pairs = [_identities(one, other) for one, other in zip(before, now, strict=True)]
            return [one for one, _ in pairs], [other for _, other in pairs]
        case {"values": [*_], "contents": [*_]}, {"values": [*_], "contents": [*_]}:
            return _without_texts(recorded), _without_texts(given)
        case {"kind": "choice"}, {"kind": "choice", "contents": [*_]} if "contents" not in recorded:
            return recorded, {key: value for key, value in given.items() if key != "contents"}
        case {}, {} if list(recorded) == list(given):
            found = {name: _identities(one, given[name]) for name, one in recorded.items()}
            return {name: one for name, (one, _) in found.items()}, {name: other for name, (_, other) in found.items()}
    return recorded, given


def _without_texts(choice: Mapping[str, Any]) -> dict[str, Any]:
    """Return a description in which contents stand in the place of texts."""
    values = [value for value, content in zip_longest(choice["values"], choice["contents"]) if content is None]
    return {**choice, "values": values}
