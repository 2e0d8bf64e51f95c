"""ALGA, GASVM, GA-model and grid search on sets in the plane and of UCI: the experiments of Kawulok et al. 2017."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from spotsvm.errors import ArgumentError
from spotsvm.studies.alga.figures import draw_fronts, draw_machines, selected_machines
from spotsvm.studies.alga.runs import GRID, METHODS, NSGA2, OF_SIZE, REFITTED, TUNED, Model, grid_models, run_method
from spotsvm.studies.alga.sets import DOT_SETS, LARGER, UCI, Parts, scaled_folds, thirds
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
from spotsvm.studies.common.data import DataSet, data_folder, read_binary, stand_ins
from spotsvm.studies.common.experiment import Experiment, check_names, either
from spotsvm.studies.common.jobs import Job

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STAND_IN = "breast cancer"
SETS = (*DOT_SETS, *UCI, *LARGER)

_NOTES = """\
T are the rows for training or for choosing vectors, V the rows whose accuracy is the fitness, and Psi rows that no method uses.
The sets in the plane are drawn from a seed, because the paper describes its own sets but does not give them, nor the number of
squares of its chessboard: here it is 4x4 and 8x8. They are split at random by class, with a third of each class in each part.
UCI: 5 folds by class. Each fold is Psi once; of the other four a quarter is V. Columns are scaled to [0, 1] by T. German is the
numeric version, and rows of Wisconsin with missing values are left out. Banana, Twonorm, Waveform and Titanic (IDA) are not in
the paper; they are split as the sets in the plane, and their columns are standardised in the files. K is the number of vectors of
each class: d, 4 d, 16 d, ... for d columns, while 2 K is at most half of T and no class is smaller. SVs are support vectors,
machines the trained SVMs.

Grid search: gamma from 0.01 to 1000 and C from 0.1 to 1000 in steps of 10, then in steps of 2 around the best. Each SVM
is trained on T, and the most accurate one on V is chosen; among equals that with the fewest SVs. The paper gives no ranges. GASVM
uses the model of the grid search, and "with grid" adds its time. GA-model and grid search train on all of T. Random subsets: for
each subset the 20 models with which ALGA starts, until 1,000 SVMs are trained; "random subset" has one subset. NSGA-II: pairs of
a training set and a model, with
K up to 512 and 2,000 SVMs; the tables have the point of its front that is most accurate on V. Among SVMs with equal accuracy the
first is kept, as in the paper. "ALGA, vectors" and "ALGA, growing" are not in the paper. In the former, children inherit support
vectors; in the latter, training sets grow during the evolution. In both, the SVM with fewer SVs is kept among equals. "Tuned
SVC": C and gamma from the ranges of the grid, by 25 suggestions of Kriging and 5-fold cross-validation on 1,000 random rows of T
(all of a smaller T), on which it is then trained. "Tuned SVC, refitted" has the same C and gamma, and is trained on all of T.
Neither uses V. Their times include the suggestions. Seconds are processor times, because runs share a machine.

The numbers of the paper's tables 1 and 2 were not available, so the results are only compared with the statements in its text."""
_TESTS = """\
Wilcoxon's signed-rank tests are two-sided; runs with the same fold and number are pairs. All runs on a set in the plane share one
split, and on UCI the runs of a fold share a split. So p refers to other seeds, and not to other samples. Runs of different folds
share rows of T, so on UCI p is smaller than it would be for independent runs."""


@dataclass(kw_only=True)
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
    n_jobs, path
        See `Experiment`.
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

    References
    ----------
    Kawulok, Nalepa, Dudzik 2017, "An Alternating Genetic Algorithm for Selecting SVM Model and Training Set", MCPR 2017,
    section 4.
    """

    name = "alga"
    shared = ("max_evaluations",)
    _table_caption = "Accuracy, support vectors and time (as the paper's tables 1 and 2): means over the runs"
    _figure_caption = (
        "Accuracy on V by number of support vectors, means over the runs; K in parentheses. The line of NSGA-II is the mean over "
        "the runs of the best accuracy with at most this number."
    )

    n_runs: int = either(30, 2, least=2)
    n_model_runs: int = either(None, least=1)
    sets: Sequence[str] = either(None)
    methods: Sequence[str] = either(METHODS, among=METHODS)
    max_n_per_class: int | None = either(None, 32, least=1)
    max_evaluations: int | None = either(None, 200, least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.n_model_runs = min(self.n_runs, self.n_model_runs or self.n_runs)
        if self.sets is None:
            self.sets = (*(list(DOT_SETS)[1:3] if self.quick else DOT_SETS), *self._tables())
        check_names("sets", self.sets, (*DOT_SETS, *self._tables()))
        if GRID not in self.methods:
            raise ArgumentError(f"methods={list(self.methods)} has no {GRID!r}, to which all are compared; add it")

    def _tables(self) -> tuple[str, ...]:
        """Return the names of the sets that need data files."""
        return (STAND_IN,) if self.quick else (*UCI, *LARGER)

    @property
    def left_out(self) -> list[str]:
        """Sets without data."""
        return [name for name in self.sets if name in (*UCI, *LARGER) and (self.data or data_folder()) is None]

    def splits(self, name: str) -> list[Parts]:
        """Return the splits of a set: one, or five folds."""
        if name in DOT_SETS:
            few = 1200 if name.startswith("2d-chessboard") else 600
            return [thirds(DOT_SETS[name](few) if self.quick else DOT_SETS[name]())]
        if name == STAND_IN:
            data = stand_ins()[0]
            return list(scaled_folds(name, data.X[:, :6], data.y))[:2]
        if name in LARGER:
            return [thirds(DataSet(name, *read_binary(LARGER[name])))]
        return list(scaled_folds(name, *read_binary(UCI[name])))

    def sizes(self, parts: Parts) -> list[int]:
        """Return the K of a split."""
        return [size for size in parts.sizes if self.max_n_per_class is None or size <= self.max_n_per_class]

    def _measure(self) -> pd.DataFrame:
        splits = [parts for name in self.sets if name not in self.left_out for parts in self.splits(name)]
        models = grid_models(self._run(self._job(parts, GRID, 0, 0, None) for parts in splits))
        return self._run(
            self._job(parts, method, size, run, None if method == GRID else models[parts.name, parts.fold])
            for parts in splits
            for method in METHODS
            if method in self.methods
            for size in (self.sizes(parts) if method in OF_SIZE else [0])
            for run in range(self._runs_of(parts.name, method))
        )

    def _job(self, parts: Parts, method: str, size: int, run: int, grid: Model | None) -> Job:
        key = {"set": parts.name, "fold": parts.fold, "method": method, "K": size, "run": run, "checksum": parts.checksum}
        return Job(key, run_method, (parts, method, size, run, grid, self.max_evaluations))

    def _runs_of(self, name: str, method: str) -> int:
        """Return the number of runs on a split."""
        if method == GRID:
            return 1
        runs = self.n_runs if method in (*OF_SIZE, NSGA2, TUNED, REFITTED) else self.n_model_runs
        return runs if name in (*DOT_SETS, *LARGER) else max(1, runs // 3)

    def table(self) -> pd.DataFrame:
        """Return accuracy on V and Psi, support vectors and time for each set, method and K; see `by_method`."""
        return by_method(self.frame())

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the comparisons of ALGA with grid search and the tuned SVC, and the tests."""
        tests = wilcoxon_tests(self.frame())
        return {
            "ALGA beside grid search": against_grid(self.frame()),
            "ALGA beside an SVC tuned on 1,000 random rows": against_tuned(self.frame()),
            "ALGA beside the same SVC, refitted on all rows": against_tuned(self.frame(), REFITTED),
            "ALGA beside GASVM: at how many K p by Holm's method is at most 0.05": outcomes(tests),
            "Wilcoxon tests: differences (accuracies in points), p, and p by Holm's method": tests,
        }

    def conclusion(self) -> str:
        """Return in words whether the goal on the chessboard is reached, and the results on the paper's statements."""
        parts = [on_goal(self.frame()), on_tuned(self.frame()), *on_tendencies(self.frame())]
        if self.left_out:
            parts.append(f"Left out, because their data are missing: {', '.join(self.left_out)}.")
        return "\n\n".join(part for part in parts if part)

    def notes(self) -> str:
        """Return an explanation of the tables and tests."""
        limits = {"K": self.max_n_per_class, "machines trained in a run": self.max_evaluations}
        kept = ", ".join(f"{what} at most {most}" for what, most in limits.items() if most is not None)
        return "\n\n".join([_NOTES, _TESTS, *([f"These runs were cut short: {kept}."] if kept else [])])

    def figure(self) -> Figure:
        """Draw accuracy on V by number of support vectors, a panel for each set (Fig. 3)."""
        return draw_fronts(self.frame())

    def further_figures(self) -> dict[str, Figure]:
        """Draw machines in the plane (Fig. 4)."""
        splits = [self.splits(name)[0] for name in self.sets if name in DOT_SETS]
        rows = [selected_machines(parts, self.frame()) for parts in splits]
        return {_PICTURES: draw_machines(rows)} if rows else {}


_PICTURES = """\
Machines in the plane, of run 0. Shades: predictions; line: the boundary; small dots: rows of V. Crosses: chosen vectors (none if
all of T is used); rings: support vectors. In the titles: K, accuracy on V and Psi, and support vectors."""
