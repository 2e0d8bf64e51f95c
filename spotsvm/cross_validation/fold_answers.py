"""Answers of fitted models for the test rows of folds: which method gives them, and their table for all rows."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import get_scorer, get_scorer_names

from spotsvm.common.compat import ScorerParts, num_samples, scorer_parts
from spotsvm.cross_validation.fold_data import Split
from spotsvm.estimators import Floats
from spotsvm.luck.scores import as_vector, labels_of
from spotsvm.solvers.dual.problem.one_vs_one import one_vs_rest

Array = NDArray[Any]
_log = logging.getLogger(__name__)

_BY_PROBABILITY = ("predict_proba", "decision_function", "predict")
_BY_DECISION = ("decision_function", "predict_proba", "predict")


def responses_of(estimator: Any, metric: Any, calibrated: bool) -> tuple[str, ...]:
    """Return the methods whose results are a search's answers, best first; () if the estimator neither classifies nor regresses.

    `metric` is the scorer that chooses, or its name, or None. Decisions come first if they are to be calibrated, if the metric
    ranks by them, or if the probabilities come from another model than the predictions, as those of an SVC do.
    """
    if is_regressor(estimator):
        return ("predict",)
    if not is_classifier(estimator):
        return ()
    parts = parts_of_metric(metric)
    ranks = parts is not None and parts.methods[0] == "decision_function"
    own = of_labels(parts) and any_has([estimator], "probability", True)
    return _BY_DECISION if calibrated or ranks or own else _BY_PROBABILITY


def parts_of_metric(metric: Any) -> ScorerParts | None:
    """Return the parts of a scorer, or of a scorer's name; None if unknown."""
    if isinstance(metric, str):
        metric = get_scorer(metric) if metric in get_scorer_names() else None
    return None if metric is None else scorer_parts(metric)


def of_labels(parts: ScorerParts | None) -> bool:
    """Return whether a metric is a score of predicted classes; True if unknown."""
    return parts is None or parts.methods in (("predict",), ("score",))


def any_has(estimators: Sequence[Any], name: str, value: Any) -> bool:
    """Return whether an estimator, or a step of a pipeline, has this value of a parameter."""
    return any(
        key.rpartition("__")[2] == name and isinstance(found, type(value)) and found == value
        for one in estimators
        for key, found in one.get_params().items()
    )


def common_responses(estimators: Sequence[Any], n_classes: int) -> list[str]:
    """Return the methods that all estimators have, in the order of preference: probabilities, decisions, predictions."""
    if not n_classes:
        return ["predict"]
    # decisions for pairs of classes have no arg max over the classes
    pairs = n_classes > 2 and any_has(estimators, "decision_function_shape", "ovo")
    names = ["predict_proba"] if pairs else ["predict_proba", "decision_function"]
    return [*(name for name in names if all(hasattr(one, name) for one in estimators)), "predict"]


def respond(model: Any, X: Any, response: str, classes: Array | None) -> Array:
    """Return a fitted model's answers, (n, k): probabilities; decisions; votes; or the predictions of a regression.

    Of two classes k is 1 for decisions, positive for the second, and for votes. A class that the model has not seen has the
    probability 0, or a decision below all others.
    """
    answers = np.asarray(getattr(model, response)(X))
    if classes is None:
        return np.asarray(answers.reshape(len(answers), -1), dtype=np.float64)
    k = len(classes)
    if response == "predict":
        return votes_of(answers.ravel()[:, None] == classes)
    asked = np.isin(model.classes_, classes)  # a model may know classes that no row has
    seen = np.searchsorted(classes, model.classes_[asked])
    if response == "predict_proba":
        full = np.zeros((len(answers), k))
        full[:, seen] = answers[:, asked]
        return full
    if answers.ndim == 1:
        if k == 2 and len(seen) == 2:
            return np.asarray(answers[:, None], dtype=np.float64)
        answers = np.stack([-answers, answers], axis=1)[:, -len(asked) :]
    elif len(asked) > 2 and any_has([model], "decision_function_shape", "ovo"):  # noqa: PLR2004
        answers = one_vs_rest(answers, len(asked))
    full = np.full((len(answers), k), answers.min() - 1.0)
    full[:, seen] = answers[:, asked]
    return full[:, 1:] - full[:, :1] if k == 2 else full


def votes_of(predicted: NDArray[np.bool_]) -> Floats:
    """Return votes, (n, k), from whether each class is predicted: 1 and 0; of two classes one column, 0.5 for the second."""
    full = predicted.astype(np.float64)
    return (full[:, 1:] - full[:, :1]) / 2.0 if full.shape[1] == 2 else full  # noqa: PLR2004


@dataclass(frozen=True)
class FoldAnswers:
    """A candidate's answers (see `respond`) for all rows, each by the models of the folds that test it.

    `values` are r blocks of k columns if rows are in up to r test sets, nan in fewer; v more in each block have the votes if the
    class of the largest answer is not always the one predicted.
    """

    response: str
    values: Floats

    def by_test(self, n_tests: int) -> Floats:
        """Return the answers of each test, (n, r, k) or (n, r, k + v), where rows are in up to r test sets."""
        return self.values.reshape(len(self.values), n_tests, -1)


def most_tests(splits: Sequence[Split], n: int) -> int:
    """Return in how many test sets a row is at most."""
    times = np.zeros(n, dtype=np.intp)
    for _, test in splits:
        np.add.at(times, np.arange(n)[np.asarray(test)], 1)
    return int(times.max(initial=1))


@dataclass(frozen=True)
class TestedRows:
    """A fitted model's answers for the test rows of a fold, and its votes, a row for each; in regression they are the same."""

    response: str
    values: Floats
    votes: Floats

    @property
    def agree(self) -> bool:
        """Whether the class of the largest answer is the one that the model predicts, in all rows."""
        return self.votes is self.values or np.array_equal(labels_of(self.values), labels_of(self.votes))


@dataclass(frozen=True)
class Answering:
    """How fitted models answer: by the first of the `responses` that they have; `classes` is None in regression."""

    responses: Sequence[str]
    classes: Array | None

    @classmethod
    def about(cls, estimator: Any, y: Any, responses: Sequence[str]) -> Answering | None:
        """Return how models of a target answer; None if they do not, as with several labels for a row."""
        if not responses or y is None or issparse(y):
            return None
        target = as_vector(np.asarray(y))
        if not is_classifier(estimator):
            return cls(responses, None)
        classes = np.unique(target) if target.ndim == 1 else ()
        return cls(responses, np.asarray(classes)) if len(classes) > 1 else None

    def of(self, model: Any, X: Any) -> TestedRows | None:
        """Return a fitted model's answers; None if no method gives any."""
        for response in self.responses:
            if not hasattr(model, response):
                continue
            try:
                values = respond(model, X, response, self.classes)
                by_vote = self.classes is None or response == "predict"
                votes = values if by_vote else respond(model, X, "predict", self.classes)
                if len(values) == len(votes) == num_samples(X) and np.isfinite(values).all():
                    return TestedRows(response, values, votes)
                _log.info("%s gives answers of another number of rows, or some that are not finite", response)
            except Exception as error:  # a user's estimator may raise any error
                _log.info("%s gives no answers: %s", response, error)
        return None


def gathered_answers(tested: Sequence[TestedRows | None], splits: Sequence[Split], n: int) -> FoldAnswers | None:
    """Return the answers for all n rows from those of the folds; None if a fold has none."""
    folds = [fold for fold in tested if fold is not None]
    if len(folds) < len(splits):
        return None
    response = folds[0].response if len({fold.response for fold in folds}) == 1 else "predict"
    own = [fold.values if fold.response == response else fold.votes for fold in folds]
    if not all(fold.agree for fold in folds) and response != "predict":
        own = [np.hstack([values, fold.votes]) for values, fold in zip(own, folds, strict=True)]
    if len({values.shape[1] for values in own}) > 1:
        return None
    times, full = np.zeros(n, dtype=np.intp), np.full((n, most_tests(splits, n), own[0].shape[1]), np.nan)
    for values, (_, test) in zip(own, splits, strict=True):
        rows = np.arange(n)[np.asarray(test)]
        for row, answers in zip(rows, values, strict=True):  # a row may be twice in a test set
            full[row, times[row]] = answers
            times[row] += 1
    return FoldAnswers(response, full.reshape(n, -1))
