"""The fold scores of trials as a table."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from spotsvm.trial import Trial

_SCORE = re.compile(r"split([0-9]{1,6})_(test|train)_(.+)")


def fold_table(trials: Sequence[Trial]) -> pd.DataFrame:
    """Make a frame with a row a trial and fold, of the trials that have scores of folds.

    Columns: number, the trial's; fold, from 0; one `test_` column a metric, and one `train_` column where there are training
    scores. A fold that failed, or that a race left out, has no row, or no number where another metric has one.

    Parameters
    ----------
    trials : sequence of Trial
        The trials; their fold scores are in `extra`, as `SpotSearchCV` puts them there.

    Examples
    --------
    >>> trial = Trial(3, {}, (), "ok", 0.75, {"split0_test_score": 0.5, "split1_test_score": 1.0, "mean_fit_time": 0.1})
    >>> fold_table([trial]).to_dict("list")
    {'number': [3, 3], 'fold': [0, 1], 'test_score': [0.5, 1.0]}
    """
    rows: dict[tuple[int, int], dict[str, float]] = {}
    names: list[str] = []
    for trial in trials:
        for key, score in trial.extra.items():
            if match := _SCORE.fullmatch(key):
                fold, name = int(match[1]), f"{match[2]}_{match[3]}"
                rows.setdefault((trial.number, fold), {})[name] = score
                names += [name] if name not in names else []
    records = [{"number": number, "fold": fold, **rows[number, fold]} for number, fold in sorted(rows)]
    names.sort(key=lambda name: name.startswith("train_"))
    frame = pd.DataFrame(records, columns=["number", "fold", *names])
    return frame.astype({"number": "int64", "fold": "int64"} | dict.fromkeys(names, "float64"))
