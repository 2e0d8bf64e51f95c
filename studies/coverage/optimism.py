"""The intervals of optimism in simulated tuning, where the true optimism is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

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
from spotsvm.studies.common.jobs import Job, Row
from spotsvm.studies.common.plain_search import PLAIN

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


def optimism_jobs(settings: Sequence[Setting], n_studies: int, n_truths: int) -> tuple[list[Job], list[Job]]:
    """Return the jobs of the true optimisms, and those of the simulated studies, each with all methods of `oversearching`.

    A true optimism is an average over samples of the size of an outer training part, or for "folds" of a whole sample.
    """
    truths = [
        Job({"setting": setting.name, "n_rows": n_rows, "sample": i}, _truth, (setting, n_rows, [k, share, i]))
        for k, setting in enumerate(settings)
        for share, n_rows in ((0, setting.n_rows), (1, setting.n_rows - setting.n_rows // OUTER))
        for i in range(n_truths)
    ]
    studies = [
        Job({"setting": setting.name, "study": i}, _run_study, (setting, [k, 2, i]))
        for k, setting in enumerate(settings)
        for i in range(n_studies)
    ]
    return truths, studies


def with_truth(studies: pd.DataFrame, truths: pd.DataFrame) -> pd.DataFrame:
    """Return the simulated studies with the true optimism and the true score of their setting."""
    case = ["setting", "n_rows"]
    known = truths.groupby(case)[["true_optimism", "true_score"]].mean()
    return studies.join(known, on=case).drop(columns="n_rows")


def optimism_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each setting and method: coverage and width of the intervals, and bias of the estimate.

    `covers` counts a missing interval as a miss; "covers chosen" is of the optimism of the chosen models; "score covers" and
    "score width" are of the expected score's interval.
    """
    rows = []
    for (setting, method), group in runs.groupby(["setting", "method"], sort=False):
        covers = float(group.true_optimism.between(group.low, group.high).mean())
        rows.append(
            {
                "setting": setting,
                "method": method,
                "studies": len(group),
                "truth": group.true_optimism.mean(),
                "bias": (group.optimism - group.true_optimism).mean(),
                "covers": covers,
                "standard error": float(np.sqrt(covers * (1 - covers) / len(group))),
                "width": (group.high - group.low).mean(),
                "covers chosen": group.chosen_optimism.between(group.low, group.high).mean(),
                "score covers": group.true_score.between(group.score_low, group.score_high).mean(),
                "score width": (group.score_high - group.score_low).mean(),
            }
        )
    return pd.DataFrame(rows)


def on_optimism(runs: pd.DataFrame) -> str:
    """Return in words the coverage of the intervals of each method."""
    table = optimism_table(runs)
    settings, n_studies = table.setting.nunique(), int(table.studies.iloc[0])
    shares = {method: " / ".join(f"{100 * share:.1f}" for share in table[table.method == method].covers) for method in METHODS}
    widths = table.pivot(index="setting", columns="method", values="width")
    ratio = float((widths[METHODS[1]] / widths[DEFAULT]).mean())
    every = settings * n_studies
    share = float(table[table.method == DEFAULT].covers.mean())
    error = float(np.sqrt(share * (1 - share) / every))
    return (
        f"Optimism: in {n_studies} simulated studies of each setting the {CONFIDENCE:.0%} interval contains the true optimism in "
        + "; ".join(f"{share} % ({method})" for method, share in shares.items())
        + f". The coverage of the jackknife is {100 * share:.1f} % over all {every} studies (standard error {100 * error:.1f}). "
        f"The interval of Nadeau and Bengio is {ratio:.1f} times as wide."
    )


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
