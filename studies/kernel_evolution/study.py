"""Kernels by genetic programming against a tuned RBF kernel: Tables 9 and 10 and Fig. 3 of Koch 2011."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import pandas as pd

from spotsvm.errors import ArgumentError, DataError
from spotsvm.studies.common.experiment import Experiment, check_least, check_names
from spotsvm.studies.common.run_file import EndedRun, RunFile
from spotsvm.studies.kernel_evolution.causality import causality_table, step_changes
from spotsvm.studies.kernel_evolution.runs import (
    COLUMNS,
    FILES,
    N_EVALUATIONS,
    N_SPLITS,
    OPTIONS,
    TUNED_RBF,
    LabelledSet,
    labelled_sets,
    method_of,
    options_text,
    run_split,
    split_seeds,
)
from spotsvm.studies.kernel_evolution.tables import (
    best_kernels,
    best_runs,
    draw_errors,
    latex_kernels,
    on_causality,
    on_luck,
    on_paper,
    on_time,
    on_tuned_rbf,
    ordered_methods,
    ordered_sets,
    paired_tests,
    shown_table,
    table_9,
)
from spotsvm.study.callbacks import runs_bar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRAMMARS = ("paper", "psd")
#: random walks of each grammar on each set
WALKS, QUICK_WALKS = 50, 5
_KEY = ["set", "split", "method"]

_NOTES = """\
Errors are misclassified shares of the test rows: 20 % of the rows, drawn without regard to classes, the same for all methods; the
paper's splits are others. Its mean errors of GP on Heart, Liver and Pima are no means over 20 test parts of these sizes; 16, 19
and 19 would fit. Features are standardised by the training rows' means and deviations inside each fit, as the paper's
R software scales them by default; classes are as in the files. tRBF takes C and gamma from a grid of 2^-8 to 2^8 by stratified
5-fold cross-validation on the training rows. GP (paper) takes kernel, constants and C by the error on a third of them. GP (psd)
begins with standard kernels among others and goes by the mean over several such thirds; it then chooses among its best, and
tunes the numbers, by repeated 5-fold cross-validation. All are then trained on all training rows. "Validation" is the mean of
the errors by which the choice was made, "seconds" the median processor time of a run.

Differences are paired over the splits. Their test is the corrected resampled t test (Nadeau, Bengio 2003): splits share training
rows, so that the variance of the mean is that of a difference times 1/J + n_test/n_train, J being the number of splits. Over all
sets the sets are as they are, and not a sample of others. Probabilities (p) are of each test alone. "Lower", "equal" and "higher"
count splits.

Best kernels are those with the lowest validation error of all splits; of equal ones the one of fewest nodes, then the first.
Numbers in a formula are the kernel's own, symbols have their values under "constants".

Causality: kernels are grown at random and varied ten times in a row, without selection. The change of a step is 1 less the
centred alignment of the matrices before and after it, which does not see a common factor; below 1e-6 the kernel is unchanged.
The quartiles are those of the steps that change something; "draws" is how many it takes to get a valid child."""
_STAND_INS = "The data are two small sets of scikit-learn, of which the paper prints nothing: SPOTSVM_DATA names no folder."


class KernelEvolutionStudy(Experiment):
    """Kernels by genetic programming against a tuned RBF kernel: Tables 9 and 10 and Fig. 3 of Koch 2011.

    On 20 splits of each set into 80 % training and 20 % test rows, kernels are evolved with the paper's grammar, and with one
    whose kernels are positive semidefinite by construction; the RBF kernel is tuned by grid search. Sets: Ionosphere, Glass2,
    Heart, Liver and Pima, from the folder SPOTSVM_DATA; two sets of scikit-learn without it.

    Parameters
    ----------
    quick : bool, default=False
        Three splits of two sets, with 40 evaluations.
    n_evaluations : int, optional
        Fitness evaluations of an evolution, at least 1; by default 2500.
    n_splits : int, optional
        Number of splits of each set, at least 1; by default 20. A larger number adds splits to the same first ones.
    sets : sequence of str, optional
        Some of Ionosphere, Glass2, Heart, Liver and Pima; by default all that there are.
    grammars : sequence of str, default=("paper", "psd")
        As in `EvolvedKernelSVC`; pass () to tune only the RBF kernel.
    options : dict, optional
        Further arguments of `EvolvedKernelSVC`, except grammar, n_trials and random_state, which the study sets.
    seed : int, default=0
        Seed of the splits and of all draws within them.
    n_jobs : int or None, default=None
        Number of parallel runs; it does not change the errors.
    path : path-like, optional
        A CSV file to which each run is appended when it ends, and from which an interrupted study resumes.

    Raises
    ------
    ArgumentError
        If an argument is invalid.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", sections 2.3.2
    and 3.3.
    """

    name = "kernel_evolution"
    _table_caption = "Table 9"
    _figure_caption = (
        "Test errors over the splits, as Fig. 3: boxes from the first to the third quartile, the median within, whiskers to "
        "the last value within 1.5 times their distance; dots are splits, the rhomb is the printed mean."
    )

    def __init__(
        self,
        quick: bool = False,
        *,
        n_evaluations: int | None = None,
        n_splits: int | None = None,
        sets: Sequence[str] | None = None,
        grammars: Sequence[str] = GRAMMARS,
        options: Mapping[str, Any] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        path: str | Path | None = None,
    ):
        super().__init__(quick)
        self.n_evaluations = n_evaluations if n_evaluations is not None else (40 if quick else N_EVALUATIONS)
        self.n_splits = n_splits if n_splits is not None else (3 if quick else N_SPLITS)
        self.sets = None if sets is None else tuple(sets)
        self.grammars, self.options, self.seed = tuple(grammars), dict(options or {}), seed
        self.n_jobs = n_jobs
        self._steps = pd.DataFrame()
        self.path = None if path is None else Path(path)
        check_least(self, 1, "n_evaluations", "n_splits")
        if self.sets == ():
            raise ArgumentError(f"sets is empty; use some of {', '.join(FILES)}")
        for argument, named, known in (("sets", self.sets or (), tuple(FILES)), ("grammars", self.grammars, GRAMMARS)):
            check_names(argument, named, known)
            if twice := [name for name in named if named.count(name) > 1]:
                raise ArgumentError(f"{argument}: {twice[0]!r} is there twice, and its runs would count twice; name it once")
        if wrong := [name for name in self.options if name not in OPTIONS]:
            raise ArgumentError(
                f"options: {wrong[0]!r} is unknown, or an argument of the study; use some of {', '.join(OPTIONS)}"
            )

    def _measure(self) -> pd.DataFrame:
        sets = labelled_sets(self.sets, self.quick)
        self._steps = step_changes(sets, self.grammars, QUICK_WALKS if self.quick else WALKS, self.seed, self.n_jobs)
        file = RunFile(self.path, COLUMNS)
        done = self._recorded(file, sets)
        known = set(done[_KEY].itertuples(index=False, name=None)) if len(done) else set()
        jobs = [
            (data, split, seed, grammar, self.n_evaluations, self.options)
            for grammar in (None, *self.grammars)
            for split, seed in enumerate(split_seeds(self.seed, self.n_splits))
            for data in sets
            if (data.name, split, TUNED_RBF if grammar is None else method_of(grammar)) not in known
        ]
        found = [done] if len(done) else []
        calls = (joblib.delayed(run_split)(*job) for job in jobs)
        with runs_bar(self.name, len(jobs)) as ended:
            for row in joblib.Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")(calls):
                found.append(pd.DataFrame([row])[list(COLUMNS)])
                file.append(found[-1])
                ended(EndedRun(f"{row['method']} on {row['set']}", row["split"]))
        return self._ordered(pd.concat(found, ignore_index=True))

    def _ordered(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Return the runs in an order that does not depend on which ended first."""
        places = [{name: k for k, name in enumerate(names)} for names in (ordered_methods(runs), sorted(ordered_sets(runs)))]
        order = runs.assign(_method=runs.method.map(places[0]), _set=runs["set"].map(places[1]))
        return order.sort_values(["_set", "_method", "split"]).drop(columns=["_method", "_set"]).reset_index(drop=True)

    def _recorded(self, file: RunFile, sets: Sequence[LabelledSet]) -> pd.DataFrame:
        """Return what the file has of this study."""
        runs = file.read()
        if not len(runs):
            return runs
        checksums = {data.name: data.checksum for data in sets}
        methods = [TUNED_RBF, *(method_of(grammar) for grammar in self.grammars)]
        runs = runs[runs["set"].isin(checksums) & (runs.split < self.n_splits) & runs.method.isin(methods)]
        evolved, seeds = runs.method != TUNED_RBF, dict(enumerate(split_seeds(self.seed, self.n_splits)))
        for what, other in {
            "other data": runs.checksum != runs["set"].map(checksums),
            "another seed": runs.seed != runs.split.map(seeds),
            "another number of evaluations": evolved & (runs.evaluations != self.n_evaluations),
            "other options": evolved & (runs.options != options_text(self.options)),
        }.items():
            if other.any():
                raise DataError(f"{file.path} was written with {what}; name another file")
        return runs.drop_duplicates(_KEY)  # two studies may have written to the file at once

    def table(self) -> pd.DataFrame:
        """Return Table 9: a row a method and set, errors as measured and as printed."""
        return table_9(self.frame()).dropna(axis=1, how="all")

    def paired_tests(self) -> pd.DataFrame:
        """Return a row a grammar and set, and one over the sets: its error less that of the tuned RBF kernel, tested."""
        return paired_tests(self.frame())

    def best_kernels(self) -> pd.DataFrame:
        """Return Table 10: a row a set and grammar, the best kernel by validation, and the printed one."""
        return best_kernels(self.frame())

    def causality(self) -> pd.DataFrame:
        """Return a row a grammar and set, and one over the sets: how much a single variation changes the kernel matrix."""
        self.frame()
        return causality_table(self._steps)

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the tests of the differences, the best kernels, and the causality; what is empty is left out."""
        tables = {
            "Paired differences of the test errors": self.paired_tests(),
            "Table 10: best kernels": self.best_kernels(),
            "The same in LaTeX": latex_kernels(self.frame()),
            "Causality: the change of the kernel matrix in one variation": self.causality(),
        }
        return {title: table for title, table in tables.items() if len(table)}

    def notes(self) -> str:
        """Return in words what is measured."""
        known = self.frame()["set"].isin(list(FILES)).any()
        return _NOTES if known else f"{_STAND_INS}\n\n{_NOTES}"

    def conclusion(self) -> str:
        """Judge the goals, and say what the tests and times are."""
        texts = [part(self.frame()) for part in (on_paper, on_tuned_rbf, on_luck, on_time)]
        return "\n\n".join(text for text in [*texts, on_causality(self.causality())] if text)

    def _as_markdown(self, table: pd.DataFrame) -> str:
        return shown_table(table)

    def figure(self) -> Figure:
        """Draw boxplots of the test errors, as Fig. 3."""
        return draw_errors(self.frame())

    def _further_files(self) -> dict[str, pd.DataFrame]:
        return {"tests": self.paired_tests(), "best_kernels": best_runs(self.frame()), "causality": self.causality()}
