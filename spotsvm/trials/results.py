"""The results of a study: its best trial, Pareto front and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import pandas as pd

from spotsvm.common.csv_files import write_csv
from spotsvm.errors import NoCompletedTrialError
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.space.space import Space
from spotsvm.trials.constraints import from_texts
from spotsvm.trials.edges import Edge, edges_of
from spotsvm.trials.findings import Findings
from spotsvm.trials.ledger import Ledger
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.pareto import hypervolume_curve, pareto_trials
from spotsvm.trials.recommendation import Recommendation, may_be_best, recommend, recommend_by_verdict, why_none
from spotsvm.trials.sweep import SweptParameter
from spotsvm.trials.trial import Trial, holds_bounds


def _fields_of(kind: Any) -> tuple[str, ...]:
    """Return the fields of a trial of one type that have a column of their own, in their order."""
    types = get_type_hints(Trial)
    return tuple(one.name for one in fields(Trial) if types[one.name] == kind and one.metadata.get("column", True))


_TEXTS, _WHOLE, _NUMBERS = _fields_of(str), _fields_of(int), _fields_of(float | None)
#: the last columns of a table of trials: each trial's own fields, texts first
FIELDS = (*_TEXTS, *_WHOLE, *_NUMBERS, "lost")


def parameter_names(branches: Sequence[Mapping[str, Any]], trials: Sequence[Trial]) -> list[str]:
    """Return the names of all parameters: those of a recorded space in its order, then those that only trials have."""
    return list(dict.fromkeys(name for branch in [*branches, *(t.params for t in trials)] for name in branch))


def trial_table(trials: Sequence[Trial], names: Sequence[str], values: Sequence[str] = ("value",)) -> pd.DataFrame:
    """Return a frame with one row per trial, by number, with a `param_` column per parameter (empty where it does not exist).

    Also an `extra_` column per further number, an `attribute_` column per attribute; `lost` counts attempts that ended with their
    worker; `sweep` is the trial to whose sweep the row belongs.
    """
    params = {f"param_{name}": name for name in names}
    extras = {f"extra_{name}": name for trial in trials for name in trial.extra}
    attributes = {f"attribute_{name}": name for trial in trials for name in trial.attributes}
    rows = [
        {"number": t.number, "state": t.state}
        | dict(zip(values, t.values or [None] * len(values), strict=True))
        | {column: t.params.get(name) for column, name in params.items()}
        | {column: t.extra.get(name) for column, name in extras.items()}
        | {column: t.attributes.get(name) for column, name in attributes.items()}
        | {name: getattr(t, name) for name in FIELDS}
        | {"lost": len(t.lost), "sweep": t.number if t.sweep is None else t.sweep}
        | dict(zip(("last_step", "last_value"), t.steps[-1] if t.steps else (None, None), strict=True))
        for t in trials
    ]
    sweep = ["sweep"] if any(t.sweep is not None for t in trials) else []
    last = ["last_step", "last_value"] if any(t.steps for t in trials) else []
    shown = ["number", "state", *values, *params, *extras, *attributes, *FIELDS, *last, *sweep]
    frame = pd.DataFrame(rows, columns=shown)
    for column in params:
        # beside an empty cell pandas turns whole numbers into floats, which hold them up to 2**53
        if frame[column].dtype == "float64" and any(type(row[column]) is int and abs(row[column]) > 2**53 for row in rows):
            frame[column] = pd.Series([row[column] for row in rows], dtype=object)
    numbers = dict.fromkeys([*values, *extras, *_NUMBERS, *last], "float64")
    return frame.astype(dict.fromkeys(["number", *_WHOLE, "lost", *sweep], "int64") | numbers)


_SCORE = re.compile(r"split([0-9]{1,6})_(test|train)_(.+)")


def fold_table(trials: Sequence[Trial]) -> pd.DataFrame:
    """Return a frame with one row per trial and fold, for trials with fold scores in `extra` as `SpotSearchCV` stores them.

    A `test_` column per metric, and `train_` if there is one. A failed fold has no row; a metric that failed alone is empty.
    """
    rows: dict[tuple[int, int], dict[str, float]] = {}
    names: list[str] = []
    for trial in trials:
        for key, score in trial.extra.items():
            if match := _SCORE.fullmatch(key):
                fold, name = int(match[1]), f"{match[2]}_{match[3]}"
                rows.setdefault((trial.number, fold), {})[name] = score
                names += [name] if name not in names else []
    records = [{"number": number, "fold": fold, **rows[number, fold]} for number, fold in sorted(rows)]
    names.sort(key=lambda name: name.startswith("train_"))
    frame = pd.DataFrame(records, columns=["number", "fold", *names])
    return frame.astype({"number": "int64", "fold": "int64"} | dict.fromkeys(names, "float64"))


class StudyResults:
    """A read-only view of a ledger: trials, best trial, front and tables.

    `seed`, `about` and `findings` are those of the ledger.
    """

    def __init__(self, ledger: Ledger, space: Space, objectives: Objectives, noise: Noise, swept: SweptParameter | None = None):
        self.ledger = ledger
        self.space, self.objectives, self.noise, self.swept = space, objectives, noise, swept

    @property
    def seed(self) -> int:
        """The seed in use."""
        return int(self.ledger.about["seed"])

    @property
    def about(self) -> dict[str, Any]:
        """Entries that identify the study, as JSON types, and the versions of the packages."""
        return self.ledger.about

    @property
    def path(self) -> Path | None:
        """The file of the record, or None."""
        return self.ledger.path

    @property
    def findings(self) -> Findings:
        """The findings added by `add_finding`: a mapping from their names, of which each access returns a copy."""
        return self.ledger.findings

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials, by number.

        See Also
        --------
        frame : The trials as a frame.
        """
        return tuple(self.ledger.trials)

    @property
    def n_finished(self) -> int:
        """Number of trials that have ended, failed ones included; a sweep counts once.

        See Also
        --------
        status : The number of trials in each state.
        """
        return self.ledger.n_finished

    @property
    def n_finished_since_asked(self) -> int:
        """Number of trials that have ended since the last one was asked for."""
        return self.ledger.n_told_since_asked

    @property
    def finished_trials(self) -> tuple[Trial, ...]:
        """The trials that have ended, in the order of ending; for a sweep the trial with its best value."""
        return tuple(self.ledger.told_trials)

    def after(self, n: int) -> StudyResults:
        """Return the results as they were after the first n finished trials; the study itself if it has no more.

        Returns
        -------
        StudyResults
            The results of the first n trials, read-only.
        """
        if n == self.n_finished:
            return self
        return StudyResults(self.ledger.after(n), self.space, self.objectives, self.noise, self.swept)

    @property
    def best_trial(self) -> Trial:
        """The trial with the best value seen; under noise use `recommend`.

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded; the message lists the commonest reasons.
        ArgumentError
            If there are several objectives; see `pareto`.

        See Also
        --------
        recommend : The trial to use under noise.
        pareto : The best of several objectives.
        """
        self.objectives.require_one("best_trial")
        sign = float(self.objectives.signs[0])
        done = [(sign * t.value, t.number) for t in self.ledger.trials if t.value is not None and holds_bounds(t)]
        if not done:
            raise NoCompletedTrialError(self._why_none())
        return self.ledger.trials[min(done)[1]]

    def _why_none(self) -> str:
        """Return why there is no best trial; first check whether a bounded number was never returned."""
        done = [t for t in self.ledger.trials if t.values is not None]
        for name in from_texts(self.about.get("constraints"))[1] if done else ():
            if not any(name in t.extra for t in done):
                return (
                    f"no trial has a number {name!r}, which the study's constraints bound; return it with the value, as "
                    f'{{"value": ..., "{name}": ...}}'
                )
        return why_none(self.ledger.trials)

    @property
    def best_params(self) -> dict[str, Any]:
        """A copy of the parameters of `best_trial`.

        See Also
        --------
        best_value : The value.
        recommend : The trial to use under noise.

        Examples
        --------
        >>> from spotsvm import Study
        >>> study = Study({"x": [1, 2, 3]}, "random", seed=0).run(
        ...     lambda p: p["x"], n_trials=3
        ... )
        >>> study.best_params, study.best_value
        ({'x': 1}, 1.0)
        """
        return dict(self.best_trial.params.items())

    @property
    def best_value(self) -> float:
        """The value of `best_trial`.

        See Also
        --------
        best_params : The parameters.
        recommend : The trial to use under noise.
        """
        value = self.best_trial.value
        assert value is not None
        return value

    def recommend(self) -> Recommendation:
        """Return the trial to use: under noise the evaluated trial with the best prediction, else the best observed.

        If `spotsvm tune` has compared its choice with the default, return the trial that the verdict names, until the study has
        further trials.

        Returns
        -------
        Recommendation
            The trial, with its predicted value and the standard error.

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If there are several objectives; see `pareto`.

        See Also
        --------
        best_trial : The best trial observed.
        edges : Whether a wider range may be better.
        """
        self.objectives.require_one("recommend()")
        if not any(map(may_be_best, self.ledger.trials)):
            raise NoCompletedTrialError(self._why_none())
        sign = float(self.objectives.signs[0])
        compared = self.findings.compared(self.n_finished)
        found = recommend_by_verdict(self.trials, sign=sign, number=None if compared is None else compared.number)
        return found or recommend(self.trials, self.space.domain, sign=sign, noise=self.noise, seed=self.seed)

    def edges(self) -> tuple[Edge, ...]:
        """Return the parameters of the recommended trial that are at an end of their range, each with the wider range to use.

        Returns
        -------
        tuple of Edge
            One for each parameter that is at an end of its range.

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If there are several objectives.

        See Also
        --------
        recommend : The trial to use.

        Notes
        -----
        The log of a run names the edges of `best_trial`, which needs no model; under noise it can be another trial.

        Examples
        --------
        >>> from spotsvm import Study
        >>> study = Study({"x": (0.0, 4.0)}, seed=0, noise=False).run(
        ...     lambda p: -p["x"], n_trials=15
        ... )
        >>> [(edge.name, edge.side, edge.wider) for edge in study.edges()]
        [('x', 'upper', (0.0, 6.0))]
        """
        return edges_of(self.recommend().params, self.space)

    def pareto(self) -> tuple[Trial, ...]:
        """Return the trials that no other trial dominates, the best in the first objective first; of equal trials only the first.

        Numbers with a relative difference of at most 1e-12 are equal. Under noise some trials are in the front by chance. If the
        study has bounds, a trial that violates them is not in the front, and dominates no other trial.

        Returns
        -------
        tuple of Trial
            The trials of the front.

        Raises
        ------
        NoCompletedTrialError
            If no successful trial satisfies the bounds of the study.
        ArgumentError
            If there is one objective only.

        See Also
        --------
        hypervolume : How good the front is.
        plot_pareto : Its picture.
        """
        self.objectives.require_several("pareto()")
        if not any(t.values is not None and holds_bounds(t) for t in self.ledger.trials):
            raise NoCompletedTrialError(self._why_none())
        return pareto_trials(self.trials, self.objectives)

    def hypervolume(self, reference: Sequence[float] | Mapping[str, float] | None = None) -> pd.Series[float]:
        """Return the hypervolume dominated by the trials that satisfy the bounds, after each trial that has ended.

        Parameters
        ----------
        reference : sequence or mapping of float, optional
            The reference point: a value of each objective, in the study's own directions, that bounds the volume on the worse
            side; a trial that is not better in all objectives adds nothing. None is the worst value of each objective among all
            trials, moved a tenth of the range further (by 1 if all values are equal). Pass the same point to compare studies.

        Returns
        -------
        Series
            The hypervolume, indexed by the trials' numbers; a failed trial does not change it.

        Raises
        ------
        ArgumentError
            If there is one objective only, or `reference` is not a finite number of each.

        See Also
        --------
        pareto : The trials of the front.
        plot_convergence : Its picture.

        References
        ----------
        Zitzler, Thiele 1998, "Multiobjective optimization using evolutionary algorithms: a comparative case study".
        """
        return hypervolume_curve(self.trials, self.objectives, reference)

    def frame(self) -> pd.DataFrame:
        """Return the trials as a frame, a row a trial, with the columns of `trial_table`.

        Returns
        -------
        DataFrame
            One row for each trial.

        See Also
        --------
        to_csv : Writes it.
        from_frame : Creates a study from a frame.
        folds : The scores of each fold.
        """
        return trial_table(self.trials, self.space.names, self.objectives.columns)

    def folds(self) -> pd.DataFrame:
        """Return the scores of the folds as a frame, a row a trial and fold; empty where there are none. See `fold_table`.

        Returns
        -------
        DataFrame
            One row for each trial and fold.

        See Also
        --------
        frame : The trials, one a row.
        folds_to_csv : Writes this frame.
        """
        return fold_table(self.trials)

    def to_csv(self, path: str | Path) -> None:
        """Write `frame` as a CSV file; see `write_csv`.

        Raises
        ------
        ArgumentError
            If `path` is not a path.
        StorageError
            If the file cannot be written.

        See Also
        --------
        frame : What is written.
        folds_to_csv : The scores of each fold.
        """
        write_csv(self.frame(), path, "trials")

    def folds_to_csv(self, path: str | Path) -> None:
        """Write `folds` as a CSV file; see `write_csv`.

        Raises
        ------
        ArgumentError
            If `path` is not a path.
        StorageError
            If the file cannot be written.

        See Also
        --------
        folds : What is written.
        to_csv : The trials.
        """
        write_csv(self.folds(), path, "folds")
