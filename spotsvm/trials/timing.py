"""The time that a study spent on each phase of its trials, and its recent pace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from spotsvm.trials.trial import Trial

#: phases of a trial, and their names in reports
PHASES = {
    "fit": "fitting the model",
    "acquisition": "finding the next point",
    "asking": "the rest of asking",
    "evaluation": "evaluation",
}


@dataclass(frozen=True)
class TimeSpent:
    """The seconds that trials spent in one phase, over all trials with a time for it."""

    total: float
    median: float
    last: float
    n_trials: int


def time_spent(trials: Sequence[Trial]) -> dict[str, TimeSpent]:
    """Return the time spent in each of `PHASES`; a phase without times is left out.

    Trials of parallel workers overlap, so that the total can exceed the elapsed time.
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


_RECENT = 50


def trials_per_minute(trials: Sequence[Trial]) -> float | None:
    """Return the number of trials finished per minute recently, without breaks between runs; None without times.

    The latest 50 trials over the time in which at least one of them was being asked for or evaluated.
    """
    ended = sorted((spans[0][1], spans) for t in trials if (spans := _spans(t)))[-_RECENT:]
    busy = _length([span for _, spans in ended for span in spans])
    pace = 60.0 * len(ended) / busy if busy > 0 else 0.0
    return pace if 0 < pace < math.inf else None


def _spans(trial: Trial) -> list[tuple[float, float]]:
    """Return the time spans in which a trial was evaluated and asked for; a break can lie between them."""
    if trial.told_at is None or trial.asked_at is None:
        return []
    spans = [
        (trial.told_at - (trial.seconds or 0.0), trial.told_at),
        (trial.asked_at - (trial.ask_seconds or 0.0), trial.asked_at),
    ]
    # a damaged record can hold any number
    return spans if all(map(math.isfinite, [*spans[0], *spans[1]])) else []


def _length(spans: list[tuple[float, float]]) -> float:
    """Return the length of the union of spans."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(end - max(start, reached), 0.0)
        reached = max(reached, end)
    return total
