"""Tables of trials and of the scores of their folds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from spotsvm.trials.trial import Trial

_FURTHER = ("origin", "note", "reason", "seed")
_SECONDS = ("ask_seconds", "fit_seconds", "acquisition_seconds", "seconds")


def parameter_names(branches: Sequence[Mapping[str, Any]], trials: Sequence[Trial]) -> list[str]:
    """Return the names of all parameters: those of a recorded space in its order, then those that only trials have."""
    return list(dict.fromkeys(name for branch in [*branches, *(t.params for t in trials)] for name in branch))


def trial_table(trials: Sequence[Trial], names: Sequence[str], values: Sequence[str] = ("value",)) -> pd.DataFrame:
    """Return a frame with one row per trial, by number.

    Columns: number, state, value (for several objectives one column each: value_0, value_1, or value_ and the name), one `param_`
    column per parameter (empty where it does not exist), one `extra_` column per further number and one `attribute_` column per
    attribute, origin, note, reason, seed, ask_seconds and its parts fit_seconds and acquisition_seconds, seconds, lost (how many
    attempts ended with their worker); where trials reported steps, last_step and last_value, those reported last; where a
    parameter is swept, sweep, the number of the trial in whose sweep a row is.
    """
    params = {f"param_{name}": name for name in names}
    extras = {f"extra_{name}": name for trial in trials for name in trial.extra}
    attributes = {f"attribute_{name}": name for trial in trials for name in trial.attributes}
    rows = [
        {"number": t.number, "state": t.state}
        | dict(zip(values, t.values or [None] * len(values), strict=True))
        | {column: t.params.get(name) for column, name in params.items()}
        | {column: t.extra.get(name) for column, name in extras.items()}
        | {column: t.attributes.get(name) for column, name in attributes.items()}
        | {name: getattr(t, name) for name in (*_FURTHER, *_SECONDS)}
        | {"lost": len(t.lost), "sweep": t.number if t.sweep is None else t.sweep}
        | dict(zip(("last_step", "last_value"), t.steps[-1] if t.steps else (None, None), strict=True))
        for t in trials
    ]
    sweep = ["sweep"] if any(t.sweep is not None for t in trials) else []
    last = ["last_step", "last_value"] if any(t.steps for t in trials) else []
    shown = ["number", "state", *values, *params, *extras, *attributes, *_FURTHER, *_SECONDS, "lost", *last, *sweep]
    frame = pd.DataFrame(rows, columns=shown)
    numbers = dict.fromkeys([*values, *extras, *_SECONDS, *last], "float64")
    return frame.astype(dict.fromkeys(["number", "seed", "lost", *sweep], "int64") | numbers)


_SCORE = re.compile(r"split([0-9]{1,6})_(test|train)_(.+)")


def fold_table(trials: Sequence[Trial]) -> pd.DataFrame:
    """Return a frame with one row per trial and fold, for trials with fold scores in `extra` as `SpotSearchCV` stores them.

    Columns: number of the trial; fold, from 0; one `test_` column per metric, and one `train_` column if there are training
    scores. A fold that failed, or that a race omitted, has no row, or no number if another metric has one.

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
