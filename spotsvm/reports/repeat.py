"""The section on how to repeat a study: code, versions, and fingerprints of the data."""

from __future__ import annotations

import ast
import shlex
from typing import Any

from spotsvm.common.code import WIDTH, Script, literal, mapping_code
from spotsvm.common.text import printable_line
from spotsvm.reports.html.page import Code, Part, Section
from spotsvm.reports.view import StudyView
from spotsvm.solvers.search import SEARCHES
from spotsvm.space.description import is_parameter_code, parameter_code
from spotsvm.space.parameter import ChoiceParameter
from spotsvm.trials.constraints import from_texts
from spotsvm.trials.findings import Repeat
from spotsvm.trials.ledger import suggested
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import GIVEN, START, Trial

#: beginning of the names under which `about` has what the values depend on besides the parameters
CONTEXT = "context: "


def repeat_section(view: StudyView) -> Section:
    """Return the section."""
    about = view.source.about
    parts: list[Part] = [_what_is_the_same(about.get("batch_size", 1))]
    told = view.findings.repeat or Repeat()
    if told.command:
        parts.append(Code(told.command, "The command"))
    if told.code is not None:
        parts.append(Code(told.code, "Python code that repeats the tuning"))
    else:
        parts.append(Code(code_snippet(view.source), "Python code that runs the study again"))
    path = view.source.path
    if path is not None:
        name = shlex.quote(path.name)
        text = f"spotsvm export {name} --csv trials.csv\nspotsvm report {name} --out report.html\n"
        parts.append(Code(text, "Commands that read the record again"))
    return Section("How to repeat it", parts)


def _what_is_the_same(batch_size: Any) -> str:
    """Return a sentence on repeating the trials; the batch size is None if workers took trials as they became free."""
    text = "The same seed, objective and versions give the same trials"
    if batch_size is None:
        return (
            f"{text} only if the number of pending trials is the same at each suggestion. Here several workers took trials as "
            "they became free, or the batch size changed during the run, so the code gives other trials. A run with a batch_size "
            "can be repeated; this run can only be resumed from its record."
        )
    return f"{text}, whatever the number of workers, if the batch size is the same (batch_size={batch_size!s})."


def code_snippet(study: StudyResults) -> str:
    """Return Python code that runs the study again; it needs `objective`, or for cross-validation `estimator`, X, y and cv.

    Values that cannot be written as code, such as estimators in the space or the user's own search, are left to fill in, with a
    comment.
    """
    script = Script()
    script.use("spotsvm", "Study")
    space, missing = space_code(study, script)
    about = study.about
    search = about.get("search", "")
    is_named = isinstance(search, str) and search in SEARCHES
    arguments = [f"search={search!r}" if is_named else "search=search", f"seed={study.seed!r}"]
    arguments += [f"direction={study.objectives.describe()!r}", f"noise={study.noise!r}"]
    starts = [_start(study, t) for t in study.trials if t.origin == START]
    arguments += [f"start={starts!r}"] if starts and literal(repr(starts)) == starts else []
    swept = about.get("sweep")
    arguments += [f"sweep={swept!r}"] if isinstance(swept, str) else []
    conditions, bounds = from_texts(about.get("constraints"))
    arguments += [f"constraints={bounds!r}"] if bounds else []
    script.lines += [f"# search: {_line(search)}"] if not is_named else []
    script.lines += [f"# {name}: fill in the objects of the space" for name in missing]
    script.lines += [f"# constraints: add the condition {_line(name)}, your function of the parameters" for name in conditions]
    script.lines.append(f"space = {space}")
    objective = _objective(study)
    if objective:
        script.use("sklearn.base", "clone")
        script.use("sklearn.model_selection", "cross_val_score")
    script.lines += ["", "", *objective, "", ""] if objective else ["# objective: your function of the parameters"]
    budget = about.get("budget")
    n = budget if isinstance(budget, int) and not study.findings.ended_early else max(study.n_finished, 1)
    size = about.get("batch_size", 1)
    batches = f", batch_size={size}" if isinstance(size, int) and size > 1 else ""
    if size is None:
        script.lines.append(
            "# workers took trials as they became free, or the batch size changed: this runs other trials, one by one"
        )
    script.lines += [
        _call("study = Study", ["space", *arguments]),
        *_given(study),
        f"study.run(objective, n_trials={n}{batches})",
        f"print(study.{'pareto' if study.objectives.several else 'recommend'}())",
    ]
    return f"{script}\n"


def _call(function: str, arguments: list[str]) -> str:
    """Return the code of a call, with a line for each argument if it is long."""
    whole = f"{function}({', '.join(arguments)})"
    return whole if len(whole) <= WIDTH else f"{function}(\n" + "".join(f"    {one},\n" for one in arguments) + ")"


def space_code(study: StudyResults, script: Script) -> tuple[str, list[str]]:
    """Return the code of the space and the parameters that have no code; the script imports the distributions."""
    recorded = study.about.get("code")
    missing: list[str] = []
    branches = []
    for k, branch in enumerate(study.space.branches):
        entries = {}
        for name, parameter in branch.items():
            text = _recorded(recorded, k, name)
            # text from a record is used only if it is harmless code
            code = text if is_parameter_code(text) else parameter_code(parameter)
            if text == "" and recorded is not None or not code:
                code = "..."
                missing.append(_line(name))
            if (called := code.partition("(")[0]).isidentifier():
                script.use("scipy.stats", called)
            entries[name] = code
        branches.append(mapping_code(entries))
    text = branches[0] if len(branches) == 1 else "[" + ", ".join(branches) + "]"
    return text, missing


def _given(study: StudyResults) -> list[str]:
    """Return the lines that add the trials evaluated elsewhere; they come first, as in most original runs."""
    lines = []
    for t in suggested(study.trials):
        if t.origin != GIVEN:
            continue
        params = _start(study, t)
        if literal(repr(params)) != params:
            return ["# study.add_trial: add the trials that were evaluated elsewhere"]
        if t.sweep is None:
            shown = repr(list(t.values)) if t.value is None and t.values is not None else _value(t)
        else:
            name = study.about["sweep"]
            sweep = [one for one in study.trials if one.sweep == t.number]
            # pairs, because the values of a list may not be hashable
            shown = "[" + ", ".join(f"({_start(study, one)[name]!r}, {_value(one)})" for one in sweep) + "]"
            del params[name]
        lines.append(f"study.add_trial({params!r}, {shown})")
    return lines


def _value(trial: Trial) -> str:
    return 'float("nan")' if trial.value is None else repr(trial.value)


def _start(study: StudyResults, trial: Trial) -> dict[str, Any]:
    """Return the values of a start; values that a record has as text, such as tuples, come from their parameter's code."""
    branch = int(study.space.domain.level_of(trial.point)[0, 0]) if len(study.space.branches) > 1 else 0
    values = dict(trial.params)
    for name, parameter in study.space.branches[branch].items():
        code = _recorded(study.about.get("code"), branch, name)
        if parameter.listed and is_parameter_code(code) and code.startswith("["):
            listed = ast.literal_eval(code)
            place = min(int(parameter.encode(values[name]) * parameter.levels), parameter.levels - 1)
            values[name] = listed[place] if len(listed) == parameter.levels else values[name]
    return values


def _recorded(recorded: Any, k: int, name: str) -> Any:
    try:
        return recorded[k][name]
    except (KeyError, IndexError, TypeError):
        return None


def _objective(study: StudyResults) -> list[str]:
    """Return the code of a cross-validated score, or of a sweep of such scores; no lines if the study has another objective."""
    about, trials = study.about, study.trials
    estimator, scoring = about.get(CONTEXT + "estimator"), about.get(CONTEXT + "scoring")
    if not isinstance(estimator, str):
        return []
    lines = [f"# estimator: {_line(estimator)}", "# X, y: the data; cv: the folds"]
    if about.get(CONTEXT + "engine", "sklearn") != "sklearn":
        lines.append("# the study shared work between folds, so scores can differ in their last digits")
    if not isinstance(scoring, str) or len(scoring) > 1000 or not isinstance(literal(scoring), str | None):
        lines.append(f"# scoring: {_line(str(scoring))}")
        scoring = "scoring"
    call = f"cross_val_score(clone(estimator).set_params(**params), X, y, cv=cv, scoring={scoring}).mean()"
    if (name := about.get("sweep")) is None:
        return [*lines, "def objective(params):", f"    return {call}"]
    if isinstance(study.space.branches[0].get(name), ChoiceParameter):
        call = call.replace("**params", f"**params | {{{name!r}: value}}")
        where = "space" if len(study.space.branches) == 1 else "space[0]"
        return [*lines, "def objective(params):", f"    return [(value, {call}) for value in {where}[{name!r}]]"]
    last = suggested(trials)[-1:]
    values = sorted(t.params[name] for t in trials if last and t.sweep == last[0].number and name in t.params)
    call = call.replace("**params", f"**params | {{{name!r}: value}}")
    return [*lines, f"values = {values!r}", "def objective(params):", f"    return {{value: {call} for value in values}}"]


def _line(text: str) -> str:
    return printable_line(str(text))
