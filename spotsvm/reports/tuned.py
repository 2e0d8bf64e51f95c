"""The section that says what was tuned."""

from __future__ import annotations

from typing import Any

import pandas as pd

from spotsvm.described_parameter import scale_of
from spotsvm.durations import duration
from spotsvm.parameter import ChoiceParameter, IntegerParameter, Parameter
from spotsvm.reports.axes import branch_labels, shown
from spotsvm.reports.page import Part, Section
from spotsvm.reports.parts import Notice, Table
from spotsvm.reports.study_view import StudyView
from spotsvm.space import Space
from spotsvm.time_spent import PHASES, time_spent

_SCALES = {
    "linear": "uniform",
    "log": "log-uniform",
    "quantiles": "the distribution's quantiles",
    "integers": "uniform",
    "values": "uniform",
}
_NOISE = {"auto": "found out from repeats", "True": "noisy", "False": "deterministic"}


def tuned_section(view: StudyView) -> Section:
    """Give the section: the study's settings, how far it is, and its space."""
    parts: list[Part] = []
    if view.n_running:
        parts.append(
            Notice(
                f"{counted(view.n_running, 'trial')} had no result when this report was made: the study was still running, or "
                "was ended meanwhile. All that follows is about the trials that were finished then.",
                "warning",
            )
        )
    if not view.done:
        parts.append(
            Notice("No trial has succeeded yet, so there is nothing to recommend and nothing to show of effects.", "warning")
        )
    parts += [Table(_settings(view), "The study"), Table(space_table(view.study.space), "The search space")]
    if len(spent := _time_table(view)):
        parts.append(Table(spent, "Where the time went, in seconds; evaluations that ran beside one another count one by one"))
    return Section("What was tuned", parts)


def counted(number: int, what: str) -> str:
    """Give a number with its noun.

    Examples
    --------
    >>> counted(1, "trial"), counted(3, "trial")
    ('1 trial', '3 trials')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"


def space_table(space: Space) -> pd.DataFrame:
    """Give a frame with a row a parameter: parameter, type, range, scale, and where it exists if not everywhere.

    Parameters
    ----------
    space : Space
        The space.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> space_table(Space({"C": loguniform(0.1, 10), "kernel": ["rbf", "poly"]})).to_dict("records")[0]
    {'parameter': 'C', 'type': 'continuous', 'range': '0.1 to 10', 'scale': 'log-uniform'}
    """
    chosen, labels = branch_labels(space)
    telling = chosen.split(", ")
    rows: dict[tuple[str, str], dict[str, str]] = {}
    where: dict[tuple[str, str], list[int]] = {}
    for k, branch in enumerate(space.branches):
        for name, parameter in branch.items():
            key = (name, repr(parameter.describe()))
            if len(labels) > 1 and name in telling and parameter.levels == 1:
                key, row = (name, ""), _choice(space, name)
            else:
                row = _row(parameter)
            rows[key] = {"parameter": name, **row}
            where.setdefault(key, []).append(k)
    if len(labels) > 1:
        for key, row in rows.items():
            everywhere = len(where[key]) == len(labels)
            row["exists for"] = "all" if everywhere else "; ".join(labels[k] for k in where[key])
    return pd.DataFrame(list(rows.values()))


def _choice(space: Space, name: str) -> dict[str, str]:
    """Describe a parameter by whose fixed values the dictionaries differ."""
    values = dict.fromkeys(shown(branch[name].decode(0.5)) for branch in space.branches)
    return {"type": "category", "range": ", ".join(values), "scale": "uniform"}


def _row(parameter: Parameter) -> dict[str, str]:
    if parameter.levels == 1:
        return {"type": "fixed", "range": shown(parameter.decode(0.5)), "scale": ""}
    scale = _SCALES[scale_of(parameter)]
    if isinstance(parameter, ChoiceParameter):
        kind = "category" if parameter.categorical else "ordered values"
        return {"type": kind, "range": ", ".join(shown(value) for value in parameter.values), "scale": scale}
    kind = "integer" if isinstance(parameter, IntegerParameter) else "continuous"
    return {"type": kind, "range": f"{shown(parameter.decode(0.0))} to {shown(parameter.decode(1.0))}", "scale": scale}


def _settings(view: StudyView) -> pd.DataFrame:
    study, objectives = view.study, view.study.objectives
    better = {"minimize": "smaller is better", "maximize": "larger is better"}
    rows: list[tuple[str, str]] = [("search", str(study.about.get("search", "")))]
    if objectives.several:
        rows += [(f"objective {name}", better[one]) for name, one in zip(objectives.names, objectives.directions, strict=True)]
    else:
        rows.append(("value", better[objectives.directions[0]]))
    rows += [("noise", _NOISE[str(study.noise)]), ("seed", str(study.seed)), ("trials", _progress(view))]
    spent = sum(t.seconds or 0.0 for t in view.trials)
    searching = sum(t.ask_seconds or 0.0 for t in view.trials)
    rows.append(("time", f"{duration(spent)} for the evaluations, one after the other; {duration(searching)} for the search"))
    return pd.DataFrame(rows, columns=["setting", "as it was"])


def _time_table(view: StudyView) -> pd.DataFrame:
    rows = [(PHASES[phase], t.total, t.median, t.last, t.n_trials) for phase, t in time_spent(view.trials).items()]
    return pd.DataFrame(rows, columns=["spent in", "in all", "median", "last trial", "trials"])


def _progress(view: StudyView) -> str:
    timeouts = sum(t.state == "timeout" for t in view.failed)
    told = len(view.done) + len(view.failed)
    budget: Any = view.study.about.get("budget")
    text = f"{told} of {budget}" if isinstance(budget, int) and budget >= told else str(told)
    parts = [f"{len(view.done)} succeeded"]
    parts += [f"{len(view.failed) - timeouts} failed"] if len(view.failed) > timeouts else []
    parts += [f"{timeouts} ran out of time"] if timeouts else []
    parts += [f"{view.n_running} without a result yet"] if view.n_running else []
    return f"{text} finished: {', '.join(parts)}"
