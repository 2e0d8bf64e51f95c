"""Out-of-fold responses of a search's candidates: the weights of their average, its calibration, the score to expect."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import FitFailedWarning

from spotsvm.common.compat import check_method_params, safe_split
from spotsvm.common.notices import untold
from spotsvm.common.targets import with_mean_1
from spotsvm.common.worker_interrupts import interrupts_kept_from_workers
from spotsvm.cross_validation.fold_answers import any_has, common_responses, of_labels, parts_of_metric, respond
from spotsvm.cross_validation.fold_data import Split
from spotsvm.errors import ArgumentError
from spotsvm.luck.bootstrap import N_DRAWS, left_out_scores
from spotsvm.luck.calibration import Calibration, calibrate
from spotsvm.luck.drawn import Drawn, left_out
from spotsvm.luck.draws import draw_rows
from spotsvm.luck.refits.fit_weights import check_decides, fixed_weights, row_weights, threshold_factors
from spotsvm.luck.refits.search_access import with_params
from spotsvm.luck.scores import Score, as_vector, labels_of, score_called, score_of
from spotsvm.luck.weights import agnostic_bayes, agnostic_bayes_in_draws, greedy, largest, single_best

Array = NDArray[Any]

#: number of candidates whose out-of-fold responses are compared, and maximum number of candidates in an average
POOL, MEMBERS = 10, 5
#: a probability of 0 is taken for this one; before a calibration for a larger one, as its log odds count like any others
_LEAST_PROBABILITY, _LEAST_CALIBRATED = 1e-6, 0.01
#: largest share of rows in which the largest decision may be of another class than the one predicted: ties of votes
_TIES = 0.05
#: weight of the log likelihood that is added to accuracy, which is a step function
_LOSS_WEIGHT = 0.5
_LOG_LIKELIHOOD = score_called("neg_log_loss", ("neg_log_loss",))


def _responses_for(
    estimators: Sequence[Any], n_classes: int, metric: Any, average: bool, calibrated: bool
) -> tuple[list[str], bool]:
    """Return the methods whose responses may be used, best first, and whether they have to agree with `predict`."""
    names = common_responses(estimators, n_classes)
    decisions_first = sorted(names, key=["decision_function", "predict_proba", "predict"].index)
    if calibrated or names == ["predict"]:
        return decisions_first, False
    if of_labels(parts_of_metric(metric)):
        # the probabilities of an SVC come from another model than its predictions
        own = any_has(estimators, "probability", True)
        return (decisions_first if own else names, True) if average else (["predict"], False)
    return (decisions_first if metric == "roc_auc" and not average else names), False


def as_decisions(answers: Array, response: str, calibrated: bool = False) -> Array:
    """Return averaged answers as decisions, for scores or for a calibration: of probabilities log odds or logarithms."""
    if response != "predict_proba":
        return answers
    least = _LEAST_CALIBRATED if calibrated else _LEAST_PROBABILITY
    if answers.shape[-1] == 1:
        return np.asarray(logit(np.clip(answers + 0.5, least, 1.0 - least)))
    return np.asarray(np.log(np.clip(answers, least, 1.0)))


@dataclass(frozen=True)
class OutOfFold:
    """The answers of candidates for rows that they were not fitted on.

    Attributes
    ----------
    kept : list of int
        Indices of the candidates that could be fitted.
    response : str
        The method whose results are the answers.
    answers : ndarray of shape (m, n, k)
        The answers of the kept candidates, as returned by `respond`; for a row in several test sets, those of the first.
    rows : ndarray of shape (n,)
        The rows that are in a test set.
    y : ndarray of shape (n,) or (n, t)
        The class codes, or the targets, of these rows.
    classes : ndarray or None
        The classes; None in regression.
    weights, fit_weights : ndarray of shape (n,)
        The weights of these rows in the metric, and in the fits; each has mean 1.
    factors : ndarray of shape (m, n_classes) or None
        The factor of each class in the fits of the kept candidates; None if their thresholds are moved in other ways.
    """

    kept: list[int]
    response: str
    answers: Array
    rows: NDArray[np.intp]
    y: Array
    classes: Array | None
    weights: Array
    fit_weights: Array
    factors: Array | None


def out_of_fold(
    estimators: Sequence[Any],
    X: Any,
    y: Any,
    splits: Sequence[Split],
    *,
    classifier: bool,
    metric: Any = "score",
    average: bool = True,
    calibrated: bool = False,
    fit_params: Mapping[str, Any] | None = None,
    weights: Any = None,
    n_jobs: int | None = None,
    known: Sequence[list[Array] | None] | None = None,
) -> OutOfFold:
    """Fit each estimator on the training rows of splits, and keep its answers for the test rows.

    If a row is in several test sets, as in repeated cross-validation, only the first split that tests it is used: a mean of
    several answers would be the answer of an ensemble. A split that is not used for any row is not fitted.

    A single candidate is judged by `predict` if the metric is a score of predicted classes. An average uses probabilities or
    decisions if their arg max agrees with `predict` on the test rows of the first split, and votes otherwise. If `metric` is not
    a score of predicted classes, or the answers are to be calibrated, they need not agree with `predict`.

    `weights` are those of rows in the metric. `known` has, for each estimator, its decisions or predictions for each split if no
    fit is needed, else None. An estimator that fails in a fold is left out with a warning. If all fail, the error of the first is
    raised.
    """
    target, fit_params = as_vector(np.asarray(y)), fit_params or {}
    classes, code = np.unique(target, return_inverse=True) if classifier else (None, target)
    n_classes = 0 if classes is None else len(classes)
    fit_weights = row_weights(estimators[0], fit_params, len(target))
    names, agree = _responses_for(estimators, n_classes, metric, average, calibrated)
    own = first_tests(splits, len(target))
    complete = known is not None and (classes is None or all(len(np.unique(code[splits[s][0]])) == n_classes for s in own))
    shared = [] if known is None or not complete else [k for k, answers in enumerate(known) if answers is not None]
    if classifier and names == ["predict"] and n_classes == 2 and len(shared) == len(estimators):
        names = [name for name in common_responses(estimators, 2) if name == "decision_function"] or names  # their signs

    def answer(estimator: Any, split: int, names: Sequence[str]) -> dict[str, Array] | Exception:
        train, test = splits[split]
        try:
            model = clone(estimator)
            X_train, y_train = safe_split(model, X, y, train)
            X_test, _ = safe_split(model, X, y, test, train)
            with untold():
                model.fit(X_train, y_train, **check_method_params(X, fit_params, train))
                return {name: respond(model, X_test, name, classes) for name in names}
        except Exception as error:  # a user's estimator may raise any error
            return error

    found: dict[tuple[int, int], Any] = {}
    if known is not None and (classes is None or names[0] == "decision_function"):
        found = {(k, s): {names[0]: (known[k] or [])[s]} for k in shared for s in own}

    def fit_missing(places: Sequence[tuple[int, int]], names: Sequence[str]) -> None:
        missing = [place for place in places if place not in found]
        with interrupts_kept_from_workers():
            answers = Parallel(n_jobs=n_jobs)(delayed(answer)(estimators[k], s, names) for k, s in missing)
        found.update(zip(missing, answers, strict=True))

    response = names[0]
    if calibrated and response != "predict":
        _check_decisions(estimators, fit_missing, found, (0, next(iter(own))), response)
    if agree:
        fit_missing([(k, next(iter(own))) for k in range(len(estimators))], names)
        tried = [one for one in found.values() if isinstance(one, dict) and "predict" in one]
        response = next(name for name in names if all(np.array_equal(labels_of(a[name]), labels_of(a["predict"])) for a in tried))
        found = {place: one for place, one in found.items() if isinstance(one, Exception) or response in one}
    every = [(k, s) for k in range(len(estimators)) for s in own]
    fit_missing(every, [response])
    errors = [next((found[k, s] for s in own if isinstance(found[k, s], Exception)), None) for k in range(len(estimators))]
    kept = [k for k, error in enumerate(errors) if error is None]
    failed = [error for error in errors if error is not None]
    if not kept:
        raise failed[0]
    if failed:
        reason = f"{len(failed)} of {len(errors)} candidates of the average failed in a fold and are left out: {failed[0]}"
        warnings.warn(reason, FitFailedWarning, stacklevel=4)
    order = np.concatenate([test for test, _ in own.values()])
    rows = np.sort(order)
    answers = np.stack([np.concatenate([found[k, s][response][at] for s, (_, at) in own.items()]) for k in kept])
    factors = None if classes is None else _factors([estimators[k] for k in kept], classes, code, fit_weights)
    of_metric = np.ones(len(target)) if weights is None else with_mean_1(np.asarray(weights, dtype=np.float64))
    return OutOfFold(
        kept, response, answers[:, np.argsort(order)], rows, code[rows], classes, of_metric[rows], fit_weights[rows], factors
    )


def _check_decisions(estimators: Sequence[Any], fit_missing: Any, found: Mapping[Any, Any], place: Any, response: str) -> None:
    """Raise ArgumentError if the predictions of a candidate are not those of the decisions that are to be calibrated."""
    for one in estimators:
        check_decides(one)
    fit_missing([place], [response, "predict"])
    if isinstance(answers := found[place], dict) and "predict" in answers:
        disagree = float(np.mean(labels_of(answers[response]) != labels_of(answers["predict"])))
        if disagree > _TIES:
            raise ArgumentError(
                f"calibrate=True makes probabilities of the answers of {response}, and in {disagree:.0%} of rows they are for "
                f"another class than the predictions of {estimators[0]!r}; use calibrate=False"
            )


def _factors(estimators: Sequence[Any], classes: Array, code: Array, weights: Array) -> Array | None:
    """Return the factor of each class in the fits of some classifiers, (m, k); None if one moves its threshold otherwise."""
    found = [threshold_factors(one, classes, code, weights) for one in estimators]
    return None if any(factors is None for factors in found) else np.array(found)


def with_fixed_weights(
    estimator: Any, params: Sequence[Mapping[str, Any]], y: Any, fit_params: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the parameters of candidates with the class weights of all rows in place of "balanced"; see `fixed_weights`."""
    target = as_vector(np.asarray(y))
    if not is_classifier(estimator) or target.ndim > 1:
        return [dict(one) for one in params]
    classes, code = np.unique(target, return_inverse=True)
    weights = row_weights(estimator, fit_params, len(code))
    return [{**one, **fixed_weights(with_params(estimator, one), classes, code, weights)} for one in params]


def first_tests(splits: Sequence[Split], n: int) -> dict[int, tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return, for each split that is the first to test some rows, these rows and their positions among its test rows."""
    tested, own = np.zeros(n, dtype=bool), {}
    for s, (_, test) in enumerate(splits):
        rows, at = np.unique(np.arange(n)[np.asarray(test)], return_index=True)
        new = ~tested[rows]
        if new.any():
            own[s] = rows[new], at[new]
        tested[rows] = True
    return own


@dataclass(frozen=True)
class Combination:
    """An average of candidates, or a single candidate.

    Attributes
    ----------
    weights, scales : ndarray of shape (m,)
        The weight of each candidate, and the scale by which its answers are divided first.
    calibration : Calibration or None
        The calibration of the averaged answers.
    decisions : ndarray of shape (n, k)
        The decisions of the combination out of fold, calibrated if there is a calibration.
    drawn : Drawn or None
        The score on the rows, with draws that repeat the choice; None if the metric is not known here.
    """

    weights: Array
    scales: Array
    calibration: Calibration | None
    decisions: Array
    drawn: Drawn | None


def score_of_classes(metric: Any, classes: Array | None) -> Score | None:
    """Return the score of a metric whose contributions of rows are known, or None; `classes` is None in regression."""
    score = score_of(metric, classes)
    return score if score is not None and score.has_gains else None


def combined(
    out: OutOfFold, metric: Any, seed: int, *, groups: Any = None, average: bool = True, calibrated: bool = False
) -> Combination:
    """Return the average of candidates, or only the first, with its score from draws that repeat the choice.

    The weights are those of agnostic Bayes by the metric, or by accuracy if the metric's score of a row is unknown. Half the log
    likelihood of probabilities or calibrated decisions is added to accuracy. In regression the weights come from a greedy
    selection by squared error, or from agnostic Bayes by absolute error if that is the metric.

    Parameters
    ----------
    out : OutOfFold
        The candidates' answers.
    metric : str or callable
        scikit-learn's name of the metric, or a scorer.
    seed : int
        Seed of the draws.
    groups : array-like of shape (n,), optional
        Groups of all rows, or blocks of a series; they are drawn whole.
    average : bool
        Whether to average. Otherwise the first candidate has all weight, and in each draw the best candidate.
    calibrated : bool
        Whether decisions become probabilities, by a sigmoid for two classes or a softmax for several classes.
    """
    n, regression = len(out.rows), out.classes is None
    known = score_of_classes(metric, out.classes)
    score = score_of("r2" if regression else "accuracy", out.classes) if known is None else known
    assert score is not None
    if regression and out.y.ndim > 1:
        weights = _shares_of_outputs(out, average)
        return Combination(weights, np.ones(len(weights)), None, np.tensordot(weights, out.answers, 1), None)
    w = out.weights
    scales = np.ones(len(out.kept))
    if out.response == "decision_function":
        scales = np.abs(out.answers).mean(axis=(1, 2)) + 1e-12
    answers = out.answers / scales[:, None, None]
    each = as_decisions(answers, out.response, calibrated)
    if score.kind == "probabilities" and calibrated:
        each = _calibrated(each, out, np.ones((len(each), n)), np.eye(len(each)))(each)
    gains = merits = score.gains(each, out.y, w)
    if score.name == "accuracy" and out.response != "predict":
        as_probable = each if out.response == "predict_proba" else calibrate(each, out.y, np.ones(each.shape[:2]))(each)
        merits = gains + _LOSS_WEIGHT * _LOG_LIKELIHOOD.gains(as_probable, out.y, w)
    unit_names = None if groups is None else np.asarray(groups)[out.rows]
    draws = draw_rows(n, N_DRAWS, np.random.default_rng((seed, 1)), unit_names)
    in_draws_weights = draws.counts * w
    if not average:
        weights, in_draws = np.eye(len(gains))[0], single_best(gains, in_draws_weights)
    elif regression and score.name != "neg_mean_absolute_error":
        errors = (answers[..., 0] - out.y) / (float(np.std(out.y)) or 1.0)
        weights, in_draws = greedy(errors, w[None])[0], greedy(errors, in_draws_weights)
    else:
        rng = np.random.default_rng((seed, 2))
        weights, in_draws = agnostic_bayes(merits, w, draws.unit, rng), agnostic_bayes_in_draws(merits, w, draws, rng)
    weights, in_draws = largest(weights, MEMBERS), largest(in_draws, MEMBERS)
    mean = np.tensordot(weights, answers, 1)
    once = np.ones((1, n))
    calibration = (
        _calibrated(as_decisions(mean[None], out.response, calibrated), out, once, weights[None]) if calibrated else None
    )

    def finish(averages: Array, counts: Array, shares: Array) -> Array:
        odds = as_decisions(averages, out.response, calibrated)
        return odds if calibration is None else _calibrated(odds, out, counts, shares, calibration)(odds)

    decisions = finish(mean[None], once, weights[None])
    if known is None:
        return Combination(weights, scales, calibration, decisions[0], None)
    scores = left_out_scores(answers, out.y, w, known, draws, in_draws, finish)
    on_all = float(known.values(decisions, out.y, w[None])[0])
    drawn = left_out(scores, on_all, n, float(draws.drawn.shape[1]), chosen=True)
    return Combination(weights, scales, calibration, decisions[0], drawn)


def single_score(
    estimator: Any, X: Any, y: Any, splits: Sequence[Split], metric: Any, seed: int, *, groups: Any = None, **more: Any
) -> Drawn | None:
    """Return the score of an estimator on the test rows of splits, in the same draws as `combined`; None for an unknown metric.

    `more` are arguments of `out_of_fold`. Decisions become probabilities if the metric needs some and the estimator has none.
    """
    target = as_vector(np.asarray(y))
    score = score_of_classes(metric, np.unique(target) if more["classifier"] else None)
    if score is None or target.ndim > 1:
        return None
    calibrated = score.kind == "probabilities" and not hasattr(estimator, "predict_proba")
    out = out_of_fold([estimator], X, y, splits, metric=metric, average=False, calibrated=calibrated, **more)
    return combined(out, metric, seed, groups=groups, average=False, calibrated=calibrated).drawn


def constant_of(estimator: Any) -> Any:
    """Return the model that predicts the shares of the classes, or the mean, in place of an estimator."""
    return DummyClassifier(strategy="prior") if is_classifier(estimator) else DummyRegressor()


def _calibrated(decisions: Array, out: OutOfFold, counts: Array, shares: Array, start: Calibration | None = None) -> Calibration:
    """Return the calibration of averages with these shares of the candidates, (b, m), in draws of rows, (b, n).

    Rows count as in the fits: for their weight and the factor of their class, which is the geometric mean of the members'
    factors, as these move the thresholds of log odds. Thresholds that are moved in other ways stay where they are.
    """
    weights = counts * out.fit_weights
    if out.factors is None:
        return calibrate(decisions, out.y, weights, start, own_threshold=True)
    factors = np.exp(shares @ np.log(out.factors))[:, out.y]
    factors /= np.average(factors, axis=1, weights=out.fit_weights)[:, None]
    return calibrate(decisions, out.y, weights * factors, start)


def _shares_of_outputs(out: OutOfFold, average: bool) -> Array:
    """Return the weights for a target of several columns, from squared errors in units of each column's standard deviation."""
    if not average:
        return np.asarray(np.eye(len(out.kept))[0])
    errors = (out.answers - out.y) / np.where(np.std(out.y, axis=0) > 0, np.std(out.y, axis=0), 1.0)
    errors = errors.reshape(len(errors), -1)
    return largest(greedy(errors, np.ones((1, errors.shape[1])))[0], MEMBERS)
