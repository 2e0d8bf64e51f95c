"""The section on learning curves: the values that trials reported at each step, and the trials that ended early."""

from __future__ import annotations

import numpy as np

from spotsvm.common.drawing import BLUE, ORANGE, drawing, name_trials, plain
from spotsvm.common.text import counted, short
from spotsvm.reports.html.page import Part, Picture, Section
from spotsvm.reports.view import StudyView
from spotsvm.trials.trial import Trial

#: maximum number of curves drawn
_MOST = 100


def learning_curves_section(view: StudyView) -> Section | None:
    """Return the section, or None if no trial reported a step or there are several objectives."""
    trials = [t for t in (view.trials[k] for k in view.rows(_MOST)) if t.steps]
    if not trials or view.study.objectives.several:
        return None
    return Section("Learning curves", [_words(view), _picture(view, trials)])


def _words(view: StudyView) -> Part:
    complete = [t.steps[-1][0] for t in view.done if t.steps]
    if not view.stopped:
        return "No trial was stopped early."
    taken = sum(len(t.steps) for t in view.trials)
    lengths = [len(t.steps) for t in view.done if t.steps]
    saved = float(np.median(lengths)) * len(view.stopped) - sum(len(t.steps) for t in view.stopped) if lengths else 0.0
    share = f", about {100 * saved / (taken + saved):.0f} % of the steps of all trials" if saved > 0 else ""
    last = f" A complete trial has {short(float(np.median(complete)))} as its last step." if complete else ""
    return (
        f"{counted(len(view.stopped), 'trial')} of {len(view.ended)} ended early, because the rule of the run saw little "
        f"chance of an improvement. This saved {short(saved)} reported steps{share}.{last} A trial that ended early is "
        "never recommended; the search uses the value that a model of the curves predicts for it."
    )


def _picture(view: StudyView, trials: list[Trial]) -> Picture:
    chosen = view.chosen_number
    with drawing(4.4, 3.1) as figure:
        ax = figure.subplots()
        for t in sorted(trials, key=lambda t: (t.state == "ok", t.number == chosen)):
            at, values = np.array(t.steps).T
            best = t.number == chosen
            color = ORANGE if best else BLUE if t.state == "ok" else "0.6"
            (line,) = ax.plot(at, values, color=color, lw=1.8 if best else 0.8, alpha=1.0 if best else 0.7)
            line.set_label(view.chosen_words if best else "complete" if t.state == "ok" else "not complete")
            if t.state != "ok":
                (end,) = ax.plot(at[-1:], values[-1:], "o", ms=3.0, color=color)
                name_trials(end, [t.number])
        ax.set_xlabel("step")
        ax.set_ylabel(plain(view.study.objectives.labels[0]))
        values = np.concatenate([[value for _, value in t.steps] for t in trials])
        low, high = np.quantile(values, [0.0, 0.95] if view.sign > 0 else [0.05, 1.0])
        room = 0.05 * (high - low) or 1.0
        ax.set_ylim(low - room, high + room)
        labels = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
        figure.legend(labels.values(), labels.keys(), loc="outside upper left", ncols=3)
    n_stopped = sum(t.state == "stopped" for t in trials)
    return Picture(
        figure,
        f"The values that trials reported, by step; a dot is where a trial ended early. {len(trials)} trials are drawn.",
        f"{len(trials)} curves, of which {n_stopped} end early.",
    )
