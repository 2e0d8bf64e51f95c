"""The jobs of a study: each runs by itself and gives rows, which a file keeps, so that an interrupted study resumes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import pandas as pd
from tqdm import tqdm

from spotsvm.common.new_files import new_file
from spotsvm.common.worker_interrupts import interrupts_kept_from_workers
from spotsvm.errors import DataError, StorageError
from spotsvm.studies.common.data import data_from, named_folder
from spotsvm.study.record.opening import WriterLock

Row = dict[str, Any]


class Job(NamedTuple):
    """A part of a study that runs by itself; `key` has the columns that identify it, the first of its rows.

    A callable `arguments` returns them when the job starts, so that large data are not in memory for all jobs.
    """

    key: Row
    run: Callable[..., Any]
    arguments: tuple[Any, ...] | Callable[[], tuple[Any, ...]] = ()


class JobFile:
    """The ended jobs of a study with their rows: in memory, and with a path also in a file, from which another run resumes.

    A line of JSON for the study and the settings that its jobs share, and one for each job; a last line that a killed run left
    torn is removed. One run at a time has the file.
    """

    def __init__(self, path: str | Path | None, study: str, settings: Mapping[str, Any] = {}):
        self.path = None if path is None else Path(path)
        self._head = {"study": study} | {name: json.loads(_line(value)) for name, value in settings.items()}
        self._rows: dict[str, list[Row]] = {}
        self._lock: WriterLock | None = None
        if self.path is None:
            return
        if self.path.is_dir():
            raise StorageError(f"{self.path} is a folder; name a file for the jobs")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = WriterLock(self.path)
            if self.path.is_file():
                self._read(self.path)
        except OSError as error:
            self.close()
            raise _cannot_write(self.path, error) from error
        except DataError:
            self.close()
            raise

    def close(self) -> None:
        """Let other runs have the file."""
        if self._lock is not None:
            self._lock.release()

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_lock": None}  # a job that holds its study takes it to another process

    def _read(self, path: Path) -> None:
        text = path.read_bytes()
        *lines, cut = text.split(b"\n")
        if not lines and _line(self._head).encode().startswith(cut):  # killed while it wrote the first line
            os.truncate(path, 0)
            return
        try:
            head, *jobs = map(json.loads, lines)
            # two runs that began at once have written a head each; of a job that two have written, the first rows count
            jobs = [job for job in jobs if job != head]
            self._rows = {_identity(job["key"]): [dict(row) for row in job["rows"]] for job in reversed(jobs)}
            wrong = [name for name, value in self._head.items() if head.get(name) != value]
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise DataError(f"{path} cannot be read as a file of jobs: {error}; name another file") from error
        for name in wrong:
            raise DataError(f"{path} was written with {name}={head.get(name)!r}, not {self._head[name]!r}; name another file")
        if cut:  # killed while it wrote a job, which is run again
            os.truncate(path, len(text) - len(cut))

    def rows(self, key: Row) -> list[Row] | None:
        """Return the rows of an ended job, or None."""
        return self._rows.get(_identity(key))

    def add(self, key: Row, rows: list[Row]) -> None:
        """Add an ended job."""
        self._rows[_identity(key)] = rows
        if self.path is None:
            return
        try:
            if not self.path.is_file() or not self.path.stat().st_size:
                with new_file(self.path) as file:
                    file.write_text(_line(self._head), encoding="utf-8", newline="")
            _append(self.path, _line({"key": key, "rows": rows}).encode())
        except OSError as error:
            raise _cannot_write(self.path, error) from error


def _append(path: Path, line: bytes) -> None:
    """Append a line, or, where the disk is full, nothing of it."""
    with path.open("ab", buffering=0) as file:
        size = file.tell()
        try:
            while line:
                line = line[file.write(line) :]
        except BaseException:
            file.truncate(size)
            raise


def _cannot_write(path: Path, error: OSError) -> StorageError:
    return StorageError(f"{path}: cannot write there: {error.strerror or error}")


def _identity(key: Row) -> str:
    return json.dumps(key, sort_keys=True, default=_plain)


def _line(value: Any) -> str:
    return json.dumps(value, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else repr(value)


def run_jobs(jobs: Iterable[Job], file: JobFile, name: str, n_jobs: int | None = None) -> pd.DataFrame:
    """Run the jobs that the file does not have; return the rows of all in the order of the jobs, whatever `n_jobs` is."""
    jobs = list(jobs)
    left = [job for job in jobs if file.rows(job.key) is None]
    folder = named_folder()  # here, as joblib takes most calls in a thread that does not know it
    calls = (joblib.delayed(_run_job)(k, job.run, _arguments(job, folder), folder) for k, job in enumerate(left))
    with interrupts_kept_from_workers():
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    with tqdm(total=len(left), desc=name, unit="run", disable=None) as bar:
        for k, rows in parallel(calls):
            file.add(left[k].key, rows)
            bar.set_postfix_str(", ".join(str(value) for value in left[k].key.values()), refresh=False)
            bar.update(1)
    return pd.DataFrame([job.key | row for job in jobs for row in file.rows(job.key) or []])


def _arguments(job: Job, folder: Path | None) -> tuple[Any, ...]:
    with data_from(folder):
        return job.arguments() if callable(job.arguments) else job.arguments


def _run_job(k: int, run: Callable[..., Any], arguments: tuple[Any, ...], folder: Path | None) -> tuple[int, list[Row]]:
    with data_from(folder):
        rows = run(*arguments)
    if isinstance(rows, pd.DataFrame):
        rows = rows.to_dict("records")
    return k, [rows] if isinstance(rows, dict) else list(rows)
