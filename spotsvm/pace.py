"""The speed of a study."""

from __future__ import annotations

import math
from collections.abc import Sequence

from spotsvm.trial import Trial

_RECENT = 50


def trials_per_minute(trials: Sequence[Trial]) -> float | None:
    """Return the number of trials finished per minute recently, breaks between runs left out.

    It is the number of the latest 50 trials (or all), divided by the time in which at least one of them was being asked for or
    evaluated; None if no trial says when it was told.

    Parameters
    ----------
    trials : sequence of Trial
        All trials.

    Examples
    --------
    Two trials at once, ten seconds each, and one more after a break:

    >>> def told(at):
    ...     return Trial(0, {}, (), "ok", 1.0, ask_seconds=0.0, seconds=10.0, asked_at=at - 10.0, told_at=at)
    >>> trials_per_minute([told(10.0), told(10.0), told(5000.0)])
    9.0
    """
    ended = sorted((spans[0][1], spans) for t in trials if (spans := _spans(t)))[-_RECENT:]
    busy = _length([span for _, spans in ended for span in spans])
    pace = 60.0 * len(ended) / busy if busy > 0 else 0.0
    return pace if 0 < pace < math.inf else None


def _spans(trial: Trial) -> list[tuple[float, float]]:
    """Return when a trial was evaluated and when it was asked for; not from asked to told, as a break can lie between."""
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
