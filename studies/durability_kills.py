"""Runs killed with SIGKILL at random moments and resumed: whether anything is lost, and whether the end is the same."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path

import pandas as pd

from studies.durability_cases import Case, Finding, Measures, Part, skipped_text, without_skipped
from studies.killable_runs import ASYNCHRONOUS, ONE_OBJECTIVE, SEVERAL_OBJECTIVES, kinds_of
from studies.killed_runs import MOMENTS, Moment, killed_run

N_RUNS, N_ASYNCHRONOUS = 200, 30
#: what the quick form runs
_QUICK = (
    ("random", "sequential"), ("kriging", "batches"), ("cmaes", "failing"), ("vns", "noisy"), ("nsga2", "batches"),
    ("lhs", "processes"), ("random", ASYNCHRONOUS),
)  # fmt: skip
_SEARCHES = (*ONE_OBJECTIVE, *SEVERAL_OBJECTIVES)


def chosen_runs(n_runs: int, n_asynchronous: int, seed: int) -> Iterator[tuple[str, str, int, Moment]]:
    """Yield (search, kind, seed, first moment) of runs, such that each search and kind comes as often as the others.

    Parameters
    ----------
    n_runs, n_asynchronous : int
        How many of those that are repeatable, and of those that are not.
    seed : int
        Of the first round; each further round has the next.

    Examples
    --------
    >>> list(chosen_runs(1, 1, 7))
    [('kriging', 'sequential', 7, 'statement'), ('kriging', 'asynchronous', 7, 'statement')]
    """
    columns = [[(search, kind) for kind in kinds_of(search)] for search in _SEARCHES]
    # all searches in their first kind, then in their second: the first runs are not all of one search
    repeatable = [pair for row in zip_longest(*columns) for pair in row if pair is not None]
    asynchronous = [(search, ASYNCHRONOUS) for search in _SEARCHES]
    for pairs, n in ((repeatable, n_runs), (asynchronous, n_asynchronous)):
        yield from islice(_rounds(pairs, seed), n)


def _rounds(pairs: Sequence[tuple[str, str]], seed: int) -> Iterator[tuple[str, str, int, Moment]]:
    number = 0
    while True:
        for search, kind in pairs:
            yield search, kind, seed + number // len(pairs), MOMENTS[(number + number // len(pairs)) % len(MOMENTS)]
            number += 1


def _cases(quick: bool, seed: int, stack: ExitStack) -> list[Case]:
    if quick:
        runs = [(search, kind, seed, MOMENTS[k % len(MOMENTS)]) for k, (search, kind) in enumerate(_QUICK)]
    else:
        runs = list(chosen_runs(N_RUNS, N_ASYNCHRONOUS, seed))
    return [Case(f"{run[0]}, {run[1]}, seed {run[2]}, first by {run[3]}", partial(_killed, *run)) for run in runs]


def _killed(search: str, kind: str, seed: int, first: Moment) -> Measures:
    with tempfile.TemporaryDirectory() as folder:
        run = killed_run(search, kind, seed, first, Path(folder))
    return {"search": search, "kind": kind, **asdict(run), "runs": 1.0}


def _table(cases: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each search and kind of run."""
    runs = without_skipped(cases)
    if not len(runs):
        return pd.DataFrame()
    sums = ["runs", "kills", "inside", "told", "lost", "unread", "told_twice", "repeated", "left"]
    table = runs.groupby(["kind", "search"], sort=False)[sums].sum()
    table["wrong ends"] = (runs.wrong != "").groupby([runs.kind, runs.search]).sum()
    return table.astype(int).reset_index()


def _findings(cases: pd.DataFrame) -> list[Finding]:
    runs = without_skipped(cases)
    if not len(runs):
        return []
    same = runs[runs.kind != ASYNCHRONOUS]
    others = runs[runs.kind == ASYNCHRONOUS]
    n_same, n_sound = int((same.wrong == "").sum()), int((others.wrong == "").sum())
    lost, twice, unread = int(runs.lost.sum()), int(runs.told_twice.sum()), int(runs.unread.sum())
    return [
        Finding("told trials lost by kills", lost, "0", lost == 0),
        Finding("trials told twice", twice, "0", twice == 0),
        Finding(f"of {len(same)} killed runs, those that end as undisturbed", n_same, f"{len(same)}", n_same == len(same)),
        Finding(f"of {len(others)} asynchronous ones, those with all trials accounted for", n_sound, f"{len(others)}",
                n_sound == len(others)),
        Finding("records that a reader could not read after a kill", unread, "0", unread == 0),
    ]  # fmt: skip


def _sentence(cases: pd.DataFrame) -> str:
    runs = without_skipped(cases)
    if not len(runs):
        return skipped_text(cases)
    same = runs[runs.kind != ASYNCHRONOUS]
    wrong = runs[(runs.wrong != "") | (runs.lost > 0) | (runs.told_twice > 0)]
    text = (
        f"{len(runs)} runs were killed {runs.kills.sum():.0f} times, {runs.inside.sum():.0f} of them surely inside a "
        f"transaction; of {runs.told.sum():.0f} told trials {runs.lost.sum():.0f} were lost and {runs.told_twice.sum():.0f} told "
        f"twice. "
        f"{(same.wrong == '').sum()} of the {len(same)} repeatable ones ended with the record of the undisturbed run. "
        f"A kill cost {runs.repeated.sum() / max(runs.kills.sum(), 1):.2f} evaluations that were made again."
    )
    left = runs.groupby(runs.kind == "killable").left.sum()
    if left.sum():
        text += (
            f" A second after the kills {left.get(True, 0):.0f} killable workers and {left.get(False, 0):.0f} processes of "
            "executors of the user's were still there."
        )
    if len(wrong):
        first = wrong.iloc[0]
        text += f" Wrong: {first['case']}, killed at {first.moments}: {first.wrong or 'a told trial is lost'}."
    return f"{text} {skipped_text(cases)}".strip()


KILLS = Part("kills", "Runs killed with SIGKILL and resumed", _cases, _table, _findings, _sentence)
