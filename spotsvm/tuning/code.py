"""The Python code that repeats a tuning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any

from spotsvm.common.code import Script, params_code
from spotsvm.common.text import printable_line
from spotsvm.luck.verdict import TUNED, Verdict
from spotsvm.reports.repeat import space_code
from spotsvm.search_cv.refit import Refit
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.tuning.tables.reading import Choices
from spotsvm.tuning.tables.split import TEST_SHARE
from spotsvm.tuning.tables.table import COPIES, Table


def reading_code(file: Path, target: str, task: str, choices: Choices) -> Script:
    """Return the code that reads a table."""
    usual = Choices()
    changed = {name: value for name, value in vars(choices).items() if value != getattr(usual, name)}
    said = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    script = Script(f"table = read_table({str(file)!r}, {target!r}, {task!r}, Choices({said}))")
    script.use("spotsvm.tables", "Choices", "read_table")
    return script


def series_code(file: Path, target: str, time: str | None, task: str, rows: int | None) -> Script:
    """Return the code that reads a series."""
    script = Script(f"table = read_series({str(file)!r}, {target!r}, {time!r}, {task!r}, {rows!r})")
    script.use("spotsvm.tables", "read_series")
    return script


def tuning_code(
    job: Any,
    settings: Any,
    search: SpotSearchCV,
    start: Sequence[Mapping[str, Any]],
    verdict: Verdict,
    refit: Refit | None,
) -> str:
    """Return code that reads the table of a job, splits it, runs the same search, and fits the recommended model.

    `settings` are those of the search, `refit` the fit to more rows after a search on a sample.
    """
    train = job.split[0]
    script, X, new = _split_code(job, *(["in_time=True"] if job.is_series else []), about="no search sees")
    script.use("sklearn.base", "clone")
    script.use("spotsvm", "SpotSearchCV")
    script.use("spotsvm.tables", "named_pipeline")
    searched = "sample" if job.sampled else "train"
    if job.sampled:
        script.use("spotsvm.tables", "Limits")
        script.lines.append(f"sample = {job.limits.code}.to_tune(train, {job.n_folds})  # of all training rows")
    about = [f"cv={job.n_folds}", f"seed={job.seed}"]
    about += [f"scale={settings.scale!r}"] if settings.scale != "standard" else []
    about += [f"class_weight={job.weights!r}"] if job.weights is not None else []
    about += [f"region={settings.region!r}"] if settings.region is not None else []
    about += [f"horizon={settings.horizon}"] if job.is_series else []
    if verdict.rival and job.scoring is not None:
        about.append(f"scoring={repr(job.metric) if isinstance(search.scoring, str) else _table_scorer_code(job, script)}")
    scoring = repr(job.metric) if isinstance(search.scoring, str) else _table_scorer_code(job, script)
    options = [
        f"n_iter={search.n_iter}",
        f"search=pipeline.search({settings.search!r})",
        "cv=pipeline.splitter",
        f"scoring={scoring}",
    ]
    options += [f"random_state={job.seed}"]
    options += [f"rows=({job.limits.sampled}, {job.limits.fitted})"] if job.sampled else []
    options += [f"batch_size={settings.batch_size}"] if settings.batch_size is not None else []
    options += ['stop="uncertainty"'] if settings.stop else []
    written = Script()
    space, missing = space_code(search.study_, written)
    if missing:
        space = "pipeline.space"
    else:
        script.include(written)
    timeout = search.study_.findings.timeout
    timed = timeout is not None and timeout.timed_out
    fitted, more, params = _refit_code(refit, searched)
    params = {**(verdict.params if verdict.recommended == "tuned" else {}), **params}
    chosen = ".set_params(**params)" if params else ""
    groups = "" if train.groups is None else ", groups=train.groups"
    model, given = f"pipeline.estimator){chosen}", ""
    if verdict.rival:
        model, given = f"pipeline.rival({verdict.rival!r}))", _rival_groups(verdict.rival, train)
    script.lines += [
        f"pipeline = named_pipeline({settings.pipeline!r}, {searched}, {', '.join(about)})",
        f"space = {space}",
        "# the default, and the centre of the space",
        "start = [",
        *(indent(f"{params_code(one)},", "    ") for one in start),
        "]",
        *(["# the original run may have begun in a narrower space; its first trials then differ"] if settings.widen else []),
        *(["# the original search ended at its time limit; this one has no time limit"] if timed else []),
        "search = SpotSearchCV(",
        *(f"    {option}," for option in ["pipeline.estimator", "space", *options, "start=start"]),
        ")",
        f"search.fit({X}, train.y{groups})",
        "print(search.best_params_, search.best_score_)",
        "",
        f"# the recommended model: {verdict.recommended_name}",
        *more,
        *([f"params = {params_code(params)}"] if chosen and not verdict.rival else []),
        f"model = clone({model}.fit({X.replace('train', fitted)}, {fitted}.y{given})",
        f"print(search.scorer_(model, {new}, test.y))  # on the held-out rows",
    ]
    return f"{script}\n"


def _rival_groups(code: str, train: Table) -> str:
    """Return the argument of the fit of a rival that takes groups."""
    if code == TUNED:
        kind = "tunedsvc" if train.task == "classification" else "tunedsvr"
        return "" if train.groups is None or train.groups.name == COPIES else f", {kind}__groups=train.groups"
    return "" if train.groups is None else ", groups=train.groups"


def _refit_code(refit: Refit | None, searched: str) -> tuple[str, list[str], dict[str, Any]]:
    """Return the name of the rows that the recommended model is fitted to, lines that make them, and parameters for this fit."""
    if refit is None:
        return searched, [], {}
    if refit.why:
        return searched, [f"# {printable_line(refit.why, 120)}"], {}
    params = {name: value for name, value in refit.estimator.get_params().items() if name.endswith("max_iter")}
    if refit.rows is None:
        return "train", [], params
    return "more", ["more = train.part(search.refit_rows_)"], params


def fitting_code(job: Any, model: Any, verdict: Verdict, cv: int) -> str:
    """Return code that reads the table of a job, splits it, and fits the same average and the recommended model.

    `cv` is the number of folds by which the probabilities of the default model are calibrated.
    """
    train = job.train
    script, X, new = _split_code(job, about="the fit does not see")
    script.use("spotsvm", type(model).__name__)
    if job.in_time:
        script.use("sklearn.model_selection", "TimeSeriesSplit")
    which = "model" if verdict.recommended == "tuned" else "default"
    script.lines += [
        f"model = {model!r}.fit({X}, train.y{_groups(train)})",
        f"default = model.default_estimator({'' if cv == 5 else f'cv={cv}'}).fit({X}, train.y)",
        f"model.add_held_out({new}, test.y, default{_groups(job.test, 'test')})",
        "print(model.verdict_)",
        f"print(model.{'expected' if which == 'model' else 'default'}_score_)  # on new rows, of `{which}`, which is recommended",
    ]
    return f"{script}\n"


def _split_code(job: Any, *more: str, about: str) -> tuple[Script, str, str]:
    """Return a script that makes and splits the table, and the code of the features of the training and the held-out rows."""
    script = Script()
    if job.source is None:
        script.use("spotsvm.tables", "make_table")
        script.lines.append("table = ...  # make_table(X, y)")
    else:
        script.include(job.source)
    script.use("spotsvm.tables", "held_out")
    share = [] if job.share == TEST_SHARE else [f"share={job.share!r}"]
    arguments = ", ".join(["table", str(job.least), str(job.seed), *more, *share])
    script.lines.append(f"train, test = held_out({arguments})  # {about} the rows of test")
    columns = ("train.X", "test.X") if hasattr(job.train.X, "columns") else ("train.X.to_numpy()", "test.X.to_numpy()")
    return script, *columns


def _table_scorer_code(job: Any, script: Script) -> str:
    script.use("spotsvm.tables", "table_scorer")
    return f"table_scorer({job.metric!r}, table)"


def _groups(rows: Table, name: str = "train") -> str:
    return "" if rows.groups is None or rows.groups.name == COPIES else f", groups={name}.groups"
