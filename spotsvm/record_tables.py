"""The tables of a study, from its record alone."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pandas as pd

from spotsvm.errors import StorageError
from spotsvm.fold_table import fold_table
from spotsvm.objectives import Objectives
from spotsvm.record import Record
from spotsvm.record_rows import shown
from spotsvm.salvage import damaged, salvage
from spotsvm.trial_checks import size_problem
from spotsvm.trial_table import parameter_names, trial_table


def salvaged_tables(path: str | Path) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Return the tables of the trials that can be read of a damaged record, and a line that counts them; see `salvage`.

    Parameters
    ----------
    path : path-like
        The record.

    Raises
    ------
    StorageError
        If there is no such file, or not one trial can be read.
    """
    found = salvage(path)
    if not found.trials:
        raise StorageError(f"{path}: not one trial can be read of it")
    line = f"{len(found.trials)} trials were read of {path}, up to number {found.trials[-1].number}"
    if found.missing:
        line += f"; {len(found.missing)} of the numbers before are missing"
    if found.changed:
        line += f"; {len(found.changed)} were left out because their checksums do not fit"
    return found.frame(), fold_table(found.trials), line


def record_tables(path: str | Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `Study.frame` and `Study.folds` of a record, which is only read.

    Parameters
    ----------
    path : path-like
        The record.

    Raises
    ------
    StorageError
        If it cannot be read.
    """
    with closing(Record(path, read_only=True)) as source, source.moment():
        trials, about = source.trials(), source.about()
    if problem := size_problem(trials):
        raise damaged(Path(path), problem)
    objectives = Objectives.described(about.get("direction", "minimize"), trials)
    space = about.get("space", [])
    if not isinstance(space, list) or not all(isinstance(branch, dict) for branch in space):
        raise damaged(Path(path), f"its space is {shown(space)}")
    # also those of the space that no trial has, in its order, as the study itself has them
    return trial_table(trials, parameter_names(space, trials), objectives.columns), fold_table(trials)
