"""Cross-validated scores of candidates on fixed folds, from shared work or by a fit of each candidate on each fold."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property, partial
from itertools import chain
from numbers import Integral
from typing import Any

import joblib
import numpy as np
from sklearn import get_config

from spotsvm.common.data_hash import data_hash
from spotsvm.common.fingerprint import as_text, whole
from spotsvm.cross_validation.cutoff_sweeps import CutoffSweeps
from spotsvm.cross_validation.fitted_folds import FittedFolds
from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.fold_scores import Candidate, Clock, FoldScores, Policy
from spotsvm.cross_validation.machines import MATRIX_MACHINES, NotSharedError, is_machine, split_pipeline
from spotsvm.cross_validation.scorers import metric_names
from spotsvm.cross_validation.shared_folds import SharedFolds
from spotsvm.cross_validation.shared_scores import SharedScores, can_share, ranks
from spotsvm.estimators.cutoff.cutoff_classifier import CutoffClassifier

MAX_BYTES = 2 * 2**30


class FoldScorer:
    """Scores of candidates on fixed folds; arguments that GridSearchCV has as well mean the same.

    "auto" shares the work of SVMs where scikit-learn's result is the same. `responses` (see `responses_of`) adds answers for the
    test rows. Once `is_late`, candidates but the very first are left out; a fit by scikit-learn is finished.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        splits: Sequence[Split],
        fit_params: Mapping[str, Any],
        *,
        scoring: Any = None,
        n_jobs: int | None = None,
        pre_dispatch: int | str = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
        engine: str = "sklearn",
        max_bytes: int = MAX_BYTES,
        advise: bool = True,
        is_late: Callable[[], bool] | None = None,
        responses: Sequence[str] = (),
    ):
        self._estimator, self._y = estimator, y
        self._X = X
        self._splits, self._fit_params = list(splits), dict(fit_params)
        self.n_splits = len(self._splits)
        self._options = {
            "scoring": metric_names(scoring) if isinstance(scoring, AbstractSet) else scoring,
            "n_jobs": n_jobs,
            "pre_dispatch": pre_dispatch,
            "return_train_score": return_train_score,
            "cv": self._splits,
            "refit": False,
        }
        self._engine, self._max_bytes, self._advise = engine, max_bytes, advise
        self._clock, self._responses = Clock(is_late), tuple(responses)
        #: number of candidates left to fits of their own
        self.n_fitted = 0
        self._fitted = FittedFolds(
            estimator, X, y, self._splits, self._fit_params, self._options, error_score, self._responses, self._clock
        )

    @property
    def test_share(self) -> float:
        """The share of test rows in a split, averaged over the splits."""
        return float(np.mean([len(test) / (len(train) + len(test)) for train, test in self._splits]))

    def context(self) -> dict[str, str]:
        """Return fingerprints of everything that the scores depend on except the candidate, for a later run to compare."""
        text = partial(as_text, threshold=sys.maxsize, floatmode="unique")
        parameters = sorted(self._estimator.get_params(deep=True).items())
        return {
            "data": data_hash(self._X, self._y, self._fit_params),
            "folds": data_hash(*chain.from_iterable(self._splits)),
            "estimator": text(self._estimator),
            "parameter of the estimator": joblib.hash(text([(name, whole(value)) for name, value in parameters])),
            "scoring": text(whole(self._options["scoring"])),
            "return_train_score": str(self._options["return_train_score"]),
            "engine": self._engine,
        }

    def score(self, candidates: Sequence[Candidate]) -> list[FoldScores]:
        """Score candidates, in the order given.

        Errors in the arguments, such as an unknown parameter of the estimator, are raised; with error_score="raise", so are
        those of fitting and scoring.
        """
        scored: dict[int, FoldScores] = {}
        for policy in self._policies:
            if left := {k: candidate for k, candidate in enumerate(candidates) if k not in scored}:
                self.n_fitted += len(left) if policy is self._fitted else 0
                scored |= policy.scores(left)
        return [scored[k] for k in range(len(candidates))]

    @cached_property
    def _policies(self) -> list[Policy]:
        """The ways to score candidates: the last scores those that the first leaves."""
        shared: list[Policy | None] = [self._shared, self._cutoffs]
        return [*[policy for policy in shared if policy is not None], self._fitted]

    @property
    def scorer(self) -> Any:
        """The scorer, or a dictionary of several."""
        return self._fitted.scorer

    @property
    def metrics(self) -> list[str]:
        """The names of the scores; empty for a callable before anything was scored."""
        return self._fitted.metrics

    @property
    def multimetric(self) -> bool:
        """Whether there are several scores."""
        return self._fitted.multimetric

    @property
    def last_error(self) -> BaseException | None:
        """The error of the last fold that failed."""
        return self._fitted.last_error

    @property
    def n_together(self) -> int:
        """Number of candidates whose folds occupy `n_jobs` workers of joblib."""
        return self._fitted.n_together

    def needs_no_fit(self, name: str) -> bool:
        """Return whether candidates that are scored together and differ only in this parameter share one fit of each fold."""
        return self._cutoffs is not None and self._cutoffs.covers(name)

    def why_not_shared(self, candidate: Candidate, swept: str = "") -> str:
        """Return why a candidate cannot share work with others, judged by its parameters; empty if it can.

        The others may differ in any parameters; for a CutoffClassifier, only in the parameter `swept`.
        """
        if self._engine == "sklearn":
            return "engine='sklearn' shares none"
        if self._cutoffs is not None:
            return self._cutoffs.why_not_shared(candidate, swept)
        if self._shared is None:
            return f"that of {self._estimator!r} cannot be shared with these data, scorers and arguments"
        return "" if self._shared.folds.can_share(dict(candidate)) else f"that of {dict(candidate)} cannot be shared"

    @cached_property
    def _scorers(self) -> Mapping[str, Any] | None:
        """The scorers if work may be shared: all of them use the rows only through the estimator; else None."""
        n_jobs = self._options["n_jobs"]
        if self._engine == "sklearn" or self._fit_params or not isinstance(n_jobs, Integral | None) or n_jobs == 0:
            return None  # scikit-learn says what is wrong with n_jobs
        scorer = self.scorer
        scorers = scorer if isinstance(scorer, dict) else {"score": scorer}
        return scorers if self._y is not None and all(map(can_share, scorers.values())) else None

    @cached_property
    def _cutoffs(self) -> CutoffSweeps | None:
        """The shared fits of candidates that differ only in the cutoffs of a CutoffClassifier; None for another estimator."""
        _, last = split_pipeline(self._estimator)
        if type(last) is not CutoffClassifier or self._scorers is None or get_config()["enable_metadata_routing"]:
            return None
        return CutoffSweeps(self._estimator, self._scorers, self._fitted, self._clock)

    @cached_property
    def _shared(self) -> SharedScores | None:
        """The scorer that shares the work of these folds; None if it cannot be shared."""
        train = bool(self._options["return_train_score"])
        _, last = split_pipeline(self._estimator)
        scorers = self._scorers
        if scorers is None or not (is_machine(type(last)) or type(last) in MATRIX_MACHINES):
            return None
        target = self._y if hasattr(self._y, "iloc") else np.asarray(self._y)
        if getattr(target, "ndim", 1) == 2 and target.shape[1] == 1:  # scikit-learn's estimators use its only column
            target = np.asarray(target).ravel()
        splits = [(np.asarray(rows), np.asarray(others)) for rows, others in self._splits]
        if any(rows.dtype.kind not in "iu" for split in splits for rows in split):
            return None
        ranking = any(map(ranks, scorers.values()))
        try:
            folds = SharedFolds(
                self._estimator, self._X, target, splits, self._max_bytes, training_answers=train, ranking=ranking,
                is_late=self._clock.is_late,
            )  # fmt: skip
        except NotSharedError:
            return None
        keeps = bool(self._responses)
        return SharedScores(folds, target, splits, scorers, train, keeps, clock=self._clock, advise=self._advise)
