"""Faults of the file that holds a record: a disk that is full, a file cut off, one of another program, one that is read-only."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import sqlite3
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from spotsvm import Study
from spotsvm.errors import StorageError
from spotsvm.recorded_study import RecordedStudy
from spotsvm.salvage import salvage
from spotsvm.trial import Trial
from studies.killable_runs import SPACE, Objective, note

N_TRIALS = 12
_NOBODY = 65534


def make_record(path: Path) -> None:
    """Make a small record of a study that has ended."""
    with Study(SPACE, "random", 0, path=path) as study:
        study.run(Objective(), N_TRIALS)


def make_left_open(path: Path) -> None:
    """Make what a process leaves behind that dies: a file, and beside it the log that has the last trials."""
    source = path.with_name("open.db")
    with Study(SPACE, "random", 0, path=source) as study:
        study.run(Objective(), N_TRIALS)
        for file in (source, Path(f"{source}-wal")):
            shutil.copyfile(file, file.with_name(file.name.replace(source.name, path.name)))


def facts(trials: Iterable[Trial]) -> dict[int, tuple[Any, ...]]:
    """Give by number what must not change of trials."""
    return {t.number: (t.point, t.state, t.value, dict(t.extra), t.reason, t.seed) for t in trials}


def cut_at(path: Path, log: bool, sizes: Iterable[int]) -> dict[str, float | str]:
    """Cut a record, or its log, to each of these sizes, and count what readers and writers make of it.

    Parameters
    ----------
    path : Path
        The record; it is left as it is.
    log : bool
        Whether its log is cut, not the file itself.
    sizes : iterable of int
        In bytes.

    Returns
    -------
    dict
        cuts; read, not_read and wrong_read: how a reader fared (not: a StorageError; wrong: any other error, a trial that is
        not what it was, or one that is missing without a word); the same of opening it to go on (resumed) and of `salvage`
        (salvaged), which may give fewer; trials_salvaged: how many trials that gave in all; first_wrong: what was wrong first.
    """
    whole = facts(RecordedStudy(path).trials)
    counts: Counter[str] = Counter()
    first_wrong = ""
    folder = path.parent / "cut"
    folder.mkdir(exist_ok=True)
    copy = folder / "cut.db"
    for size in sizes:
        for what, use in _USES.items():
            for file in folder.iterdir():
                file.unlink()
            _copy_cut(path, copy, size, log)
            try:
                found = facts(use(copy))
                # a log ends where it was cut as if it had never been longer, and an empty file is a study that has not begun
                fewer = log or size == 0 or what == "salvaged"
                verdict = what if _agrees(found, whole, log) and (fewer or len(found) == len(whole)) else f"wrong_{what}"
                counts["trials_salvaged"] += len(found) if what == "salvaged" else 0
            except StorageError:
                verdict = f"not_{what}"
            except Exception as error:
                verdict = f"wrong_{what}"
                first_wrong = first_wrong or f"{size} bytes, {what}: {type(error).__name__}: {error}"
            if verdict.startswith("wrong_"):
                first_wrong = first_wrong or f"{size} bytes, {what}: trials are not what they were"
            counts[verdict] += 1
        counts["cuts"] += 1
    names = [f"{how}{what}" for what in _USES for how in ("", "not_", "wrong_")]
    return {name: float(counts[name]) for name in ["cuts", *names, "trials_salvaged"]} | {"first_wrong": first_wrong}


def _agrees(found: dict[int, tuple[Any, ...]], whole: dict[int, tuple[Any, ...]], log: bool) -> bool:
    """Tell whether trials are what they were; what is cut from a log never happened, and its trials are running as before."""
    return all(fact == whole.get(number) or (log and number in whole and fact[1] == "running") for number, fact in found.items())


def _copy_cut(path: Path, copy: Path, size: int, log: bool) -> None:
    source, source_log = path.read_bytes(), Path(f"{path}-wal")
    copy.write_bytes(source if log else source[:size])
    if source_log.exists():
        Path(f"{copy}-wal").write_bytes(source_log.read_bytes()[:size] if log else source_log.read_bytes())


def _read(path: Path) -> Iterable[Trial]:
    return RecordedStudy(path).trials


def _resume(path: Path) -> Iterable[Trial]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*The study begins anew")  # of a file without its log: that is its word
        with Study(SPACE, "random", 0, path=path) as study:
            return study.trials


def _salvage(path: Path) -> Iterable[Trial]:
    return salvage(path).trials


_USES: dict[str, Callable[[Path], Iterable[Trial]]] = {"read": _read, "resumed": _resume, "salvaged": _salvage}


def foreign_files() -> dict[str, Callable[[Path], object]]:
    """Give files that are no records, by name: what makes each."""
    return {
        "text": lambda path: path.write_text("C,gamma,value\n1,2,3\n", encoding="utf-8"),
        "picture": lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(4000)),
        "gzip": lambda path: path.write_bytes(gzip.compress(b"something else" * 500)),
        "database of other tables": lambda path: _make_database(path, "CREATE TABLE songs (title TEXT)"),
        "database with a table of trials": lambda path: _make_database(path, "CREATE TABLE trials (number INTEGER PRIMARY KEY)"),
        "database with both tables, and no format": lambda path: _make_database(
            path, "CREATE TABLE trials (number INTEGER PRIMARY KEY); CREATE TABLE about (key TEXT, value TEXT)"
        ),
        "zeros": lambda path: path.write_bytes(bytes(8192)),
        "folder": lambda path: path.mkdir(),
    }


def _make_database(path: Path, statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)


def refuses(path: Path) -> str:
    """Say how a file that is no record is taken, by a study and by a reader: "" if both refuse it and leave it as it is."""
    before = path.read_bytes() if path.is_file() else b""
    for name, use in (("resumed", _resume), ("read", _read)):
        try:
            use(path)
        except StorageError:
            if (path.read_bytes() if path.is_file() else b"") != before:
                return f"{name}: the file was changed"
        except Exception as error:
            return f"{name}: {type(error).__name__}: {error}"
        else:
            return f"{name}: it was taken for a record"
    return ""


def run_on_full_disk(path: str, at_byte: int, answer: str) -> None:
    """Run a study where no file can grow beyond a size, and write as JSON what that led to.

    Parameters
    ----------
    path : str
        The record. What was told is noted in `path`.told.
    at_byte : int
        The size, in bytes.
    answer : str
        The file to write.
    """
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that the write fails, as on a disk that is full
    resource.setrlimit(resource.RLIMIT_FSIZE, (at_byte, resource.RLIM_INFINITY))
    error = ""
    try:
        with Study(SPACE, "random", 0, path=path) as study:
            study.run(Objective(), N_TRIALS, callback=lambda study, trial: note(f"{path}.told", f"{trial.number}\n"))
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    Path(answer).write_text(json.dumps({"error": error}), encoding="utf-8")


def use_read_only(path: str, answer: str) -> None:
    """Read a record, and try to resume it, as somebody who may write neither the file nor its folder; write what came of it.

    Parameters
    ----------
    path : str
        The record; it is made read-only, with its folder.
    answer : str
        The file to write, in another folder.
    """
    file = os.open(answer, os.O_WRONLY | os.O_CREAT)
    Path(path).chmod(0o444)
    Path(path).parent.chmod(0o555)
    if os.geteuid() == 0:
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    came: dict[str, Any] = {}
    for name, use in (("read", _read), ("resumed", _resume)):
        try:
            came[name] = len(list(use(Path(path))))
        except Exception as error:
            came[name] = f"{type(error).__name__}: {error}"
    os.write(file, json.dumps(came).encode())
