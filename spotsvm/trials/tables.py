"""Trials as a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from spotsvm.trials.trial import Trial

_SECONDS = ("ask_seconds", "fit_seconds", "acquisition_seconds", "seconds")


def parameter_names(branches: Sequence[Mapping[str, Any]], trials: Sequence[Trial]) -> list[str]:
    """Give the names of all parameters: those of a recorded space in its order, then those that only trials have."""
    return list(dict.fromkeys(name for branch in [*branches, *(t.params for t in trials)] for name in branch))


def trial_table(trials: Sequence[Trial], names: Sequence[str], values: Sequence[str] = ("value",)) -> pd.DataFrame:
    """Make a frame with a row a trial, by number.

    Columns: number, state, one `param_` column a parameter (empty where it does not exist), value (of several objectives one
    column each: value_0, value_1, or value_ and the name), one `extra_` column a further number, origin, note, reason, seed,
    ask_seconds and of it fit_seconds and acquisition_seconds, seconds, lost (how many attempts ended with their worker).

    Parameters
    ----------
    trials : sequence of Trial
        The trials.
    names : sequence of str
        All parameters of the space.
    values : sequence of str, default=("value",)
        The columns for the values, one an objective.
    """
    extras = list(dict.fromkeys(name for trial in trials for name in trial.extra))
    rows = []
    for t in trials:
        row: dict[str, object] = {"number": t.number, "state": t.state}
        row |= {f"param_{name}": t.params.get(name) for name in names}
        row |= dict(zip(values, t.values or [None] * len(values), strict=True)) | {
            f"extra_{name}": t.extra.get(name) for name in extras
        }
        row |= {"origin": t.origin, "note": t.note, "reason": t.reason, "seed": t.seed}
        row |= {name: getattr(t, name) for name in _SECONDS}
        rows.append(row | {"lost": len(t.lost)})
    columns = ["number", "state", *(f"param_{name}" for name in names), *values, *(f"extra_{name}" for name in extras)]
    columns += ["origin", "note", "reason", "seed", *_SECONDS, "lost"]
    frame = pd.DataFrame(rows, columns=columns)
    numbers = [*values, *(f"extra_{name}" for name in extras), *_SECONDS]
    return frame.astype({"number": "int64", "seed": "int64", "lost": "int64"} | dict.fromkeys(numbers, "float64"))


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
