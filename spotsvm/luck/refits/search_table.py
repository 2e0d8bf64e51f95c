"""The out-of-fold table of a search, from the answers of its candidates for the test rows of the folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, get_scorer_names

from spotsvm.common.compat import scorer_parts
from spotsvm.common.targets import with_mean_1
from spotsvm.cross_validation.fold_answers import FoldAnswers, votes_of
from spotsvm.luck.refits.fit_weights import row_weights, threshold_factors
from spotsvm.luck.refits.search_access import Given, score_name, with_params
from spotsvm.luck.scores import Score, as_vector, labels_of, score_of
from spotsvm.out_of_fold.judged_rows import Answers, JudgedRows, Response
from spotsvm.out_of_fold.table import OutOfFold
from spotsvm.preprocessing.far_targets import ordinary_range

Array = NDArray[Any]

#: number of candidates that an average chooses from, and maximum number of its members
POOL, MEMBERS = 10, 5
#: endings of the names of parameters that move the threshold of a classifier, or that may replace it by another one
_MOVES = ("class_weight", "weight_unit", "priors", "class_prior", "fit_prior", "cutoff")


@dataclass(frozen=True)
class Asked:
    """What a search was asked: estimator, target, further arguments of the fit by recipient, and the score that chooses.

    `units` are what is drawn together with each row; a row is in at most `n_tests` test sets.
    """

    estimator: Any
    y: Any
    classifier: bool
    given: Given
    units: Any
    n_tests: int
    scoring: Any
    seed: int

    @property
    def classes(self) -> Array | None:
        """The classes; None in regression."""
        return np.unique(as_vector(np.asarray(self.y))) if self.classifier else None

    def judged(self, tests: NDArray[np.bool_]) -> JudgedRows:
        """Return the rows that are judged, in each of the tests that they are in, (n, n_tests)."""
        target, rows = as_vector(np.asarray(self.y)), np.nonzero(tests)[0]
        n, classes = len(target), self.classes
        of_metric = self.given.score.get("sample_weight")
        weights = (np.ones(n) if of_metric is None else with_mean_1(np.asarray(of_metric, dtype=np.float64)))[rows]
        fit_weights = row_weights(self.estimator, self.given.fit, n)[rows]
        units = None if self.units is None else np.asarray(self.units)[rows]
        n_distinct = None
        if self.n_tests > 1:  # the tests of a row are drawn together, and count as one row
            each = 1.0 / tests.sum(axis=1)[rows]
            weights, fit_weights = with_mean_1(weights * each), with_mean_1(fit_weights * each)
            units, n_distinct = rows if units is None else units, int(tests.any(axis=1).sum())
        if classes is not None:
            code = np.searchsorted(classes, target)[rows]
            return JudgedRows(code, code, classes, weights, fit_weights, units, n_distinct=n_distinct)
        y = target.astype(np.float64)[rows]
        aim = y if y.ndim > 1 else np.clip(y, *ordinary_range(y, fit_weights))
        scale = np.std(aim, axis=0)
        of_target = np.mean(aim, axis=0), np.where(scale > 0, scale, 1.0)
        return JudgedRows(y, aim, None, weights, fit_weights, units, *of_target, n_distinct=n_distinct)

    def factors(self, params: Sequence[Mapping[str, Any]]) -> Array | None:
        """Return the factors of the classes in the fits of candidates, (m, k); None if one moves its threshold otherwise."""
        if self.classes is None:
            return None
        classes, code = np.unique(np.asarray(self.y), return_inverse=True)
        weights = row_weights(self.estimator, self.given.fit, len(code))
        steps = {name for name, _ in getattr(self.estimator, "steps", ())}
        searched = {name for one in params for name in one}
        if not any(name.rpartition("__")[2].startswith(_MOVES) or name in steps for name in searched):
            params = params[:1]
        every = [threshold_factors(with_params(self.estimator, one), classes, code, weights) for one in params]
        if any(factors is None for factors in every):
            return None
        return np.array(every)


def answers_of(asked: Asked, found: Sequence[FoldAnswers], params: Sequence[Mapping[str, Any]], judged: JudgedRows) -> Answers:
    """Return the answers of candidates, with these parameters, for judged rows; votes where candidates answer differently."""
    classes = judged.classes
    every = []
    for one in found:
        by_test = one.by_test(asked.n_tests)
        every.append(by_test[_tests(by_test)])
    if classes is None:
        return Answers("predict", (np.stack(every) - judged.location) / judged.scale)
    responses = {one.response for one in found}
    factors = asked.factors(params)
    if factors is not None and len(factors) < len(found):
        factors = np.repeat(factors, len(found), axis=0)
    ks = [len(classes) if one.response == "predict_proba" or len(classes) > 2 else 1 for one in found]  # noqa: PLR2004
    votes = None
    if len(responses) > 1 or any(one.shape[1] > k for one, k in zip(every, ks, strict=True)):
        both = zip(every, ks, strict=True)
        votes = np.stack([one[:, k:] if one.shape[1] > k else _votes(one, len(classes)) for one, k in both])
    if len(responses) > 1:
        return Answers("predict", cast("Array", votes), None, factors, factors is None)
    (response,) = responses
    values = np.stack([one[:, : ks[0]] for one in every])
    return Answers(cast("Response", response), values, votes, factors, factors is None)


def _tests(by_test: Array) -> NDArray[np.bool_]:
    """Return which rows are in which tests, (n, n_tests)."""
    return np.asarray(np.isfinite(by_test).all(axis=2))


def _votes(values: Array, n_classes: int) -> Array:
    """Return the votes for the classes of the largest answers."""
    return votes_of(np.eye(n_classes)[labels_of(values)] > 0)


def search_table(
    asked: Asked,
    settings: pd.DataFrame,
    params: Sequence[Mapping[str, Any]],
    found: Sequence[FoldAnswers | None],
    pool: Sequence[int],
    *,
    average: bool,
    calibrated: bool,
    default: FoldAnswers | None = None,
    n_dropped: int = 0,
) -> OutOfFold | None:
    """Return the table of candidates with these parameters and answers; None if no candidate of the `pool` has answers.

    The pool has the candidates that compete, the chosen one first. `default` has the answers of the estimator's own parameters.
    `n_dropped` candidates had answers, which were too many to keep.
    """
    kept = np.array([k for k, one in enumerate(found) if one is not None], dtype=np.intp)
    place = {int(k): i for i, k in enumerate(kept)}
    competing = np.array([place[k] for k in pool if k in place], dtype=np.intp)
    if not len(competing):
        return None
    with_answers = [one for one in found if one is not None]
    tests = _tests(with_answers[0].by_test(asked.n_tests))
    judged = asked.judged(tests)
    answers = answers_of(asked, with_answers, [params[k] for k in kept], judged)
    own = None if default is None else answers_of(asked, [default], [{}], judged)
    answered = settings.assign(answered=np.isin(np.arange(len(settings)), kept))
    table = OutOfFold(
        answered, np.zeros(len(settings)), kept, answers, judged, np.nonzero(tests)[0], len(np.asarray(asked.y)),
        scoring=asked.scoring, seed=asked.seed, average=average, most=MEMBERS if average else None, calibrated=calibrated,
        pool=competing, best=None if average or pool[0] not in place else 0, default=own, n_dropped=n_dropped,
    )  # fmt: skip
    table.weights[kept[competing]] = table.choice.weights
    return table


def scoring_of(search: Any, metric: str) -> Any:
    """Return the scoring of a fitted search by a metric: its name, or the scorer where the name is that of another score."""
    name = score_name(search, metric)
    scorer = search.scorer_[metric] if isinstance(search.scorer_, Mapping) else search.scorer_
    parts = scorer_parts(scorer)
    if parts is None or parts.is_own_score:
        return name if search.scoring is None else scorer
    return name if name in get_scorer_names() and scorer_parts(get_scorer(name)) == parts else scorer


def score_of_classes(metric: Any, classes: Array | None) -> Score | None:
    """Return the score of a metric whose contributions of rows are known, or None; `classes` is None in regression."""
    score = score_of(metric, classes)
    return score if score is not None and score.has_gains else None
