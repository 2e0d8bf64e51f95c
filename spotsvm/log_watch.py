"""Says when SQLite's write-ahead log grows because somebody reads for very long."""

from __future__ import annotations

import logging
from pathlib import Path

from spotsvm.record_opening import log_of

_LOG = logging.getLogger(__name__)
_EVERY = 200
_BYTES = 64 << 20


class LogWatch:
    """Looks at the size of a record's write-ahead log now and then, and warns once if it is beyond 64 MB.

    SQLite starts the log anew once all of it is in the record's file and nobody reads what was before. The library's own
    readers have read all within a moment; another program that keeps a transaction open keeps the log growing.

    Parameters
    ----------
    path : Path
        The record.
    """

    def __init__(self, path: Path):
        self._path, self._commits = path, 0

    def committed(self) -> None:
        """Count a transaction, and look at the log after every 200 of them."""
        self._commits += 1
        if self._commits % _EVERY:
            return
        try:
            size = log_of(self._path).stat().st_size
        except OSError:
            return
        if size > _BYTES:
            _LOG.warning(
                "%s: another program has been reading it for long, so that the log beside it has grown to %d MB; end its "
                "transaction, and the log is emptied",
                self._path, size >> 20,
            )  # fmt: skip
            self._commits = -(1 << 60)  # once is enough
