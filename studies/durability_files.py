"""Faults of files: whether errors are clear, and what was told can still be read."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from spotsvm.errors import StorageError
from spotsvm.recorded_study import RecordedStudy
from studies.durability_cases import Case, Finding, Measures, Part, skipped_text, without_skipped
from studies.file_faults import (
    N_TRIALS,
    cut_at,
    foreign_files,
    make_left_open,
    make_record,
    refuses,
)
from studies.fork_server import ForkServer

_PARTS, _QUICK_CUTS = 16, 12
_FULL, _QUICK_FULL = 40, 2
#: bytes at which the disk is full: from nothing to more than the record takes
_LARGEST = 400_000


def warm_up() -> None:
    """Import what the runs need, also where no file can be read any more."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "warm.db"
        make_record(path)
        cut_at(path, False, [100])


def _cut(log: bool, part: int, parts: int, at_most: int | None) -> Measures:
    """Cut at every byte of one part of the file, or at so many of them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.db"
        (make_left_open if log else make_record)(path)
        size = Path(f"{path}-wal" if log else path).stat().st_size
        sizes = np.arange(size + 1)[part::parts]
        if at_most is not None:
            sizes = sizes[:: max(len(sizes) // at_most, 1)]
        return {"fault": "log cut off" if log else "file cut off", **cut_at(path, log, sizes.tolist())}


def _foreign() -> Measures:
    with tempfile.TemporaryDirectory() as folder:
        wrong = {}
        for k, (name, make) in enumerate(foreign_files().items()):
            path = Path(folder) / f"{k}.db"
            make(path)
            wrong[name] = refuses(path)
    first = next((f"{name}: {how}" for name, how in wrong.items() if how), "")
    n_wrong = sum(map(bool, wrong.values()))
    return {
        "fault": "another program's file", "cuts": float(len(wrong)), "not_resumed": float(len(wrong) - n_wrong),
        "wrong_resumed": float(n_wrong), "first_wrong": first,
    }  # fmt: skip


def _full_disk(server: ForkServer, at_bytes: list[int]) -> Measures:
    counts = {
        "cuts": float(len(at_bytes)),
        "resumed": 0.0,
        "not_resumed": 0.0,
        "wrong_resumed": 0.0,
        "read": 0.0,
        "wrong_read": 0.0,
    }
    first_wrong = ""
    for at_byte in at_bytes:
        with tempfile.TemporaryDirectory() as folder:
            path, answer = Path(folder) / "full.db", Path(folder) / "answer.json"
            job = {"path": str(path), "at_byte": at_byte, "answer": str(answer)}
            ended = server.run("studies.file_faults:run_on_full_disk", job)
            error = json.loads(answer.read_text(encoding="utf-8"))["error"] if answer.exists() else f"ended with {ended.code}"
            verdict = "resumed" if not error else "not_resumed" if error.startswith("StorageError") else "wrong_resumed"
            counts[verdict] += 1
            kept = _kept(path)
            counts["read" if kept == "" else "wrong_read"] += 1
            if verdict == "wrong_resumed" or kept:
                first_wrong = first_wrong or f"full at {at_byte} bytes: {error}; {kept}"
    return {"fault": "disk full", **counts, "first_wrong": first_wrong}


def _kept(path: Path) -> str:
    """Say what is wrong with a record after its disk was full; nothing if all that was told can be read."""
    told = Path(f"{path}.told")
    numbers = [int(line) for line in told.read_text(encoding="utf-8").splitlines()] if told.exists() else []
    if not numbers:
        return ""
    try:
        trials = RecordedStudy(path).trials
    except StorageError as error:
        return f"{len(numbers)} trials were told, and it cannot be read: {error}"
    missing = [number for number in numbers if number >= len(trials) or trials[number].state == "running"]
    return f"trial {missing[0]} was told, and is lost" if missing else ""


def _read_only(server: ForkServer) -> Measures:
    with tempfile.TemporaryDirectory() as outer:
        folder = Path(outer) / "folder"
        folder.mkdir()
        Path(outer).chmod(0o755)
        path, answer = folder / "fixed.db", Path(outer) / "answer.json"
        make_record(path)
        server.run("studies.file_faults:use_read_only", {"path": str(path), "answer": str(answer)})
        folder.chmod(0o755)
        came = json.loads(answer.read_text(encoding="utf-8"))
    read, refused = came["read"] == N_TRIALS, str(came["resumed"]).startswith("StorageError")
    return {
        "fault": "read-only file and folder", "cuts": 1.0, "read": float(read), "wrong_read": float(not read),
        "not_resumed": float(refused), "wrong_resumed": float(not refused), "first_wrong": "" if read and refused else str(came),
    }  # fmt: skip


def _cases(quick: bool, seed: int, stack: ExitStack) -> list[Case]:
    @cache
    def server() -> ForkServer:
        return stack.enter_context(ForkServer("studies.durability_files:warm_up"))

    cases = [
        Case(f"{'log' if log else 'file'} cut at {_QUICK_CUTS if quick else 'every'} bytes, part {part + 1}",
             partial(_cut, log, part, 1 if quick else _PARTS, _QUICK_CUTS if quick else None))
        for log in (False, True) for part in range(1 if quick else _PARTS)
    ]  # fmt: skip
    at_bytes = np.random.default_rng(seed).integers(_LARGEST, size=_QUICK_FULL if quick else _FULL).tolist()
    return [
        *cases,
        Case("another program's file", _foreign),
        Case(f"disk full at {len(at_bytes)} random sizes, seed {seed}", lambda: _full_disk(server(), at_bytes)),
        Case("read-only file and folder", lambda: _read_only(server())),
    ]


_COUNTS = ["cuts", "read", "not_read", "wrong_read", "resumed", "not_resumed", "wrong_resumed", "salvaged", "not_salvaged",
           "wrong_salvaged", "trials_salvaged"]  # fmt: skip


def _table(cases: pd.DataFrame) -> pd.DataFrame:
    """Give a row a fault: how often it was tried, and how reading, resuming and salvaging fared."""
    runs = without_skipped(cases)
    if not len(runs):
        return pd.DataFrame()
    table = runs.reindex(columns=["fault", *_COUNTS]).groupby("fault", sort=False).sum(min_count=1).reset_index()
    table["trials_salvaged"] /= table.cuts
    return table.rename(columns={"cuts": "tried", "trials_salvaged": f"salvaged of {N_TRIALS}"})


def _wrong(cases: pd.DataFrame) -> pd.Series:
    names = [name for name in ("wrong_read", "wrong_resumed", "wrong_salvaged") if name in cases]
    return cases[names].fillna(0).sum(axis=1)


def _findings(cases: pd.DataFrame) -> list[Finding]:
    runs = without_skipped(cases)
    return [
        Finding(f"{fault}: of {of_kind.cuts.sum():.0f}, those that end in anything but what was told or a clear error",
                float(_wrong(of_kind).sum()), "0", bool(_wrong(of_kind).sum() == 0))
        for fault, of_kind in (runs.groupby("fault", sort=False) if len(runs) else [])
    ]  # fmt: skip


def _sentence(cases: pd.DataFrame) -> str:
    runs = without_skipped(cases)
    if not len(runs):
        return skipped_text(cases)
    table = _table(cases).set_index("fault")
    wrong = _wrong(runs)
    text = (
        f"Faults of files: {table.tried.sum():.0f} were tried, {wrong.sum():.0f} of them ended in anything but what had been "
        "told or a clear error."
    )
    if "file cut off" in table.index:
        row = table.loc["file cut off"]
        text += (
            f" A file cut off at {row.tried:.0f} places was read {row.read:.0f} times and refused {row.not_read:.0f} times; "
            f"`salvage` gave {row[f'salvaged of {N_TRIALS}']:.1f} of its {N_TRIALS} trials in the mean."
        )
    if wrong.any():
        text += f" The first that was wrong: {runs.first_wrong[wrong > 0].iloc[0]}."
    return f"{text} {skipped_text(cases)}".strip()


FILES = Part("files", "Faults of files", _cases, _table, _findings, _sentence)
