"""Whether a record is still the file that was opened: else what is written to it would be lost, and nobody would notice."""

from __future__ import annotations

from pathlib import Path

from spotsvm.errors import StorageError


class SameFile:
    """The file that a record was opened as.

    Parameters
    ----------
    path : Path
        The record, which is there.
    """

    def __init__(self, path: Path):
        self._path = path
        self._opened = self._found()

    def _found(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def check(self) -> None:
        """Raise StorageError if the file was removed, or replaced by another one."""
        if self._opened is not None and (now := self._found()) != self._opened:
            what = "is not there any more" if now is None else "was replaced by another file"
            raise StorageError(
                f"{self._path}: the record {what}; the study has in memory what it was told: write it with to_csv, or put the "
                "file back"
            )
