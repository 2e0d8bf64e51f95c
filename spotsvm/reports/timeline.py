"""When trials were evaluated, side by side where they overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from spotsvm.common.drawing import BLUE, GREEN, ORANGE, drawing, name_trials
from spotsvm.common.text import counted, duration
from spotsvm.reports.html.page import Picture
from spotsvm.reports.view import MOST, StudyView
from spotsvm.trials.ledger import suggested
from spotsvm.trials.trial import Trial

_COLOURS = {"ok": BLUE, "stopped": GREEN, "failed": ORANGE, "timeout": ORANGE}
_NAMES = {"ok": "successful", "stopped": "stopped early", "failed": "failed or timed out", "timeout": "failed or timed out"}
_MOST_LANES = 64
_UNITS = ((2 * 86400.0, 86400.0, "days"), (2 * 3600.0, 3600.0, "hours"), (120.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))

#: when an evaluation began and ended, and its trial
Span = tuple[float, float, Trial]


def evaluation_spans(trials: Sequence[Trial]) -> list[Span]:
    """Return the evaluations with known times, by their beginnings; a sweep is one evaluation."""
    spans = [(t.told_at - t.seconds, t.told_at, t) for t in suggested(trials) if t.told_at is not None and t.seconds is not None]
    known = [span for span in spans if all(map(math.isfinite, span[:2])) and 0 < span[0] <= span[1]]
    return sorted(known, key=lambda span: (span[0], span[2].number))


def lanes_of(spans: Sequence[Span]) -> list[int]:
    """Return a lane for each span, the first that is free: as many lanes as evaluations that ran at once."""
    ends: list[float] = []
    lanes = []
    for begin, end, _ in spans:
        slack = 0.01 * (end - begin)  # an outcome is told a moment before the next evaluation begins
        free = next((k for k, last in enumerate(ends) if last <= begin + slack), len(ends))
        if free == len(ends):
            ends.append(end)
        ends[free] = end
        lanes.append(free)
    return lanes


def timeline_picture(view: StudyView) -> Picture | None:
    """Draw the evaluations over time, in lanes; None without times, or with too many at once."""
    every = evaluation_spans(view.trials)
    spans = every[-MOST:]
    lanes = lanes_of(spans)
    n_lanes = max(lanes, default=-1) + 1
    if not spans or n_lanes > _MOST_LANES:
        return None
    first, last = spans[0][0], max(end for _, end, _ in spans)
    size, name = next((size, name) for least, size, name in _UNITS if last - first >= least)
    busy = sum(end - begin for begin, end, _ in spans) / max((last - first) * n_lanes, 1e-300)
    with drawing(8.0, 1.1 + 0.22 * max(n_lanes, 2)) as figure:
        ax = figure.subplots()
        for label in dict.fromkeys(_NAMES.values()):
            part = [(k, span) for k, span in enumerate(spans) if _NAMES[span[2].state] == label]
            if not part:
                continue
            colour = _COLOURS[part[0][1][2].state]
            begins = (np.array([begin for _, (begin, _, _) in part]) - first) / size
            ends = (np.array([end for _, (_, end, _) in part]) - first) / size
            rows = np.array([lanes[k] + 1.0 for k, _ in part])
            ax.hlines(rows, begins, ends, color=colour, lw=5.0, alpha=0.45, label=label)
            (points,) = ax.plot(ends, rows, "o", color=colour, ms=3.0)
            name_trials(points, [span[2].number for _, span in part])
        ax.set_xlabel(f"{name} since the first evaluation began")
        ax.set_ylabel("at once")
        ax.set_ylim(0.4, max(n_lanes, 2) + 0.6)
        ax.set_yticks(sorted({1, n_lanes}))
        figure.legend(*ax.get_legend_handles_labels(), loc="outside upper left", ncols=3)
    some = f"the last of {len(every)} evaluations, " * (len(every) > len(spans))
    return Picture(
        figure,
        f"When {some}{counted(len(spans), 'evaluation')} ran: a bar is an evaluation, and the dot is its end. At most {n_lanes} "
        f"ran at once, as many as there are lines; of the time on these lines evaluations took {100 * busy:.0f} %. The rest was "
        "for the search, for waiting, or between two runs.",
        f"Bars of {len(spans)} evaluations over {duration(last - first)}, on {counted(n_lanes, 'line')}.",
        zoomable=True,
    )
