"""The base class of the studies: runs a study, and returns its results as frames, figure, Markdown, web page and files."""

from __future__ import annotations

import inspect
import platform
import re
import shlex
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from spotsvm.common.checkout import library_version
from spotsvm.common.code import Script, value_code
from spotsvm.common.csv_files import write_csv
from spotsvm.errors import ArgumentError, DataError, StorageError
from spotsvm.reports.html.page import Code, Notice, Page, Part, Picture, Section, Table
from spotsvm.studies.common.data import data_from
from spotsvm.studies.common.table import draw_table, interval_columns, markdown_table, table_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "numba", "cma")
_UNDERLINED = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


class Experiment(ABC):
    """Base class of the studies; a subclass defines the measurements and their summary.

    Parameters
    ----------
    quick : bool, default=False
        Whether to run a short version, to check that the study works.

    Attributes
    ----------
    data : Path or None
        Folder of the data sets in place of SPOTSVM_DATA; `use_data` sets it.
    seconds : float or None
        Time of the last run.
    """

    #: name on the command line, and of the files that are written
    name: str
    #: whether it reads data sets from files
    reads_data: bool = True
    #: columns of the table that the figure shows; by default the first of numbers
    drawn: tuple[str, ...] = ()
    #: whether the columns that the figure shows have one unit, and so one panel
    together: bool = False
    #: columns of numbers that name the rows of the table, and are not drawn
    keys: tuple[str, ...] = ()
    #: what `table_caption`, `figure_caption` and `notes` return
    _table_caption = "Results"
    _figure_caption = ""
    _notes = ""
    #: how numbers are shown in markdown
    _floatfmt = ".4g"

    def __init__(self, quick: bool = False):
        self.quick = quick
        self.data: Path | None = None
        self.seconds: float | None = None
        self._frame: pd.DataFrame | None = None

    def use_data(self, folder: str | Path) -> Self:
        """Read data sets from this folder in place of SPOTSVM_DATA.

        Raises
        ------
        DataError
            If there is no such folder.
        """
        self.data = Path(folder)
        if not self.data.is_dir():
            raise DataError(f"--data {folder} is not a folder; name the folder of the data sets")
        return self

    def run(self) -> Self:
        """Run the study; each call runs it again, with the same seeds."""
        began = time.perf_counter()
        with data_from(self.data):
            self._frame = self._measure()
        self.seconds = time.perf_counter() - began
        return self

    def frame(self) -> pd.DataFrame:
        """Return all measurements, one per row; run the study if it has not run yet."""
        if self._frame is None:
            self.run()
        assert self._frame is not None
        return self._frame

    @abstractmethod
    def _measure(self) -> pd.DataFrame:
        """Run the study; return all measurements, one per row."""

    @abstractmethod
    def table(self) -> pd.DataFrame:
        """Return a summary of the measurements."""

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the other tables by title; reports show them after the first."""
        return {}

    @abstractmethod
    def conclusion(self) -> str:
        """Return the conclusion from the numbers of the table, in a sentence or two."""

    def notes(self) -> str:
        """Return an explanation of the tables; reports show it before them."""
        return self._notes

    def figure(self) -> Figure:
        """Draw the results; by default columns of numbers of the table."""
        return draw_table(self.table(), self.drawn, self.keys, self.together)

    def figure_caption(self) -> str:
        """Return the caption of the figure."""
        if self._figure_caption:
            return self._figure_caption
        lines = ", and a line its interval" if interval_columns(self.table()) else ""
        return f"Columns of the table: a point is a row{lines}."

    def figure_alt(self) -> str:
        """Return a description of the figure for readers who cannot see it."""
        return f"{self.figure_caption()} {self.conclusion()}"

    def further_figures(self) -> dict[str, Figure]:
        """Return the other figures by caption; the web page shows them after the first."""
        return {}

    def table_caption(self) -> str:
        """Return the title of the table."""
        return self._table_caption

    def settings(self) -> dict[str, Any]:
        """Return the constructor's arguments, with the study's own choices in place of defaults."""
        names = list(inspect.signature(type(self)).parameters)
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def title(self) -> str:
        """Return the title: the first line of the study's description."""
        return (inspect.getdoc(type(self)) or self.name).splitlines()[0].rstrip(".")

    def to_markdown(self) -> str:
        """Return title, notes, tables and conclusion as markdown."""
        quick = "(quick form: it only shows that the study works)" if self.quick else ""
        shown = [f"### {title}\n\n{self._as_markdown(table)}" for title, table in self._markdown_tables().items()]
        parts = [f"## {self.title()}", quick, self.notes(), *shown, "### Conclusion", self.conclusion()]
        return "\n\n".join(part for part in parts if part)

    def _markdown_tables(self) -> dict[str, pd.DataFrame]:
        return {self.table_caption(): self.table(), **self.further_tables()}

    def _as_markdown(self, table: pd.DataFrame) -> str:
        return markdown_table(table, self._floatfmt)

    def to_csv(self, path: str | Path) -> Path:
        """Write all measurements as CSV, one per row; return the file.

        Parameters
        ----------
        path : path-like
            The file; in an existing folder, NAME_runs.csv.

        Raises
        ------
        StorageError
            If it cannot be written.
        """
        return _written(path, f"{self.name}_runs.csv", lambda file: write_csv(self.frame(), file, "measurements"))

    def report(self, path: str | Path) -> Path:
        """Write a self-contained web page with the results, the settings, and code to repeat the study; return the file.

        Parameters
        ----------
        path : path-like
            The file; in an existing folder, NAME.html.

        Raises
        ------
        StorageError
            If it cannot be written.
        """
        page = _page(self)  # before the file is touched
        return _written(path, f"{self.name}.html", lambda file: file.write_text(page, encoding="utf-8"))

    def write(self, out: str | Path) -> list[Path]:
        """Write measurements and table as CSV, the report as markdown and as a web page, and the figure; return the files.

        Parameters
        ----------
        out : path-like
            The folder; it is created if necessary.

        Raises
        ------
        StorageError
            If the folder cannot be written to.
        """
        folder = Path(out)
        table, text, picture = (folder / f"{self.name}{ending}" for ending in ("_table.csv", ".md", ".png"))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            files = [self.to_csv(folder), table, text]
            write_csv(self.table(), table, "table")
            text.write_text(self.to_markdown() + "\n", encoding="utf-8")
            files += self._write_further(folder)
            self.figure().savefig(picture, dpi=150)
            files.append(picture)
            for k, further in enumerate(self.further_figures().values(), start=2):
                files.append(folder / f"{self.name}_{k}.png")
                further.savefig(files[-1], dpi=150)
            files.append(self.report(folder))
        except OSError as error:
            raise StorageError(f"--out {folder}: cannot write there: {error.strerror or error}") from error
        return files

    def _further_files(self) -> dict[str, pd.DataFrame]:
        """Return the tables that `write` also writes, each into the file NAME_KEY.csv."""
        return {}

    def _write_further(self, folder: Path) -> list[Path]:
        """Write further files into an existing folder; return them."""
        files = []
        for key, table in self._further_files().items():
            files.append(folder / f"{self.name}_{key}.csv")
            write_csv(table, files[-1], "table")
        return files


def _written(path: str | Path, name: str, write: Callable[[Path], object]) -> Path:
    file = Path(path)
    if file.is_dir():
        file = file / name
    try:
        write(file)
    except OSError as error:
        raise StorageError(f"{file}: cannot write there: {error.strerror or error}") from error
    return file


def check_names(argument: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise ArgumentError if a name is unknown."""
    known = list(known)
    if unknown := [name for name in names if name not in known]:
        raise ArgumentError(f"{argument}: {unknown[0]!r} is unknown; use some of {', '.join(known)}")


def check_least(experiment: Experiment, least: int, *names: str) -> None:
    """Raise ArgumentError if one of these settings is smaller than `least`; None is allowed."""
    for name in names:
        if (value := getattr(experiment, name)) is not None and value < least:
            raise ArgumentError(f"{name}={value} is too few; use {least} or more")


def _page(experiment: Experiment) -> str:
    """Return the page of a study as HTML; runs the study if it has not run yet."""
    parts = _described(experiment)
    what: list[Part] = [*_paragraphs(parts.get("", "")), *_paragraphs(parts.get("References", ""))]
    title = experiment.title()
    return Page(
        title,
        [
            Section("Results", [*_findings(experiment), *_figures(experiment)]),
            Section("Tables", _tables(experiment)),
            Section("Method", [*(what or [f"{title}."]), Table(_settings(experiment), "Settings")]),
            Section("How to repeat it", _repeat(experiment)),
        ],
        lead=f"Study {experiment.name!r} of spotsvm.",
        footer=f"Made by spotsvm {library_version()}.",
    ).html()


def _described(experiment: Experiment) -> dict[str, str]:
    """Cut the study's docstring at its underlined headings; the text before the first heading has the key ""."""
    body = (inspect.getdoc(type(experiment)) or "").partition("\n")[2]
    first, *rest = _UNDERLINED.split(body)
    return {"": first} | dict(zip(rest[::2], rest[1::2], strict=True))


def _paragraphs(text: str) -> list[str]:
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()]


def _findings(experiment: Experiment) -> list[Part]:
    quick: list[Part] = [Notice("This is the quick form: it only shows that the study works.", "warning")]
    return (quick if experiment.quick else []) + [Notice(text, "finding") for text in _paragraphs(experiment.conclusion())]


def _figures(experiment: Experiment) -> list[Part]:
    own = type(experiment).figure is not Experiment.figure
    drawn = (experiment.drawn, experiment.keys, experiment.together)
    figure, *others = [experiment.figure()] if own else table_figures(experiment.table(), *drawn)
    first = Picture(figure, experiment.figure_caption(), experiment.figure_alt(), others=others)
    return [first, *(Picture(figure, caption, caption) for caption, figure in experiment.further_figures().items())]


def _tables(experiment: Experiment) -> list[Part]:
    tables = {experiment.table_caption(): experiment.table(), **experiment.further_tables()}
    return [*_paragraphs(experiment.notes()), *(Table(table, caption) for caption, table in tables.items())]


def _settings(experiment: Experiment) -> pd.DataFrame:
    settings = {name: _text(value) for name, value in experiment.settings().items()}
    if experiment.data is not None:
        settings["data sets from"] = str(experiment.data)
    if experiment.seconds is not None:
        settings["time of the run"] = f"{experiment.seconds:.1f} s"
    return pd.DataFrame({"setting": list(settings), "value": list(settings.values())})


def _text(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(str(entry) for entry in value)
    if isinstance(value, dict):
        return ", ".join(str(key) if key == entry else f"{key}: {entry}" for key, entry in value.items())
    return str(value)


def _repeat(experiment: Experiment) -> list[Part]:
    parts: list[Part] = []
    if experiment.settings() == type(experiment)(quick=experiment.quick).settings():
        words = ["spotsvm", "study", experiment.name, *(["--quick"] if experiment.quick else [])]
        words += ["--data", str(experiment.data)] if experiment.data is not None else []
        parts.append(Code(shlex.join([*words, "--out", experiment.name]), "On the command line"))
    versions = {"Python": platform.python_version(), "spotsvm": library_version()} | {name: version(name) for name in _PACKAGES}
    table = pd.DataFrame({"package": list(versions), "version": list(versions.values())})
    return [*parts, Code(_code(experiment), "In Python"), Table(table, "Versions")]


def _code(experiment: Experiment) -> str:
    kind = type(experiment)
    settings = experiment.settings()
    codes = {name: value_code(value) for name, value in settings.items()}
    missing = [f"# {name}: {' '.join(_text(settings[name]).split())}" for name, code in codes.items() if not code]
    script = Script()
    script.use(kind.__module__, kind.__name__)
    script.lines += ["# fill in these arguments:", *missing, ""] if missing else []
    arguments = [f"    {name}={code or name}," for name, code in codes.items()]
    script.lines += [f"study = {kind.__name__}(", *arguments, ")"]
    if experiment.data is not None:
        script.lines.append(f"study.use_data({str(experiment.data)!r})")
    script.lines.append(f'study.run().report("{experiment.name}.html")')
    return str(script)
