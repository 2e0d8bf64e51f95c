"""Simulated tuning of which the true optimism is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import loguniform
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC, SVR

from spotsvm.spot_search_cv import SpotSearchCV
from studies.common.data import Floats

FEATURES = 4
OUTER, INNER = 5, 5
NEW_ROWS = 2400


@dataclass(frozen=True)
class Setting:
    """A population of rows, and a search on a sample of it.

    The features are standard normal; what is to be told is f = x1 + x1 x2 with noise, or whether that is above its median.

    Attributes
    ----------
    name : str
        Its name.
    task : {"classification", "regression"}
        Of "classification" the score is the accuracy, else the negative root mean squared error.
    n_rows : int
        Rows of a sample, a multiple of 10.
    noise : float
        Standard deviation of the noise on f.
    balanced : bool
        Whether a sample has as many rows of one class as of the other, by design; otherwise chance has a say.
    n_trials : int
        Trials of a search.
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
