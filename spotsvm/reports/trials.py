"""The sections on the study itself: its trials, its settings, the times and the versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.common.fingerprint import versions
from spotsvm.common.text import counted, duration, short_names, value_text
from spotsvm.reports.axes import branch_labels
from spotsvm.reports.html.page import Highlight, Part, Section, Table
from spotsvm.reports.repeat import CONTEXT
from spotsvm.reports.timeline import timeline_picture
from spotsvm.reports.view import MOST, SHOWN, StudyView, thinned
from spotsvm.space.description import scale_of
from spotsvm.space.parameter import Parameter
from spotsvm.space.space import Space
from spotsvm.trials.ledger import suggested
from spotsvm.trials.metrics import metric_words
from spotsvm.trials.objectives import BETTER
from spotsvm.trials.results import FIELDS, StudyResults
from spotsvm.trials.timing import PHASES, time_spent

_SCALES = {"log": "log-uniform", "quantiles": "the distribution's quantiles"}
_NOISE = {"auto": "estimated from repeats", "True": "noisy", "False": "deterministic"}


def settings_section(view: StudyView) -> Section:
    """Return the section with the settings, the search space, the time spent, the versions and the fingerprints of the data."""
    parts: list[Part] = [Table(_settings(view), "The study"), Table(space_table(view.study.space), "The search space")]
    if times := [(PHASES[phase], t.total, t.median, t.last, t.n_trials) for phase, t in time_spent(view.trials).items()]:
        spent = pd.DataFrame(times, columns=["spent in", "total", "median", "last trial", "trials"])
        parts.append(Table(spent, "Time spent, in seconds; parallel evaluations are added up"))
    if not view.too_large and (timeline := timeline_picture(view)) is not None:
        parts.append(timeline)
    study = view.study
    further = [*version_parts(study.about.get("versions"), "when the study began"), _fingerprints(study)]
    return Section("Settings, times and versions", [*parts, *further])


def version_parts(then: Any, when: str) -> list[Part]:
    """Return the versions then and now, and a note if they differ."""
    now = versions()
    then = then if isinstance(then, Mapping) else {}
    frame = pd.DataFrame([(name, str(then.get(name, "not recorded")), now[name]) for name in now], columns=["", when, "now"])
    parts: list[Part] = [Table(frame, "Versions")]
    if changed := [name for name in now if name in then and then[name] != now[name]]:
        parts.append(Highlight(f"{', '.join(changed)} had a different version then, so a repetition can differ.", "note"))
    return parts


def _fingerprints(study: StudyResults) -> Part:
    """Return the fingerprints of the data and settings behind the values."""
    about = study.about
    fingerprints = [(key.removeprefix(CONTEXT), str(value)) for key, value in sorted(about.items()) if key.startswith(CONTEXT)]
    if fingerprints:
        frame = pd.DataFrame(fingerprints, columns=["what", "text or fingerprint"])
        return Table(frame, "What the values depend on besides the parameters; equal data have equal fingerprints")
    return "The study has no fingerprint of the data behind its objective; Study(..., context={...}) takes a checksum of them."


def space_table(space: Space) -> pd.DataFrame:
    """Return a frame with a row per parameter: name, type, range, scale, and the dictionaries that have it."""
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
    """Describe a parameter whose fixed values distinguish the dictionaries."""
    values = dict.fromkeys(value_text(branch[name].decode(0.5)) for branch in space.branches)
    return {"type": "category", "range": ", ".join(values), "scale": "uniform"}


def _row(parameter: Parameter) -> dict[str, str]:
    if parameter.levels == 1:
        return {"type": "fixed", "range": value_text(parameter.decode(0.5)), "scale": ""}
    scale = _SCALES.get(scale_of(parameter), "uniform")
    if parameter.listed:
        kind = "category" if parameter.categorical else "ordered values"
        return {"type": kind, "range": ", ".join(value_text(value) for value in parameter.listed), "scale": scale}
    central = " (the central 99.9 %)" if parameter.central is not None else ""
    low, high = (value_text(parameter.decode(end)) for end in (0.0, 1.0))
    return {"type": parameter.kind, "range": f"{low} to {high}{central}", "scale": scale}


def _settings(view: StudyView) -> pd.DataFrame:
    study, objectives = view.study, view.study.objectives
    rows: list[tuple[str, str]] = [("search", view.search)]
    if objectives.several:
        rows += [(f"objective {name}", BETTER[one]) for name, one in zip(objectives.names, objectives.directions, strict=True)]
    else:
        rows.append((view.objective_name(0), BETTER[objectives.directions[0]]))
    if view.constraints:
        rows.append(("constraints", ", ".join(view.constraints)))
    rows += [("noise", _NOISE[str(study.noise)]), ("seed", str(study.seed)), ("trials", _progress(view))]
    if (name := study.about.get("sweep")) is not None:
        rows.append(
            ("suggestions", f"{len(suggested(view.trials))}, each with a sweep of values of {name}, which also count as trials")
        )
    searching = sum(t.ask_seconds or 0.0 for t in view.trials)
    rows.append(("time", f"{duration(view.seconds)} for the evaluations, added up; {duration(searching)} for the search"))
    return pd.DataFrame(rows, columns=["setting", "value"])


def _progress(view: StudyView) -> str:
    timeouts = sum(t.state == "timeout" for t in view.failed)
    told = len(view.ended)
    budget: Any = view.study.about.get("budget")
    text = f"{told} of {budget}" if isinstance(budget, int) and budget >= told else str(told)
    parts = [f"{len(view.done)} succeeded"]
    parts += [f"{len(view.stopped)} stopped early"] if view.stopped else []
    parts += [f"{len(view.failed) - timeouts} failed"] if len(view.failed) > timeouts else []
    parts += [f"{timeouts} timed out"] if timeouts else []
    parts += [f"{view.n_running} without a result yet"] if view.n_running else []
    return f"{text} finished: {', '.join(parts)}"


_WIDEST = 13
_MOST_CELLS = 30_000
_FEWEST = 200
_FAILED = 500
_TIMES = {
    "ask_seconds": "suggestion, s", "fit_seconds": "model, s", "acquisition_seconds": "next point, s", "seconds": "evaluation, s",
    "bounds_held": "bounds held",
}  # fmt: skip


def trials_section(view: StudyView) -> Section | None:
    """Return the section with all data of each trial, in tables narrow enough for paper, and the failures."""
    if not view.trials:
        return None
    frame = view.study.frame()
    values = list(view.study.objectives.columns)
    params = [name for name in frame.columns if name.startswith("param_")]
    extras = [name for name in frame.columns if name.startswith("extra_")]
    ends = [name for name in FIELDS if not _empty(frame[name])]
    bounded = [f"extra_{bound.split()[0]}" for bound in view.constraints if bound.split()]
    state = ["state"] if (frame["state"] != "ok").any() else []
    first = ["number", *state, *values, *[name for name in bounded if name in extras], *params]
    further = [name for name in (*extras, *ends) if name not in first]
    parts: list[Part] = []
    rows = view.rows(min(MOST, max(_MOST_CELLS // frame.shape[1], _FEWEST)))
    if len(rows) < len(frame):
        parts.append(f"Of {len(frame)} trials {len(rows)} are shown: {SHOWN}. study.to_csv and spotsvm export write all of them.")
    headings = _headings(frame, params, extras) | ({} if view.study.objectives.several else {"value": view.objective_name(0)})
    for k, columns in enumerate([*_split(first), ["number", *further]]):
        is_further = columns[1:] == further
        what = "further information" if is_further else "their parameters and values" + (", continued" if k else "")
        shown_columns = frame[columns].set_axis([headings[name] for name in columns], axis="columns")
        full = {headings[name]: name.removeprefix("param_").removeprefix("extra_") for name in columns}
        parts.append(
            Table(
                shown_columns,
                f"{counted(len(frame), 'trial')}: {what}",
                rows_shown=rows,
                trials=frame["number"].tolist(),
                chosen=view.chosen_number,
                names=full,
                folded=is_further,
            )
        )
    return Section("Trials", [*parts, *_failures(view)])


def _headings(frame: pd.DataFrame, params: list[str], extras: list[str]) -> dict[str, str]:
    """Return the heading of each column; parameters have their short names, unless another column has the same name."""
    headings = {str(name): str(name).removeprefix("param_").removeprefix("extra_") for name in frame.columns}
    taken = list(headings.values())
    readable = {name: _readable(name, one) for name, one in headings.items() if name not in params}
    headings |= {name: one for name, one in readable.items() if [*taken, *readable.values()].count(one) == 1}
    others = {headings[name] for name in frame.columns if name not in params}
    short = short_names(name.removeprefix("param_") for name in params)
    return headings | {f"param_{name}": one for name, one in short.items() if one not in others}


def _readable(name: str, heading: str) -> str:
    """Return a readable heading for one of the library's own columns."""
    if fold := re.fullmatch(r"split(\d+)_test_(\w+)", heading):
        return f"fold {int(fold[1]) + 1}" + ("" if fold[2] == "score" else f" {metric_words(fold[2])}")
    if time := re.fullmatch(r"(mean|std)_(fit|score)_time", heading):
        return f"{time[1]} {time[2]} time, s"
    return name.removeprefix("value_") if name.startswith("value_") else _TIMES.get(heading, heading)


def _failures(view: StudyView) -> list[Part]:
    """Return the parts about failed trials; an empty list without failures."""
    if not view.failed:
        return []
    groups: dict[str, list[int]] = {}
    for t in view.failed:
        groups.setdefault(t.reason or "(no reason was given)", []).append(t.number)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[1][0]))
    reasons = pd.DataFrame(
        [(reason, len(n), ", ".join(map(str, n[:20])) + (", …" if len(n) > 20 else "")) for reason, n in ordered],
        columns=["reason", "trials", "numbers"],
    )
    names = short_names(view.study.space.names)
    each = pd.DataFrame(
        {
            "number": [t.number for t in view.failed],
            "state": [t.state for t in view.failed],
            "parameters": [", ".join(f"{names[n]} = {value_text(v)}" for n, v in t.params.items()) for t in view.failed],
            "seconds": [t.seconds for t in view.failed],
            "reason": [t.reason for t in view.failed],
        }
    )
    return [
        Section(
            "Failed trials",
            [
                f"{counted(len(view.failed), 'trial')} of {len(view.ended)} failed. The search avoids parts of the space where "
                "trials fail.",
                Table(reasons, "Reasons, the most frequent first"),
                Table(
                    each,
                    "Each failed trial",
                    rows_shown=thinned(np.arange(len(each), dtype=float), _FAILED),
                    trials=[t.number for t in view.failed],
                ),
            ],
        )
    ]


def _split(columns: list[str]) -> list[list[str]]:
    """Split a long list of columns; each part begins with the first column."""
    head, rest = columns[0], columns[1:]
    return [[head, *rest[k : k + _WIDEST]] for k in range(0, len(rest), _WIDEST)]


def _empty(column: pd.Series[str]) -> bool:
    return bool((column.isna() | (column == "") | ((column == 0) & (column.name == "lost"))).all())
