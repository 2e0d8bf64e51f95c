"""Notices about data: what the library left out, filled, converted or could not read, told once for each fit and predict."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from spotsvm.errors import DataWarning

_UNTOLD: ContextVar[bool] = ContextVar("untold", default=False)


@dataclass(frozen=True)
class Notice:
    """What a user should know about data: a code for programs, and the sentence for the user.

    `column` is the name of the column, if the notice is about one, and `share` the share of its rows.
    """

    code: str
    sentence: str
    column: str | None = None
    share: float | None = None


def tell(notices: Iterable[Notice], stacklevel: int = 3) -> None:
    """Warn of all notices in one `DataWarning`, unless `untold` is in force."""
    if (told := tuple(notices)) and not _UNTOLD.get():
        warnings.warn(DataWarning("; ".join(notice.sentence for notice in told), told), stacklevel=stacklevel)


@contextmanager
def untold() -> Iterator[None]:
    """Tell nothing inside: for fits of folds and candidates, whose data the fit on all rows tells about."""
    token = _UNTOLD.set(True)
    try:
        yield
    finally:
        _UNTOLD.reset(token)
