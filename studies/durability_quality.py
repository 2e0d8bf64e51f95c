"""What eight pending trials cost the Kriging search per trial, on the tasks of the comparison of searches."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

import pandas as pd

from spotsvm.errors import DataError
from studies.durability_cases import Case, CaseSkippedError, Finding, Measures, Part, skipped_text, without_skipped
from studies.pending_quality import pending_quality
from studies.tuning_tasks import TASKS

PENDING = 8
_SEEDS, _TRIALS = 10, 100
_QUICK_TASKS, _QUICK_TRIALS = ("branin_noisy",), 12
_WORSE = 1.1


def _regrets(task: str, seeds: tuple[int, ...], n_trials: int) -> Measures:
    """Give the mean normalised regret after all trials, alone and with eight pending, over the seeds that have one."""
    try:
        runs = pending_quality([task], seeds, (1, PENDING), n_trials)
    except DataError as error:
        raise CaseSkippedError(str(error)) from error
    last = runs[(runs.trials == n_trials) & (runs.search == "kriging")]
    regrets = last.pivot_table(index="seed", columns="pending", values="regret").dropna()
    if not len(regrets) or PENDING not in regrets:
        raise CaseSkippedError("random search has met the best known value, and regret has no unit")
    return {
        "task": task, "alone": float(regrets[1].mean()), "pending": float(regrets[PENDING].mean()), "seeds": float(len(regrets)),
        "trials": float(n_trials),
    }  # fmt: skip


def _cases(quick: bool, seed: int, stack: ExitStack) -> list[Case]:
    tasks, n_seeds, n_trials = (_QUICK_TASKS, 1, _QUICK_TRIALS) if quick else (TASKS, _SEEDS, _TRIALS)
    seeds = tuple(range(seed, seed + n_seeds))
    return [
        Case(f"{task}, {n_trials} trials, seeds {seeds[0]} to {seeds[-1]}", partial(_regrets, task, seeds, n_trials))
        for task in tasks
    ]


def _table(cases: pd.DataFrame) -> pd.DataFrame:
    """Give a row a task: normalised regret alone and with eight pending, means over the seeds."""
    runs = without_skipped(cases)
    return runs[["task", "alone", "pending", "seeds", "trials"]].reset_index(drop=True) if len(runs) else pd.DataFrame()


def _findings(cases: pd.DataFrame) -> list[Finding]:
    table = _table(cases)
    if not len(table):
        return []
    ratio = float(table.pending.mean() / table.alone.mean())
    what = f"normalised regret with {PENDING} pending, to that of one at a time, means of {len(table)} tasks"
    # one run alone and one with others pending say nothing of the mean
    return [Finding(what, ratio, f"at most {_WORSE:g}", ratio <= _WORSE if table.seeds.max() > 1 else None)]


def _sentence(cases: pd.DataFrame) -> str:
    table = _table(cases)
    if not len(table):
        return skipped_text(cases)
    worse = int((table.pending > _WORSE * table.alone).sum())
    text = (
        f"After {table.trials.max():.0f} trials the mean normalised regret on {len(table)} tasks is {table.pending.mean():.3f} "
        f"with {PENDING} pending and {table.alone.mean():.3f} one at a time; on {worse} tasks it is more than 10 % larger."
    )
    return f"{text} {skipped_text(cases)}".strip()


QUALITY = Part("quality", "Eight pending trials against one", _cases, _table, _findings, _sentence)
