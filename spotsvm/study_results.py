"""What follows from the trials of a study, whatever search they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from solvers.search.base import Noise
from spotsvm.csv_files import write_csv
from spotsvm.errors import NoCompletedTrialError
from spotsvm.file_paths import checked_path
from spotsvm.fold_table import fold_table
from spotsvm.objectives import Objectives
from spotsvm.pareto_front import hypervolume_curve, pareto_trials
from spotsvm.recommendation import Recommendation, recommend, summarise_failures
from spotsvm.space import Space
from spotsvm.trial import FINISHED, Trial
from spotsvm.trial_table import trial_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from spotsvm.status import Status


class StudyResults:
    """The results of a study, for a class with `trials`, `space`, `objectives`, `noise`, `seed` and `about`."""

    space: Space
    objectives: Objectives
    noise: Noise
    seed: int
    about: dict[str, Any]
    _trials: list[Trial]

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All trials, by number."""
        return tuple(self._trials)

    @property
    def n_finished(self) -> int:
        """How many trials have ended, well or not."""
        return sum(t.state in FINISHED for t in self._trials)

    @property
    def best_trial(self) -> Trial:
        """The trial with the best value seen; under noise use `recommend`.

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded; it lists the commonest reasons.
        ArgumentError
            If there are several objectives; see `pareto`.
        """
        self.objectives.require_one("best_trial")
        sign = float(self.objectives.signs[0])
        done = [(sign * t.value, t.number) for t in self._trials if t.value is not None]
        if not done:
            raise NoCompletedTrialError(f"no trial has succeeded yet: {summarise_failures(self._trials)}")
        return self._trials[min(done)[1]]

    def recommend(self) -> Recommendation:
        """Give the trial to use: under noise the best predicted among the evaluated, else the best observed.

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If there are several objectives; see `pareto`.
        """
        self.objectives.require_one("recommend()")
        sign = float(self.objectives.signs[0])
        return recommend(self.trials, self.space.domain, sign=sign, noise=self.noise, seed=self.seed)

    def pareto(self) -> tuple[Trial, ...]:
        """Give the trials that no other trial dominates, from the best in the first objective on; of equal ones the first.

        Numbers that differ by at most 1e-12 of themselves are equal. Under noise some of them are there by luck.

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If there is one objective only.
        """
        return pareto_trials(self.trials, self.objectives)

    def hypervolume(self, reference: Sequence[float] | Mapping[str, float] | None = None) -> pd.Series[float]:
        """Give the hypervolume that the trials dominate, after each of those that have ended.

        Parameters
        ----------
        reference : sequence or mapping of float, optional
            A value of each objective, in the study's own directions, that bounds the volume from the side of what is worse;
            what is not better than it in all objectives adds nothing. None takes the worst value of each objective among all
            trials, and a tenth of its range beyond it (1, where all are equal). Give one to compare studies.

        Returns
        -------
        Series
            By the trials' numbers; a failed trial leaves it as it is.

        Raises
        ------
        ArgumentError
            If there is one objective only, or `reference` is not a finite number of each.

        References
        ----------
        Zitzler, Thiele 1998, "Multiobjective optimization using evolutionary algorithms: a comparative case study".
        """
        return hypervolume_curve(self.trials, self.objectives, reference)

    def plot_pareto(self, ax: Axes | Sequence[Axes] | None = None) -> Any:
        """Draw the trials and their front; of three or more objectives a picture for each pair of them.

        Where dominated trials lie so far off that the front would be a dot, the axes end before them, and the legend says so.

        Parameters
        ----------
        ax : matplotlib Axes, sequence of them, or None, default=None
            Where to draw: of m objectives m (m - 1) / 2 of them. None makes a figure.

        Returns
        -------
        Axes, or ndarray of them where there are three or more objectives.

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If there is one objective only, or another number of axes is needed.
        """
        from spotsvm.pareto_plot import plot_pareto

        return plot_pareto(self.trials, self.objectives, ax)

    def frame(self) -> pd.DataFrame:
        """Give the trials as a frame, a row a trial; its columns are those of `trial_table`."""
        return trial_table(self.trials, self.space.names, self.objectives.columns)

    def folds(self) -> pd.DataFrame:
        """Give the scores of the folds as a frame, a row a trial and fold; see `fold_table`. Empty where there are none."""
        return fold_table(self.trials)

    def status(self) -> Status:
        """Say how the study stands: trials in each state, incumbent, time spent, pace, failures; see `Status`.

        Examples
        --------
        >>> from spotsvm import Study
        >>> status = Study({"x": [1, 2, 3]}, seed=0).run(lambda p: p["x"], n_trials=3).status()
        >>> status.state, status.n_ok, status.incumbent.value
        ('ended', 3, 1.0)
        """
        from spotsvm.read_status import status_of  # on use: most studies are never asked

        findings = getattr(self, "findings", {})
        return status_of(self.trials, self.about, findings, self.objectives, getattr(self, "path", None))

    def to_csv(self, path: str | Path) -> None:
        """Write `frame` as a CSV file; see `write_csv`.

        Raises
        ------
        ArgumentError
            If `path` is none.
        StorageError
            If the file cannot be written.
        """
        write_csv(self.frame(), path, "trials")

    def folds_to_csv(self, path: str | Path) -> None:
        """Write `folds` as a CSV file; see `write_csv`.

        Raises
        ------
        ArgumentError
            If `path` is none.
        StorageError
            If the file cannot be written.
        """
        write_csv(self.folds(), path, "folds")

    def report(self, path: str | Path, baseline: StudyResults | None = None, *, tables: str | Path | None = None) -> Path:
        """Write a report: one HTML file with tables and pictures, to be read without network or script.

        It says what was tuned and what is recommended, and shows convergence, effects and importance of the parameters, slices
        of the model, how much of the value is luck, failures, all trials, and how to repeat the study. It can be asked for while
        the study runs.

        Parameters
        ----------
        path : path-like
            The file.
        baseline : Study, optional
            A study of the same objective by random search, to stand beside this one; by default its place is taken by what
            the study's own model expects of random search.
        tables : path-like, optional
            A folder for the report's tables, each a CSV file with the numbers in full.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ArgumentError
            If a path is none; if the baseline is of other objectives, another space or other data, or no trial of it succeeded.
        StorageError
            If a file cannot be written.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from spotsvm import Study
        >>> study = Study({"x": [1, 2, 3]}, seed=0).run(lambda p: p["x"], n_trials=3)
        >>> with TemporaryDirectory() as folder:
        ...     study.report(Path(folder) / "report.html").name
        'report.html'
        """
        from spotsvm.reports.study_page import study_page  # on use: most studies are never shown

        file = checked_path(path, such_as="report.html")
        folder = None if tables is None else checked_path(tables, "tables", "tables")
        page = study_page(self, baseline)
        if folder is not None:
            page.write_tables(folder)
        return page.write(file)
