"""A trial on its way through a Dask cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Job:
    """A trial: its number, its configuration pickled, and how often it was begun anew because its worker left."""

    key: int
    params: bytes
    moves: int = 0


@dataclass
class Attempt:
    """A trial at a worker: when it began there, in which process, and whether a nanny can kill that."""

    job: Job
    worker: str
    future: Any = None
    began: float | None = None
    pid: int = 0
    nanny: bool = False
