"""What a column holds, decided by the training rows: numbers, dates or texts, and in which notation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from spotsvm.preprocessing.cells.column_reading import (
    NOTHING_GIVEN,
    ColumnReading,
    Given,
    Mask,
    Read,
    about_texts,
    spread_dates,
    texts_of,
    unread,
)
from spotsvm.preprocessing.cells.dates import date_format, read_dates, read_texts, swapped
from spotsvm.preprocessing.cells.findings import Finding
from spotsvm.preprocessing.cells.levels import is_repeated
from spotsvm.preprocessing.cells.numbers import (
    NEARLY_ALL,
    PLAIN,
    Floats,
    Found,
    Notation,
    are_codes,
    find_notation,
    is_ambiguous,
    plain_numbers,
)
from spotsvm.preprocessing.cells.values import Texts, Values, values_of

#: a column of texts is told to have numbers or dates if they are at least this share of its cells, and ...
_MANY = 0.5
#: ... more than this number of them, or more than half of them, are different
_DIFFERENT = 20
#: numbers have different units if they have at most this number of units
_UNITS = 6

Decided = tuple[ColumnReading, Read, list[Finding]]


def decided(column: pd.Series, name: str, given: Given, forced: bool = False) -> Decided:
    """Return how a column is read, its values, and what was found; with `forced` it holds texts, whatever its cells are."""
    values = values_of(column, name)
    some = values.meaningful(given.missing)
    levels = isinstance(column.dtype, pd.CategoricalDtype) and is_repeated(column.nunique(), int(column.notna().sum()))
    if not (forced or levels):
        found = (
            _plain(values, some, name, given) or _dates(values, some, name, given) or _in_a_notation(values, some, name, given)
        )
        if found is not None:
            return found
    texts = texts_of(values, given)
    wordy = not values.n_numbers and bool(np.isnan(plain_numbers(values.texts)).all())
    reading = ColumnReading(name, "texts", has_gaps=bool(pd.isna(texts).any()), wordy=wordy)
    return reading, texts, [] if forced or levels else _in_part(values, some, name, given)


def numbers_in(column: pd.Series, given: Given = NOTHING_GIVEN) -> Floats:
    """Return the numbers of a column in the notation of most of its numbers, NaN for all other cells."""
    values = values_of(column, str(column.name))
    if values.kind != "texts":
        return values.numbers
    some = values.meaningful(given.missing)
    found, plain = find_notation(some.texts, some.counts, values.n_numbers, given.decimal), plain_numbers(some.texts)
    most = plain
    if found is not None and some.counts[~np.isnan(found.values)].sum() > some.counts[~np.isnan(plain)].sum():
        most = found.values
    return np.asarray(values.of_texts(some.spread(most, len(values.texts), np.nan), values.numbers))


def _plain(values: Values, some: Texts, name: str, given: Given) -> Decided | None:
    """Return the reading of numbers as Python writes them; None if fewer than 95 % of the cells are such numbers."""
    if values.kind != "texts":
        return None if values.kind == "dates" else _numbers(values, some, name, given, None)
    if given.decimal == ",":  # a point may then be between thousands
        return None
    plain = plain_numbers(some.texts)
    others = np.isnan(plain)
    if others.any() and _count(values, some, ~others) >= NEARLY_ALL * (values.n_numbers + some.n):
        found = find_notation(some.texts, some.counts, values.n_numbers, given.decimal)
        if found is not None and found.notation.has_marks_alone and not np.isnan(found.values).any():
            return _numbers(values, some, name, given, found)  # a few numbers are large enough for a mark between thousands
    return _numbers(values, some, name, given, Found(PLAIN, plain, ()))


def _in_a_notation(values: Values, some: Texts, name: str, given: Given) -> Decided | None:
    """Return the reading of numbers in another notation; None if fewer than 95 % of the cells are numbers in one notation."""
    found = find_notation(some.texts, some.counts, values.n_numbers, given.decimal) if _have_digits(some.texts) else None
    return None if found is None else _numbers(values, some, name, given, found)


def _numbers(values: Values, some: Texts, name: str, given: Given, found: Found | None) -> Decided | None:
    """Return the reading of a column of numbers; None if fewer than 95 % of its cells are numbers in the notation found."""
    notation = PLAIN if found is None else found.notation
    numbers = values.numbers
    if notation.unit or notation.clock:  # numbers without the unit are not in this notation
        numbers = np.full(len(numbers), np.nan)
    n_native = int((~np.isnan(numbers)).sum())
    findings: list[Finding] = []
    if found is not None:
        read = ~np.isnan(found.values)
        n_read = n_native + int(some.counts[read].sum())
        digits = [text for text, is_number in zip(some.texts, read, strict=True) if is_number]
        if n_read < NEARLY_ALL * (values.n_numbers + some.n) or not n_read or are_codes(digits, some.counts[read], n_native):
            return None
        numbers = values.of_texts(some.spread(found.values, len(values.texts), np.nan), numbers)
        if notation not in (PLAIN, Notation(given.decimal or ".")):
            doubt = given.decimal is None and not notation.clock and is_ambiguous(digits)
            at = some.spread(read, len(values.texts), False)
            finding = about_texts("notation", name, values, at, notation=notation, doubt=doubt)
            findings.append(replace(finding, cells=[(max(digits, key=notation.shown_by), 1)]))
    named = given.means_missing(values)
    numbers = np.where(named, np.nan, numbers)
    gaps = np.isnan(numbers)
    present = numbers[~gaps]
    reading = ColumnReading(
        name,
        "numbers",
        notation,
        seconds=values.kind == "durations" or notation.clock,
        truth=len(present) > 0 and bool(((present == 0.0) | (present == 1.0)).all()),
        has_gaps=bool(gaps.any()),
    )
    return reading, numbers, findings + unread(name, values, gaps & ~values.gaps & ~named, "number")


def _dates(values: Values, some: Texts, name: str, given: Given) -> Decided | None:
    """Return the reading of a column of dates; None if fewer than 95 % of its cells are dates in one format."""
    if values.dates is not None:
        return ColumnReading(name, "dates", zoned=values.zoned, has_gaps=bool(values.gaps.any())), values.dates, []
    written = None if values.n_numbers or not some.n else date_format(some.texts, some.counts)
    if written is None:
        return None
    read = read_dates(some.texts, written)
    dates = spread_dates(values, some, read)
    gaps = dates.isna().to_numpy()
    findings = unread(name, values, gaps & ~values.gaps & ~given.means_missing(values), "date")
    fits = read_texts(some.texts, written).notna().to_numpy()
    if written[:2] in ("%d", "%m") and "." not in written:
        if swapped([text for text, fit in zip(some.texts, fits, strict=True) if fit], written) is not None:
            at = some.spread(fits, len(values.texts), False)
            findings.append(about_texts("day or month", name, values, at, written=written))
    return ColumnReading(name, "dates", written=written, has_gaps=bool(gaps.any())), dates, findings


def _in_part(values: Values, some: Texts, name: str, given: Given) -> list[Finding]:
    """Return a finding if a column of texts has codes with zeros in front, different units, or numbers or dates in part."""
    n = values.n_numbers + some.n
    if not some.n or not (values.n_numbers or _have_digits(some.texts)):
        return []
    plain = plain_numbers(some.texts)
    digits = ~np.isnan(plain)
    texts_of_digits = [text for text, is_number in zip(some.texts, digits, strict=True) if is_number]
    if _count(values, some, digits) >= NEARLY_ALL * n and are_codes(texts_of_digits, some.counts[digits], values.n_numbers):
        zeros = np.array([text.strip().startswith("0") for text in some.texts], dtype=bool)
        return [about_texts("codes", name, values, some.spread(zeros, len(values.texts), False))]
    found = find_notation(some.texts, some.counts, values.n_numbers, given.decimal)
    if found is not None and 1 < len(found.units) <= _UNITS and sum(count for _, count in found.units) >= NEARLY_ALL * n:
        if found.units[0][1] < NEARLY_ALL * n:
            every = np.ones(len(some.at), dtype=bool)
            return [about_texts("units", name, values, some.spread(every, len(values.texts), False), units=found.units)]
    numbers = plain if found is None or some.counts[~np.isnan(found.values)].sum() <= some.counts[digits].sum() else found.values
    if _count(values, some, ~np.isnan(numbers)) >= _MANY * n:
        different = np.unique(np.append(numbers, values.numbers))
        return _part("number", name, values, some, ~np.isnan(numbers), int((~np.isnan(different)).sum()))
    written = None if values.n_numbers else date_format(some.texts, some.counts, _MANY)
    if written is not None:
        fits = read_dates(some.texts, written).notna().to_numpy()
        return _part("date", name, values, some, fits, int(fits.sum()))
    return []


def _part(what: str, name: str, values: Values, some: Texts, read: Mask, different: int) -> list[Finding]:
    """Return a finding about the cells that are no numbers or dates, if enough of those that are differ."""
    n = _count(values, some, read)
    if different <= _DIFFERENT and different <= _MANY * n:
        return []
    others = about_texts("mixed", name, values, some.spread(~read, len(values.texts), False), what=what)
    return [replace(others, n=n)]


def _count(values: Values, some: Texts, read: Mask) -> int:
    return values.n_numbers + int(some.counts[read].sum())


def _have_digits(texts: list[str]) -> bool:
    """Return whether a good part of some of the texts has digits."""
    some = [texts[k] for k in np.unique(np.linspace(0, len(texts) - 1, 100).astype(int))] if texts else []
    return sum(any(sign.isdigit() for sign in text) for text in some) > 0.3 * len(some)
