"""A Dask cluster of two processes, one of which is killed every 20 trials: whether all trials are accounted for."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pandas as pd

from studies.durability_cases import Case, CaseSkippedError, Finding, Measures, Part, rows_of, skipped_text, without_skipped
from studies.fork_server import ForkServer

_TRIALS, _QUICK_TRIALS = 200, 30
_AT_MOST = 300.0  # seconds


def warm_up() -> None:
    """Import nothing: Dask's processes import what they need themselves."""


def _accounted(n_trials: int, retries: int) -> Measures:
    if importlib.util.find_spec("distributed") is None:
        raise CaseSkippedError("distributed is not installed")
    with tempfile.TemporaryDirectory() as folder, ForkServer("studies.durability_dask:warm_up") as server:
        answer = Path(folder) / "answer.json"
        job = {"path": str(Path(folder) / "dask.db"), "answer": str(answer), "n_trials": n_trials, "retries": retries}
        ended = server.run("studies.dask_kills:run_with_kills", job, at_most=_AT_MOST)
        if not answer.exists():
            return {"trials": float(n_trials), "retries": float(retries), "wrong": f"ended with {ended.code}, hung: {ended.hung}"}
        became = json.loads(answer.read_text(encoding="utf-8"))
    wrong = {name: became[name] for name in ("running", "told_twice", "untold", "unexplained", "not_killed") if became[name]}
    return {**{name: float(value) for name, value in became.items()}, "wrong": ", ".join(f"{k}: {v}" for k, v in wrong.items())}


def _cases(quick: bool, seed: int, stack: ExitStack) -> list[Case]:
    n_trials = _QUICK_TRIALS if quick else _TRIALS
    return [
        Case(f"{n_trials} trials, retries={retries}", partial(_accounted, n_trials, retries))
        for retries in ((1,) if quick else (0, 2))
    ]


def _table(cases: pd.DataFrame) -> pd.DataFrame:
    """Give a row a number of retries: kills, and how the trials ended."""
    runs = without_skipped(cases)
    columns = [
        "retries",
        "trials",
        "kills",
        "lost_workers",
        "ok",
        "failed",
        "running",
        "told_twice",
        "untold",
        "seconds",
        "wrong",
    ]
    return runs.reindex(columns=columns).reset_index(drop=True) if len(runs) else pd.DataFrame()


def _findings(cases: pd.DataFrame) -> list[Finding]:
    table = _table(cases)
    if not len(table):
        return []
    well = int((table.wrong == "").sum())
    what = f"of {len(table)} studies on Dask with a process killed every 20 trials, those with all trials accounted for"
    return [Finding(what, well, f"{len(table)}", well == len(table))]


def _sentence(cases: pd.DataFrame) -> str:
    table = _table(cases)
    parts = [
        f"of {row.trials:.0f} trials with retries={row.retries:.0f} {row.ok:.0f} succeeded and {row.failed:.0f} failed after "
        f"{row.kills:.0f} kills" + (f" (wrong: {row.wrong})" if row.wrong else "")
        for row in rows_of(table)
    ]
    text = f"On a Dask cluster of two processes, one killed every 20 trials, {'; '.join(parts)}." if parts else ""
    return f"{text} {skipped_text(cases)}".strip()


DASK = Part("dask", "A Dask cluster with killed processes", _cases, _table, _findings, _sentence)
