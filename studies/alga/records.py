"""The rows of the study `alga`, kept in a file as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from spotsvm.errors import DataError
from studies.alga.runs import GRID, GridModel
from studies.alga.sets import Parts
from studies.common.run_file import RunFile

_COLUMNS: dict[str, Callable[[str], Any]] = {"set": str, "fold": int, "method": str, "K": int, "run": int, "checksum": str}
_COLUMNS |= {"vectors": int, "validation": float, "test": float, "support_vectors": int, "C": float, "gamma": float}
_COLUMNS |= {"seconds": float, "evaluations": int, "chosen": str, "max_evaluations": int}


class Records:
    """Rows of runs; those that a file has of these splits, and those that are added, which go into the file as well.

    Parameters
    ----------
    path : Path or None
        A CSV file, made or gone on with; None keeps the rows in memory.
    splits : sequence of Parts
        The splits of the study; rows of other sets are let be.
    max_evaluations : int or None, default=None
        The study's cap on the machines of a run.

    Raises
    ------
    DataError
        If the file has rows of another split of the same name, or of another cap, or is damaged.
    """

    def __init__(self, path: Path | None, splits: Sequence[Parts], max_evaluations: int | None = None):
        self._file, self._cap = RunFile(path, _COLUMNS), max_evaluations or 0
        frame = self._file.read()
        if len(frame):
            sums = {(parts.name, parts.fold): parts.checksum for parts in splits}
            for name, fold, checksum in frame[["set", "fold", "checksum"]].drop_duplicates().itertuples(index=False):
                if sums.get((name, fold), checksum) != checksum:
                    raise DataError(f"{path} was written of other rows of {name!r}; name another file")
            caps = set(frame.max_evaluations) - {self._cap}
            if caps:
                theirs, ours = (cap or "any number of" for cap in (caps.pop(), self._cap))
                raise DataError(f"{path} was written with at most {theirs} machines a run, not {ours}; use that, or another file")
        self._frames = [frame] if len(frame) else []
        self._known = {key for frame in self._frames for key in _keys(frame)}

    def has(self, parts: Parts, method: str, size: int, run: int) -> bool:
        """Return whether a run is there."""
        return (parts.name, parts.fold, method, size, run) in self._known

    def add(self, rows: list[dict[str, Any]]) -> None:
        """Add the rows of one run."""
        frame = pd.DataFrame(rows).assign(max_evaluations=self._cap)[list(_COLUMNS)]
        self._frames.append(frame)
        self._known.update(_keys(frame))
        self._file.append(frame)

    def frame(self) -> pd.DataFrame:
        """Return all rows."""
        return pd.concat(self._frames, ignore_index=True)


def grid_models(runs: pd.DataFrame) -> dict[tuple[str, int], GridModel]:
    """Return what grid search has found on each split, by set and fold."""
    found = {}
    for row in runs[runs.method == GRID].to_dict("records"):
        model = [
            row["C"],
            row["gamma"],
            row["validation"],
            row["test"],
            row["support_vectors"],
            row["evaluations"],
            row["seconds"],
        ]
        found[row["set"], row["fold"]] = GridModel(*model)
    return found


def _keys(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    return list(frame[["set", "fold", "method", "K", "run"]].itertuples(index=False, name=None))
