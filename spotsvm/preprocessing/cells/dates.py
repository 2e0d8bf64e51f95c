"""Dates written as text: the format of a column, and its time stamps."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.tseries.api import guess_datetime_format

from spotsvm.preprocessing.cells.numbers import NEARLY_ALL, Counts

#: number of texts from which the format of dates is guessed
_SEEN = 30
_DIGIT, _ISO, _ISO_DAY = re.compile(r"\d"), re.compile(r"\d{4}-\d\d"), re.compile(r"\s*\d{4}-\d\d-\d\d")
#: dates whose formats pandas does not guess, and their formats; {0} is the mark between day, month and year
_UNGUESSED = (
    (re.compile(r"\d{1,2}([./-])\d{1,2}\1\d\d"), ("%d{0}%m{0}%y", "%m{0}%d{0}%y", "%y{0}%m{0}%d")),
    (re.compile(r"\d{1,2}([/-])\d{4}"), ("%m{0}%Y",)),
    (re.compile(r"[^\W\d]+([ -])\d{4}"), ("%b{0}%Y", "%B{0}%Y")),
    (re.compile(r"[^\W\d]{3}(-)\d\d"), ("%b{0}%y",)),
    (re.compile(r"\d{4}([ -])[^\W\d]+"), ("%Y{0}%b", "%Y{0}%B")),
)

#: the format of quarters, such as 2024Q1, 2024-Q1 and Q1/2024: the first day of the quarter
_QUARTERS = "quarters"
_QUARTER = re.compile(r"\s*(?:(?P<year>\d{4})[ -]?[Qq](?P<q>[1-4])|[Qq](?P<first>[1-4])[ /-]?(?P<of>\d{4}))\s*")


def date_format(texts: Sequence[str], counts: Counts | None = None, share: float = NEARLY_ALL) -> str | None:
    """Return the format that fits most texts, None if fewer than `share` of the cells are dates in this format or as 2024-01-31.

    pandas guesses the formats from some texts. Of formats that fit as many, days come before months between dots, after them
    elsewhere.
    """
    some = [texts[k] for k in np.unique(np.linspace(0, len(texts) - 1, _SEEN).astype(int))] if len(texts) else []
    if sum(_DIGIT.search(text) is not None for text in some) <= len(some) // 2:
        return None
    weights = np.ones(len(texts)) if counts is None else np.asarray(counts, dtype=float)
    best, most = None, 0.0
    for written in _guessed(some):
        fits = float(weights[read_dates(texts, written).notna().to_numpy()].sum())
        if fits > most:
            best, most = written, fits
        if fits == weights.sum():
            break
    return best if most >= share * weights.sum() else None


def _guessed(some: Sequence[str]) -> list[str]:
    """Return formats that may be those of some texts."""
    days_first = any("." in text for text in some)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a month is not before a day
        guesses = [guess_datetime_format(text.strip(), dayfirst=days) for days in (days_first, not days_first) for text in some]
    # "May" is also a whole name of a month
    formats = [other for guess in guesses if guess for other in (guess.replace("%B", "%b"), guess)]
    for text in some:
        formats += [
            w.format(found[1]) for like, written in _UNGUESSED if (found := like.fullmatch(text.strip())) for w in written
        ]
    if any(map(_QUARTER.fullmatch, some)):
        formats.append(_QUARTERS)
    if any(map(_ISO.match, some)):
        formats.append("ISO8601")  # days with and without times
    return list(dict.fromkeys(map(str, formats)))


def read_texts(texts: Sequence[Any], written: str) -> pd.Series:
    """Return time stamps without a zone, NaT for texts that are no dates in a format."""
    if written == _QUARTERS:
        texts, written = list(map(_month_of_quarter, texts)), "%Y-%m"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        dates = pd.to_datetime(
            pd.Series(list(texts), dtype=object), format=written, errors="coerce", utc="%z" in written or written == "ISO8601"
        )
    return pd.Series(dates.dt.tz_localize(None))


def _month_of_quarter(text: Any) -> str | None:
    found = _QUARTER.fullmatch(text) if isinstance(text, str) else None
    return found and f"{found['year'] or found['of']}-{3 * int(found['q'] or found['first']) - 2}"


def read_dates(texts: Sequence[Any], written: str) -> pd.Series:
    """Return time stamps of texts in a format, or else as in 2024-01-31."""
    read = read_texts(texts, written)
    return read.where(read.notna(), read_iso(texts)) if read.isna().any() else read


def read_iso(texts: Sequence[Any]) -> pd.Series:
    """Return time stamps, NaT for texts that do not begin with year, month and day as in 2024-01-31."""
    return read_texts([text if isinstance(text, str) and _ISO_DAY.match(text) else None for text in texts], "ISO8601")


def swapped(texts: Sequence[str], written: str) -> str | None:
    """Return the format with day and month swapped, if it fits all texts as well and gives other dates."""
    other = written.translate({ord("d"): "m", ord("m"): "d"})
    if other == written or "%d" not in written or "%m" not in written:
        return None
    dates, others = read_texts(texts, written), read_texts(texts, other)
    return other if not others.isna().any() and not others.equals(dates) else None


def stamps(values: NDArray[Any] | pd.Series) -> pd.Series:
    """Return dates of any type as time stamps without a zone, NaT for gaps."""
    dates = pd.Series(values)
    if isinstance(dates.dtype, pd.PeriodDtype):
        return pd.Series(dates.dt.to_timestamp())
    if not pd.api.types.is_datetime64_any_dtype(dates.dtype):
        zoned = any(getattr(cell, "tzinfo", None) is not None for cell in dates)
        dates = pd.to_datetime(dates, errors="coerce", utc=zoned)
    if isinstance(dates.dtype, pd.DatetimeTZDtype):
        dates = dates.dt.tz_convert("UTC").dt.tz_localize(None)
    return dates
