"""The tables of a study, from its record alone."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from spotsvm.fold_table import fold_table
from spotsvm.objectives import Objectives
from spotsvm.record import Record
from spotsvm.trial_table import trial_table


def record_tables(path: str | Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give what `Study.frame` and `Study.folds` give, of a record that is only read.

    Parameters
    ----------
    path : path-like
        The record.

    Raises
    ------
    StorageError
        If it cannot be read.
    """
    source = Record(path, read_only=True)
    try:
        trials, about = source.trials(), source.about()
    finally:
        source.close()
    objectives = Objectives.described(about.get("direction", "minimize"), trials)
    # in the order of the space, as the study itself has them, and so that none is left out that no trial has
    names = list(dict.fromkeys(name for branch in [*about.get("space", []), *(t.params for t in trials)] for name in branch))
    return trial_table(trials, names, objectives.columns), fold_table(trials)
