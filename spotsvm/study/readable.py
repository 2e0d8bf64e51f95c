"""Read access to a study: results, status, pictures and report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from spotsvm.study.status import Status, status_of
from spotsvm.trials.own_unit import in_own_unit
from spotsvm.trials.results import StudyResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from spotsvm.reports.methods import MethodsSection


class ReadableStudy(StudyResults):
    """The results of a study with status, pictures and report; `Study` adds what changes it, `RecordedStudy` reads a record."""

    def status(self) -> Status:
        """Return the status of the study: trials in each state, incumbent, time spent, pace, failures; see `Status`.

        Returns
        -------
        Status
            The status at this moment.

        See Also
        --------
        report : Tables and pictures.
        n_finished : The number of finished trials alone.

        Examples
        --------
        >>> from spotsvm import Study
        >>> status = (
        ...     Study({"x": [1, 2, 3]}, seed=0)
        ...     .run(lambda p: p["x"], n_trials=3)
        ...     .status()
        ... )
        >>> status.state, status.n_ok, status.incumbent.value
        ('ended', 3, 1.0)
        """
        return status_of(self.trials, self.about, self.findings, self.objectives, self.path)

    def report(self, path: str | Path, baseline: StudyResults | None = None, *, tables: str | Path | None = None) -> Path:
        """Write a report: one HTML file with tables and pictures, readable without a network and without JavaScript.

        The report states the result, the recommended configuration with plausible ranges, and how optimistic the value is. It
        shows the convergence, the importance and effects of the parameters, slices of the model, all trials, failures, code that
        repeats the study, and its settings. It can be written while the study runs.

        Parameters
        ----------
        path : path-like
            The file.
        baseline : Study, optional
            A random search of the same objective, for comparison. None compares with the random search that the study's own model
            predicts.
        tables : path-like, optional
            A folder for the report's tables, each a CSV file with the numbers in full.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ArgumentError
            If an argument is not a path; if the baseline has other objectives, another space or other data, or no trial of it
            succeeded.
        StorageError
            If a file cannot be written.

        See Also
        --------
        plot_convergence : One of its pictures.
        status : A few figures, also while it runs.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from spotsvm import Study
        >>> study = Study({"x": [1, 2, 3]}, seed=0).run(lambda p: p["x"], n_trials=3)
        >>> with TemporaryDirectory() as folder:
        ...     study.report(Path(folder) / "report.html").name
        'report.html'
        """
        from spotsvm.reports.report import study_page, write_report  # on use: most studies are never shown

        return write_report(lambda: study_page(self, baseline), path, tables)

    def methods_section(self, luck: Any = None) -> MethodsSection:
        """Return text and tables for the methods section of a paper, made from the record of the study.

        The text has the space, the search, the number of trials and where they come from, the score and its folds, noise, seed,
        the recommended configuration, how optimistic its score is, and the versions, with citations.

        Parameters
        ----------
        luck : ExpectedScore, Optimism or None, default=None
            What `expected_score` or `oversearching` has returned for the search behind this study. None uses the finding
            "oversearching" of the study, if there is one; else the text says that the score on new rows was not estimated.

        Returns
        -------
        MethodsSection
            With `paragraphs`, the tables `space` and `results`, `references`, `markdown()` and `latex()`.

        Raises
        ------
        ArgumentError
            If `luck` is something else.

        See Also
        --------
        report : All tables and pictures on one page.

        Examples
        --------
        >>> from spotsvm import Study
        >>> study = Study({"x": [1, 2, 3]}, "random", seed=0, noise=False).run(
        ...     lambda p: p["x"], n_trials=3
        ... )
        >>> study.methods_section().paragraphs[3].partition(".")[0]
        'The configuration with the best value seen, 1 in trial 2, is recommended (Table 2): `x` = 1'
        """
        from spotsvm.reports.study_methods import study_methods  # on use: most studies are never described

        return study_methods(self, luck)

    def plot_convergence(self, baseline: StudyResults | None = None) -> Any:
        """Draw the best value so far by trials, and that of a random search; for several objectives the hypervolume.

        Parameters
        ----------
        baseline : Study, optional
            As `report` takes it.

        Returns
        -------
        Axes

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If the baseline is of another study, or values are too large to be drawn.

        See Also
        --------
        report : All pictures on one page.

        Examples
        --------
        >>> from spotsvm import Study
        >>> study = Study({"x": [1, 2, 3]}, seed=0).run(lambda p: p["x"], n_trials=3)
        >>> study.plot_convergence().get_xlabel()
        'finished trials'
        """
        from spotsvm.reports import plots  # on use: most studies are never drawn

        return plots.plot_convergence(self, baseline)

    def plot_slices(self) -> Any:
        """Draw slices of the Kriging model of the trials through the recommended configuration, with the trials.

        If no trial satisfies the bounds of the study, the slices go through the best trial, and the legend says so.

        Returns
        -------
        Axes, or ndarray of them where three parameters make three pairs; both have the `figure`.

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If there are several objectives, or no model can be fitted, for example to fewer than eight different configurations.

        See Also
        --------
        importance : Which parameters matter, by the same model.

        Examples
        --------
        >>> from scipy.stats import uniform
        >>> from spotsvm import Study
        >>> study = Study({"x": uniform(0, 1), "y": uniform(0, 1)}, "lhs", seed=0)
        >>> axes = study.run(
        ...     lambda p: p["x"] + (p["y"] - 0.5) ** 2, n_trials=15
        ... ).plot_slices()
        >>> axes.get_xlabel(), axes.get_ylabel()
        ('x', 'y')
        """
        from spotsvm.reports import plots  # on use: most studies are never drawn

        return plots.plot_slices(self)

    def plot_importance(self, objective: int | str = 0) -> Any:
        """Draw the share of the variance that each parameter explains, by the Kriging model of the trials.

        Parameters
        ----------
        objective : int or str, default=0
            Of several objectives which: its number or its name.

        Returns
        -------
        Axes

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If there is no such objective, or no model of it.

        See Also
        --------
        importance : The numbers.

        Examples
        --------
        >>> from scipy.stats import uniform
        >>> from spotsvm import Study
        >>> study = Study({"x": uniform(0, 1), "y": uniform(0, 1)}, "lhs", seed=0)
        >>> axes = study.run(
        ...     lambda p: 4 * p["x"] + p["y"], n_trials=15
        ... ).plot_importance()
        >>> [label.get_text() for label in axes.get_yticklabels()]
        ['x', 'y']
        """
        from spotsvm.reports import plots  # on use: most studies are never drawn

        return plots.plot_importance(self, objective)

    def plot_left_out(self, objective: int | str = 0) -> Any:
        """Draw the value of each configuration against the Kriging model's prediction from the others, with 95 % intervals.

        Parameters
        ----------
        objective : int or str, default=0
            Of several objectives which: its number or its name.

        Returns
        -------
        Axes

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If there is no such objective, or no model of it can be fitted, for example to fewer than eight different
            configurations.

        References
        ----------
        Dubrule 1983, "Cross validation of Kriging in a unique neighborhood", Mathematical Geology 15(6), 687-699.

        See Also
        --------
        importance : What the same model says of the parameters.

        Examples
        --------
        >>> from scipy.stats import uniform
        >>> from spotsvm import Study
        >>> study = Study({"x": uniform(0, 1), "y": uniform(0, 1)}, "lhs", seed=0)
        >>> axes = study.run(
        ...     lambda p: 4 * p["x"] + p["y"], n_trials=15
        ... ).plot_left_out()
        >>> axes.get_xlabel()
        'predicted from the other configurations'
        """
        from spotsvm.reports import plots  # on use: most studies are never drawn

        return plots.plot_left_out(self, objective)

    def plot_timeline(self) -> Any:
        """Draw when each trial was evaluated, in as many lines as ran at once.

        Returns
        -------
        Axes

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If the trials have no times, as those told by hand, or more than 64 ran at once.

        See Also
        --------
        status : The pace, and the time left.

        Examples
        --------
        >>> from spotsvm import Study
        >>> study = Study({"x": [1, 2, 3]}, seed=0).run(lambda p: p["x"], n_trials=3)
        >>> study.plot_timeline().get_xlabel()
        'seconds since the first evaluation began'
        """
        from spotsvm.reports import plots  # on use: most studies are never drawn

        return plots.plot_timeline(self)

    def plot_evaluations(self) -> Any:
        """Draw where the trials are: a histogram for each parameter, and the trials for each pair, the later the darker.

        Returns
        -------
        Axes, or ndarray of them; both have the `figure`. Of more than five parameters the most important are shown.

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If values are too large to be drawn.

        See Also
        --------
        plot_slices : The model of the trials.

        Examples
        --------
        >>> from scipy.stats import uniform
        >>> from spotsvm import Study
        >>> study = Study({"x": uniform(0, 1), "y": uniform(0, 1)}, "lhs", seed=0)
        >>> study.run(lambda p: p["x"] + p["y"], n_trials=9).plot_evaluations().shape
        (3,)
        """
        from spotsvm.reports import plots  # on use: most studies are never drawn

        return plots.plot_evaluations(self)

    def plot_parallel(self) -> Any:
        """Draw the successful trials as lines over the parameters, the best tenth or the front in colour.

        Returns
        -------
        Axes

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If values are too large to be drawn.

        See Also
        --------
        plot_slices : The model of the trials.

        Examples
        --------
        >>> from scipy.stats import uniform
        >>> from spotsvm import Study
        >>> study = Study({"x": uniform(0, 1), "y": uniform(0, 1)}, "lhs", seed=0)
        >>> axes = study.run(
        ...     lambda p: 4 * p["x"] + p["y"], n_trials=15
        ... ).plot_parallel()
        >>> axes.figure.savefig("parallel.png")  # doctest: +SKIP
        """
        from spotsvm.reports import plots  # on use: most studies are never drawn

        return plots.plot_parallel(self)

    def plot_pareto(self, ax: Axes | Sequence[Axes] | None = None) -> Any:
        """Draw the trials and their front; for three or more objectives a picture for each pair.

        Where dominated trials lie so far off that the front would be a dot, the axes end before them, and the legend says so.

        Parameters
        ----------
        ax : matplotlib Axes, sequence of them, or None, default=None
            Axes to draw on, one for each pair of objectives. None makes a figure.

        Returns
        -------
        Axes, or ndarray of them where there are three or more objectives; both have the `figure`, which can be saved:
        `study.plot_pareto().figure.savefig("front.png")`.

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If there is one objective only, or another number of axes is needed.

        See Also
        --------
        pareto : The trials of the front.

        Examples
        --------
        >>> from spotsvm import Study
        >>> study = Study(
        ...     {"x": [1, 2, 3]},
        ...     "random",
        ...     0,
        ...     direction={"cost": "minimize", "gain": "maximize"},
        ... )
        >>> axes = study.run(
        ...     lambda p: {"values": [p["x"], p["x"] ** 2]}, n_trials=3
        ... ).plot_pareto()
        >>> axes.get_ylabel()
        'gain (larger is better)'
        """
        from spotsvm.trials.pareto import plot_pareto

        shown = in_own_unit(self)
        return plot_pareto(shown.trials, shown.objectives, ax)

    def importance(self, objective: int | str = 0) -> pd.DataFrame:
        """Return the importance of the parameters and their main effects, by the Kriging model of the trials.

        Parameters
        ----------
        objective : int or str, default=0
            Of several objectives which: its number or its name.

        Returns
        -------
        DataFrame
            A row a parameter, the most important first. Columns: parameter; alone and with_others, the shares of the model's
            variance over the space that it explains alone and together with others (Sobol indices, each in [0, 1]); lowest and
            highest, the ends of its main effect, which is the predicted value averaged over all other parameters; lowest_at and
            highest_at, the values of the parameter there.

        Raises
        ------
        NoCompletedTrialError
            If no trial has succeeded.
        ArgumentError
            If there is no such objective, or no model of it can be fitted, for example to fewer than eight different
            configurations.

        References
        ----------
        Sobol 2001, "Global sensitivity indices for nonlinear mathematical models and their Monte Carlo estimates".

        See Also
        --------
        plot_importance : The shares as bars.

        Examples
        --------
        >>> from scipy.stats import uniform
        >>> from spotsvm import Study
        >>> study = Study({"x": uniform(0, 1), "y": uniform(0, 1)}, "lhs", seed=0)
        >>> frame = study.run(lambda p: 4 * p["x"] + p["y"], n_trials=15).importance()
        >>> (
        ...     frame["parameter"].tolist(),
        ...     frame["lowest_at"].tolist(),
        ...     (frame["with_others"] > [0.8, 0.0]).all().item(),
        ... )
        (['x', 'y'], [0.0, 0.0], True)
        """
        from spotsvm.reports import plots  # on use: most studies are never drawn

        return plots.importance_frame(self, objective)

    def _repr_html_(self) -> str:
        """Return the study and its best trials as HTML, which notebooks show."""
        from spotsvm.reports.notebook import study_html

        return study_html(in_own_unit(self))
