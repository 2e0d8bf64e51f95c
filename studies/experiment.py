"""What every study can do: run, and give its results as frames, as markdown and as files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

import pandas as pd

from spotsvm.errors import StorageError


class Experiment(ABC):
    """Base of the studies; a subclass says what to run and how to sum it up.

    Parameters
    ----------
    quick : bool, default=False
        Whether to run a short form, which shows that it works and proves nothing.
    """

    #: name on the command line, and of the files that are written
    name: str

    def __init__(self, quick: bool = False):
        self.quick = quick
        self._frame: pd.DataFrame | None = None

    def run(self) -> Experiment:
        """Run it; each call runs it anew, with the same seeds."""
        self._frame = self._measure()
        return self

    def frame(self) -> pd.DataFrame:
        """Give every measurement, a row each; runs the study if it has not run yet."""
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

    @abstractmethod
    def conclusion(self) -> str:
        """Say in a sentence or two what the table shows, from its figures."""

    def heading(self, on_quick: str = "") -> str:
        """Give the title as markdown, with a word on the quick form and what else is to be said of that."""
        title = (type(self).__doc__ or self.name).splitlines()[0].rstrip(".")
        more = f". {on_quick}" if on_quick else ""
        return f"## {title}\n" + (f"\n(quick form: it shows that the study works, and no more{more})\n" if self.quick else "")

    def to_markdown(self) -> str:
        """Give title, table and conclusion as markdown."""
        return f"{self.heading()}\n{self.table().to_markdown(index=False, floatfmt='.4g')}\n\n{self.conclusion()}"

    def write(self, out: str | Path) -> list[Path]:
        """Write the measurements and the table as CSV and the report as markdown into a folder; give the files.

        Raises
        ------
        StorageError
            If the folder cannot be written to.
        """
        folder = Path(out)
        files = [folder / f"{self.name}{ending}" for ending in ("_runs.csv", "_table.csv", ".md")]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.frame().to_csv(files[0], index=False)
            self.table().to_csv(files[1], index=False)
            files[2].write_text(self.to_markdown() + "\n")
            files += self._write_further(folder)
        except OSError as error:
            raise StorageError(f"--out {folder}: cannot write there: {error.strerror or error}") from error
        return files

    def _write_further(self, folder: Path) -> list[Path]:
        """Write what else there is, such as a figure, into a folder that is there; give the files."""
        return []
