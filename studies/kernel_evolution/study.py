"""Kernels by genetic programming against a tuned RBF kernel: Tables 9 and 10 and Fig. 3 of Koch 2011."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from spotsvm.errors import ArgumentError
from spotsvm.studies.common.experiment import Experiment, check_names, either
from spotsvm.studies.common.jobs import Job
from spotsvm.studies.kernel_evolution.causality import causality_table, walks
from spotsvm.studies.kernel_evolution.runs import (
    FILES,
    N_EVALUATIONS,
    N_SPLITS,
    OPTIONS,
    TUNED_RBF,
    labelled_sets,
    method_of,
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
    paired_tests,
    shown_table,
    table_9,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRAMMARS = ("paper", "psd")
#: number of random walks of each grammar on each set
WALKS, QUICK_WALKS = 50, 5

_NOTES = """\
Errors are shares of misclassified test rows. The test rows are 20 % of the rows, drawn without regard to classes, and the same
for all methods; the paper's splits are others. The paper's mean errors of GP on Heart, Liver and Pima cannot be means over 20
test parts of these sizes; means over 16, 19 and 19 are possible. Features are standardised inside each fit by the means and
deviations of the training rows, as in the paper's R software. tRBF chooses C and gamma from a grid of 2^-8 to 2^8 by stratified
5-fold cross-validation on the training rows. GP (paper) chooses kernel, constants and C by the error on a third of the training
rows. GP (psd) starts with standard kernels and random ones, and uses the mean error on several such thirds. Then it chooses among
its best kernels, and tunes their numbers, by repeated 5-fold cross-validation. All methods then train on all training rows.
"Validation" is the mean of the errors by which the settings were chosen, "seconds" the median processor time of a run.

Differences are paired over the splits, with the corrected resampled t test (Nadeau, Bengio 2003). Splits share training rows, so
the variance of the mean is that of a difference times 1/J + n_test/n_train, where J is the number of splits. Averages over the
sets treat the sets as fixed. Probabilities (p) are not adjusted for the number of tests. "Lower", "equal" and "higher" count
splits.

The best kernel has the lowest validation error over all splits; among equal kernels, that with the fewest nodes, then that of the
first split. Numbers in a formula belong to the kernel; "constants" gives the values of the symbols.

Causality: random kernels are varied ten times in a row, without selection. The change of a step is 1 minus the centred alignment
of the kernel matrices before and after it, which ignores a common factor. A kernel with a change below 1e-6 counts as unchanged.
The
quartiles are those of the other steps. "Draws" is the number of attempts until a child is valid."""
_STAND_INS = "The data are two small sets of scikit-learn, of which the paper prints nothing: SPOTSVM_DATA names no folder."


@dataclass(kw_only=True)
class KernelEvolutionStudy(Experiment):
    """Kernels by genetic programming against a tuned RBF kernel: Tables 9 and 10 and Fig. 3 of Koch 2011.

    On 20 splits of each set into 80 % training and 20 % test rows, kernels are evolved with two grammars: that of the paper, and
    a grammar whose kernels are positive semidefinite by construction. The RBF kernel is tuned by grid search. The sets are
    Ionosphere, Glass2, Heart, Liver and Pima from the folder SPOTSVM_DATA; without this folder, two sets of scikit-learn.

    Parameters
    ----------
    quick : bool, default=False
        Three splits of two sets, with 40 evaluations.
    n_jobs, path
        See `Experiment`.
    n_evaluations : int, optional
        Fitness evaluations of an evolution, at least 1; by default 2500.
    n_splits : int, optional
        Number of splits of each set, at least 1; by default 20. The first splits do not depend on this number.
    sets : sequence of str, optional
        Some of Ionosphere, Glass2, Heart, Liver and Pima; by default all.
    grammars : sequence of str, default=("paper", "psd")
        As in `EvolvedKernelSVC`; pass () to tune only the RBF kernel.
    options : dict, optional
        Further arguments of `EvolvedKernelSVC`, except grammar, n_trials and random_state, which the study sets.
    seed : int, default=0
        Seed of the splits and of all random numbers within them.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", sections 2.3.2
    and 3.3.
    """

    name = "kernel_evolution"
    shared = ("n_evaluations", "options", "seed")
    _table_caption = "Table 9"
    _figure_caption = (
        "Test errors over the splits, as in Fig. 3: boxes with the quartiles, and whiskers to the last value within 1.5 times "
        "the height of the box. Dots are splits, the diamond is the printed mean."
    )

    n_evaluations: int = either(N_EVALUATIONS, 40, least=1)
    n_splits: int = either(N_SPLITS, 3, least=1)
    sets: Sequence[str] | None = either(None, among=FILES)
    grammars: Sequence[str] = GRAMMARS
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grammars:
            check_names("grammars", self.grammars, GRAMMARS)
        if wrong := [name for name in self.options if name not in OPTIONS]:
            raise ArgumentError(
                f"options: {wrong[0]!r} is unknown, or an argument of the study; use some of {', '.join(OPTIONS)}"
            )

    def _measure(self) -> pd.DataFrame:
        sets = labelled_sets(self.sets, self.quick)
        self._steps = self._run(
            Job(
                {"set": data.name, "checksum": data.checksum, "grammar": grammar},
                walks,
                (data, grammar, QUICK_WALKS if self.quick else WALKS, self.seed),
            )
            for data in sets
            for grammar in self.grammars
        )
        return self._run(
            Job(
                {"set": data.name, "checksum": data.checksum, "split": split, "seed": seed, "method": method},
                run_split,
                (data, seed, grammar, self.n_evaluations, self.options),
            )
            for data in sorted(sets, key=lambda data: data.name)
            for method, grammar in [*sorted((method_of(name), name) for name in self.grammars), (TUNED_RBF, None)]
            for split, seed in enumerate(split_seeds(self.seed, self.n_splits))
        )

    def table(self) -> pd.DataFrame:
        """Return Table 9: a row for each method and set, with measured and printed errors."""
        return table_9(self.frame()).dropna(axis=1, how="all")

    def paired_tests(self) -> pd.DataFrame:
        """Return tests of the differences in error between each grammar and the tuned RBF kernel, by set and over the sets."""
        return paired_tests(self.frame())

    def best_kernels(self) -> pd.DataFrame:
        """Return Table 10: for each set and grammar the kernel with the lowest validation error, and the printed kernel."""
        return best_kernels(self.frame())

    def causality(self) -> pd.DataFrame:
        """Return the change of the kernel matrix in one variation, by grammar and set, and over the sets."""
        self.frame()
        return causality_table(self._steps)

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the tests of the differences, the best kernels and the causality; empty tables are left out."""
        tables = {
            "Paired differences of the test errors": self.paired_tests(),
            "Table 10: best kernels": self.best_kernels(),
            "The same in LaTeX": latex_kernels(self.frame()),
            "Causality: the change of the kernel matrix in one variation": self.causality(),
        }
        return {title: table for title, table in tables.items() if len(table)}

    def notes(self) -> str:
        """Return an explanation of the tables."""
        of_paper = self.frame()["set"].isin(list(FILES)).any()
        return _NOTES if of_paper else f"{_STAND_INS}\n\n{_NOTES}"

    def conclusion(self) -> str:
        """Return in words the goals that are met, the tests and the times."""
        texts = [part(self.frame()) for part in (on_paper, on_tuned_rbf, on_luck, on_time)]
        return "\n\n".join(text for text in [*texts, on_causality(self.causality())] if text)

    def _as_markdown(self, table: pd.DataFrame) -> str:
        return shown_table(table)

    def figure(self) -> Figure:
        """Draw boxplots of the test errors, as in Fig. 3."""
        return draw_errors(self.frame())

    def _further_files(self) -> dict[str, pd.DataFrame]:
        return {"tests": self.paired_tests(), "best_kernels": best_runs(self.frame()), "causality": self.causality()}
