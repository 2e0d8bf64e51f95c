"""Coverage of the intervals of the optimism in simulated tuning, where the true optimism is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import joblib
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
from spotsvm.studies.common.experiment import Experiment, check_least
from spotsvm.studies.common.plain_search import PLAIN

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FEATURES = 4
OUTER, INNER = 5, 5
NEW_ROWS = 2400


@dataclass(frozen=True)
class Setting:
    """A population of rows, and a search on a sample of it.

    The features are standard normal; the target is f = x1 + x1 x2 with noise of the given standard deviation, or whether f is
    above its median. The score is the accuracy for "classification", else the negative root mean squared error. The number of
    rows of a sample is a multiple of 10. A `balanced` sample has the same number of rows of both classes; otherwise the numbers
    are random.
    """

    name: str
    task: Literal["classification", "regression"]
    n_rows: int
    noise: float
    balanced: bool = True
    n_trials: int = 20

    def sample(self, n_rows: int, seed: list[int]) -> tuple[Floats, Floats]:
        """Draw rows and their target."""
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
        """Return the search that is judged: random search, whose trials cost little."""
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
        """Score a fitted machine on many new rows.

        They come in portions of as many as an outer fold has: a root mean squared error of few rows is lower on average.
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
METHODS = (DEFAULT, "nested, Nadeau-Bengio", "repeats", "folds")
CONFIDENCE = 0.95


class OptimismCoverageStudy(Experiment):
    """How often the 95 % intervals of the optimism cover it, in simulated tuning where it is known.

    A study draws rows, tunes an SVM on them by random search with 5-fold cross-validation, and lets `oversearching` estimate the
    optimism by each method. The truth is the mean, over other samples, of the winner's reported score less its score on many new
    rows. These samples are as large as the training rows of the outer folds for nested resampling, and whole samples for the
    other methods. The optimism of the models chosen in a study is also reported.

    Parameters
    ----------
    quick : bool, default=False
        Six studies of the first setting.
    n_studies : int, optional
        Number of studies of a setting, at least 2; by default 200.
    n_truths : int, optional
        Number of samples behind each truth, at least 2; by default 400.
    n_jobs : int or None, default=None
        Number of parallel studies.

    Raises
    ------
    ArgumentError
        If an argument is invalid.
    """

    name = "optimism_coverage"
    reads_data = False
    _figure_caption = (
        "Share of the studies whose interval holds the true optimism, with its own 95 % interval; the band is 93 to 97 %."
    )
    _table_caption = "Coverage and width of the intervals"

    def __init__(
        self, quick: bool = False, *, n_studies: int | None = None, n_truths: int | None = None, n_jobs: int | None = None
    ):
        super().__init__(quick)
        self.n_studies = n_studies if n_studies is not None else (6 if quick else 200)
        self.n_truths = n_truths if n_truths is not None else (20 if quick else 400)
        self.n_jobs = n_jobs
        self.populations = SETTINGS[:1] if quick else SETTINGS
        check_least(self, 2, "n_studies", "n_truths")

    def _measure(self) -> pd.DataFrame:
        return pd.concat([self._measure_setting(k) for k in range(len(self.populations))], ignore_index=True)

    def _measure_setting(self, k: int) -> pd.DataFrame:
        setting = self.populations[k]
        run = joblib.Parallel(n_jobs=self.n_jobs)
        truths = {}
        for share, n_rows in ((0, setting.n_rows), (1, setting.n_rows - setting.n_rows // OUTER)):
            found = run(joblib.delayed(_optimism_and_score)(setting, n_rows, [k, share, i]) for i in range(self.n_truths))
            truths[n_rows] = np.mean(found, axis=0)
        rows = run(joblib.delayed(_run_study)(setting, [k, 2, i]) for i in range(self.n_studies))
        frame = pd.DataFrame([row for study in rows for row in study])
        frame.insert(0, "setting", setting.name)
        known = np.array([truths[n] for n in frame.pop("n_rows")])
        return frame.assign(true_optimism=known[:, 0], true_score=known[:, 1])

    def table(self) -> pd.DataFrame:
        """Return a row a setting and method: how often the interval covers, its width, and the mean error of the estimate.

        Columns: setting, method; truth, the true optimism; bias, mean estimate less truth; covers, share of the studies whose
        interval holds the truth, where those without one count as misses; width, of the interval on average; covers chosen, share
        whose interval holds the optimism of the very machines chosen; score covers, score width: the same of the interval of the
        score to be expected.
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
        """Return in words how often each method's interval covers."""
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
            f"Of {self.n_studies} studies a setting, the {CONFIDENCE:.0%} interval holds the true optimism in "
            + "; ".join(f"{share} % ({method})" for method, share in shares.items())
            + f". The jackknife's is within 93 to 97 % in {inside} of {len(self.populations)} settings, and "
            f"holds it in {100 * share:.1f} % of all {every} studies (standard error {100 * error:.1f}); that of Nadeau and "
            f"Bengio is {ratio:.1f} times as wide."
        )

    def figure(self) -> Figure:
        """Draw the share of covered truths by method, a panel a setting, with the range of 93 to 97 %."""
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


def _optimism_and_score(setting: Setting, n_rows: int, seed: list[int]) -> tuple[float, float]:
    """Return the optimism of one search on one sample, and the true score of its winner."""
    search = setting.search(_number(seed)).fit(*setting.sample(n_rows, [*seed, 0]))
    score = setting.true_score(search, [*seed, 1])
    return float(search.best_score_) - score, score


def _run_study(setting: Setting, seed: list[int]) -> list[dict[str, Any]]:
    """Estimate the optimism of one search on one sample by all methods."""
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
    repeats, by_folds = (
        oversearching(search, X, y, method=method, confidence=CONFIDENCE, random_state=number, n_candidates=1)
        for method in ("repeats", "folds")
    )
    n_train = setting.n_rows - setting.n_rows // OUTER
    return [
        _row(seed, METHODS[0], nested, nested.interval, float(np.mean(chosen)), n_train),
        _row(seed, METHODS[1], nested, plain, float(np.mean(chosen)), n_train),
        _row(seed, METHODS[2], repeats, repeats.interval, whole, setting.n_rows),
        _row(seed, METHODS[3], by_folds, by_folds.interval, whole, setting.n_rows),
    ]


def _row(
    seed: list[int], method: str, found: Optimism, interval: tuple[float, float], chosen: float, n_rows: int
) -> dict[str, Any]:
    return {
        "study": seed[-1],
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
    """Return one number for a seed of several."""
    return int(np.random.SeedSequence([*seed, 7]).generate_state(1)[0] >> 1)
