"""ALGA, GASVM, GA-model and grid search on sets in the plane and of UCI: the experiments of Kawulok et al. 2017."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import pandas as pd

from spotsvm.errors import ArgumentError
from spotsvm.studies.alga.figures import draw_fronts, draw_machines, selected_machines
from spotsvm.studies.alga.runs import GRID, METHODS, NSGA2, OF_SIZE, REFITTED, TUNED, GridModel, Records, grid_models, run_method
from spotsvm.studies.alga.sets import DOT_SETS, LARGER, UCI, DotSet, Parts, scaled_folds, thirds
from spotsvm.studies.alga.tables import (
    against_grid,
    against_tuned,
    by_method,
    on_goal,
    on_tendencies,
    on_tuned,
    outcomes,
    wilcoxon_tests,
)
from spotsvm.studies.common.data import data_folder, read_binary, stand_ins
from spotsvm.studies.common.experiment import Experiment, check_least, check_names
from spotsvm.studies.common.run_file import EndedRun
from spotsvm.study.callbacks import runs_bar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STAND_IN = "breast cancer"
SETS = (*DOT_SETS, *UCI, *LARGER)

_NOTES = """\
T: rows to train on or to choose vectors from; V: rows whose accuracy is the fitness; Psi: rows that no method sees. The sets in
the plane are drawn from a seed (the paper describes its own and does not give them, nor how many squares its chessboard has:
4x4 and 8x8 stand here) and split at random by class, a third of each class to each part. UCI: 5 folds by class; each is Psi
once, of the other four a quarter is V; columns are scaled to [0, 1] by T; German is the numeric version, and rows of Wisconsin
with missing values are left out. Banana, Twonorm, Waveform and Titanic (IDA) are not in the paper; they are split as the sets
in the plane, and their columns come standardised. K: vectors a class, d, 4 d, 16 d, ... for d columns while 2 K is at most half
of T and no class is smaller. SVs: support vectors; machines: how many were trained.

Grid search (LIBSVM): gamma 0.01 to 1000 and C 0.1 to 1000 in steps of 10, then of 2 about the best, each machine trained on T,
the most accurate on V taken, of equals the one with fewest SVs; the paper gives no ranges. GASVM uses its model, and "with
grid" adds its time. GA-model and grid search train on all of T. Random subsets: with each the 20 models with which ALGA begins,
until 1,000 machines are trained. NSGA-II: pairs of training set and model, K up to 512, 2,000 machines; of its front the tables
have the point that is most accurate on V. Of machines with equal accuracy the first is kept, as in the paper. "ALGA, vectors"
and "ALGA, growing" are not the paper's: in the former children inherit support vectors, in the latter training sets get larger
as they evolve, and in both, of machines with equal accuracy, that with fewer SVs is kept. "Tuned SVC": C and gamma from the
ranges of the grid, by 25 suggestions of Kriging and 5-fold cross-validation on 1,000 random rows of T (all where T has fewer),
which it is then trained on; "tuned SVC, refitted" is trained on all of T with the same C and gamma. Neither uses V. Their times
include the suggestions. Seconds are of the processor, not of the
clock, for runs share a machine.

The numbers of the paper's tables 1 and 2 are not in the text that was at hand: nothing printed stands beside these, only what
its prose says."""
_TESTS = """\
Wilcoxon's signed-rank tests are two-sided; runs of the same fold and number are pairs. On the sets in the plane all runs share
one split, and on UCI a fold's runs do: p says whether other seeds would give the same, not whether another sample would. Runs of
different folds share rows of T, so that on UCI p is smaller than independent runs would have it."""


class AlgaStudy(Experiment):
    """Selecting vectors and the model in turns: ALGA compared with GASVM, GA-model and grid search.

    Sets in the plane, from a seed: dots at random positions (17,000 points), single points (1,552) and dots on a chessboard of
    4 x 4 and of 8 x 8 squares (27,000). UCI: German, Ionosphere and Wisconsin in 5 folds, and four larger sets of IDA, from the
    folder SPOTSVM_DATA; without it they are left out. ALGA also competes with an SVC tuned on 1,000 random rows and trained on
    these rows or on all.

    Parameters
    ----------
    quick : bool, default=False
        Two runs, on 600 single points, 1,200 points of a chessboard, and a set of scikit-learn, K up to 32.
    n_runs : int, optional
        Number of runs of a method with random choices at each K on a set in the plane, at least 2; on UCI a third of this number
        per fold. By default 30, the paper's number, which gives 10 per fold.
    n_model_runs : int, optional
        Number of runs of GA-model, which trains hundreds of SVMs on all of T; by default `n_runs`, which is also the maximum.
    sets : sequence of str, optional
        Some of `spotsvm.studies.alga.study.SETS`; by default all.
    methods : sequence of str, optional
        Some of `spotsvm.studies.alga.runs.METHODS`, including "grid search", to which all are compared. By default all.
    max_n_per_class : int, optional
        The largest K to run; by default the paper's.
    max_evaluations : int, optional
        As in `ReducedSVC`: number of trained SVMs after which no further generation begins. By default ALGA, GASVM and GA-model
        end by their own rules, the random subsets after 1,000 and NSGA-II after 2,000; in the quick form all after 200.
    n_jobs : int or None, default=None
        Number of parallel runs.
    path : path-like, optional
        A CSV file to which the rows of each run are appended, and from which an interrupted study resumes.

    Raises
    ------
    ArgumentError
        If an argument is invalid.

    References
    ----------
    Kawulok, Nalepa, Dudzik 2017, "An Alternating Genetic Algorithm for Selecting SVM Model and Training Set", MCPR 2017,
    section 4.
    """

    name = "alga"
    _table_caption = "Accuracy, support vectors and time (as the paper's tables 1 and 2): means over the runs"
    _figure_caption = (
        "Accuracy on V against the number of support vectors, means over the runs; K in parentheses. Of NSGA-II: the mean "
        "over the runs of the best accuracy with at most so many."
    )

    def __init__(
        self,
        quick: bool = False,
        *,
        n_runs: int | None = None,
        n_model_runs: int | None = None,
        sets: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
        max_n_per_class: int | None = None,
        max_evaluations: int | None = None,
        n_jobs: int | None = None,
        path: str | Path | None = None,
    ):
        super().__init__(quick)
        self.n_runs = n_runs if n_runs is not None else (2 if quick else 30)
        self.n_model_runs = min(self.n_runs, n_model_runs if n_model_runs is not None else self.n_runs)
        self.sets = tuple(sets) if sets is not None else (*(list(DOT_SETS)[1:3] if quick else DOT_SETS), *self._tables())
        self.methods = tuple(methods) if methods is not None else METHODS
        self.max_n_per_class = max_n_per_class if max_n_per_class is not None else (32 if quick else None)
        self.max_evaluations = max_evaluations if max_evaluations is not None else (200 if quick else None)
        self.n_jobs = n_jobs
        self.path = None if path is None else Path(path)
        check_least(self, 2, "n_runs")
        check_least(self, 1, "n_model_runs", "max_n_per_class", "max_evaluations")
        check_names("sets", self.sets, (*DOT_SETS, *self._tables()))
        check_names("methods", self.methods, METHODS)
        if GRID not in self.methods:
            raise ArgumentError(f"methods={list(self.methods)} has no {GRID!r}, to which all are compared; add it")

    def _tables(self) -> tuple[str, ...]:
        """Return the names of the sets that need data files."""
        return (STAND_IN,) if self.quick else (*UCI, *LARGER)

    @property
    def left_out(self) -> list[str]:
        """Sets without data."""
        return [name for name in self.sets if name in (*UCI, *LARGER) and data_folder() is None]

    def splits(self, name: str) -> list[Parts]:
        """Return the splits of a set: one, or five folds."""
        if name in DOT_SETS:
            return [thirds(_small(name) if self.quick else DOT_SETS[name]())]
        if name == STAND_IN:
            data = stand_ins()[0]
            return list(scaled_folds(name, data.X[:, :6], data.y))[:2]
        if name in LARGER:
            return [thirds(DotSet(name, *read_binary(LARGER[name])))]
        return list(scaled_folds(name, *read_binary(UCI[name])))

    def sizes(self, parts: Parts) -> list[int]:
        """Return the K of a split."""
        return [size for size in parts.sizes if self.max_n_per_class is None or size <= self.max_n_per_class]

    def _measure(self) -> pd.DataFrame:
        splits = {
            (parts.name, parts.fold): parts for name in self.sets if name not in self.left_out for parts in self.splits(name)
        }
        records = Records(self.path, list(splits.values()), self.max_evaluations)
        self._run_jobs(records, [(parts, GRID, 0, 0, None, None) for parts in splits.values()])
        models = grid_models(records.frame())
        self._run_jobs(records, list(self._jobs(splits.values(), models)))
        return self._wanted(records.frame(), splits)

    def _jobs(self, splits: Any, models: dict[tuple[str, int], GridModel]) -> Iterator[tuple[Any, ...]]:
        for run in range(self.n_runs):
            for parts in splits:
                for method in self.methods:
                    if method != GRID and run < self._runs_of(parts.name, method):
                        for size in self.sizes(parts) if method in OF_SIZE else [0]:
                            yield parts, method, size, run, models[parts.name, parts.fold], self.max_evaluations

    def _runs_of(self, name: str, method: str) -> int:
        """Return the number of runs on a split."""
        if method == GRID:
            return 1
        runs = self.n_runs if method in (*OF_SIZE, NSGA2, TUNED, REFITTED) else self.n_model_runs
        return runs if name in (*DOT_SETS, *LARGER) else max(1, runs // 3)

    def _run_jobs(self, records: Records, jobs: list[tuple[Any, ...]]) -> None:
        left = [job for job in jobs if not records.has(job[0], *job[1:4])]
        calls = (joblib.delayed(run_method)(*job) for job in left)
        with runs_bar(self.name, len(left)) as ended:
            runs: Iterator[list[dict[str, Any]]] = joblib.Parallel(n_jobs=self.n_jobs, return_as="generator")(calls)
            for job, rows in zip(left, runs, strict=True):
                records.add(rows)
                ended(EndedRun(f"{job[1]} on {job[0].name}", job[3]))

    def _wanted(self, runs: pd.DataFrame, splits: dict[tuple[str, int], Parts]) -> pd.DataFrame:
        """Return the rows of these settings, in an order that does not depend on who ended first."""
        wanted = {(*key, GRID, 0, 0) for key in splits}
        wanted |= {(parts.name, parts.fold, *job) for parts, *job, _, _ in self._jobs(splits.values(), grid_models(runs))}
        keys = ["set", "fold", "method", "K", "run"]
        runs = runs[[key in wanted for key in runs[keys].itertuples(index=False, name=None)]]
        order = {name: k for k, name in enumerate((*self.sets, *METHODS))}
        return runs.sort_values(
            keys,
            key=lambda column: column.map(order) if column.name in ("set", "method") else column,
            kind="stable",
            ignore_index=True,
        )

    def table(self) -> pd.DataFrame:
        """Return a row a set, method and K: accuracy on V and Psi, support vectors and time; see `by_method`."""
        return by_method(self.frame())

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return ALGA beside grid search, the tests, and at how many K they tell ALGA and GASVM apart."""
        tests = wilcoxon_tests(self.frame())
        return {
            "ALGA beside grid search": against_grid(self.frame()),
            "ALGA beside an SVC tuned on 1,000 random rows": against_tuned(self.frame()),
            "ALGA beside the same SVC, refitted on all rows": against_tuned(self.frame(), REFITTED),
            "ALGA beside GASVM: at how many K p by Holm's method is at most 0.05": outcomes(tests),
            "Wilcoxon tests: differences (accuracies in points), p, and p by Holm's method": tests,
        }

    def conclusion(self) -> str:
        """Judge the goal on the chessboard, and what the paper says of the methods."""
        parts = [on_goal(self.frame()), on_tuned(self.frame()), *on_tendencies(self.frame())]
        if self.left_out:
            parts.append(f"Left out, for their data are not there: {', '.join(self.left_out)}.")
        return "\n\n".join(part for part in parts if part)

    def notes(self) -> str:
        """Return in words what was measured, and how the tests are to be read."""
        limits = {"K": self.max_n_per_class, "machines trained in a run": self.max_evaluations}
        kept = ", ".join(f"{what} at most {most}" for what, most in limits.items() if most is not None)
        return "\n\n".join([_NOTES, _TESTS, *([f"These runs were cut short: {kept}."] if kept else [])])

    def figure(self) -> Figure:
        """Draw accuracy on V against support vectors, a panel a set (Fig. 3)."""
        return draw_fronts(self.frame())

    def further_figures(self) -> dict[str, Figure]:
        """Draw machines in the plane (Fig. 4)."""
        splits = [self.splits(name)[0] for name in self.sets if name in DOT_SETS]
        rows = [selected_machines(parts, self.frame()) for parts in splits]
        return {_PICTURES: draw_machines(rows)} if rows else {}


_PICTURES = """\
Machines in the plane, of run 0. Shades: what the machine says; line: its boundary; small dots: rows of V. Crosses: vectors chosen
(none where all of T is trained on); rings: support vectors. In the titles: K, accuracy on V and Psi, and support vectors."""


def _small(name: str) -> DotSet:
    return DOT_SETS[name](1200 if name.startswith("2d-chessboard") else 600)
