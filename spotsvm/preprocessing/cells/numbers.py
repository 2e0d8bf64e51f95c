"""Numbers written as text: the notation that a column has throughout, and the numbers in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.preprocessing.cells.words import clean

Floats = NDArray[np.float64]
Counts = NDArray[np.intp]

#: a column has a notation if at least this share of its cells has it
NEARLY_ALL = 0.95
#: bounds such as "<0.01" count as the number behind the sign if they are a part of the cells, but at most this share
_MOST_BOUNDS = 0.5
_CODES = "USD EUR GBP JPY CHF CNY RMB INR RUB KRW BRL AUD CAD NZD SEK NOK DKK PLN CZK HUF RON TRY ZAR MXN SGD HKD THB ILS AED SAR"
_CURRENCY = rf"(?:US|NZ|HK|A|C|R|S)?\$|[€£¥₹₽₩₺₪฿₫₴₦₱¢]|(?:{'|'.join(_CODES.split())})(?![A-Za-z])|[Kk]r\.?|Fr\.?|zł|Kč|Rs\.?"
#: letters and signs; a digit only as a power, as in m2, m^3 and s-1
_UNIT = r"(?:[^\W\d_]|[%‰°$€£¥₹₽₩₺₪฿₫₴₦₱¢])(?:[^\W\d_]|[%‰°²³⁻¹/·*^. $€-]|(?<=[^\W\d_]|\^|-)\d(?!\d)){0,19}"
_BOUNDS = "<>≤≥≦≧~≈"
_CELL = re.compile(
    rf"(?P<bound>[{_BOUNDS}]=?)? ?(?P<opened>\()?(?P<sign>[+-])? ?(?P<before>{_CURRENCY})? ?(?P<inner>[+-])?"
    rf"(?P<body>[.,]?\d(?:[\d.,'_ ]*\d)?[.,]?)(?P<power>[eE][+-]?\d+)? ?(?P<after>{_UNIT})?(?P<closed>\))?(?P<behind>-)?"
)
#: decimal mark and mark between thousands; of marks that fit as many cells the first is taken
_MARKS = ((".", ""), (".", ","), (",", ""), (",", "."), (".", "'"), (",", "'"), (".", " "), (",", " "), (".", "_"))
_CLOCK = re.compile(
    r"(?P<sign>[+-])?(?:(?P<days>\d+) days? ?[+]?)?(?P<h>\d{1,4}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d(?:\.\d+)?))?"
    r" ?(?P<half>[ap]\.?m\.?)?",
    re.IGNORECASE,
)
_PERIOD = re.compile(r"[+-]?P(?=[\dT])(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?|(?:[+-]?\d+ days?)")


@dataclass(frozen=True)
class Notation:
    """How numbers are written: marks, a unit, bounds ("<0.01"), negative numbers of accountants ("(5)", "5-"), or times."""

    decimal: str = "."
    thousands: str = ""
    before: str = ""
    after: str = ""
    bounds: bool = False
    accounting: bool = False
    clock: bool = False

    @property
    def unit(self) -> str:
        """The unit that is left out."""
        return self.before or self.after

    def shown_by(self, text: str) -> int:
        """Return how many of the differences to numbers of Python a text shows."""
        shown = [self.decimal != "." and self.decimal in text, self.thousands and self.thousands in clean(text)]
        shown += [self.bounds and text.strip()[0] in _BOUNDS, self.accounting and text.strip()[-1] in ")-"]
        return sum(map(bool, shown))

    @property
    def has_marks_alone(self) -> bool:
        """Whether only marks tell these numbers from those of Python."""
        return self == Notation(self.decimal, self.thousands)

    @property
    def is_plain(self) -> bool:
        """Whether the numbers are written as Python writes them."""
        return self == PLAIN

    def read(self, texts: Sequence[str]) -> Floats:
        """Return the numbers of texts, NaN for those that are none in this notation."""
        if self.is_plain:
            return plain_numbers(texts)
        if self.clock:
            return clock_numbers(texts)
        values = np.full(len(texts), np.nan)
        for k, text in enumerate(texts):
            found = _CELL.fullmatch(clean(text))
            if found is not None and _unit(found) == (self.before, self.after) and self._allows(found):
                values[k] = self._value(found)
        return values

    def _allows(self, found: re.Match[str]) -> bool:
        return (self.bounds or not found["bound"]) and (self.accounting or not _is_accounting(found))

    def _value(self, found: re.Match[str]) -> float:
        if not _fits(found, self.decimal, self.thousands) or bool(found["opened"]) != bool(found["closed"]):
            return np.nan
        body = found["body"].replace(self.thousands, "") if self.thousands else found["body"]
        value = float(body.replace(self.decimal, ".") + (found["power"] or ""))
        negative = "-" in (found["sign"], found["inner"], found["behind"]) or bool(found["opened"])
        return -value if negative else value


PLAIN = Notation()


def plain_numbers(texts: Sequence[str]) -> Floats:
    """Return the numbers of texts that are written as Python writes numbers, NaN for others."""
    return pd.to_numeric(pd.Series(list(map(clean, texts)), dtype=object), errors="coerce").to_numpy(dtype=float)


def clock_numbers(texts: Sequence[str]) -> Floats:
    """Return the seconds of times and durations such as 12:30, 1 days 02:00:00 and PT1H; NaN for other texts."""
    values = np.full(len(texts), np.nan)
    for k, text in enumerate(map(clean, texts)):
        if _PERIOD.fullmatch(text):
            values[k] = pd.to_timedelta(text, errors="coerce") / pd.Timedelta(seconds=1)
        elif found := _CLOCK.fullmatch(text):
            values[k] = _seconds(found)
    return values


def _seconds(found: re.Match[str]) -> float:
    hours, days = int(found["h"]), int(found["days"] or 0)
    if half := found["half"]:
        if not 1 <= hours <= 12:
            return np.nan
        hours = hours % 12 + (12 if half[0] in "pP" else 0)
    of_day = 3600.0 * hours + 60.0 * int(found["m"]) + float(found["s"] or 0)
    if found["days"]:  # as pandas writes it, the sign is of the days
        return 86400.0 * (-days if found["sign"] == "-" else days) + of_day
    return -of_day if found["sign"] == "-" else of_day


@dataclass(frozen=True)
class Found:
    """The notation of most numbers among texts, with the numbers, NaN for texts that are none in it.

    `units` has each unit and its number of cells, the most frequent first; "" is none.
    """

    notation: Notation
    values: Floats
    units: tuple[tuple[str, int], ...]


def find_notation(texts: Sequence[str], counts: Counts, n_others: int = 0, decimal: str | None = None) -> Found | None:
    """Return the notation that most numbers among texts have; None if there is no number among them.

    `counts` is how often each text occurs, `n_others` the number of further cells that are numbers and not texts. Where several
    notations fit as many cells, that with the decimal mark `decimal` is taken.
    """
    clock = clock_numbers(texts)
    if _share(clock, counts) >= NEARLY_ALL:
        return Found(Notation(clock=True), clock, ())
    parts = [_CELL.fullmatch(clean(text)) for text in texts]
    weights: Counter[tuple[str, str]] = Counter({("", ""): n_others} if n_others else {})
    for found, n in zip(parts, counts, strict=True):
        if found is not None:
            weights[_unit(found)] += int(n)
    if not weights:
        return None
    total = sum(weights.values())
    (before, after), _ = weights.most_common(1)[0]
    bodies = [(k, found) for k, found in enumerate(parts) if found is not None and _unit(found) == (before, after)]
    best, most = _MARKS[0], -1
    for pair in sorted(_MARKS, key=lambda pair: decimal is not None and pair[0] != decimal):
        n = sum(int(counts[k]) for k, found in bodies if _fits(found, *pair))
        if n > most:
            best, most = pair, n
    bounded = sum(int(counts[k]) for k, found in bodies if found["bound"])
    # in "<=50K" and ">50K" the sign is what differs
    bounds = (1.0 - NEARLY_ALL) * total < bounded <= _MOST_BOUNDS * total
    accounting = any(_is_accounting(found) for _, found in bodies)
    notation = Notation(*best, before, after, bounds, accounting)
    units = tuple((unit[0] or unit[1], n) for unit, n in weights.most_common())
    return Found(notation, notation.read(texts), units)


def is_ambiguous(texts: Sequence[str]) -> bool:
    """Return whether numbers with a comma, such as 1,234, may have it between thousands or as decimal mark."""
    some = [found for text in texts if (found := _CELL.fullmatch(clean(text))) and "," in found["body"]]
    return bool(some) and all(_fits(found, *pair) for found in some for pair in ((".", ","), (",", "")))


def are_codes(texts: Sequence[str], counts: Counts, n_others: int = 0) -> bool:
    """Return whether texts of digits are codes, such as post codes: some begin with a zero, and nearly all have equal lengths.

    `n_others` is the number of further cells that are numbers and not texts.
    """
    cleaned = [clean(text) for text in texts]
    if not cleaned or not all(text.isdigit() for text in cleaned):
        return False
    zero = np.array([len(text) > 1 and text[0] == "0" for text in cleaned])
    if not zero.any():
        return False
    n = counts.sum() + n_others
    lengths = np.bincount([len(text) for text in cleaned], weights=counts)
    return bool(lengths.max() >= NEARLY_ALL * n or counts[zero].sum() > (1.0 - NEARLY_ALL) * n)


def _share(values: Floats, counts: Counts) -> float:
    return float(counts[~np.isnan(values)].sum() / max(counts.sum(), 1))


def _is_accounting(found: re.Match[str]) -> bool:
    return bool(found["opened"] or found["closed"] or found["behind"])


def _unit(found: re.Match[str]) -> tuple[str, str]:
    return found["before"] or "", (found["after"] or "").strip().rstrip(".")


def _fits(found: re.Match[str], decimal: str, thousands: str) -> bool:
    """Return whether a number may have these marks; before a power of ten there are no thousands."""
    if found["power"] and thousands and thousands in found["body"]:
        return False
    return _pattern(decimal, thousands).fullmatch(found["body"]) is not None


def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    key = decimal + thousands
    if key not in _PATTERNS:
        mark, point = re.escape(thousands), re.escape(decimal)
        whole = rf"(?:[1-9]\d{{0,2}}(?:{mark}\d{{3}})+|\d+)" if thousands else r"\d+"
        if thousands == ",":  # Indian groups, such as 12,34,567
            whole = rf"(?:{whole}|[1-9]\d?(?:,\d\d)+,\d{{3}})"
        _PATTERNS[key] = re.compile(rf"(?:{whole})?(?:{point}\d*)?")
    return _PATTERNS[key]


_PATTERNS: dict[str, re.Pattern[str]] = {}
