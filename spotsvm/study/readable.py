"""The status and the report of a study, also while it runs."""

from __future__ import annotations

from pathlib import Path

from spotsvm.common.text import checked_path
from spotsvm.study.status import Status, status_of
from spotsvm.trials.results import StudyResults


class ReadableStudy(StudyResults):
    """The results of a study with its status and its report, for a class that also has `findings`."""

    def status(self) -> Status:
        """Return the status of the study: trials in each state, incumbent, time spent, pace, failures; see `Status`.

        Examples
        --------
        >>> from spotsvm import Study
        >>> status = Study({"x": [1, 2, 3]}, seed=0).run(lambda p: p["x"], n_trials=3).status()
        >>> status.state, status.n_ok, status.incumbent.value
        ('ended', 3, 1.0)
        """
        findings = getattr(self, "findings", {})
        return status_of(self.trials, self.about, findings, self.objectives, getattr(self, "path", None))

    def report(self, path: str | Path, baseline: StudyResults | None = None, *, tables: str | Path | None = None) -> Path:
        """Write a report: one HTML file with tables and pictures, which needs neither network nor script.

        It says what was tuned and what is recommended, and shows convergence, effects and importance of the parameters, slices
        of the model, how much of the value is luck, failures, all trials, and how to repeat the study. It can be written while
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
            If an argument is not a path; if the baseline has other objectives, another space or other data, or no trial of it
            succeeded.
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
