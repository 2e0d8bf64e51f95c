"""Coverage of the intervals of optimism in simulated tuning, where the true optimism is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC, SVR

from spotsvm.luck.intervals import nadeau_bengio
from spotsvm.luck.optimism import Optimism
from spotsvm.luck.refits.analysis import oversearching
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.studies.common.data import Floats
from spotsvm.studies.common.experiment import Experiment, either
from spotsvm.studies.common.jobs import Job, Row
from spotsvm.studies.common.plain_search import PLAIN

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FEATURES = 4
OUTER, INNER = 5, 5
NEW_ROWS = 2400


@dataclass(frozen=True)
class Setting:
    """A population of rows, and a search on a sample from it, of a multiple of 10 rows; `balanced` has equal classes.

    Features are standard normal; f = x1 + x1 x2 + e, e normal of deviation `noise`, is the target, its sign the class. The score
    is accuracy, or the negative root mean squared error.
    """

    name: str
    task: Literal["classification", "regression"]
    n_rows: int
    noise: float
    balanced: bool = True
    n_trials: int = 20

    def sample(self, n_rows: int, seed: list[int]) -> tuple[Floats, Floats]:
        """Draw rows and their targets."""
        rng = np.random.default_rng(seed)
        if self.task == "regression":
            X, f = self._rows(n_rows, rng)
            return X, f
        if not self.balanced:
            X, f = self._rows(n_rows, rng)
            return X, np.where(f > 0, 1.0, -1.0)
        parts: dict[float, list[Floats]] = {-1.0: [], 1.0: []}
        while min(sum(map(len, part)) for part in parts.values()) < n_rows // 2:
            X, f = self._rows(2 * n_rows, rng)
            for label, part in parts.items():
                part.append(X[(f > 0) == (label > 0)])
        X = np.concatenate([np.concatenate(part)[: n_rows // 2] for part in parts.values()])
        return X, np.repeat([-1.0, 1.0], n_rows // 2)

    def _rows(self, n_rows: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        X = rng.normal(size=(n_rows, FEATURES))
        return X, X[:, 0] + X[:, 0] * X[:, 1] + self.noise * rng.normal(size=n_rows)

    def search(self, seed: int) -> SpotSearchCV:
        """Return the search whose optimism is estimated: random search, because it is fast."""
        folds: Any = KFold if self.task == "regression" else StratifiedKFold
        machine: Any = SVR() if self.task == "regression" else SVC()
        return SpotSearchCV(
            machine,
            {"C": loguniform(2.0**-5, 2.0**10), "gamma": loguniform(2.0**-8, 2.0**2)},
            n_iter=self.n_trials,
            search="random",
            scoring="neg_root_mean_squared_error" if self.task == "regression" else "accuracy",
            cv=folds(INNER, shuffle=True, random_state=seed),
            random_state=seed,
            **PLAIN,
        )

    def true_score(self, machine: Any, seed: list[int]) -> float:
        """Score a fitted model on many new rows.

        The rows come in portions of the size of an outer fold, because a root mean squared error of few rows is lower on average.
        """
        portion = self.n_rows // OUTER
        X, y = self.sample(NEW_ROWS // portion * portion, seed)
        said = machine.predict(X)
        if self.task == "classification":
            return float(np.mean(said == y))
        return -float(np.mean(np.sqrt(np.mean(np.reshape((said - y) ** 2, (-1, portion)), axis=1))))


SETTINGS = (
    Setting("60 rows, two classes of 30", "classification", 60, 0.7),
    Setting("120 rows, two classes as they come", "classification", 120, 0.4, balanced=False),
    Setting("60 rows, regression", "regression", 60, 0.7),
)
DEFAULT = "nested, jackknife"
METHODS = (DEFAULT, "nested, Nadeau-Bengio", "folds")
CONFIDENCE = 0.95


@dataclass(kw_only=True)
class OptimismCoverageStudy(Experiment):
    """How often the 95 % intervals of the optimism cover it, in simulated tuning where it is known.

    A simulated study draws rows, tunes an SVM on them by random search with 5-fold cross-validation, and estimates the optimism
    by each method of `oversearching`. The true optimism is the tuned score minus the score on many new rows, averaged over other
    samples. For nested resampling these samples have the size of an outer training part, for "folds" that of a whole sample. The
    study also reports the optimism of the models that were chosen.

    Parameters
    ----------
    quick : bool, default=False
        Six simulated studies of the first setting.
    n_jobs, path
        See `Experiment`.
    n_studies : int, optional
        Number of simulated studies of each setting, at least 2; by default 200.
    n_truths : int, optional
        Number of samples for each true optimism, at least 2; by default 400.
    """

    name = "optimism_coverage"
    reads_data = False
    _figure_caption = (
        "Share of the studies whose interval contains the true optimism, with its 95 % interval; the band is 93 to 97 %."
    )
    _table_caption = "Coverage and width of the intervals"

    n_studies: int = either(200, 6, least=2)
    n_truths: int = either(400, 20, least=2)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.populations = SETTINGS[:1] if self.quick else SETTINGS

    def _measure(self) -> pd.DataFrame:
        truths = [
            Job({"setting": setting.name, "n_rows": n_rows, "sample": i}, _truth, (setting, n_rows, [k, share, i]))
            for k, setting in enumerate(self.populations)
            for share, n_rows in ((0, setting.n_rows), (1, setting.n_rows - setting.n_rows // OUTER))
            for i in range(self.n_truths)
        ]
        studies = [
            Job({"setting": setting.name, "study": i}, _run_study, (setting, [k, 2, i]))
            for k, setting in enumerate(self.populations)
            for i in range(self.n_studies)
        ]
        case = ["setting", "n_rows"]
        known = self._run(truths).groupby(case)[["true_optimism", "true_score"]].mean()
        return self._run(studies).join(known, on=case).drop(columns="n_rows")

    def table(self) -> pd.DataFrame:
        """Return a row for each setting and method: coverage and width of the intervals, and bias of the estimate.

        `covers` counts a missing interval as a miss; "covers chosen" is of the optimism of the chosen models; "score covers" and
        "score width" are of the expected score's interval.
        """
        rows = []
        for (setting, method), runs in self.frame().groupby(["setting", "method"], sort=False):
            rows.append(
                {
                    "setting": setting,
                    "method": method,
                    "truth": runs.true_optimism.mean(),
                    "bias": (runs.optimism - runs.true_optimism).mean(),
                    "covers": runs.true_optimism.between(runs.low, runs.high).mean(),
                    "width": (runs.high - runs.low).mean(),
                    "covers chosen": runs.chosen_optimism.between(runs.low, runs.high).mean(),
                    "score covers": runs.true_score.between(runs.score_low, runs.score_high).mean(),
                    "score width": (runs.score_high - runs.score_low).mean(),
                }
            )
        return pd.DataFrame(rows)

    def conclusion(self) -> str:
        """Return in words the coverage of the intervals of each method."""
        table = self.table()
        shares = {
            method: " / ".join(f"{100 * share:.1f}" for share in table[table.method == method].covers) for method in METHODS
        }
        widths = table.pivot(index="setting", columns="method", values="width")
        ratio = float((widths[METHODS[1]] / widths[DEFAULT]).mean())
        inside = int(table[table.method == DEFAULT].covers.between(0.93, 0.97).sum())
        every = len(self.populations) * self.n_studies
        share = float(table[table.method == DEFAULT].covers.mean())
        error = float(np.sqrt(share * (1 - share) / every))
        return (
            f"In {self.n_studies} studies of each setting the {CONFIDENCE:.0%} interval contains the true optimism in "
            + "; ".join(f"{share} % ({method})" for method, share in shares.items())
            + f". The coverage of the jackknife is within 93 to 97 % in {inside} of {len(self.populations)} settings, and "
            f"{100 * share:.1f} % over all {every} studies (standard error {100 * error:.1f}). The interval of Nadeau and "
            f"Bengio is {ratio:.1f} times as wide."
        )

    def figure(self) -> Figure:
        """Draw the coverage of each method, a panel for each setting, with the band from 93 to 97 %."""
        from matplotlib.figure import Figure

        table = self.table()
        figure = Figure(figsize=(3.2 * len(self.populations) + 1.2, 2.6), layout="constrained")
        panels = figure.subplots(1, len(self.populations), sharey=True, squeeze=False)[0]
        for panel, setting in zip(panels, self.populations, strict=True):
            rows = table[table.setting == setting.name]
            at = np.arange(len(rows))
            panel.axvspan(0.93, 0.97, color="#009E73", alpha=0.15, lw=0)
            share = rows.covers.to_numpy()
            error = 1.96 * np.sqrt(share * (1 - share) / self.n_studies)
            panel.errorbar(share, at, xerr=error, fmt="o", color="#0072B2", capsize=3)
            panel.set_yticks(at, rows.method)
            panel.invert_yaxis()
            panel.set_title(setting.name, fontsize=9)
            panel.set_xlabel("share of studies covered", fontsize=8)
            panel.tick_params(labelsize=8)
            panel.spines[["top", "right"]].set_visible(False)
        return figure


def _truth(setting: Setting, n_rows: int, seed: list[int]) -> Row:
    """Return the optimism of one search on one sample, and the true score of the tuned model."""
    search = setting.search(_number(seed)).fit(*setting.sample(n_rows, [*seed, 0]))
    score = setting.true_score(search, [*seed, 1])
    return {"true_optimism": float(search.best_score_) - score, "true_score": score}


def _run_study(setting: Setting, seed: list[int]) -> list[Row]:
    """Estimate the optimism of one search on one sample by each method."""
    X, y = setting.sample(setting.n_rows, [*seed, 0])
    search, number = setting.search(_number(seed)), _number(seed)
    folds: Any = KFold if setting.task == "regression" else StratifiedKFold
    splits = list(folds(OUTER, shuffle=True, random_state=number).split(X, y))
    nested = oversearching(search, X, y, splits, confidence=CONFIDENCE, random_state=number, curve=False)
    chosen = [
        row["tuned"] - setting.true_score(clone(search.estimator).set_params(**row["params"]).fit(X[train], y[train]), [*seed, 1])
        for row, (train, _) in zip(nested.rows, splits, strict=True)
    ]
    plain = nadeau_bengio([row["optimism"] for row in nested.rows], 1 / (OUTER - 1), CONFIDENCE)
    search.fit(X, y)
    whole = float(search.best_score_) - setting.true_score(search, [*seed, 1])
    by_folds = oversearching(search, X, y, method="folds", confidence=CONFIDENCE, random_state=number)
    n_train = setting.n_rows - setting.n_rows // OUTER
    return [
        _row(METHODS[0], nested, nested.interval, float(np.mean(chosen)), n_train),
        _row(METHODS[1], nested, plain, float(np.mean(chosen)), n_train),
        _row(METHODS[2], by_folds, by_folds.interval, whole, setting.n_rows),
    ]


def _row(method: str, found: Optimism, interval: tuple[float, float], chosen: float, n_rows: int) -> Row:
    return {
        "method": method,
        "n_rows": n_rows,
        "tuned": found.tuned_score,
        "optimism": found.optimism,
        "low": interval[0],
        "high": interval[1],
        "score_low": found.expected_score.interval[0],
        "score_high": found.expected_score.interval[1],
        "chosen_optimism": chosen,
    }


def _number(seed: list[int]) -> int:
    """Return an integer seed for a sequence of seeds."""
    return int(np.random.SeedSequence([*seed, 7]).generate_state(1)[0] >> 1)
