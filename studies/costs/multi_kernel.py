"""Time of scoring a multiple-kernel SVM, compared with summed kernel matrices and scikit-learn's SVC."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.svm import SVC

from spotsvm.cross_validation.cross_val_scores import cross_val_scores
from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.multi_kernel import ConicModel, KernelModel, TunedConicModel
from spotsvm.studies.common.experiment import Experiment
from spotsvm.studies.common.jobs import Job
from spotsvm.studies.common.view_sets import ViewSet, digits_by_quarters, read_mfeat

GOAL, AIM = 5.0, 10.0
_SCALES = (0.25, 1.0, 4.0)


@dataclass(kw_only=True)
class MultiKernelCostStudy(Experiment):
    """A score of a multiple-kernel SVM compared with scikit-learn: processor time and agreement.

    The data are six views of 1333 handwritten digits, even against odd, with five repeats of two folds. Weights are drawn from
    2^-8 to 2^4, and gammas within a factor of 8 of 1 / (number of columns), on logarithmic scales. With scikit-learn,
    `rbf_kernel` computes a matrix for each term of the kernel, and `cross_val_score` scores SVC(kernel="precomputed") on their
    weighted sum. Both alternate in one process and one thread, after compilation. spotsvm computes the squared distances of the
    groups once; the time of this first score is reported separately.

    Parameters
    ----------
    quick : bool, default=False
        Three settings on parts of scikit-learn's digits.
    n_jobs, path
        See `Experiment`.
    """

    name = "multi_kernel_cost"
    drawn = ("milliseconds", "scikit-learn", "ratio", "lowest")

    measures_times = True

    def _jobs(self) -> list[Job]:
        data = digits_by_quarters() if self.quick else read_mfeat("EO", 6)
        X, y, _, _ = data.split(0)  # two thirds of the rows, as in the paper, standardised
        data = data._replace(X=X, y=y)
        models = {
            "(8), tuned": TunedConicModel(data.groups),
            "(13), fixed": ConicModel(data.groups, scales=_SCALES),
        }
        _warm_up()
        count = 3 if self.quick else 20
        return [Job({"model": label, "data_set": data.name}, _compare, (data, model, count)) for label, model in models.items()]

    def table(self) -> pd.DataFrame:
        """Return a row for each model: median times, their ratio, and the number of settings with equal scores."""
        return pd.DataFrame([_summary(group) for _, group in self.frame().groupby("model", sort=False)])

    def conclusion(self) -> str:
        """Return in words the ratios of the times and the agreement of the scores."""
        table, runs = self.table(), self.frame()
        ratios = ", ".join(f"{row.ratio:.1f} for model {row.model}" for row in table.itertuples())
        met, aimed = int((table.ratio >= GOAL).sum()), int((table.ratio >= AIM).sum())
        return (
            f"scikit-learn's processor time over ours, medians: {ratios}; at least {GOAL:g} for {met} of {len(table)} models, "
            f"{AIM:g} for {aimed}; lowest ratio of a setting {runs.ratio.min():.1f}. All scores are equal in "
            f"{int((runs.points == 0).sum())} of {len(runs)} settings, within one test row in {int((runs.points <= 1).sum())}."
        )


def _warm_up() -> None:
    data = digits_by_quarters()
    for groups in (data.groups, None):  # of several groups and of one
        cross_val_scores(
            TunedConicModel(groups).estimator(), data.X[:100], data.y[:100], [{"C": C} for C in (0.01, 1.0, 100.0)], cv=2
        )
    cross_val_score(SVC(), data.X[:100], data.y[:100])


def _draw(model: KernelModel, rng: np.random.Generator) -> dict[str, float]:
    """Draw parameters from the space of a model."""
    return {name: float(entry.rvs(random_state=rng)) for name, entry in model.space((2.0**-8, 2.0**4), (2.0**-3, 2.0**3)).items()}


def _compare(data: ViewSet, model: KernelModel, count: int) -> pd.DataFrame:
    """Score settings by both in turns."""
    rng, y = np.random.default_rng(0), data.y
    splits = list(RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0).split(data.X, y))
    scorer = FoldScorer(model.estimator(), data.X, y, splits, {}, engine="auto")
    began = time.process_time()
    scorer.score([_draw(model, rng)])
    first = time.process_time() - began
    rows = []
    for setting in range(count):
        params = _draw(model, rng)
        began = time.process_time()
        numbers = scorer.score([params])[0].numbers
        ours_seconds = time.process_time() - began
        ours = np.array([numbers[f"split{k}_test_score"] for k in range(len(splits))])
        kernel = model.estimator(params).fit(data.X[:40], data.y[:40]).kernels_[0]  # the kernel with these parameters
        began = time.process_time()
        K = sum(w * rbf_kernel(data.X[:, base.columns], gamma=base.kernel.gamma) for base, w in kernel.terms)
        theirs = cross_val_score(SVC(kernel="precomputed"), K, y, cv=splits)
        sklearn_seconds = time.process_time() - began
        points = np.round(np.abs(ours - theirs) * [len(test) for _, test in splits]).astype(int)
        row: dict[str, Any] = {"n": len(y), "setting": setting, **params}
        row |= {"ours_seconds": ours_seconds, "sklearn_seconds": sklearn_seconds, "ratio": sklearn_seconds / ours_seconds}
        rows.append(row | {"first_score_seconds": first, "score": ours.mean(), "points": int(points.max())})
    return pd.DataFrame(rows)


def _summary(group: pd.DataFrame) -> dict[str, Any]:
    return {
        "model": group.model.iloc[0],
        "data_set": group.data_set.iloc[0],
        "n": int(group.n.iloc[0]),
        "settings": len(group),
        "milliseconds": 1e3 * group.ours_seconds.median(),
        "scikit-learn": 1e3 * group.sklearn_seconds.median(),
        "ratio": group.ratio.median(),
        "lowest": group.ratio.min(),
        "first score": 1e3 * group.first_score_seconds.iloc[0],
        "equal": int((group.points == 0).sum()),
        "within a row": int((group.points <= 1).sum()),
    }
