"""Notices about data: what the library left out, filled, converted or could not read, told once for each fit and predict."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from spotsvm.errors import DataWarning


@dataclass(frozen=True)
class Notice:
    """What a user should know about data: a code for programs, and the sentence for the user.

    `column` is the name of the column, if the notice is about one, and `share` the share of its rows.
    """

    code: str
    sentence: str
    column: str | None = None
    share: float | None = None

    def joined(self, earlier: Notice) -> Notice:
        """Return what is told in place of both, of which the earlier one has the same code and column."""
        return self


#: where notices go in place of a warning
_GATHERED: ContextVar[list[Notice] | None] = ContextVar("gathered", default=None)


def tell(notices: Iterable[Notice], stacklevel: int = 3) -> None:
    """Warn of all notices in one `DataWarning`, unless they are `gathered` or `untold`."""
    told, gathered_so_far = tuple(notices), _GATHERED.get()
    if gathered_so_far is not None:
        gathered_so_far += told
    elif told:
        warnings.warn(DataWarning("; ".join(notice.sentence for notice in told), told), stacklevel=stacklevel)


@contextmanager
def gathered() -> Iterator[list[Notice]]:
    """Gather what is told inside in a list, to tell it once: for a fit or a prediction of several parts."""
    notices: list[Notice] = []
    token = _GATHERED.set(notices)
    try:
        yield notices
    finally:
        _GATHERED.reset(token)


@contextmanager
def untold() -> Iterator[None]:
    """Tell nothing inside: for fits of folds and candidates, whose data the fit on all rows tells about."""
    with gathered():
        yield


def once(notices: Iterable[Notice]) -> tuple[Notice, ...]:
    """Return one notice of each code and column, as the parts of a fit may find the same: the last, joined with those before."""
    found: dict[tuple[str, str | None], Notice] = {}
    for notice in notices:
        key = notice.code, notice.column
        found[key] = notice.joined(found[key]) if key in found else notice
    return tuple(found.values())
