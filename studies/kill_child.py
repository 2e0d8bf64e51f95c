"""What a process does that is to be killed: it runs a study, notes what it was told, and dies at a given moment."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from functools import partial
from pathlib import Path
from typing import Any

from spotsvm import Study
from spotsvm.trial import Trial
from studies.killable_runs import note, run_study

_SHARED_MEMORY = 1 << 15  # bytes of a record's "-shm" file, which is as large from the start


def run_to_end(
    search: str,
    kind: str,
    seed: int,
    path: str,
    *,
    at_statement: int | None = None,
    at_byte: int | None = None,
    measures: str | None = None,
) -> None:
    """Run or resume a study, and die at a moment if one is given.

    Parameters
    ----------
    search, kind, seed, path
        As `run_study` takes them. What was told is noted in `path`.told, evaluations in `path`.evaluated, and in `path`.inside
        deaths within a transaction.
    at_statement : int, optional
        Kill this process when it comes to its n-th SQL statement, before it is carried out: between transactions or inside.
    at_byte : int, optional
        End it, as abruptly, in the midst of the write that would let a file of the record's grow by so many bytes: inside of
        COMMIT, with the page half written.
    measures : str, optional
        A file that is to say how long it took, and how many statements and bytes.
    """
    counted = _Statements(at_statement, f"{path}.inside")
    if at_byte is not None:
        note(f"{path}.inside", "x")
        _limit_files(max((file.stat().st_size for file in _files(path)), default=0), at_byte)
    began = time.perf_counter()
    largest = 0

    def told(study: Study, trial: Trial) -> None:
        nonlocal largest
        note(f"{path}.told", json.dumps([trial.number, trial.state, trial.values]) + "\n")
        largest = max(largest, *(file.stat().st_size for file in _files(path)))

    run_study(search, kind, seed, path, told, f"{path}.evaluated")
    if measures is not None:
        took = {"seconds": time.perf_counter() - began, "statements": counted.seen, "bytes": largest}
        Path(measures).write_text(json.dumps(took), encoding="utf-8")


class _Statements:
    """Counts the SQL statements of all connections that this process opens, and kills it at one of them."""

    def __init__(self, last: int | None, inside: str):
        self.seen = 0
        self._last, self._inside = last, inside
        self._connect = sqlite3.connect
        sqlite3.connect = self._traced  # type: ignore[assignment]

    def _traced(self, *arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = self._connect(*arguments, **options)
        connection.set_trace_callback(partial(self._count, connection))
        return connection

    def _count(self, connection: sqlite3.Connection, statement: str) -> None:
        self.seen += 1
        if self.seen == self._last:
            if connection.in_transaction:
                note(self._inside, "x")
            os.kill(os.getpid(), signal.SIGKILL)


def _files(path: str) -> list[Path]:
    return [file for file in (Path(path), Path(f"{path}-wal")) if file.exists()]


def _limit_files(size: int, more: int) -> None:
    import resource

    limit = max(size, _SHARED_MEMORY) + more
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which Python ignores
