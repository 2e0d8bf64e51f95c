"""The runs of the stormwater study: searches on a set, and their winners on all sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed

from spotsvm.compare_searches import compare
from spotsvm.comparison import Comparison
from spotsvm.comparison_run import Run
from spotsvm.progress import runs_bar
from studies.stormwater.error import BY_HAND, REGION, StormwaterErrors
from studies.stormwater.series import N_SETS, RainSeries

ALL_SETS = tuple(range(1, N_SETS + 1))
HAND = "by hand"


def tuned_on_set(
    objective: StormwaterErrors,
    searches: Mapping[str, Any],
    n_trials: int,
    seeds: Sequence[int],
    *,
    n_jobs: int | None,
    path: Path | None,
) -> Comparison:
    """Run each search from each seed on the objective's set, each with the setting by hand and the centre first.

    Evaluations have no noise, and the searches are told so. Records are put into a folder that is named after the set and the
    data.
    """
    name = f"set {objective.tuned_on}"
    with runs_bar(name, len(searches) * len(seeds)) as ended:
        return compare(
            objective,
            REGION,
            searches,
            n_trials,
            seeds,
            noise=False,
            n_jobs=n_jobs,
            callback=ended,
            path=None if path is None else path / f"set_{objective.tuned_on}_{objective.checksum}",
            start=BY_HAND,
        )


def run_rows(comparisons: Mapping[int, Comparison], series: RainSeries, stride: int, n_jobs: int | None) -> pd.DataFrame:
    """Return a row a run, and one for the setting by hand: what it recommends, and its error on every set.

    Columns: tuned_on (0 for none), search, seed, evaluations, failed, best_seen and recommended (errors on the set tuned on),
    ask_seconds (mean time of a suggestion), set_1 to set_4 (the recommended setting's errors), and the nine parameters.
    """
    runs = [(number, run) for number, comparison in comparisons.items() for run in comparison.runs]
    rows = [{"tuned_on": 0, "search": HAND, "seed": 0, "evaluations": 0, "failed": 0, **BY_HAND}]
    rows += [_run_row(number, run) for number, run in runs]
    objective = StormwaterErrors(series, stride=stride)
    settings = [{name: row[name] for name in REGION} for row in rows]
    errors = Parallel(n_jobs=n_jobs)(delayed(objective.errors)(setting, ALL_SETS) for setting in settings)
    frame = pd.DataFrame(
        [row | {f"set_{k}": error for k, error in found.items()} for row, found in zip(rows, errors, strict=True)]
    )
    return frame[[name for name in frame if name not in REGION] + list(REGION)]


def _run_row(number: int, run: Run) -> dict[str, Any]:
    trials = [trial for trial in run.trials if trial.value is not None]
    chosen = next(trial for trial in trials if trial.number == run.recommended)
    asked = [trial.ask_seconds for trial in run.trials if trial.ask_seconds is not None]
    return {
        "tuned_on": number,
        "search": run.search,
        "seed": run.seed,
        "evaluations": len(run.trials),
        "failed": len(run.trials) - len(trials),
        "best_seen": min(float(trial.value) for trial in trials if trial.value is not None),
        "recommended": chosen.value,
        "ask_seconds": sum(asked) / len(asked) if asked else None,
        **{name: chosen.params[name] for name in REGION},
    }
