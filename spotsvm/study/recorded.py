"""Studies read from their records, without the objective, also while they are running."""

from __future__ import annotations

from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pandas as pd

from spotsvm.common.text import checked_path, counted
from spotsvm.errors import ArgumentError, SpaceError, StorageError
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.space.space import Space
from spotsvm.study.readable import ReadableStudy
from spotsvm.study.record.codec import brief_repr
from spotsvm.study.record.opening import writer_of
from spotsvm.study.record.record import Record, read_ledger
from spotsvm.study.record.salvage import damaged, salvage
from spotsvm.study.resume import is_seed, params_problem, size_problem, trial_problem
from spotsvm.trials.events import SWEEP
from spotsvm.trials.ledger import Ledger, finished_words
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.results import fold_table, parameter_names, trial_table
from spotsvm.trials.sweep import SweptParameter, described_sweep
from spotsvm.trials.trial import GIVEN, START, Trial

#: attributes of `Study` that change a study
_OF_STUDIES = ("run", "ask", "tell", "fail", "ask_batch", "add_finding", "add_trial")


class RecordedStudy(ReadableStudy):
    """A study read from its record: the results of a `Study`, without `ask`, `tell` and `run`.

    Another process may be writing to it; nothing in it is executed. Values without a JSON type, such as estimators, are texts.
    """

    def __init__(self, path: str | Path | Record):
        with nullcontext(path) if isinstance(path, Record) else closing(Record(path, read_only=True)) as record:
            ledger = record.ledger()
        about, trials = ledger.about, ledger.trials
        path = file = record.path
        if "space" not in about:
            if (writer := writer_of(file)) is not None:
                raise StorageError(f"{path} is just being created by {writer}: it holds no study yet; try again in a moment")
            raise StorageError(f"{path} holds no study: it does not describe a search space")
        try:
            space = Space.described(about["space"])
        except SpaceError as error:
            raise damaged(file, str(error)) from error
        objectives = Objectives.described(about.get("direction", "minimize"), trials)
        if problem := size_problem(trials):
            raise damaged(file, problem)
        seed, noise = about.get("seed"), about.get("noise", "auto")
        if not isinstance(seed, int) or not is_seed(seed):
            raise damaged(file, f"its seed is {brief_repr(seed)}")
        if not isinstance(noise, str | bool) or noise not in ("auto", True, False):
            raise damaged(file, f"its noise is {brief_repr(noise)}")
        try:
            swept = described_sweep(about, space)
        except ArgumentError as error:
            raise damaged(file, str(error)) from error
        ledger.trials = [_checked(file, trial, space, objectives, swept) for trial in trials]
        super().__init__(ledger, space, objectives, cast("Noise", noise), swept)

    def __getattr__(self, name: str) -> Any:
        if name in _OF_STUDIES:
            raise AttributeError(
                f"the study is open for reading, and has no {name}; load_study(path, read_only=False) opens its record to go on"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def close(self) -> None:
        """Do nothing, as the record was closed after reading; a `Study` closes its record here."""

    def __enter__(self) -> RecordedStudy:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Study of {', '.join(self.space.names)} in {self.path}, open for reading: {finished_words(self.trials)}>"


def _checked(path: Path, trial: Trial, space: Space, objectives: Objectives, swept: SweptParameter | None) -> Trial:
    """Return a trial as the study had it; raise StorageError if it contradicts the space or the objectives."""
    if problem := trial_problem(trial, space, len(objectives)):
        raise damaged(path, problem)
    decoded = space.decode(trial.point, trial.params)
    if swept is not None:
        decoded = swept.known_params(decoded, trial.params)
    if problem := params_problem(trial, decoded):
        raise damaged(path, problem)
    # JSON turns tuples into lists and numbers that are keys into text; the description of the space has both as text
    several = [name for name, value in trial.params.items() if isinstance(value, list | dict)]
    return replace(trial, params={**trial.params, **{name: decoded[name] for name in several}}) if several else trial


def recorded_study(path: str | Path) -> RecordedStudy | None:
    """Return the study in a record; None where there is no file, or no trial in it yet."""
    if not Path(path).is_file() or not Path(path).stat().st_size:
        return None
    with closing(Record(path, read_only=True)) as record:
        return RecordedStudy(record) if has_trials(record.ledger()) else None


def recorded_about(path: str | Path | Record | None) -> dict[str, Any]:
    """Return the description of the study in a record; empty where there is none, or none that can be read."""
    if isinstance(path, Record):
        return path.ledger().about
    if path is None or not checked_path(path).is_file():
        return {}
    with suppress(StorageError):
        return read_ledger(path).about
    return {}


def recorded_seed(path: str | Path | None) -> int | None:
    """Return the seed of the study in a record, None if there is none."""
    seed = recorded_about(path).get("seed")
    return seed if is_seed(seed) else None


def in_recorded_order(space: Space, path: str | Path | Record | None) -> Space:
    """Return a space with its parameters in the order of a record, whose points have this order."""
    return space.in_order_of(recorded_about(path).get("space"))


def recorded_starts(record: Record) -> tuple[dict[str, Any], list[dict[str, Any]], bool] | None:
    """Return the description of a study, its starts, and whether it has other trials; None if the record has no trial yet."""
    ledger = record.ledger()
    if not has_trials(ledger):
        return None
    starts = [dict(t.params) for t in ledger.trials if t.origin == START]
    return ledger.about, starts, any(t.origin not in (START, SWEEP, GIVEN) for t in ledger.trials)


def has_trials(ledger: Ledger) -> bool:
    """Return whether a ledger describes a study, and has a trial of it."""
    return bool(ledger.trials) and "space" in ledger.about


def salvaged_tables(path: str | Path) -> tuple[pd.DataFrame, pd.DataFrame, str]:
    """Return the tables of the trials that can be read from a damaged record, and a line that counts them; see `salvage`.

    Raises StorageError if there is no such file, or no trial can be read.
    """
    found = salvage(path)
    if not found.trials:
        raise StorageError(f"{path}: no trial can be read from it")
    line = f"{len(found.trials)} trials were read from {path}, up to number {found.trials[-1].number}"
    if found.missing:
        line += f"; {len(found.missing)} with lower numbers are missing"
    if found.changed:
        line += f"; {len(found.changed)} were left out because their checksums do not match"
    if found.n_lost:
        line += f"; {counted(found.n_lost, 'row')} of the record are lost, so some of the trials listed as running had ended"
    return found.frame(), fold_table(found.trials), line


def record_tables(path: str | Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `Study.frame` and `Study.folds` of a record, which is only read."""
    ledger = read_ledger(path)
    trials, about = ledger.trials, ledger.about
    if problem := size_problem(trials):
        raise damaged(Path(path), problem)
    objectives = Objectives.described(about.get("direction", "minimize"), trials)
    space = about.get("space", [])
    if not isinstance(space, list) or not all(isinstance(branch, dict) for branch in space):
        raise damaged(Path(path), f"its space is {brief_repr(space)}")
    # also the parameters that no trial has, in the order of the space, as in the study itself
    return trial_table(trials, parameter_names(space, trials), objectives.columns), fold_table(trials)
