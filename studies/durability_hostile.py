"""Hostile files for every reader: nothing but our own errors, and no hang."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

import pandas as pd

from studies import hostile_inputs
from studies.durability_cases import Case, Finding, Measures, Part, without_skipped
from studies.hostile_readers import READERS

N_INPUTS, _QUICK_INPUTS = 10_000, 100
_QUICK_READERS = ("record, bytes", "kernel expression")


def _counts(reader: str, n: int, seed: int) -> Measures:
    row = hostile_inputs.run(n, seed, [reader]).iloc[0]
    numbers = {name: float(row[name]) for name in ("inputs", "refused", "read", "tracebacks", "hung", "slowest_seconds")}
    return {"reader": reader, **numbers, "first_failure": str(row["first_failure"])}


def _cases(quick: bool, seed: int, stack: ExitStack) -> list[Case]:
    n_inputs = _QUICK_INPUTS if quick else N_INPUTS
    readers = {name: READERS[name] for name in (_QUICK_READERS if quick else READERS)}
    whole = sum(reader.share for reader in readers.values())
    shares = {name: max(round(n_inputs * reader.share / whole), 1) for name, reader in readers.items()}
    return [Case(f"{name}, {n} inputs, seed {seed}", partial(_counts, name, n, seed)) for name, n in shares.items()]


def _table(cases: pd.DataFrame) -> pd.DataFrame:
    """Give a row a reader."""
    runs = without_skipped(cases)
    return runs.drop(columns="case").reset_index(drop=True) if len(runs) else pd.DataFrame()


def _findings(cases: pd.DataFrame) -> list[Finding]:
    table = _table(cases)
    if not len(table):
        return []
    n_inputs = f"of {table.inputs.sum():.0f} hostile inputs, those that"
    raised, hung = int(table.tracebacks.sum()), int(table.hung.sum())
    return [
        Finding(f"{n_inputs} raised anything but an error of ours", raised, "0", raised == 0),
        Finding(f"{n_inputs} took longer than {hostile_inputs.LIMIT:g} s", hung, "0", hung == 0),
    ]


def _sentence(cases: pd.DataFrame) -> str:
    table = _table(cases)
    if not len(table):
        return ""
    text = (
        f"Of {table.inputs.sum():.0f} hostile inputs to {len(table)} readers {table.refused.sum():.0f} were refused with an "
        f"error that says why and {table.read.sum():.0f} read; {table.tracebacks.sum():.0f} raised anything else and "
        f"{table.hung.sum():.0f} hung. The slowest took {table.slowest_seconds.max():.1f} s."
    )
    failed = table[table.first_failure != ""]
    return text if not len(failed) else f"{text} First failure: {failed.reader.iloc[0]}, {failed.first_failure.iloc[0]}."


HOSTILE = Part("hostile", "Hostile input", _cases, _table, _findings, _sentence)
