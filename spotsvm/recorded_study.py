"""A study as its record has it: to be read, without its objective, while it may still be running."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from solvers.search.base import Noise
from spotsvm.errors import SpaceError, StorageError
from spotsvm.objectives import Objectives
from spotsvm.record import Record
from spotsvm.space import Space
from spotsvm.study_results import StudyResults
from spotsvm.trial import Trial


class RecordedStudy(StudyResults):
    """A study read from its record; it has the results of a `Study`, and can be neither asked nor told.

    The record is only read, and what is read is never executed: another process may be writing to it. Values that JSON does
    not have, such as estimators, are the texts that stand for them.

    Parameters
    ----------
    path : path-like
        The record.

    Attributes
    ----------
    path : Path
        The record.
    about : dict
        What the record says of its study.
    findings : dict of str to dict
        What was found out about the study.
    trials, space, objectives, noise, seed
        As those of `Study`.

    Raises
    ------
    StorageError
        If there is no such record, or it is damaged, or holds no study yet.
    """

    def __init__(self, path: str | Path):
        with closing(Record(path, read_only=True)) as record:
            self.about: dict[str, Any] = record.about()
            self.findings = record.findings()
            trials = record.trials()
        self.path = Path(path)
        if "space" not in self.about:
            raise StorageError(f"{path} is empty: it says of no study what is tuned")
        self.space = self._space()
        self.objectives = Objectives.described(self.about.get("direction", "minimize"), trials)
        self.seed = self._seed()
        self.noise: Noise = self._noise()
        self._trials = [self._checked(trial) for trial in trials]

    def _space(self) -> Space:
        try:
            return Space.described(self.about["space"])
        except SpaceError as error:
            raise StorageError(f"{self.path} is damaged: {error}") from error

    def _seed(self) -> int:
        seed = self.about.get("seed")
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise StorageError(f"{self.path} is damaged: its seed is {seed!r}")
        return seed

    def _noise(self) -> Any:
        noise = self.about.get("noise", "auto")
        if noise not in ("auto", True, False):
            raise StorageError(f"{self.path} is damaged: its noise is {noise!r}")
        return noise

    def _checked(self, trial: Trial) -> Trial:
        if len(trial.point) != self.space.domain.dimension or not all(0 <= u <= 1 for u in trial.point):
            raise StorageError(f"{self.path} is damaged: trial {trial.number} has no point of the unit cube")
        # a tuple is a list in JSON, and a text in the space's description
        decoded = self.space.decode(trial.point)
        lists = {name: decoded.get(name, value) for name, value in trial.params.items() if isinstance(value, list)}
        return replace(trial, params={**trial.params, **lists})
