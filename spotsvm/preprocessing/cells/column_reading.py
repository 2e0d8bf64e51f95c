"""How the cells of a column are read, as the training rows decided: new rows may have equal values in another form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.common.text import shown_value
from spotsvm.errors import DataError
from spotsvm.preprocessing.cells.dates import date_format, read_dates, read_iso, read_texts
from spotsvm.preprocessing.cells.findings import Code, Finding
from spotsvm.preprocessing.cells.levels import Levels
from spotsvm.preprocessing.cells.numbers import (
    NEARLY_ALL,
    PLAIN,
    Floats,
    Notation,
    find_notation,
    is_ambiguous,
    plain_numbers,
)
from spotsvm.preprocessing.cells.values import Texts, Values, values_of
from spotsvm.preprocessing.cells.words import TRUTH, WRITTEN_NAN, folded, form, is_missing

#: it is an error if so many rows have a value and none can be read
_ENOUGH = 10
#: number of different cells that a finding keeps
_KEPT = 20

Read = Any  # floats, a series of time stamps, or texts
Mask = NDArray[np.bool_]
Holds = Literal["numbers", "dates", "texts"]


class Given(NamedTuple):
    """What the user said about the cells: further words for a missing value, in the form of `form`, and the decimal mark."""

    missing: tuple[str, ...] = ()
    decimal: str | None = None

    @property
    def missing_numbers(self) -> Floats:
        """The numbers that mean a missing value."""
        numbers = plain_numbers(self.missing)
        return np.asarray(numbers[~np.isnan(numbers)])

    def without(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array of numbers with NaN for those that mean a missing value."""
        numbers = self.missing_numbers
        return np.where(np.isin(array, numbers), np.nan, array) if len(numbers) else array

    def means_missing(self, values: Values) -> Mask:
        """Return which cells the user named as missing."""
        if not self.missing:
            return np.zeros(len(values.gaps), dtype=bool)
        named = np.isin(values.numbers, self.missing_numbers)
        if values.kind != "texts":
            return named
        return values.of_texts(np.array([form(text) in self.missing for text in values.texts], dtype=bool), named)


NOTHING_GIVEN = Given()


@dataclass(frozen=True)
class ColumnReading:
    """How the cells of a column are read: numbers (in texts by `notation`), dates (by the format `written`) or texts.

    With `truth` all numbers are 0 or 1, and words such as True and no are numbers too. `levels` are the texts of a category, else
    empty. With `wordy` no text of the training rows is a number.
    """

    name: str
    holds: Holds
    notation: Notation = PLAIN
    seconds: bool = False
    truth: bool = False
    written: str = ""
    zoned: bool = False
    levels: tuple[str, ...] = ()
    has_gaps: bool = False
    wordy: bool = False
    used: bool = True

    @property
    def takes_plain(self) -> bool:
        """Whether a column of numbers needs no reading."""
        return self.holds == "numbers" and not self.notation.unit and not self.seconds

    def read(self, column: pd.Series, given: Given) -> tuple[Read, list[Finding]]:
        """Return the values of later rows, and what was found: floats, time stamps or texts, with NaN or NaT for gaps.

        DataError is raised if ten or more rows have a value, and none of them can be read.
        """
        values = values_of(column, self.name)
        if self.holds == "texts":
            read, findings = self._texts(values, given)
        else:
            read, findings = self._numbers(values, given) if self.holds == "numbers" else self._dates(values, given)
        return read, findings if self.used else []

    def _numbers(self, values: Values, given: Given) -> tuple[Read, list[Finding]]:
        n = len(values.texts)
        numbers, findings = values.numbers, []
        if values.kind == "durations" and not self.seconds:
            numbers = np.full(len(values.gaps), np.nan)
        unit = "s" if self.seconds else self.notation.unit
        without_unit = values.n_numbers if unit and values.kind != "durations" else 0
        if n:
            some = values.meaningful(given.missing)
            found = self.notation.read(some.texts)
            plain = plain_numbers(some.texts)
            without_unit += int(some.counts[np.isnan(found) & ~np.isnan(plain)].sum()) if unit else 0
            found = np.where(np.isnan(found), plain, found)
            if self.truth:
                found = np.where(np.isnan(found), [TRUTH.get(form(text), np.nan) for text in some.texts], found)
            found, other = self._in_another_notation(some, found, given)
            if other is not None:
                at = some.spread(other.used, n, False)
                findings.append(about_texts("other notation", self.name, values, at, what="number", notation=other.notation))
            numbers = values.of_texts(some.spread(found, n, np.nan), numbers)
        numbers = np.where(given.means_missing(values), np.nan, numbers)
        if without_unit:
            findings.append(Finding("unit", self.name, without_unit, len(numbers), about={"unit": unit}))
        return numbers, findings + self._unread(values, np.isnan(numbers), given, "number")

    def _in_another_notation(self, some: Texts, found: Floats, given: Given) -> tuple[Floats, _Other | None]:
        """Return numbers, also of texts whose notation is unlike that of the training rows, unless it is in doubt."""
        left = np.flatnonzero(np.isnan(found))
        texts, counts = [some.texts[k] for k in left], some.counts[left]
        other = find_notation(texts, counts, decimal=given.decimal) if texts else None
        doubtful = other is not None and (
            other.notation.unit != self.notation.unit
            or other.notation.clock != self.seconds
            or other.notation.bounds
            or (given.decimal is None and is_ambiguous(texts))
        )
        if other is None or doubtful or counts[~np.isnan(other.values)].sum() < NEARLY_ALL * counts.sum():
            return found, None
        found = found.copy()
        found[left] = other.values
        used = np.zeros(len(found), dtype=bool)
        used[left] = ~np.isnan(other.values)
        return found, _Other(other.notation, used)

    def _dates(self, values: Values, given: Given) -> tuple[Read, list[Finding]]:
        if values.dates is not None:
            n = int((~values.gaps).sum())
            of_other = n > 0 and values.zoned != self.zoned and not self.written
            findings = [Finding("zone", self.name, n, len(values.gaps), about={"zoned": values.zoned})] if of_other else []
            return values.dates, findings
        if values.kind != "texts":
            none = pd.Series(np.full(len(values.gaps), np.datetime64("NaT", "s")))
            return none, self._unread(values, none.isna().to_numpy(), given, "date")
        findings = []
        some = values.meaningful(given.missing)
        read = read_dates(some.texts, self.written) if self.written else read_iso(some.texts)
        if some.counts[read.notna().to_numpy()].sum() < NEARLY_ALL * some.n:
            # one format for all rows: two formats may read some of them alike, with day and month swapped
            other = date_format(some.texts, some.counts)
            if other is not None:
                read = read_texts(some.texts, other)
                at = some.spread(read.notna().to_numpy(), len(values.texts), False)
                findings.append(about_texts("other notation", self.name, values, at, what="date", written=other))
        dates = spread_dates(values, some, read)
        return dates, findings + self._unread(values, dates.isna().to_numpy(), given, "date")

    def _unread(self, values: Values, gaps: Mask, given: Given, what: str) -> list[Finding]:
        """Return a finding of the cells that count as gaps; DataError if ten or more have a value, and all count as gaps."""
        if not self.used or not (gaps & ~values.gaps).any():
            return []
        has_value = ~values.gaps & ~given.means_missing(values)
        if values.kind == "texts":
            is_word = np.array([is_missing(text) for text in values.texts], dtype=bool)
            has_value &= ~values.of_texts(is_word, False)
        if has_value.sum() >= _ENOUGH and gaps[has_value].all():
            first = values.as_texts()[int(np.argmax(has_value))]
            raise DataError(
                f"column {self.name!r}: none of its {int(has_value.sum())} values can be read as a {what}, as those of the "
                f"training rows; the first is {shown_value(first, 40)}; write them as there, or leave the cells empty"
            )
        return unread(self.name, values, gaps & ~values.gaps & ~given.means_missing(values), what)

    def _texts(self, values: Values, given: Given) -> tuple[Read, list[Finding]]:
        texts = texts_of(values, given)
        present = np.asarray(pd.notna(texts))
        of_other_type = self.wordy and values.kind != "texts" and int(present.sum()) >= _ENOUGH and self.used
        if not self.levels:
            if of_other_type:
                raise DataError(self._other_type(values, texts))
            return texts, []
        known = Levels(self.levels, self.has_gaps)
        codes, different = pd.factorize(texts)
        level = np.array([known.match(text) for text in different] + [known.gap], dtype=object)
        is_new = np.array(
            [found is None and not is_missing(text) for found, text in zip(level[:-1], different, strict=True)] + [False]
        )
        level[:-1][is_new[:-1]] = different[is_new[:-1]]
        level[level == None] = np.nan  # noqa: E711  words for a missing value
        new = is_new[codes]
        if of_other_type and new[present].all():
            raise DataError(self._other_type(values, texts))
        findings = []
        if new.any():
            findings = [Finding("unknown level", self.name, int(new.sum()), len(new), counted(texts[new]), int(np.argmax(new)))]
        return level[codes], findings

    def _other_type(self, values: Values, texts: NDArray[np.object_]) -> str:
        first = texts[int(np.argmax(pd.notna(texts)))]
        like = f" such as {shown_value(self.levels[0], 40)}" if self.levels else ""
        return (
            f"column {self.name!r} has {values.kind}, the first {first}, where the training rows have texts{like}; write them as "
            "in the training rows, or leave the cells empty"
        )


class _Other(NamedTuple):
    """A notation unlike that of the training rows, and the texts that have it."""

    notation: Notation
    used: Mask


def texts_of(values: Values, given: Given) -> NDArray[np.object_]:
    """Return the cells as texts; empty texts and those that the user named are gaps, which are NaN."""
    texts = values.as_texts()
    texts[given.means_missing(values)] = np.nan
    if values.kind == "texts":
        texts[values.of_texts(np.array([not text.strip() for text in values.texts], dtype=bool), False)] = np.nan
    return texts


def spread_dates(values: Values, some: Texts, read: pd.Series) -> pd.Series:
    """Return the dates of some texts as the dates of all cells."""
    place = some.spread(np.arange(len(some.at)), len(values.texts), -1)
    each = pd.concat([read, pd.Series([pd.NaT], dtype=read.dtype)], ignore_index=True)
    at = np.full(len(values.codes), -1)
    at[values.codes >= 0] = place[values.codes[values.codes >= 0]]
    return each.iloc[at].reset_index(drop=True)


def unread(name: str, values: Values, odd: Mask, what: str) -> list[Finding]:
    """Return a finding about cells that are no numbers or dates, if there are any; NaN as text is a missing value."""
    if odd.any() and values.kind == "texts":
        odd = odd & ~values.of_texts(np.array([folded(text) in WRITTEN_NAN for text in values.texts], dtype=bool), False)
    if not odd.any():
        return []
    return [
        Finding("unread", name, int(odd.sum()), len(odd), counted(values.as_texts()[odd]), int(np.argmax(odd)), {"what": what})
    ]


def about_texts(code: Code, name: str, values: Values, which: Mask, **about: Any) -> Finding:
    """Return a finding about some of the texts."""
    at = np.flatnonzero(which)
    most = at[np.argsort(-values.counts[at], kind="stable")][:_KEPT]
    cells = [(values.texts[k], int(values.counts[k])) for k in most]
    return Finding(code, name, int(values.counts[which].sum()), len(values.gaps), cells, about=about)


def counted(texts: Iterable[Any]) -> list[tuple[str, int]]:
    """Return different texts, the most frequent first, and how often each occurs."""
    counts = pd.Series(list(texts), dtype=object).value_counts().head(_KEPT)
    return [(str(text), int(n)) for text, n in counts.items()]
