"""Ten thousand trials in one record: telling, the file, suggestions, resuming."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spotsvm import Study
from spotsvm.recorded_study import RecordedStudy
from studies.durability_cases import Case, Finding, Measures, Part, rows_of, without_skipped
from studies.killable_runs import SPACE, Objective

#: trials at which suggestions are timed; the last is where the record ends
_SIZES, _QUICK_SIZES = (1000, 2000, 5000, 10_000), (100, 300)
_SUGGESTIONS, _QUICK_SUGGESTIONS = 5, 2
_SEARCHES = ("random", "kriging")
_GOALS = {"tell_milliseconds": 5.0, "megabytes": 20.0, "ask_seconds": 1.0, "resume_seconds": 10.0}


def record_of(search: str, n_trials: int, n_suggestions: int) -> Measures:
    """Fill a record by random search, resume it with a search, and time what matters.

    Parameters
    ----------
    search : str
        What is resumed; the trials themselves come from random search, so that filling takes seconds.
    n_trials : int
        Trials of the record.
    n_suggestions : int
        Suggestions that are timed; their median counts.
    """
    objective = Objective()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.db"
        tell = []
        with Study(SPACE, "random", 0, path=path, noise=False) as study:
            for _ in range(n_trials):
                trial = study.ask()
                value = objective(trial.params)
                began = time.perf_counter()
                study.tell(trial, value)
                tell.append(time.perf_counter() - began)
        megabytes = path.stat().st_size / 1e6
        gc.collect()
        began = time.perf_counter()
        with Study(SPACE, "random", 0, path=path, noise=False) as resumed:
            resumed.ask()
            resume = time.perf_counter() - began
        began = time.perf_counter()
        trials = RecordedStudy(path).trials[:n_trials]
        read = time.perf_counter() - began
    return {
        "search": search, "trials": float(n_trials), "tell_milliseconds": 1e3 * float(np.median(tell)), "megabytes": megabytes,
        "resume_seconds": resume, "read_seconds": read,
        "ask_seconds": _ask_seconds(search, [(t.params, t.value) for t in trials], n_suggestions),
    }  # fmt: skip


def _ask_seconds(search: str, told: Sequence[tuple[Mapping[str, Any], float | None]], n_suggestions: int) -> float:
    """Time suggestions of a study that has been told these trials as its starts; the first one compiles and is not counted."""
    study = Study(SPACE, search, 0, noise=False, start=[params for params, _ in told])
    for _, value in told:
        study.tell(study.ask(), float("nan") if value is None else value)
    objective, seconds = Objective(), []
    for _ in range(n_suggestions + 1):
        began = time.perf_counter()
        trial = study.ask()
        seconds.append(time.perf_counter() - began)
        study.tell(trial, objective(trial.params))
    return float(np.median(seconds[1:]))


def _cases(quick: bool, seed: int, stack: ExitStack) -> list[Case]:
    sizes, n_suggestions = (_QUICK_SIZES, _QUICK_SUGGESTIONS) if quick else (_SIZES, _SUGGESTIONS)
    return [
        Case(f"{n} trials, {search}", partial(record_of, search, n, n_suggestions))
        for n in sizes for search in (_SEARCHES if not quick or n == sizes[-1] else _SEARCHES[:1])
    ]  # fmt: skip


def _table(cases: pd.DataFrame) -> pd.DataFrame:
    """Give a row a search and number of trials."""
    runs = without_skipped(cases)
    return runs.drop(columns="case").reset_index(drop=True) if len(runs) else pd.DataFrame()


def _findings(cases: pd.DataFrame) -> list[Finding]:
    table = _table(cases)
    if not len(table):
        return []
    last = table[table.trials == table.trials.max()]
    n = f"with {last.trials.iloc[0]:.0f} trials in a record"
    words = {
        "tell_milliseconds": "median milliseconds to tell",
        "megabytes": "megabytes of the file",
        "ask_seconds": "seconds to suggest",
        "resume_seconds": "seconds to resume, with the first suggestion of random search",
    }
    return [
        Finding(f"{word} {n}" + (f", {row.search}" if name == "ask_seconds" else ""), float(getattr(row, name)),
                f"below {_GOALS[name]:g}", bool(getattr(row, name) < _GOALS[name]))
        for name, word in words.items() for row in rows_of(last if name == "ask_seconds" else last[:1])
    ]  # fmt: skip


def _sentence(cases: pd.DataFrame) -> str:
    table = _table(cases)
    if not len(table):
        return ""
    last = table[table.trials == table.trials.max()].iloc[0]
    guided = rows_of(table[table.search != "random"])
    asked = ", ".join(f"{row.ask_seconds:.3f} s by {row.search} at {row.trials:.0f} trials" for row in guided)
    return (
        f"At {last.trials:.0f} trials telling takes {last.tell_milliseconds:.1f} ms in the median, the file "
        f"{last.megabytes:.1f} MB, resuming {last.resume_seconds:.1f} s and reading {last.read_seconds:.1f} s; a suggestion "
        f"takes {asked}."
    )


SIZE = Part("size", "Ten thousand trials in one record", _cases, _table, _findings, _sentence)
