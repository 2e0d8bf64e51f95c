"""Descriptions of parameters in records: created again without executing anything, compared, and written as code."""

from __future__ import annotations

import ast
import json
import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.common.code import value_code
from spotsvm.common.text import printable_line
from spotsvm.errors import SpaceError
from spotsvm.space.parameter import (
    CENTRAL,
    MOST_VALUES,
    QUANTILES,
    CentralLaw,
    ChoiceParameter,
    ContinuousParameter,
    IntegerParameter,
    LogIntegerParameter,
    Parameter,
    are_quantiles,
    is_number,
)
from spotsvm.surrogates.domain import LARGEST

Floats = NDArray[np.float64]
Scale = Literal["linear", "log", "quantiles"]
_SAME = 1e-6
#: bounds of integers, and how many of them there may be, so that they can be counted in 64 bits
_LARGEST = 2**62


@dataclass(frozen=True)
class QuantileLaw:
    """A distribution known by its quantiles at 0, 0.1, 0.25, 0.5, 0.75, 0.9 and 1.

    Between two of them the value is linear, or its logarithm if the scale is "log".
    """

    quantiles: tuple[float, ...]
    scale: Scale

    @property
    def _knots(self) -> Floats:
        knots = np.array(self.quantiles)
        return np.log(knots) if self.scale == "log" else knots

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantile at each probability."""
        q = np.asarray(q, dtype=float)
        between = np.interp(q, QUANTILES, self._knots)
        values = np.exp(between) if self.scale == "log" else between
        for share, known in zip(QUANTILES, self.quantiles, strict=True):  # to the last bit
            values = np.where(q == share, known, values)
        return np.asarray(values)

    def cdf(self, x: ArrayLike) -> Floats:
        """Return the probability up to x."""
        x = np.asarray(x, dtype=float)
        return np.asarray(np.interp(np.log(x) if self.scale == "log" else x, self._knots, QUANTILES))


def described_parameter(name: str, description: Any) -> Parameter:
    """Create a parameter from its description, as `Parameter.describe` returned it; SpaceError if it is invalid.

    Values of a list without a JSON type, such as estimators, are replaced by their texts.
    """
    match description:
        case {"kind": "continuous", "quantiles": [*quantiles]} if are_quantiles(quantiles):
            known = tuple(float(value) for value in quantiles)
            central = CENTRAL if description.get("central") == CENTRAL else None
            return ContinuousParameter(name, QuantileLaw(known, _scale(known)), known[0], known[-1], central=central)
        case {"kind": "integer", "low": int(low), "high": int(high), "scale": "log"} if 1 <= low < high <= LARGEST:
            return LogIntegerParameter(name, low, high)
        case {"kind": "integer", "low": int(low), "high": int(high)} if (
            -_LARGEST <= low <= high <= _LARGEST and high - low < _LARGEST
        ):
            return IntegerParameter(name, low, high)
        case {"kind": "choice", "values": [_, *_] as values} if len(values) <= MOST_VALUES:
            contents = description.get("contents", [None] * len(values))
            hashes = isinstance(contents, list) and all(c is None or (isinstance(c, str) and len(c) == 16) for c in contents)
            if hashes and len(contents) == len(values):
                return ChoiceParameter(name, tuple(values), tuple(contents))
    raise SpaceError(printable_line(f"{name}={description!r}", 300) + " is not the description of a parameter")


def scale_of(parameter: Parameter) -> Scale | Literal["integers", "values"]:
    """Return the scale on which the values of a parameter are spread over the unit interval."""
    match parameter.describe():
        case {"kind": "continuous", "quantiles": quantiles}:
            return _scale(tuple(quantiles))
        case {"kind": "integer", "scale": "log"}:
            return "log"
        case {"kind": "integer"}:
            return "integers"
    return "values"


def octaves(parameter: Parameter) -> float | None:
    """Return the width of a log-uniform parameter in binary logarithms, None for any other."""
    if parameter.bounds is None or parameter.whole or scale_of(parameter) != "log":
        return None
    low, high = parameter.bounds
    return math.log2(high) - math.log2(low)


def same_parameter(recorded: Any, given: Any) -> bool:
    """Return whether two descriptions are of the same parameter, or of the same space.

    Values without a JSON type are compared by their contents. If the recorded description lacks them, the texts decide.
    """
    one, other = _identities(recorded, given)
    return json.dumps(one) == json.dumps(other)


def _scale(quantiles: tuple[float, ...]) -> Scale:
    """Return the scale of a distribution with these quantiles."""
    if _even(np.array(quantiles)):
        return "linear"
    return "log" if quantiles[0] > 0 and _even(np.log(quantiles)) else "quantiles"


def _even(knots: Floats) -> bool:
    width = knots[-1] - knots[0]
    return bool(np.all(np.abs(knots - (knots[0] + width * np.array(QUANTILES))) <= _SAME * width))


def _identities(recorded: Any, given: Any) -> tuple[Any, Any]:
    """Return the parts of two descriptions of spaces or parameters that identify them."""
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
    """Return a description without the texts of values whose contents are known."""
    values = [value for value, content in zip_longest(choice["values"], choice["contents"]) if content is None]
    return {**choice, "values": values}


#: longest code that is parsed; code nested too deeply for Python's parser is longer
_LONGEST = 100_000


def parameter_code(parameter: Parameter) -> str:
    """Return the code that creates a parameter; empty if there is none, as for a list of estimators."""
    match parameter:
        case LogIntegerParameter(low=low, high=high):
            return f"({low}, {high}, 'log-uniform')"
        case IntegerParameter(low=low, high=high):
            return f"randint({low}, {high + 1})"
        case ChoiceParameter(values=values):
            return value_code(list(values))
        case ContinuousParameter(distribution=law, low=low, high=high):
            if code := _call(law.whole if isinstance(law, CentralLaw) else law):
                return code
            if parameter.central is not None:
                return ""
            scale = scale_of(parameter)
            if scale == "linear":
                return f"uniform({low!r}, {high - low!r})"
            return f"loguniform({low!r}, {high!r})" if scale == "log" else ""
    return ""


def is_parameter_code(text: Any) -> bool:
    """Return whether a text is code as `parameter_code` writes it: a call of scipy.stats, a list or a tuple."""
    from scipy import stats  # on use: it takes a while

    if not isinstance(text, str) or len(text) > _LONGEST:
        return False
    try:
        tree = ast.parse(text, mode="eval").body
        if not isinstance(tree, ast.Call):
            return isinstance(ast.literal_eval(text), list | tuple)
        numbers_only = [ast.literal_eval(part) for part in [*tree.args, *(keyword.value for keyword in tree.keywords)]]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return False
    named = isinstance(tree.func, ast.Name) and hasattr(getattr(stats, tree.func.id, None), "ppf")
    return named and all(is_number(value) for value in numbers_only) and all(keyword.arg for keyword in tree.keywords)


def _call(law: Any) -> str:
    """Return the call of a frozen distribution; empty if it is not one of scipy.stats, or has arguments that are not numbers."""
    arguments = [*getattr(law, "args", ()), *getattr(law, "kwds", {}).values()]
    name = getattr(getattr(law, "dist", None), "name", "")
    if not name or not all(is_number(value) for value in arguments):
        return ""
    given = [_number(value) for value in law.args] + [f"{key}={_number(value)}" for key, value in law.kwds.items()]
    code = f"{name}({', '.join(given)})"
    return code if is_parameter_code(code) else ""


def _number(value: Any) -> str:
    return repr(int(value) if isinstance(value, numbers.Integral) else float(value))
