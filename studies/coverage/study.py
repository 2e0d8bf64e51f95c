"""How often the 95 % intervals of scores and of optimism contain what they are for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from spotsvm.errors import DataError
from spotsvm.studies.common.experiment import Experiment, either
from spotsvm.studies.common.jobs import Job
from spotsvm.studies.coverage.cases import (
    CASES,
    LARGE_SETS,
    NEW_ROWS,
    REAL,
    REAL_ROWS,
    SIMULATED,
    SIMULATED_ROWS,
    real_sample,
)
from spotsvm.studies.coverage.fits import FOLDS, MODELS, TRIALS, run_fit
from spotsvm.studies.coverage.optimism import SETTINGS, on_optimism, optimism_jobs, optimism_table, with_truth
from spotsvm.studies.coverage.results import coverage_table, draw_coverage, on_coverage
from spotsvm.studies.new_rows.sets import SETS, TableSet, read_set

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NOTES = f"""\
A fit has {SIMULATED_ROWS} rows of a simulated table, or {REAL_ROWS} of a real set, and is scored on new rows: {NEW_ROWS:,} of a
simulated table, which know the true score to less than half a point of accuracy, or up to 2,000 of a real set. "contained" is
the percentage of the fits whose 95 % interval of the score to expect has the score on the new rows; "below" and "above" count
scores below and above it. "contained, of these rows" is for the wider interval that allows for the luck of so many new rows
(`ExpectedScore.of_rows`). Standard errors are from the differences between simulated tables, which models share, or between real
sets, whose splits share rows. "bias" is the median of the score to expect less that on the new rows; log loss has
the sign of scikit-learn, more being better.

SpotSearchCV evaluates {TRIALS} settings of C and gamma of an SVC or SVR on {FOLDS} folds, and chooses by accuracy or R2, as
TunedSVC and TunedSVR do; the other scores are `out_of_fold_.expected(...)` of the same fit. Of the searches, the average alone
has probabilities. Weights count in fits and scores, and new rows have weights as well. Groups are whole in the folds, and new
rows are of new groups. Of a simulated table f = x1 + x1 x2 + e is the target, and classes are ranges of f.

The optimism is that of a random search on 60 or 120 rows."""


@dataclass(kw_only=True)
class CoverageStudy(Experiment):
    """How often 95 % intervals contain what they are for: scores on new rows, and the optimism of a tuned score.

    The intervals of the score to expect (accuracy, log loss, AUC and R2) of TunedSVC, TunedSVR and SpotSearchCV with each `refit`
    are compared with the score on many new rows: of simulated tables with two and three classes, a rare class, numbers, weights
    and groups, and of large real sets from scikit-learn and the data folder. The intervals of `oversearching` are compared with
    the true optimism in simulated tuning.

    Parameters
    ----------
    quick : bool, default=False
        Two fits of each simulated table and model, two real sets, and four simulated studies of optimism: under two minutes.
    n_jobs, path
        See `Experiment`.
    cases : sequence of str, optional
        Some of `spotsvm.studies.coverage.cases.CASES`; by default all.
    models : sequence of str, optional
        Some of `spotsvm.studies.coverage.fits.MODELS`; by default all.
    n_fits : int, optional
        Number of fits of each simulated table and model, at least 2; by default 100.
    n_splits : int, optional
        Number of splits of each real set; by default 5.
    sets : sequence of str, optional
        Some of `spotsvm.studies.new_rows.sets.SETS`; by default those of `LARGE_SETS` that are available.
    n_studies : int, optional
        Number of simulated studies of optimism for each setting, at least 2; by default 200.
    n_truths : int, optional
        Number of samples for each true optimism, at least 2; by default 400.
    """

    name = "coverage"
    _notes = _NOTES
    _table_caption = "Per cent of the fits whose 95 % interval of the score to expect contains the score on new rows"
    _figure_caption = (
        "Per cent of the fits whose 95 % interval contains the score, with its 95 % interval; the band is 93 to 97 %."
    )

    cases: Sequence[str] = either(tuple(CASES), among=CASES)
    models: Sequence[str] = either(tuple(MODELS), among=MODELS)
    n_fits: int = either(100, 2, least=2)
    n_splits: int = either(5, 1, least=1)
    sets: Sequence[str] = either(LARGE_SETS, ("digits", "friedman 1"), among=SETS)
    n_studies: int = either(200, 4, least=2)
    n_truths: int = either(400, 20, least=2)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.populations = SETTINGS[:1] if self.quick else SETTINGS
        self.left_out: dict[str, str] = {}

    def _measure(self) -> pd.DataFrame:
        fits = self._run([*self._simulated_jobs(), *self._real_jobs()])
        truths, studies = optimism_jobs(self.populations, self.n_studies, self.n_truths)
        known = self._run(truths)
        self._optimism = with_truth(self._run(studies), known)
        return fits

    def _simulated_jobs(self) -> list[Job]:
        return [
            Job(_key(SIMULATED, case, fit, model), _simulated, (case, fit, model))
            for case in self.cases
            for fit in range(self.n_fits)
            for model in self.models
        ]

    def _real_jobs(self) -> list[Job]:
        return [
            Job(_key(REAL, name, split, model), run_fit, partial(_real_arguments, table, split, model))
            for name, table in self._read_sets().items()
            for split in range(self.n_splits)
            for model in self.models
        ]

    def _read_sets(self) -> dict[str, TableSet]:
        """Read the sets that are available; note the others in `left_out`."""
        found: dict[str, TableSet] = {}
        for name in self.sets:
            try:
                found[name] = read_set(name)
            except DataError as error:
                self.left_out[name] = str(error)
        return found

    def optimism_frame(self) -> pd.DataFrame:
        """Return the simulated studies of optimism; `frame` has the fits."""
        self.frame()
        return self._optimism

    def table(self) -> pd.DataFrame:
        """Return a row for simulated tables and real sets, model and score; see `results.coverage_table`."""
        return coverage_table(self.frame(), ["rows", "model", "score"])

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the same for each simulated table and set, over all models, and the coverage of the optimism."""
        return {
            "The same by table, over the models": coverage_table(self.frame(), ["rows", "case", "score"]),
            "Optimism: share of the simulated studies whose interval contains it": optimism_table(self.optimism_frame()),
        }

    def conclusion(self) -> str:
        """Return in words the coverage of each score, and of the optimism."""
        parts = [*on_coverage(self.frame()), on_optimism(self.optimism_frame())]
        if self.left_out:
            parts.append(f"Left out: {'; '.join(f'{name} ({why})' for name, why in self.left_out.items())}.")
        return "\n\n".join(parts)

    def figure(self) -> Figure:
        """Draw the coverage of each model and score, a panel for simulated tables and one for real sets."""
        return draw_coverage(self.table())

    def _further_files(self) -> dict[str, pd.DataFrame]:
        return {"optimism": self.optimism_frame(), "by_table": coverage_table(self.frame(), ["rows", "case", "model", "score"])}


def _key(rows: str, case: str, fit: int, model: str) -> dict[str, Any]:
    return {"rows": rows, "case": case, "fit": fit, "model": model}


def _simulated(case: str, fit: int, model: str) -> list[dict[str, Any]]:
    seed = [list(CASES).index(case), fit]
    return run_fit(CASES[case].task, CASES[case].sample(seed), model, int(np.random.SeedSequence(seed).generate_state(1)[0] >> 1))


def _real_arguments(table: TableSet, split: int, model: str) -> tuple[Any, ...]:
    return table.task, real_sample(table, split), model, split
