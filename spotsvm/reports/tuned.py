"""The sections on the study itself: what was tuned, what is recommended, failed trials, and all trials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from spotsvm.common.drawing import drawing, panels
from spotsvm.common.text import duration
from spotsvm.reports.axes import branch_labels, shown, shown_params
from spotsvm.reports.page import MISSING, Notice, Part, Picture, Section, Table, short
from spotsvm.reports.view import MOST, SHOWN, StudyView, thinned
from spotsvm.space.description import scale_of
from spotsvm.space.parameter import ChoiceParameter, ContinuousParameter, IntegerParameter, Parameter
from spotsvm.space.space import Space
from spotsvm.trials.edges import edges_of
from spotsvm.trials.profile import suggested
from spotsvm.trials.recommendation import Recommendation, why_none
from spotsvm.trials.timing import PHASES, time_spent

_HOW = {
    "predicted": "the best predicted among the evaluated ones", "observed": "the best seen", "criterion": "the best by the "
    "criterion of the search", "confirmed": "the best of the contenders on further partitions",
}  # fmt: skip
_SCALES = {"log": "log-uniform", "quantiles": "the distribution's quantiles"}
_NOISE = {"auto": "estimated from repeats", "True": "noisy", "False": "deterministic"}


def tuned_section(view: StudyView) -> Section:
    """Return the section with the settings, the progress, the search space and the time spent."""
    parts: list[Part] = []
    if view.n_running:
        parts.append(
            Notice(
                f"{counted(view.n_running, 'trial')} had no result when this report was made: the study was running, or had been "
                "interrupted. The report is about the finished trials.",
                "warning",
            )
        )
    if not view.done:
        parts.append(Notice("No trial has succeeded yet, so there is no recommendation, and no effects are shown.", "warning"))
    elif view.recommended is None and not (view.study.objectives.several and view.front):
        parts.append(Notice(f"There is no recommendation yet: {why_none(view.trials)}.", "warning"))
    parts += [Table(_settings(view), "The study"), Table(space_table(view.study.space), "The search space")]
    if times := [(PHASES[phase], t.total, t.median, t.last, t.n_trials) for phase, t in time_spent(view.trials).items()]:
        spent = pd.DataFrame(times, columns=["spent in", "total", "median", "last trial", "trials"])
        parts.append(Table(spent, "Time spent, in seconds; parallel evaluations are added up"))
    return Section("What was tuned", parts)


def counted(number: int, what: str) -> str:
    """Return a number with its noun in the singular or plural.

    Examples
    --------
    >>> counted(1, "trial"), counted(3, "trial")
    ('1 trial', '3 trials')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"


def space_table(space: Space) -> pd.DataFrame:
    """Return a frame with a row per parameter: name, type, range, scale, and the dictionaries that have it.

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
    """Describe a parameter whose fixed values tell the dictionaries apart."""
    values = dict.fromkeys(shown(branch[name].decode(0.5)) for branch in space.branches)
    return {"type": "category", "range": ", ".join(values), "scale": "uniform"}


def _row(parameter: Parameter) -> dict[str, str]:
    if parameter.levels == 1:
        return {"type": "fixed", "range": shown(parameter.decode(0.5)), "scale": ""}
    scale = _SCALES.get(scale_of(parameter), "uniform")
    if isinstance(parameter, ChoiceParameter):
        kind = "category" if parameter.categorical else "ordered values"
        return {"type": kind, "range": ", ".join(shown(value) for value in parameter.values), "scale": scale}
    kind = "integer" if isinstance(parameter, IntegerParameter) else "continuous"
    whole = " (the central 99.9 %)" if isinstance(parameter, ContinuousParameter) and parameter.central is not None else ""
    return {"type": kind, "range": f"{shown(parameter.decode(0.0))} to {shown(parameter.decode(1.0))}{whole}", "scale": scale}


def _settings(view: StudyView) -> pd.DataFrame:
    study, objectives = view.study, view.study.objectives
    better = {"minimize": "smaller is better", "maximize": "larger is better"}
    rows: list[tuple[str, str]] = [("search", str(study.about.get("search", "")))]
    if objectives.several:
        rows += [(f"objective {name}", better[one]) for name, one in zip(objectives.names, objectives.directions, strict=True)]
    else:
        rows.append(("value", better[objectives.directions[0]]))
    if isinstance(constraints := study.about.get("constraints"), list) and constraints:
        rows.append(("constraints", ", ".join(map(str, constraints))))
    rows += [("noise", _NOISE[str(study.noise)]), ("seed", str(study.seed)), ("trials", _progress(view))]
    if (name := study.about.get("profile")) is not None:
        rows.append(
            ("suggestions", f"{len(suggested(view.trials))}, each with a path of values of {name}, which are trials as well")
        )
    spent = sum(t.seconds or 0.0 for t in view.trials)
    searching = sum(t.ask_seconds or 0.0 for t in view.trials)
    rows.append(("time", f"{duration(spent)} for the evaluations, added up; {duration(searching)} for the search"))
    return pd.DataFrame(rows, columns=["setting", "value"])


def _progress(view: StudyView) -> str:
    timeouts = sum(t.state == "timeout" for t in view.failed)
    told = len(view.done) + len(view.failed)
    budget: Any = view.study.about.get("budget")
    text = f"{told} of {budget}" if isinstance(budget, int) and budget >= told else str(told)
    parts = [f"{len(view.done)} succeeded"]
    parts += [f"{len(view.failed) - timeouts} failed"] if len(view.failed) > timeouts else []
    parts += [f"{timeouts} timed out"] if timeouts else []
    parts += [f"{view.n_running} without a result yet"] if view.n_running else []
    return f"{text} finished: {', '.join(parts)}"


def recommended_section(view: StudyView) -> Section | None:
    """Return the section, or None if there is no trial to recommend."""
    if view.study.objectives.several:
        return Section("Which trials to choose from", _front(view)) if view.front else None
    found = view.recommended
    if found is None:
        return None
    there = view.trials[found.best_seen_number].point
    table = recommended_table(found, sum(t.point == there for t in view.done))
    how = _HOW[found.basis]
    edges = [Notice(str(edge), "note") for edge in edges_of(found.params, view.study.space)]
    parts: list[Part] = [Notice(_words(found), "finding"), *edges, Table(table, f"The recommended trial is {how}", 6)]
    return Section("What is recommended", parts)


def recommended_table(found: Recommendation, best_seen_evaluations: int) -> pd.DataFrame:
    """Return a frame with a column for the recommended trial, and one for the best seen, evaluated so often, if it is another."""
    names = list(dict.fromkeys([*found.params, *found.best_seen_params]))
    rows = ["trial", "value", "basis", "standard error of the value", "evaluations", *names]
    basis = {"predicted": "predicted", "confirmed": "mean of fresh partitions"}.get(found.basis, "seen")
    recommended = [found.number, found.value, basis, found.standard_error, found.n_evaluations]
    seen = [found.best_seen_number, found.best_seen_value, "seen", found.best_seen_standard_error, best_seen_evaluations]
    columns = {
        "recommended": [*recommended, *(found.params.get(name, MISSING) for name in names)],
        "best seen": [*seen, *(found.best_seen_params.get(name, MISSING) for name in names)],
    }
    frame = pd.DataFrame({"": rows, **{key: pd.Series(column, dtype=object) for key, column in columns.items()}})
    if found.number == found.best_seen_number and basis == "seen":
        frame = frame.drop(columns="best seen").rename(columns={"recommended": "recommended, and best seen"})
    return frame


def _words(found: Recommendation) -> str:
    if found.basis == "observed":
        return (
            f"Use trial {found.number}: its value, {short(found.value, 6)}, is the best seen. No noise was found, so the value "
            "is not corrected for noise."
        )
    best = short(found.best_seen_value, 6)
    if found.basis == "criterion":
        return (
            f"Use trial {found.number}: it is the best by the criterion of the search. Its value is {short(found.value, 6)}. "
            f"The best value seen is {best}, in trial {found.best_seen_number}; the best of many is partly luck."
        )
    if found.basis == "confirmed":
        return (
            f"Use trial {found.number}: on further random partitions of the rows it is the best of the contenders. On "
            f"{found.n_evaluations - 1} partitions that had no part in the choice its mean value is {short(found.value, 6)}. The "
            f"best value seen on the given folds is {best}, in trial {found.best_seen_number}; the best of many is partly luck."
        )
    if dict(found.params) == dict(found.best_seen_params):
        seen = f"Its configuration also has the best value seen, {best}"
    else:
        seen = f"The best value seen is {best}, in trial {found.best_seen_number}"
    return (
        f"Use trial {found.number}: its expected value is {short(found.value, 6)}, with a standard error of "
        f"{short(found.standard_error, 2)}. {seen}; but a single value has a standard error of about "
        f"{short(found.best_seen_standard_error, 2)}, and the best of many is partly luck."
    )


def _front(view: StudyView) -> list[Part]:
    from spotsvm.trials.pareto import plot_pareto

    front, objectives = view.front, view.study.objectives
    pairs = len(objectives) * (len(objectives) - 1) // 2
    columns = min(pairs, 3)
    with drawing(6.5 if pairs == 1 else 3.5 * columns, 4.2 if pairs == 1 else 3.2 * -(-pairs // columns)) as figure:
        plot_pareto(view.trials, objectives, panels(figure, pairs, columns), MOST)
    table = [
        {"trial": t.number}
        | dict(zip((view.objective_name(k) for k in range(len(objectives))), t.values or (), strict=True))
        | {name: t.params.get(name) for name in view.study.space.names}
        for t in front
    ]
    named = " and ".join(objectives.labels)
    thin = f" At most {MOST} trials of the front and {MOST} others are drawn." if len(view.done) > MOST else ""
    return [
        Notice(
            f"The front has {counted(len(front), 'trial')} of {len(view.done)}: no other trial is better in one objective and at "
            "least as good in all others. Which of them to use depends on how much each objective matters to you.",
            "finding",
        ),
        Picture(
            figure,
            f"The trials by {named}, and their front.{thin}",
            f"Scatter plot of {len(view.done)} trials, {len(front)} of them on the front; the table of the front follows.",
        ),
        Table(
            pd.DataFrame(table),
            "The front, beginning with the best in the first objective",
            rows_shown=np.linspace(0, len(table) - 1, min(len(table), MOST)).astype(np.intp),
        ),
    ]


_WIDEST = 13
_MOST_CELLS = 30_000
_FEWEST = 200
_FAILED = 500
_ENDS = ("origin", "note", "reason", "seed", "ask_seconds", "fit_seconds", "acquisition_seconds", "seconds", "lost")


def failures_section(view: StudyView) -> Section:
    """Return the section on failed trials."""
    if not view.failed:
        return Section("Failed trials", ["No trial has failed."])
    groups: dict[str, list[int]] = {}
    for t in view.failed:
        groups.setdefault(t.reason or "(no reason was given)", []).append(t.number)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[1][0]))
    reasons = pd.DataFrame(
        [(reason, len(n), ", ".join(map(str, n[:20])) + (", …" if len(n) > 20 else "")) for reason, n in ordered],
        columns=["reason", "trials", "numbers"],
    )
    each = pd.DataFrame(
        [(t.number, t.state, shown_params(t.params), t.seconds, t.reason) for t in view.failed],
        columns=["number", "state", "parameters", "seconds", "reason"],
    )
    told = len(view.done) + len(view.failed)
    return Section(
        "Failed trials",
        [
            f"{counted(len(view.failed), 'trial')} of {told} failed. The search avoids regions in which trials fail.",
            Table(reasons, "Reasons, the most frequent first"),
            Table(each, "Each failed trial", rows_shown=thinned(np.arange(len(each), dtype=float), _FAILED)),
        ],
    )


def trials_section(view: StudyView) -> Section:
    """Return the section with everything known about each trial, in tables narrow enough for paper."""
    if not view.trials:
        return Section("All trials", ["There are no trials yet."])
    frame = view.study.frame()
    values = list(view.study.objectives.columns)
    params = [name for name in frame.columns if name.startswith("param_")]
    extras = [name for name in frame.columns if name.startswith("extra_")]
    ends = [name for name in _ENDS if not _empty(frame[name])]
    first = ["number", "state", *values, *params]
    parts: list[Part] = []
    rows = view.rows(min(MOST, max(_MOST_CELLS // frame.shape[1], _FEWEST)))
    if len(rows) < len(frame):
        parts.append(f"Of {len(frame)} trials {len(rows)} are shown: {SHOWN}. study.to_csv and spotsvm export write all of them.")
    for k, columns in enumerate([*_split(first), *_split(["number", *extras, *ends])]):
        what = "their parameters and values" if set(columns) & {*params, *values} else "further information"
        more = "" if k == 0 else ", continued" if what.startswith("their") else ""
        names = [name.removeprefix("param_").removeprefix("extra_") for name in columns]
        shown_columns = frame[columns].set_axis(names, axis="columns")
        parts.append(Table(shown_columns, f"{counted(len(frame), 'trial')}: {what}{more}", rows_shown=rows))
    return Section("All trials", parts)


def _split(columns: list[str]) -> list[list[str]]:
    """Split a long list of columns; each part begins with the first one."""
    head, rest = columns[0], columns[1:]
    return [[head, *rest[k : k + _WIDEST]] for k in range(0, len(rest), _WIDEST)]


def _empty(column: pd.Series[str]) -> bool:
    return bool((column.isna() | (column == "") | ((column == 0) & (column.name == "lost"))).all())
