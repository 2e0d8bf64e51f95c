"""Faults that end a worker, or should: what becomes of the trial and of the study, on each kind of workers."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path

import pandas as pd

from studies.durability_cases import Case, CaseSkippedError, Finding, Measures, Part, skipped_text, without_skipped
from studies.fork_server import ForkServer
from studies.worker_faults import DASK, EXECUTOR, FAULTS, N_TRIALS, POOL, WHERE

_AT_MOST = 90.0  # seconds
_QUICK = ("hang in LIBSVM", "segmentation fault")


def warm_up() -> None:
    """Import what the runs need."""
    import loky
    import sklearn.svm

    assert loky
    assert sklearn.svm


def _cases(quick: bool, seed: int, stack: ExitStack) -> list[Case]:
    @cache
    def server() -> ForkServer:
        return stack.enter_context(ForkServer("studies.durability_workers:warm_up"))

    def measure(fault: str, where: str) -> Measures:
        if where == DASK and importlib.util.find_spec("distributed") is None:
            raise CaseSkippedError("distributed is not installed")
        with tempfile.TemporaryDirectory() as folder:
            answer = Path(folder) / "became.json"
            ended = server().run(
                "studies.worker_faults:run_with_fault", {"fault": fault, "where": where, "path": str(answer)}, at_most=_AT_MOST
            )
            lost = {"state": "none", "reason": "", "others": 0.0, "raised": f"ended with {ended.code}", "seconds": ended.seconds}
            became = json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else lost
        # where a worker hangs it is left to be killed with its group; only our own pool's have to be gone
        return {"fault": fault, "where": where, "hung": float(ended.hung), "left": float(ended.left), **became}

    pairs = [(fault, POOL) for fault in _QUICK] if quick else [(fault, where) for where in WHERE for fault in FAULTS]
    return [Case(f"{fault}, {where}", partial(measure, *pair)) for pair in pairs for fault, where in [pair]]


def _table(cases: pd.DataFrame) -> pd.DataFrame:
    """Give a row a kind of workers and fault: state and reason of its trial, and how many of the other five succeeded."""
    runs = without_skipped(cases)
    columns = ["where", "fault", "state", "reason", "others", "raised", "seconds", "left"]
    return runs[columns].reset_index(drop=True) if len(runs) else pd.DataFrame()


def _ended_well(runs: pd.DataFrame) -> pd.Series:
    """Tell which ended with the trial recorded; a broken executor of the user's cannot be mended, and is to be said so."""
    said = (runs["where"] == EXECUTOR) & runs.raised.str.startswith("WorkersError")
    return (runs.hung == 0) & ((runs.raised == "") | said) & runs.state.isin(["failed", "timeout"])


def _findings(cases: pd.DataFrame) -> list[Finding]:
    runs = without_skipped(cases)
    if not len(runs):
        return []
    found = []
    for where, of_kind in runs.groupby("where", sort=False):
        ended = int(_ended_well(of_kind).sum())
        found.append(
            Finding(f"of {len(of_kind)} faults on {where}, those after which the study ended with the trial recorded", ended,
                    f"{len(of_kind)}", ended == len(of_kind))
        )  # fmt: skip
        whole = int((of_kind.others == N_TRIALS - 1).sum())
        goal = where == POOL
        found.append(
            Finding(f"of {len(of_kind)} faults on {where}, those that no other trial suffered from", whole,
                    f"{len(of_kind)}" if goal else "", whole == len(of_kind) if goal else None)
        )  # fmt: skip
    return found


def _sentence(cases: pd.DataFrame) -> str:
    runs = without_skipped(cases)
    parts = []
    for where, of_kind in runs.groupby("where", sort=False) if len(runs) else []:
        ended = _ended_well(of_kind)
        wrong = ", ".join(of_kind.fault[~ended])
        suffered = ", ".join(of_kind.fault[of_kind.others < N_TRIALS - 1])
        text = f"On {where} the study ended after {ended.sum()} of {len(of_kind)} faults with the trial recorded"
        text += f" (not after: {wrong})" if wrong else ""
        parts.append(f"{text}; other trials suffered from: {suffered}" if suffered else f"{text}, and no other trial suffered")
    text = f"{'. '.join(parts)}." if parts else ""
    if stopped := int((runs.raised != "").sum()) if len(runs) else 0:
        text += f" After {stopped} of these faults the executor was broken, and the study stopped with an error that says so."
    return f"{text} {skipped_text(cases)}".strip()


WORKERS = Part("workers", "Faults of workers", _cases, _table, _findings, _sentence)
