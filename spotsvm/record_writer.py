"""The process that writes to a record, as its lock file names it."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

_LONGEST = 4096


@dataclass(frozen=True)
class Writer:
    """The process that writes to a record.

    Attributes
    ----------
    pid : int or None
        Its process id; None where it is not known.
    host : str
        The name of its machine, as text of one line; empty where it is not known.
    command : str
        The command that started it, shortened, as text of one line.
    since : str
        When it opened the record: date and time in UTC, as ISO 8601 has it.
    """

    pid: int | None
    host: str = ""
    command: str = ""
    since: str = ""

    def __str__(self) -> str:
        who = "a process" if self.pid is None else f"process {self.pid}"
        parts = [who, self.host and f"on {self.host}", self.command and f"({self.command})", self.since and f"since {self.since}"]
        return " ".join(part for part in parts if part)


def this_process() -> Writer:
    """Return this process as a writer."""
    command = " ".join(shlex.join(sys.orig_argv).split()).encode("utf-8", "backslashreplace").decode("utf-8")
    shown = command if len(command) <= 200 else command[:197] + "..."
    return Writer(os.getpid(), socket.gethostname(), shown, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


def write_writer(fd: int, writer: Writer) -> None:
    """Write who has the lock into its file."""
    os.ftruncate(fd, 0)
    os.lseek(fd, 0, os.SEEK_SET)
    os.write(fd, json.dumps(asdict(writer)).encode())


def described(fd: int, holder: int | None) -> Writer:
    """Return the holder of a lock; another one that the file names is a process that was killed."""
    for _ in range(5):
        written = left_behind(fd)
        if written is not None and (not holder or holder == written.pid):
            return written
        time.sleep(0.01)  # it may have the lock, and not yet have said who it is
    return Writer(holder or None)


def left_behind(fd: int) -> Writer | None:
    """Return the writer that the file names, who need not hold the lock any more; None where it names nobody."""
    os.lseek(fd, 0, os.SEEK_SET)
    return _read(os.read(fd, _LONGEST))


def _read(content: bytes) -> Writer | None:
    try:
        read: Any = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict) or not isinstance(read.get("pid"), int):
        return None
    texts = (" ".join(str(read.get(key, "")).split())[:200] for key in ("host", "command", "since"))
    return Writer(read["pid"], *texts)
