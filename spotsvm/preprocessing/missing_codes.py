"""Numbers that may be codes for missing values, such as -999: one value, frequent and far from all others. Nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.notices import Notice
from spotsvm.common.text import per_cent
from spotsvm.preprocessing.cells.findings import voice

Floats = NDArray[np.float64]

#: a value is frequent in this number of rows and this share of them
_LEAST, _SHARE = 5, 0.01
#: with fewer other values than this, the columns of a survey, the value has to look like a code
_FEW = 10
#: number of ranges of the other values by which a value is far from them, if they are many, and if they are few
_RANGES, _RANGES_OF_FEW = 1.0, 2.0
#: number of mean steps between the other values by which the only negative number is far from them
_STEPS = 3.0
#: digits of positive codes, such as 99 and 888
_CODE_DIGITS = set("789")
#: maximum number of columns with notices of their own, and of rows of the target that are named
_OWN, _NAMED = 8, 3


class Code(NamedTuple):
    """A value that may stand for missing values, its number of rows, and the range of the values that are no such codes."""

    value: float
    n_rows: int
    low: float
    high: float


def missing_codes(values: Floats) -> list[Code]:
    """Return the values that may be codes for missing values: an end or both, not 0, of few digits, in 5 rows and 1 % at least.

    Their gap to the others exceeds the others' range (10 or more differ), three mean steps (the only negative number), or twice
    the range (2 to 9 differ; negative, or of digits 7 to 9, as 99).
    """
    values = values[~np.isnan(values)]
    if len(values) < _LEAST:
        return []
    least = max(_LEAST, _SHARE * len(values))
    ends = [end for end in (float(values.min()), float(values.max())) if _is_written(end)]
    counts = {end: n for end in ends if least <= (n := int(np.count_nonzero(values == end)))}
    if not counts or sum(counts.values()) == len(values):
        return []
    different = np.unique(values)
    alone = [[end] for end in counts]
    for codes in [list(counts), *alone]:
        others = different[~np.isin(different, codes)]
        if all(_is_far(code, others) for code in codes):
            return [Code(code, counts[code], float(others[0]), float(others[-1])) for code in codes]
    return []


def _is_written(value: float) -> bool:
    """Return whether a person may have written a number as a code: whole numbers but 0, or such as 99.9."""
    return value != 0 and bool(np.isfinite(value)) and (value == round(value) or value == float(f"{value:.4g}"))


def _is_far(code: float, others: Floats) -> bool:
    """Return whether a value is far from the others, which are different and in order."""
    if len(others) < 2:  # as in a column of 0 and 1
        return False
    span = float(others[-1] - others[0])
    distance = float(others[0] - code if code < others[0] else code - others[-1])
    if len(others) < _FEW:
        digits = f"{abs(code):.6g}"
        looks_so = code < 0 or (len(digits) > 1 and set(digits) <= _CODE_DIGITS)
        return looks_so and distance > _RANGES_OF_FEW * span
    if code < 0 <= others[0]:
        return distance > _STEPS * span / (len(others) - 1)
    return distance > _RANGES * span


def column_codes(values: Floats, names: Mapping[int, str], days: Collection[int] = ()) -> list[Notice]:
    """Return a notice for each value that may be a code for missing values; after many columns, the others share one.

    `names` has the names of the columns to look at, by their positions in values of shape (n, p). Those in `days` are dates, as
    days since 1970.
    """
    if not len(values):
        return []
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    found: list[tuple[str, list[Notice]]] = []
    for k in [k for k in names if low[k] < high[k] and not (low[k] == 0 and high[k] == 1)]:
        if _is_written(low[k]) or _is_written(high[k]):
            text = _date if k in days else _number
            codes = _date_codes(values[:, k]) if k in days else missing_codes(values[:, k])
            told = [_notice(code, f"column {names[k]!r}", names[k], len(values), voice().code, text=text) for code in codes]
            found += [(names[k], told)] if told else []
    n_own = len(found) if len(found) <= _OWN else _OWN - 1
    notices = [notice for _, told in found[:n_own] for notice in told]
    if rest := [name for name, _ in found[n_own:]]:
        more = f" and {len(rest) - _OWN} more" if len(rest) > _OWN else ""
        named = ", ".join(map(repr, rest[:_OWN]))
        notices.append(
            Notice("missing code", f"{len(rest)} further columns have such frequent values far from all others: {named}{more}")
        )
    return notices


def target_codes(y: NDArray[Any], name: Callable[[int], str], then: Callable[[Code], str] = lambda _: "") -> list[Notice]:
    """Return a notice for each value of a target, of shape (n,), that may be a code for missing values.

    Numbers that are classes count too. `name` maps the position of a row to its name, and `then` returns the end of the sentence.
    """
    if y.dtype.kind not in "iuf":
        return []
    notices = []
    for code in missing_codes(y.astype(float)):
        rows = np.flatnonzero(y == code.value)
        more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
        named = f": {', '.join(name(int(k)) for k in rows[:_NAMED])}{more}"
        notice = _notice(code, "the target", None, len(y), voice().code_of_target, named)
        notices.append(replace(notice, sentence=notice.sentence + then(code)))
    return notices


def _date_codes(days: Floats) -> list[Code]:
    """Return the dates that may be codes, such as 1900-01-01; their numbers have no sign that tells anything."""
    origin = float(np.floor(np.nanmin(days))) - 1.0
    return [
        Code(code.value + origin, code.n_rows, code.low + origin, code.high + origin) for code in missing_codes(days - origin)
    ]


def _number(value: float, digits: int = 6) -> str:
    return f"{value:.{digits}g}"


def _date(days: float, digits: int = 0) -> str:
    return str(np.datetime64(int(np.floor(days)), "D"))


def _notice(code: Code, what: str, column: str | None, n: int, remedy: str, named: str = "", text: Any = _number) -> Notice:
    share, value = code.n_rows / n, text(code.value, digits=10)
    sentence = (
        f"{what} is {value} in {code.n_rows} rows ({per_cent(share)}{named}), far from its other values, "
        f"which are from {text(code.low)} to {text(code.high)}: {remedy.format(value=value)}"
    )
    return Notice("missing code", sentence, column, share)
