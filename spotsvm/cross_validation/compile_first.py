"""Compile code of shared cross-validation and of the Kriging search, so that no candidate's time includes compilation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.solvers.search import KrigingSearch
from spotsvm.surrogates.domain import Domain


def compile_first() -> None:
    """Compile what a search of an estimator's parameters uses, or load it from the cache."""
    compile_shared_work()
    search = KrigingSearch(Domain.continuous(2), noise=False, n_initial=2)
    for value in (0.0, 1.0, float("nan"), 2.0):  # values, a failure and a suggestion from both
        search.tell(search.ask().point, value)
    search.ask()


def compile_shared_work() -> None:
    """Score a few candidates on rows drawn at random: that compiles what shared work needs, or loads it from the cache.

    An installation compiles once, for up to half a minute. A worker process compiles before the time of its first trial begins: a
    process killed during compilation caches nothing, so the next process would be killed as well.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    classes = np.digitize(X[:, 0] + rng.normal(size=60), [-0.5, 0.5])
    candidates = [{"C": C, "gamma": gamma} for gamma in (0.1, 1.0) for C in (0.01, 1.0, 100.0, 1e4)]
    options: dict[str, Any] = {"engine": "auto", "advise": False}
    for y in (classes, classes > 0):  # pairs of several classes are trained by other functions
        FoldScorer(SVC(), X, y, list(KFold(3).split(X)), {}, **options).score(candidates)
