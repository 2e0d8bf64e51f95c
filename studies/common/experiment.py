"""The base class of the studies: runs a study, and returns its results as frames, figure, Markdown, web page and files."""

from __future__ import annotations

import inspect
import platform
import re
import shlex
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import closing
from dataclasses import Field, dataclass, field, fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pandas as pd

from spotsvm.common.checkout import library_version
from spotsvm.common.code import Script, value_code
from spotsvm.common.csv_files import write_csv
from spotsvm.common.new_files import new_file
from spotsvm.comparison.runs import check_jobs, checked_seeds
from spotsvm.errors import ArgumentError, DataError, StorageError
from spotsvm.reports.html.page import Code, Highlight, Page, Part, Picture, Section, Table
from spotsvm.studies.common.arguments import argument_words, read_arguments
from spotsvm.studies.common.data import data_from
from spotsvm.studies.common.jobs import Job, JobFile, run_jobs
from spotsvm.studies.common.table import draw_table, interval_columns, markdown_table, table_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "numba", "cma")
_UNDERLINED = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


#: annotation of the argument `seeds`: an int or a sequence of int, and in the study itself the list of the seeds
Seeds = Any


def either(full: Any, quick: Any = None, *, least: float | None = None, among: Collection[str] | None = None) -> Any:
    """Declare an argument of a study whose default, None, means one value in the full form and another one in the quick form.

    `least` is the smallest valid number; `among` the valid names of a sequence of different names.
    """
    return field(default=None, metadata={"full": full, "quick": full if quick is None else quick, "least": least, "among": among})


@dataclass(kw_only=True)
class Experiment(ABC):
    """Base class of the studies. A subclass is a dataclass of its arguments, and defines the jobs and the summary of their rows.

    Parameters
    ----------
    quick : bool, default=False
        Whether to run a short version, to check that the study works.
    n_jobs : int or None, default=None
        Number of jobs at the same time, as joblib takes it; None is one. It does not change the rows. A study that measures times
        runs one job at a time.
    path : path-like, optional
        A file to which each job is added when it ends, and from which an interrupted study resumes. Other settings or other data
        need another file. For a study with `keeps_records` it is the folder for the records of the searches.

    Attributes
    ----------
    data : Path or None
        Folder of the data sets in place of SPOTSVM_DATA; `use_data` sets it.
    seconds : float or None
        Time of the last run.

    Raises
    ------
    ArgumentError
        If an argument is invalid.

    Examples
    --------
    >>> @dataclass(kw_only=True)
    ... class Doubles(Experiment):
    ...     name = "doubles"
    ...     seeds: Seeds = either(5, 2)
    ...
    ...     def _jobs(self):
    ...         return [
    ...             Job({"seed": seed}, lambda n: {"double": 2 * n}, (seed,))
    ...             for seed in self.seeds
    ...         ]
    ...
    ...     def table(self):
    ...         return self.frame()
    ...
    ...     def conclusion(self):
    ...         return f"The largest double is {self.frame().double.max()}."
    >>> Doubles(quick=True).conclusion(), Doubles(seeds=[7]).conclusion()
    ('The largest double is 2.', 'The largest double is 14.')
    """

    quick: bool = field(default=False, kw_only=False)
    n_jobs: int | None = None
    path: str | Path | None = None

    #: name on the command line, and of the files that are written
    name: ClassVar[str]
    #: whether it reads data sets from files
    reads_data: ClassVar[bool] = True
    #: whether it measures times, and so runs one job at a time
    measures_times: ClassVar[bool] = False
    #: whether its searches keep records in the folder `path`
    keeps_records: ClassVar[bool] = False
    #: names of the settings that all jobs in a file share; another value needs another file
    shared: ClassVar[tuple[str, ...]] = ()
    #: columns of the table that the figure shows; by default the first of numbers
    drawn: ClassVar[tuple[str, ...]] = ()
    #: whether the columns that the figure shows have one unit, and so one panel
    together: ClassVar[bool] = False
    #: columns of numbers that name the rows of the table, and are not drawn
    keys: ClassVar[tuple[str, ...]] = ()
    #: what `table_caption`, `figure_caption` and `notes` return
    _table_caption: ClassVar[str] = "Results"
    _figure_caption: ClassVar[str] = ""
    _notes: ClassVar[str] = ""
    #: how numbers are shown in markdown
    _floatfmt: ClassVar[str] = ".4g"

    def __post_init__(self) -> None:
        self.data: Path | None = None
        self.seconds: float | None = None
        self._frame: pd.DataFrame | None = None
        self._file: JobFile | None = None
        for argument in fields(self):
            setattr(self, argument.name, _resolved(argument, getattr(self, argument.name), self.quick))
        self.path = None if self.path is None else Path(self.path)
        check_jobs(self.n_jobs)
        if self.measures_times and self.n_jobs not in (None, 1):
            raise ArgumentError(f"n_jobs={self.n_jobs}: the study {self.name} measures times, and runs one job at a time; use 1")

    @classmethod
    def read_arguments(cls, words: Sequence[str]) -> dict[str, Any]:
        """Read arguments from words of the command line, such as ``["--seeds", "3"]``.

        Parameters
        ----------
        words : sequence of str
            Options and values; a list is separated by commas, ``--budgets 5,10``, and a dict is ``--interpreters ax=python3``.

        Returns
        -------
        dict
            Arguments of the class by name.

        Raises
        ------
        ArgumentError
            If the study has no such argument, or the value cannot be read.
        """
        return read_arguments(cls, words)

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
        """Run the study with its seeds; with `path`, only the jobs that the file lacks."""
        began = time.perf_counter()
        settings = {name: getattr(self, name) for name in ("quick", *self.shared)}
        self._file = JobFile(None if self.keeps_records else self.path, self.name, settings)
        with closing(self._file), data_from(self.data):
            self._frame = self._measure()
        self.seconds = time.perf_counter() - began
        return self

    def frame(self) -> pd.DataFrame:
        """Return all measurements, one per row; run the study if it has not run yet."""
        if self._frame is None:
            self.run()
        assert self._frame is not None
        return self._frame

    def _measure(self) -> pd.DataFrame:
        """Run the study; return all measurements, one per row."""
        return self._run(self._jobs())

    def _jobs(self) -> Iterable[Job]:
        """Return the jobs, in the order of the rows."""
        raise NotImplementedError(f"{type(self).__name__} defines neither _jobs nor _measure")

    def _run(self, jobs: Iterable[Job]) -> pd.DataFrame:
        """Run the jobs that neither this run nor the file has; return the rows of all in the order of the jobs."""
        assert self._file is not None
        return run_jobs(jobs, self._file, self.name, self.n_jobs)

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
        return draw_table(self.table(), self.drawn_columns(), self.keys, self.together)

    def drawn_columns(self) -> tuple[str, ...]:
        """Return the columns of the table that the figure shows."""
        return self.drawn

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
        names = [name for name in inspect.signature(type(self)).parameters if hasattr(self, name)]
        settings = {name: getattr(self, name) for name in names}
        return {name: value for name, value in settings.items() if value is not None or name not in ("n_jobs", "path")}

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
        return _written(path, f"{self.name}.html", lambda file: _write_text(page, file))

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
            _write_text(self.to_markdown() + "\n", text)
            files += self._write_further(folder)
            _write_picture(self.figure(), picture)
            files.append(picture)
            for k, further in enumerate(self.further_figures().values(), start=2):
                files.append(folder / f"{self.name}_{k}.png")
                _write_picture(further, files[-1])
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


def _write_text(text: str, path: Path) -> None:
    with new_file(path) as file:
        file.write_text(text, encoding="utf-8")


def _write_picture(figure: Figure, path: Path) -> None:
    with new_file(path) as file:
        figure.savefig(file, dpi=150)


def _resolved(argument: Field[Any], value: Any, quick: bool) -> Any:
    """Return the value of an argument with its default in place of None, and lists as tuples; ArgumentError if it is invalid."""
    name, about = argument.name, argument.metadata
    if value is None and about:
        value = about["quick" if quick else "full"]
    if name == "seeds":
        return checked_seeds(value)
    if isinstance(value, list):
        value = tuple(value)
    if about and about["among"] is not None and value is not None:
        check_names(name, value, about["among"])
    if about and about["least"] is not None and value is not None and value < about["least"]:
        raise ArgumentError(f"{name}={value} is too few; use {about['least']} or more")
    return value


def check_names(argument: str, names: Sequence[str], valid: Collection[str]) -> None:
    """Raise ArgumentError if there is no name, or if a name is unknown or there twice."""
    if not names:
        raise ArgumentError(f"{argument} is empty; use some of {', '.join(valid)}")
    if unknown := [name for name in names if name not in valid]:
        raise ArgumentError(f"{argument}: {unknown[0]!r} is unknown; use some of {', '.join(valid)}")
    if twice := [name for name in names if names.count(name) > 1]:
        raise ArgumentError(f"{argument}: {twice[0]!r} is there twice, and its runs would count twice; name it once")


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
    quick: list[Part] = [Highlight("This is the quick form: it only shows that the study works.", "warning")]
    return (quick if experiment.quick else []) + [Highlight(text, "finding") for text in _paragraphs(experiment.conclusion())]


def _figures(experiment: Experiment) -> list[Part]:
    own = type(experiment).figure is not Experiment.figure
    drawn = (experiment.drawn_columns(), experiment.keys, experiment.together)
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
    settings, default = experiment.settings(), type(experiment)(quick=experiment.quick).settings()
    given = {"--data": experiment.data, "--jobs": settings.pop("n_jobs", None), "--path": settings.pop("path", None)}
    other = argument_words({name: value for name, value in settings.items() if value != default.get(name)})
    if other is not None:
        words = ["spotsvm", "study", experiment.name, *other, *(["--quick"] if experiment.quick else [])]
        words += [str(word) for option in given.items() if option[1] is not None for word in option]
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
