"""Findings about the cells of columns, and the sentences that tell them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal

from spotsvm.common.notices import Notice
from spotsvm.common.text import shown_value
from spotsvm.preprocessing.cells.words import clean

Code = Literal[
    "unread",  # cells that count as gaps
    "notation",  # numbers in another notation than Python's
    "other notation",  # numbers or dates in another notation than in the training rows
    "unit",  # numbers without the unit of the training rows
    "zone",  # time stamps with a time zone, where the training rows have none, or without one
    "day or month",  # dates whose days may be months
    "mixed",  # numbers or dates, but too few of the cells for a column of them
    "units",  # numbers in different units
    "codes",  # digits with zeros in front
    "identifier",
    "constant",
    "empty",
    "unknown level",
    "capped",  # numbers that a limit replaces
]
#: maximum number of columns with a notice of their own for the same code; further columns share a notice
_OWN = 8
#: examples of cells in a sentence
_EXAMPLES = 4


@dataclass(frozen=True)
class Finding:
    """What was found in a column: a code, `n` cells of `of` rows, and the parts of its sentence.

    `cells` are different cells with their counts; `row` is the position of the first.
    """

    code: Code
    column: str
    n: int
    of: int
    cells: Sequence[tuple[str, int]] = ()
    row: int | None = None
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Voice:
    """How a notice names rows and remedies: as Python does, or the command."""

    category: str = "name it in `categorical` to use it as a category"
    missing: str = "if they mean missing values, replace them by None"
    decimal: str = "if the comma is the decimal mark, replace it by a point"
    code: str = "replace it by NaN if it stands for missing values"
    code_of_target: str = "leave these rows out if it stands for missing values"
    row: Callable[[int], str] = "row {} (counted from 0)".format


_VOICE: ContextVar[Voice] = ContextVar("voice", default=Voice())  # noqa: B039  it is frozen


@contextmanager
def speaking(voice: Voice) -> Iterator[None]:
    """Tell what is found inside in another voice."""
    token = _VOICE.set(voice)
    try:
        yield
    finally:
        _VOICE.reset(token)


def voice() -> Voice:
    """Return the voice of the notices that are made now."""
    return _VOICE.get()


def notices(findings: Iterable[Finding]) -> Iterator[Notice]:
    """Yield a notice for each finding, with its remedy; if one code has many columns, the last of them share a notice."""
    by_code: dict[Code, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    for code, found in by_code.items():
        own = found if len(found) <= _OWN else found[: _OWN - 1]
        for one in own:
            yield Notice(code, f"column {one.column!r} {sentence(one)}{_remedy(one)}", one.column, one.n / max(one.of, 1))
        if rest := found[len(own) :]:
            names = ", ".join(repr(one.column) for one in rest[:_OWN])
            more = f" and {len(rest) - _OWN} more" if len(rest) > _OWN else ""
            yield Notice(code, f"{len(rest)} further columns {_SHORT[code]}: {names}{more}")


def sentence(f: Finding) -> str:
    """Return what a finding says about its column, without a remedy."""
    return _SENTENCES[f.code](f)


def _remedy(f: Finding) -> str:
    """Return what the user may do about a finding, with a semicolon before it; empty if there is nothing to do."""
    said, remedy = voice(), ""
    if f.code == "mixed":
        remedy = said.missing
    elif f.code == "units":
        remedy = "write them in one unit"
    elif f.code == "day or month":
        remedy = "write them like 2024-01-31 if this is wrong"
    elif f.code == "notation" and f.about.get("doubt"):
        remedy = said.decimal
    if "identifier" in (f.code, f.about.get("kind")):
        remedy = f"{remedy}, or {said.category}" if remedy else said.category
    return f"; {remedy}" if remedy else ""


def _unread(f: Finding) -> str:
    what, row = f.about["what"], "" if f.row is None else f", {'' if f.n == 1 else 'first '}in {voice().row(f.row)}"
    one = f"a cell that is no {what} in {_rows(f)}, which counts as a gap"
    several = f"cells that are no {what}s in {_rows(f)}, which count as gaps"
    return f"has {one if f.n == 1 else several}: {_cells(f)}{row}"


def _notation(f: Finding) -> str:
    return f"is read as numbers: {_written(f)}"


def _other_notation(f: Finding) -> str:
    return f"is written otherwise than in the training rows, and read as {f.about['what']}s: {_written(f)}"


def _written(f: Finding) -> str:
    notation, cell = f.about.get("notation"), clean(f.cells[0][0])
    example = shown_value(cell, 40)
    if notation is None:
        return f"{example} is in the format {f.about['written']}"
    if notation.clock:
        return f"{example} is a time, in seconds"
    parts = []
    if notation.decimal == "," and "," in cell:
        parts.append("a decimal comma")
    if notation.thousands and notation.thousands in cell:
        parts.append(f"{notation.thousands!r} between thousands")
    if notation.unit:
        parts.append(f"the unit {notation.unit!r}, which is left out")
    if notation.bounds and cell[0] in "<>≤≥≦≧~≈":
        parts.append("the sign of a bound, which counts as the number behind it")
    if notation.accounting and cell[-1] in ")-":
        parts.append("brackets, which mean a negative number" if cell[-1] == ")" else "the minus of a negative number at its end")
    return f"{example} has {_and(parts)}" if parts else f"{example} is a number"


def _unit(f: Finding) -> str:
    return f"lacks the unit {f.about['unit']!r} of the training rows in {_rows(f)}; the numbers are taken to be in this unit"


def _zone(f: Finding) -> str:
    has, had = ("a", "no") if f.about["zoned"] else ("no", "a")
    return f"has time stamps with {has} time zone, where those of the training rows have {had} time zone; all are taken as UTC"


def _day_or_month(f: Finding) -> str:
    return f"has dates that may begin with the day or the month, such as {_cells(f)}, read in the format {f.about['written']}"


def _mixed(f: Finding) -> str:
    what, share = f.about["what"], 100 * f.n / f.of
    alike = f"{what}s in one {'format' if what == 'date' else 'notation'}"
    return f"{_taken(f)}: {share:.3g} % of its cells are {alike}, too few for a column of {what}s; others are {_cells(f)}"


def _units(f: Finding) -> str:
    units = [f"{unit!r} in {n} cells" if unit else f"none in {n} cells" for unit, n in f.about["units"]]
    return f"{_taken(f)}: its numbers have different units ({', '.join(units)})"


def _codes(f: Finding) -> str:
    return f"{_taken(f)}: it has codes with zeros in front, such as {_cells(f)}"


def _taken(f: Finding) -> str:
    """Return what a column of texts becomes; a constant has a finding of its own."""
    kind = f.about.get("kind", "text")
    if kind == "identifier":
        return "is left out, as it differs in nearly every row"
    return "is no column of numbers" if kind == "constant" else f"is taken as a {kind}"


def _identifier(f: Finding) -> str:
    return f"is left out: nearly every row has a different word, like an identifier, such as {_cells(f)}"


def _constant(f: Finding) -> str:
    if f.about.get("gaps"):
        return "is left out but for its gaps: otherwise it has the same value in all rows"
    return "is left out: it has the same value in all rows"


def _empty(f: Finding) -> str:
    return "is left out: it has no values"


def _unknown_level(f: Finding) -> str:
    return f"has {'a level' if f.n == 1 else 'levels'} unknown to the training rows in {_rows(f)}: {_cells(f)}"


def _capped(f: Finding) -> str:
    limit = f.about["limit"]
    return f"is more than {limit:g} standard deviations from its mean in {_rows(f)}; there it counts as {limit:g} of them"


_SENTENCES: dict[Code, Callable[[Finding], str]] = {
    "unread": _unread,
    "notation": _notation,
    "other notation": _other_notation,
    "unit": _unit,
    "zone": _zone,
    "day or month": _day_or_month,
    "mixed": _mixed,
    "units": _units,
    "codes": _codes,
    "identifier": _identifier,
    "constant": _constant,
    "empty": _empty,
    "unknown level": _unknown_level,
    "capped": _capped,
}
#: what columns have in common that share a notice
_SHORT: dict[Code, str] = {
    "unread": "have cells that count as gaps",
    "notation": "are read as numbers in another notation",
    "other notation": "are written otherwise than in the training rows",
    "unit": "lack the unit of the training rows",
    "zone": "have time stamps with a time zone, or without one, unlike the training rows",
    "day or month": "have dates that may begin with the day or the month",
    "mixed": "have too few numbers or dates for a column of them",
    "units": "have numbers in different units",
    "codes": "have codes with zeros in front",
    "identifier": "are left out like identifiers",
    "constant": "are left out: they have the same value in all rows",
    "empty": "are left out: they have no values",
    "unknown level": "have levels unknown to the training rows",
    "capped": "have values that a limit replaces",
}


def _rows(f: Finding) -> str:
    return f"{f.n} of {f.of} rows ({100 * f.n / f.of:.3g} %)"


def _cells(f: Finding) -> str:
    shown = [shown_value(clean(cell) or cell, 40) + (f" ({n} times)" if n > 1 else "") for cell, n in f.cells[:_EXAMPLES]]
    more = len(f.cells) - _EXAMPLES
    return ", ".join(shown) + (" and others" if more > 0 else "")


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
