"""The time a study spent on the model, on finding the next point, on the rest of asking, and on evaluation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from spotsvm.trial import Trial

#: phases of a trial, and their names in reports
PHASES = {
    "fit": "fitting the model",
    "acquisition": "finding the next point",
    "asking": "the rest of asking",
    "evaluation": "evaluation",
}


@dataclass(frozen=True)
class TimeSpent:
    """The seconds that trials spent in one phase.

    Attributes
    ----------
    total, median, last : float
        Over all trials with a time for this phase, and of the last of them.
    n_trials : int
        Number of trials with a time for this phase.
    """

    total: float
    median: float
    last: float
    n_trials: int


def time_spent(trials: Sequence[Trial]) -> dict[str, TimeSpent]:
    """Return the time spent in each of `PHASES`; a phase without times is left out.

    Parameters
    ----------
    trials : sequence of Trial
        Trials by number. Those of parallel workers overlap, so that the total can exceed the time that has passed.

    Examples
    --------
    >>> trials = [
    ...     Trial(0, {}, (), "ok", 1.0, ask_seconds=0.5, seconds=3.0),
    ...     Trial(1, {}, (), "ok", 2.0, ask_seconds=1.0, fit_seconds=0.5, acquisition_seconds=0.25, seconds=5.0),
    ... ]
    >>> time_spent(trials)["asking"]
    TimeSpent(total=0.75, median=0.375, last=0.25, n_trials=2)
    >>> time_spent(trials)["evaluation"].total, time_spent(trials)["fit"].total
    (8.0, 0.5)
    """
    seconds = {
        "fit": [t.fit_seconds for t in trials],
        "acquisition": [t.acquisition_seconds for t in trials],
        "asking": [_rest_of_asking(t) for t in trials],
        "evaluation": [t.seconds for t in trials],
    }
    known = {phase: [s for s in all_of_it if s is not None and math.isfinite(s)] for phase, all_of_it in seconds.items()}
    return {phase: TimeSpent(sum(of), median(of), of[-1], len(of)) for phase, of in known.items() if of}


def _rest_of_asking(trial: Trial) -> float | None:
    if trial.ask_seconds is None:
        return None
    return max(trial.ask_seconds - (trial.fit_seconds or 0.0) - (trial.acquisition_seconds or 0.0), 0.0)
