"""Studies opened from their records alone: one, or a list of those in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, cast, overload

import numpy as np
import pandas as pd

from spotsvm.common.text import checked_path
from spotsvm.errors import ArgumentError, SpaceError, SpotSVMError, StudyMismatchError
from spotsvm.solvers.search import SEARCHES
from spotsvm.space.optimum_prior import OptimumPrior
from spotsvm.space.rebuilt import rebuilt_space
from spotsvm.study.record.opening import record_files
from spotsvm.study.record.record import read_ledger
from spotsvm.study.recorded import RecordedStudy
from spotsvm.study.status import status_of_ledger
from spotsvm.study.study import Study
from spotsvm.trials.constraints import Constraints, ConstraintsLike, from_texts
from spotsvm.trials.sweep import SweptParameter

_STATES = ("ok", "stopped", "failed", "timeout", "running")
_CONTEXT = "context: "


@overload
def load_study(path: str | Path, *, read_only: Literal[True] = True) -> RecordedStudy: ...
@overload
def load_study(path: str | Path, *, read_only: Literal[False], constraints: ConstraintsLike | None = None) -> Study: ...
def load_study(path: str | Path, *, read_only: bool = True, constraints: ConstraintsLike | None = None) -> RecordedStudy | Study:
    """Open a study from its record, without its space and its other arguments.

    Parameters
    ----------
    path : path-like
        The record.
    read_only : bool, default=True
        Whether only to read the record. The study then has results, tables, pictures and a report, but no `ask` and no `run`; the
        record is not changed or locked, and another process may be writing to it. False opens the study for further trials, with
        the recorded search, seed and context; starts that were never evaluated are not in the record.
    constraints : callable, mapping, sequence of them, or None, default=None
        The conditions of the study, as `Study` takes them, for `read_only=False`: the record has only the names of functions.
        Bounds are in the record.

    Returns
    -------
    RecordedStudy or Study

    Raises
    ------
    StorageError
        If there is no such record, or it is damaged, or another process is writing to it (unless `read_only`).
    StudyMismatchError
        If the study is to be resumed, but the record has only the text of something needed: a list of estimators, say, a search
        of your own, or a function that is a constraint and was not passed. Then call `Study(space, ..., path=path)` with the same
        arguments. Also if the constraints passed are not those that the record names, or if a trial violates one.
    ArgumentError
        If constraints are passed with `read_only=True`, or are invalid.

    See Also
    --------
    list_studies : The studies in a folder.
    Study : With `path`, resumes a record of the same space.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from spotsvm import Study, load_study
    >>> with TemporaryDirectory() as folder:
    ...     Study({"x": [1, 2, 3]}, "random", 0, path=f"{folder}/a.db").run(
    ...         lambda p: p["x"], n_trials=2
    ...     ).close()
    ...     with load_study(f"{folder}/a.db", read_only=False) as study:
    ...         _ = study.run(lambda p: p["x"], n_trials=3)
    ...     load_study(f"{folder}/a.db").best_trial.value
    1.0

    A study with a condition, which the record has by name only:

    >>> def odd(params):
    ...     return params["x"] % 2 == 1
    >>> with TemporaryDirectory() as folder:
    ...     Study(
    ...         {"x": [1, 2, 3]},
    ...         "random",
    ...         0,
    ...         path=f"{folder}/a.db",
    ...         constraints=odd,
    ...     ).run(lambda p: p["x"], n_trials=1).close()
    ...     with load_study(
    ...         f"{folder}/a.db", read_only=False, constraints=odd
    ...     ) as study:
    ...         sorted(
    ...             trial.params["x"]
    ...             for trial in study.run(lambda p: p["x"], n_trials=2).trials
    ...         )
    [1, 3]
    """
    given = Constraints.of(constraints)
    if read_only and given:
        raise ArgumentError("constraints are only for a study that is resumed; pass read_only=False as well, or leave them out")
    read = RecordedStudy(path)
    if read_only:
        return read
    about = read.about
    search = about.get("search")
    if not isinstance(search, str) or search not in SEARCHES:
        raise _insufficient(path, f"its search {search!r} is not one of spotsvm")
    try:
        space = rebuilt_space(about["space"], about.get("code"))
    except SpaceError as error:
        raise _insufficient(path, str(error)) from error
    conditions, bounds = from_texts(about.get("constraints"))
    if conditions and not given.conditions:
        raise _insufficient(path, f"it has only the names of its constraints {', '.join(conditions)}", "give constraints=")
    context = {key.removeprefix(_CONTEXT): value for key, value in about.items() if key.startswith(_CONTEXT)}
    direction: Any = read.objectives.describe()
    sweep, prior = about.get("sweep"), about.get("prior")
    if prior is not None:
        prior = OptimumPrior(space if sweep is None else SweptParameter(space, sweep).searched, prior)
    return Study(
        space,
        cast("Any", search),
        read.seed,
        direction=direction,
        path=path,
        noise=read.noise,
        context=context,
        sweep=sweep,
        constraints=[*given.conditions, {**bounds, **given.bounds}],
        prior=prior,
    )


def _insufficient(path: str | Path, why: str, instead: str = "") -> StudyMismatchError:
    known = f"create the study with the same arguments and path={str(path)!r}"
    return StudyMismatchError(
        f"{path} alone cannot be resumed: {why}; {instead or known}, or leave out read_only=False to read it"
    )


def list_studies(folder: str | Path) -> pd.DataFrame:
    """Return the studies whose records are in a folder and its subfolders, a row each; the records are only read.

    Parameters
    ----------
    folder : path-like
        The folder, or one record.

    Returns
    -------
    DataFrame
        Sorted by path. Columns: path, search (its name), the numbers of trials that are ok, failed, timeout and running, best
        (the best value; nan of several objectives), direction, created and modified (when the first trial was asked for, and a
        trial last asked for or told; UTC), error (why a file cannot be read; empty if it can).

    Raises
    ------
    StorageError
        If the folder cannot be read.

    See Also
    --------
    load_study : Open one of them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from spotsvm import Study, list_studies
    >>> with TemporaryDirectory() as folder:
    ...     Study({"x": [1, 2, 3]}, "random", 0, path=f"{folder}/a.db").run(
    ...         lambda p: p["x"], n_trials=3
    ...     ).close()
    ...     list_studies(folder)[["search", "ok", "best", "direction"]]
       search  ok  best direction
    0  random   3   1.0  minimize
    """
    rows = [_row(file) for file in record_files(checked_path(folder, "folder", "runs"))]
    frame = pd.DataFrame(rows, columns=["path", "search", *_STATES, "best", "direction", "created", "modified", "error"])
    times = {name: pd.to_datetime(frame[name], unit="s", utc=True) for name in ("created", "modified")}
    return frame.assign(**times).astype(dict.fromkeys(_STATES, "int64") | {"best": "float64"})


def _row(file: Path) -> dict[str, Any]:
    row: dict[str, Any] = {"path": str(file), "search": "", **dict.fromkeys(_STATES, 0), "best": np.nan, "direction": ""}
    try:
        ledger = read_ledger(file)
        status, about, trials = status_of_ledger(ledger, file), ledger.about, ledger.trials
    except SpotSVMError as error:
        return row | {"created": None, "modified": None, "error": str(error)}
    times = [at for t in trials for at in (t.asked_at, t.told_at) if at is not None and 0 <= at < 1e10]
    counts = (status.n_ok, status.n_stopped, status.n_failed, status.n_timeout, status.n_running)
    direction = about.get("direction", "")
    return row | {
        "search": status.search,
        **dict(zip(_STATES, counts, strict=True)),
        "best": np.nan if status.incumbent is None else status.incumbent.value,
        "direction": direction if isinstance(direction, str) else ", ".join(f"{name}: {one}" for name, one in direction.items()),
        "created": min(times, default=None),
        "modified": max(times, default=file.stat().st_mtime),
        "error": "",
    }
