"""The study of durability: runs that are killed and resumed, throughput, a simulated cluster, large records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from spotsvm.common.errors import ArgumentError
from spotsvm.studies.common.experiment import Experiment, check_names
from spotsvm.studies.common.run_file import EndedRun, RunFile
from spotsvm.studies.durability.cases import COLUMNS, Finding, Part, by_case, measured, rows_of, skipped_text, without_skipped
from spotsvm.studies.durability.kills import KILLS
from spotsvm.studies.durability.load import CLUSTER, SIZE, THROUGHPUT
from spotsvm.study.callbacks import runs_bar

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_BLUE, _RED, _GREY = "#0072B2", "#D55E00", "0.5"


def draw_durability(parts: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw the parts that have a panel, of the measurements of each part with a row a case."""
    from matplotlib.figure import Figure

    shown = {name: parts[name] for name in _PANELS if name in parts}
    figure = Figure(figsize=(2.0 + 3.2 * max(len(shown), 1), 3.6), layout="constrained")
    if not shown:
        figure.text(0.5, 0.5, "None of the parts that were run has a picture.", ha="center")
        return figure
    for panel, (name, cases) in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown.items(), strict=True):
        _PANELS[name](panel, cases)
        panel.tick_params(labelsize=8)
        panel.grid(color="0.9", lw=0.6)
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_kills(panel: Axes, cases: pd.DataFrame) -> None:
    sums = cases.groupby("kind", sort=False)[["kills", "lost"]].sum()
    places = np.arange(len(sums))
    panel.barh(places, sums.kills, color=_BLUE, label="kills")
    panel.barh(places, sums.lost, color=_RED, label="told trials lost")
    panel.set_yticks(places, list(sums.index))
    panel.invert_yaxis()
    panel.legend(fontsize=7, frameon=False)
    panel.set_title("kills", fontsize=9)


def _draw_cluster(panel: Axes, cases: pd.DataFrame) -> None:
    labels = [f"{row.search}, {row.mean_seconds:g} s,\n{row.how}" for row in rows_of(cases)]
    _draw_dots(panel, cases.busy, labels, goal=0.95)
    panel.set_xlim(0, 1.02)
    panel.set_title("busy share of virtual workers", fontsize=9)


def _draw_dots(panel: Axes, values: pd.Series, labels: list[str], goal: float) -> None:
    panel.plot(values, np.arange(len(values)), "o", color=_BLUE, ms=4.5)
    panel.axvline(goal, color=_GREY, ls="--", lw=0.8)
    panel.set_yticks(np.arange(len(values)), labels, fontsize=7)
    panel.invert_yaxis()


def _draw_throughput(panel: Axes, cases: pd.DataFrame) -> None:
    labels = [f"{row.search}, {row.objective},\n{row.where}" for row in rows_of(cases)]
    _draw_dots(panel, cases.ratio, labels, goal=1.8)
    panel.set_xlim(0.9, max(2.1, float(cases.ratio.max()) + 0.1))
    panel.set_title("two workers to one", fontsize=9)


def _draw_size(panel: Axes, cases: pd.DataFrame) -> None:
    for (search, runs), marker in zip(cases.groupby("search", sort=False), "os^v", strict=False):
        panel.plot(runs.trials, runs.ask_seconds, marker=marker, ms=4.5, lw=1, label=str(search))
    panel.axhline(1.0, color=_GREY, ls="--", lw=0.8)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("trials", fontsize=8)
    panel.legend(fontsize=7, frameon=False)
    panel.set_title("seconds of a suggestion", fontsize=9)


_PANELS: dict[str, Callable[[Axes, pd.DataFrame], None]] = {
    "kills": _draw_kills,
    "cluster": _draw_cluster,
    "throughput": _draw_throughput,
    "size": _draw_size,
}
PARTS: dict[str, Part] = {part.name: part for part in (KILLS, THROUGHPUT, CLUSTER, SIZE)}

_NOTES = """\
Kills: a run is killed with SIGKILL and resumed, up to five times, then left to its end. Moments are a time within the run, the
n-th SQL statement before it is carried out (between transactions, or inside one), or a byte: the process dies within the write
that would let a file of the record's grow beyond it. A trial counts as told once `tell` has returned and the process has noted
so in a file of its own, synced; the record is compared with those notes after each kill, by SQLite alone. The end is compared
with the undisturbed run's, cell by cell, all tables, except times. Asynchronous runs cannot be repeated: there no told trial may
be lost or told twice, and none left running.

Throughput: from when all workers have ended a trial to the last trial told; medians of runs with one and two workers in turns.
Cluster: virtual workers, for which the time of a suggestion passes as on the clock; log-normal durations whose logarithm has a
standard deviation of 0.5; busy is the workers' time with a task, from the submission of the first to that of the last, over all
their time in between. Size: trials by random search, told one by one into a record; the search that is timed is told them in
memory."""


class DurabilityStudy(Experiment):
    """What a study survives, and how fast it is: kills, many workers and many trials.

    Parameters
    ----------
    quick : bool, default=False
        A few cases of each part.
    parts : sequence of str, optional
        Some of kills, throughput, cluster and size; by default all.
    seed : int, default=0
        Of the studies, and of the moments.
    path : path-like, optional
        A CSV file to which each case is added when it ends, and from which the study goes on if it was ended.

    Raises
    ------
    ArgumentError
        If a part is unknown, named twice, or none is named.
    """

    name = "durability"
    _table_caption = "Figures and goals"
    _notes = _NOTES
    _figure_caption = (
        "Left to right, of the parts that were run: kills of each kind of run, and told trials lost; busy share of virtual "
        "workers; throughput of two workers to one; seconds of a suggestion by the number of trials. Dashed lines are goals."
    )

    def __init__(self, quick: bool = False, *, parts: Sequence[str] | None = None, seed: int = 0, path: str | Path | None = None):
        super().__init__(quick)
        self.parts = tuple(PARTS if parts is None else parts)
        self.seed = seed
        self.path = None if path is None else Path(path)
        if not self.parts:
            raise ArgumentError(f"parts is empty; use some of {', '.join(PARTS)}")
        check_names("parts", self.parts, PARTS)
        if twice := [name for name in self.parts if self.parts.count(name) > 1]:
            raise ArgumentError(f"parts: {twice[0]!r} is there twice; name it once")

    def _measure(self) -> pd.DataFrame:
        file = RunFile(self.path, COLUMNS)
        done = file.read()
        found = []
        cases = [(name, case) for name in self.parts for case in PARTS[name].cases(self.quick, self.seed)]
        with runs_bar(self.name, len(cases)) as ended:
            for name, case in cases:
                rows = done[(done.part == name) & (done.case == case.name)] if len(done) else done
                if not len(rows):
                    rows = measured(name, case)
                    file.append(rows)
                found.append(rows)
                ended(EndedRun(f"{name}: {case.name}", self.seed))
        return pd.concat(found, ignore_index=True)

    def cases(self, part: str) -> pd.DataFrame:
        """Return the measurements of a part, a row a case."""
        frame = self.frame()
        return by_case(frame[frame.part == part])

    def _measured(self) -> dict[str, pd.DataFrame]:
        """Return the cases of each part that could be measured here; a part without any is left out."""
        parts = {name: without_skipped(self.cases(name)).reset_index(drop=True) for name in self.parts}
        return {name: cases for name, cases in parts.items() if len(cases)}

    def findings(self) -> list[Finding]:
        """Return the figures that are judged, part by part."""
        return [finding for name, cases in self._measured().items() for finding in PARTS[name].findings(cases)]

    def table(self) -> pd.DataFrame:
        """Return a row a figure that is judged: what it is, its goal, and whether that is met."""
        rows = [
            (name, finding.what, finding.figure, finding.goal, _WORDS[finding.met])
            for name, cases in self._measured().items()
            for finding in PARTS[name].findings(cases)
        ]
        return pd.DataFrame(rows, columns=["part", "measured", "figure", "goal", "met"])

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the table of each part."""
        return {PARTS[name].title: PARTS[name].table(cases) for name, cases in self._measured().items()}

    def conclusion(self) -> str:
        """Return in words what each part shows, and which goals are missed."""
        parts = self._measured()
        sentences = [
            f"{PARTS[name].sentence(parts[name]) if name in parts else ''} {skipped_text(self.cases(name))}".strip()
            for name in self.parts
        ]
        missed = [finding.what for finding in self.findings() if finding.met is False]
        judged = sum(finding.met is not None for finding in self.findings())
        verdict = f"{judged - len(missed)} of {judged} goals are met." + (f" Missed: {'; '.join(missed)}." if missed else "")
        return "\n\n".join([sentence for sentence in sentences if sentence] + [verdict])

    def figure(self) -> Figure:
        """Draw kills, busy shares, throughput and the time of suggestions, with their goals."""
        return draw_durability(self._measured())


_WORDS: dict[Any, str] = {True: "yes", False: "no", None: ""}
