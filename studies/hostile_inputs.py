"""Hostile files for every reader: what is read, what is refused with an error of ours, and what is not taken so well."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
import traceback
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.errors import ArgumentError, SpotSVMError
from studies.hostile_readers import READERS, Reader

#: seconds in which an input is to be read or refused
LIMIT = 10.0
#: what a process that reads may take beyond what it had before, in bytes
MEMORY = 4 * 2**30
_START = 60.0

COLUMNS = ["reader", "inputs", "refused", "read", "tracebacks", "hung", "slowest_seconds", "first_failure"]


def run(n: int = 10_000, seed: int = 0, readers: Sequence[str] | None = None, limit: float = LIMIT) -> pd.DataFrame:
    """Give hostile inputs to the readers, in a process that is killed when one takes too long, and count what came of them.

    Parameters
    ----------
    n : int, default=10_000
        Inputs in all; a reader that takes longer gets fewer of them.
    seed : int, default=0
        Seed of the inputs: input k of a reader depends on it and on k alone.
    readers : sequence of str, optional
        Names of readers; all of `READERS` by default.
    limit : float, default=10
        Seconds after which an input counts as hung, if it takes as long when it is tried again.

    Returns
    -------
    DataFrame
        A row a reader: inputs; refused, with an error of the library; read; tracebacks, of any other error; hung; the slowest
        input's seconds; and the first failure, as "input k: what was raised", or empty.

    Raises
    ------
    ArgumentError
        If a reader is unknown.

    Examples
    --------
    >>> counts = run(20, readers=["kernel expression"])
    >>> counts["tracebacks"].tolist(), counts["hung"].tolist()
    ([0], [0])
    """
    names = list(READERS) if readers is None else list(readers)
    if unknown := [name for name in names if name not in READERS]:
        raise ArgumentError(f"readers has {unknown[0]!r}; use some of {', '.join(READERS)}")
    whole = sum(READERS[name].share for name in names)
    rows = [_Run(name, max(round(n * READERS[name].share / whole), 1), seed, limit).counts() for name in names]
    return pd.DataFrame(rows, columns=COLUMNS)


@dataclass
class _Run:
    """The inputs of one reader."""

    name: str
    n: int
    seed: int
    limit: float
    late: set[int] = field(default_factory=set)

    def ends(self) -> list[tuple[int, str, float]]:
        """Give of each input its number, what came of it, and the seconds."""
        ends: list[tuple[int, str, float]] = []
        while len(ends) < self.n:
            self._read_from(ends)
        return ends

    def counts(self) -> list[Any]:
        """Give a row of the table."""
        ends = self.ends()
        kinds = [kind for _, kind, _ in ends]
        bad = next((f"input {k}: {kind}" for k, kind, _ in ends if kind not in ("read", "refused")), "")
        hung = kinds.count("hung")
        other = self.n - kinds.count("refused") - kinds.count("read") - hung
        slowest = max(seconds for _, _, seconds in ends)
        return [self.name, self.n, kinds.count("refused"), kinds.count("read"), other, hung, round(slowest, 3), bad]

    def _read_from(self, ends: list[tuple[int, str, float]]) -> None:
        """Read on in a new process, until the end or until an input hangs or kills it."""
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe(duplex=False)
        worker = context.Process(target=_read_inputs, args=(self.name, len(ends), self.n, self.seed, there), daemon=True)
        worker.start()
        there.close()
        try:
            _wait_until_ready(here)
            while len(ends) < self.n:
                began = time.perf_counter()
                if not here.poll(self.limit):
                    if len(ends) in self.late:
                        ends.append((len(ends), "hung", time.perf_counter() - began))
                    # on a busy machine anything may take long once: it is read again, by a process of its own
                    self.late.add(len(ends))
                    return
                ends.append(here.recv())
        except EOFError:
            ends.append((len(ends), "the process died", 0.0))
        finally:
            worker.kill()
            worker.join()
            here.close()


def _wait_until_ready(reader: Connection) -> None:
    try:
        ready = reader.poll(_START) and reader.recv() == "ready"
    except EOFError:
        ready = False
    if not ready:
        raise RuntimeError("the process that is to read did not start")


def _read_inputs(name: str, first: int, n: int, seed: int, out: Connection) -> None:
    reader = READERS[name]
    number = zlib.crc32(name.encode())  # the same inputs whatever other readers there are
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        reader.warm_up(place)
        _limit_memory()
        out.send("ready")
        for k in range(first, n):
            out.send((k, *read_input(reader, place, np.random.default_rng([seed, number, k]))))


def read_input(reader: Reader, place: Path, rng: np.random.Generator) -> tuple[str, float]:
    """Make an input, read it, and say what came of it: "read", "refused", or what was raised; and the seconds of reading."""
    source = reader.make(place, rng)
    began = time.perf_counter()
    try:
        reader.read(source)
        kind = "read"
    except SpotSVMError:
        kind = "refused"
    except Exception as error:  # that is what is looked for
        frame = traceback.extract_tb(error.__traceback__)[-1]
        kind = f"{type(error).__name__}: {str(error)[:200]} ({Path(frame.filename).name}, line {frame.lineno})"
    return kind, time.perf_counter() - began


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    used = (
        int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if Path("/proc/self/statm").exists() else 0
    )
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
