"""The base class of the studies: runs a study, and returns its results as frames, figure, markdown, web page and files."""

from __future__ import annotations

import inspect
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from spotsvm.common.csv_files import write_csv
from spotsvm.common.errors import DataError, StorageError
from spotsvm.studies.common.data import data_from
from spotsvm.studies.common.report import report_page
from spotsvm.studies.common.table import draw_table, markdown_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Experiment(ABC):
    """Base of the studies; a subclass says what to run and how to sum it up.

    Parameters
    ----------
    quick : bool, default=False
        Whether to run a short form, which shows that it works and proves nothing.

    Attributes
    ----------
    data : Path or None
        Where data sets are read from in place of SPOTSVM_DATA; `use_data` sets it.
    seconds : float or None
        How long the last run took.
    """

    #: name on the command line, and of the files that are written
    name: str
    #: whether it reads data sets from files
    reads_data: bool = True
    #: columns of the table that the figure shows; by default the first of numbers
    drawn: tuple[str, ...] = ()

    def __init__(self, quick: bool = False):
        self.quick = quick
        self.data: Path | None = None
        self.seconds: float | None = None
        self._frame: pd.DataFrame | None = None

    def use_data(self, folder: str | Path) -> Self:
        """Read data sets from this folder, in place of the one that SPOTSVM_DATA names.

        Raises
        ------
        DataError
            If there is no such folder.
        """
        self.data = Path(folder)
        if not self.data.is_dir():
            raise DataError(f"--data {folder} is not a folder; name the one that holds the data sets")
        return self

    def run(self) -> Self:
        """Run it; each call runs it anew, with the same seeds."""
        began = time.perf_counter()
        with data_from(self.data):
            self._frame = self._measure()
        self.seconds = time.perf_counter() - began
        return self

    def frame(self) -> pd.DataFrame:
        """Return every measurement, a row each; runs the study if it has not run yet."""
        if self._frame is None:
            self.run()
        assert self._frame is not None
        return self._frame

    @abstractmethod
    def _measure(self) -> pd.DataFrame:
        """Run it and give every measurement."""

    @abstractmethod
    def table(self) -> pd.DataFrame:
        """Sum the measurements up."""

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return what other tables there are, by title; the web page shows them after the first."""
        return {}

    @abstractmethod
    def conclusion(self) -> str:
        """Return, in a sentence or two, what the table shows, from its figures."""

    def notes(self) -> str:
        """Return in words how the tables are to be read; the web page shows it before them."""
        return ""

    def figure(self) -> Figure:
        """Draw the results; by default columns of numbers of the table."""
        return draw_table(self.table(), self.drawn)

    def figure_caption(self) -> str:
        """Return in words what the figure shows."""
        return "Columns of the table, a dot a row."

    def figure_alt(self) -> str:
        """Return in words what there is to see in the figure, for those who cannot see it."""
        return f"{self.figure_caption()} {self.conclusion()}"

    def further_figures(self) -> dict[str, Figure]:
        """Return what other figures there are, by caption; the web page shows them after the first."""
        return {}

    def table_caption(self) -> str:
        """Return in words what the table is."""
        return "Results"

    def settings(self) -> dict[str, Any]:
        """Return the constructor's arguments, as they are used: what was left to the study is filled in."""
        names = list(inspect.signature(type(self)).parameters)
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def title(self) -> str:
        """Return the title: the first line of the study's description."""
        return (inspect.getdoc(type(self)) or self.name).splitlines()[0].rstrip(".")

    def heading(self, on_quick: str = "") -> str:
        """Return the title as markdown, with a word on the quick form and what else is to be said of that."""
        more = f". {on_quick}" if on_quick else ""
        quick = f"\n(quick form: it shows that the study works, and no more{more})\n" if self.quick else ""
        return f"## {self.title()}\n{quick}"

    def to_markdown(self) -> str:
        """Return title, table and conclusion as markdown."""
        return f"{self.heading()}\n{markdown_table(self.table())}\n\n{self.conclusion()}"

    def to_csv(self, path: str | Path) -> Path:
        """Write every measurement as CSV, a row each; return the file.

        Parameters
        ----------
        path : path-like
            The file. In a folder that is there it is NAME_runs.csv.

        Raises
        ------
        StorageError
            If it cannot be written.
        """
        return _written(path, f"{self.name}_runs.csv", lambda file: write_csv(self.frame(), file, "measurements"))

    def report(self, path: str | Path) -> Path:
        """Write a web page of one file that says what was run, what came out, and how to repeat it; return the file.

        Parameters
        ----------
        path : path-like
            The file. In a folder that is there it is NAME.html.

        Raises
        ------
        StorageError
            If it cannot be written.
        """
        page = report_page(self)  # before the file is touched
        return _written(path, f"{self.name}.html", lambda file: file.write_text(page, encoding="utf-8"))

    def write(self, out: str | Path) -> list[Path]:
        """Write measurements and table as CSV, the report as markdown and as a web page, and the figure; return the files.

        Parameters
        ----------
        out : path-like
            The folder; it is made if it is not there.

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
        """Return the tables that `write` writes beside the first, each into the file NAME_KEY.csv."""
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
