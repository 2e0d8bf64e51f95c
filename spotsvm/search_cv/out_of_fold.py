"""The out-of-fold table of a search, and what follows from it: the estimates, and the average or the calibrated candidate."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import is_classifier, is_regressor

from spotsvm.common.checks import check_flag
from spotsvm.cross_validation.fold_answers import FoldAnswers, most_tests
from spotsvm.errors import ArgumentError
from spotsvm.luck.difference import judged
from spotsvm.luck.draws import units_of
from spotsvm.luck.refits.class_folds import folds_of_all_classes
from spotsvm.luck.refits.fit_weights import check_decides, with_fixed_weights
from spotsvm.luck.refits.search_access import best_candidates, with_params
from spotsvm.luck.refits.search_table import POOL, Asked, scoring_of, search_table
from spotsvm.luck.scores import as_vector
from spotsvm.out_of_fold.judged_rows import TIES
from spotsvm.out_of_fold.table import OutOfFold
from spotsvm.search_cv.arguments import AVERAGE, SearchArguments
from spotsvm.search_cv.average import AverageClassifier, AverageRegressor, Response
from spotsvm.search_cv.cv_results import BestCandidate
from spotsvm.search_cv.run import SpotSearchRun
from spotsvm.search_cv.scoring import kept_answers
from spotsvm.search_cv.search_data import SearchData

#: the attributes of a search that follow from its out-of-fold table
JUDGED = ("expected_score_", "default_score_", "constant_score_", "verdict_")
OF_TABLE = (*JUDGED, "oof_decision_function_", "oof_predict_proba_", "oof_predict_", "_table")


def check_combination(search: SearchArguments, y: Any) -> None:
    """Raise ArgumentError if `refit="average"` or `calibrate` cannot be used with the estimator, the metrics and the target."""
    check_flag("calibrate", search.calibrate)
    estimator, scoring = search.estimator, search.scoring
    averages = search.averages
    if averages:
        if not (scoring is None or isinstance(scoring, str) or callable(scoring)):
            raise ArgumentError(f"refit='average' is for one metric, and scoring={scoring!r} has several; pass one of them")
        if not (is_classifier(estimator) or is_regressor(estimator)):
            raise ArgumentError(
                f"refit='average' is for classifiers and regressors, and estimator={estimator!r} is neither; use refit=True"
            )
    if search.calibrate and not (
        is_classifier(estimator) and (hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba"))
    ):
        raise ArgumentError(
            f"calibrate=True is for classifiers with decision_function or predict_proba, and estimator={estimator!r} is none; "
            "use calibrate=False"
        )
    if search.calibrate:
        check_decides(estimator)
    if (averages or search.calibrate) and is_classifier(estimator):
        shape = getattr(y, "shape", None) or np.shape(y)
        if len(shape) > 1 and shape[1] > 1:
            raise ArgumentError(
                f"{'refit=' + repr(AVERAGE) if averages else 'calibrate=True'} is for one class for each row, and y has "
                f"{shape[1]} columns; use refit=True and calibrate=False"
            )


def search_out_of_fold(search: Any, run: SpotSearchRun, data: SearchData, best: BestCandidate) -> OutOfFold | None:
    """Return the out-of-fold table of a search, from the answers that came back with the scores; None without answers.

    The chosen candidate, or those of an average, are fitted again if their answers were not kept; and all that compete if each
    fold tests rows of one class alone, which "balanced" weights would show.
    """
    y, splits, given = data.y, data.splits, data.given
    if not run.responses or y is None or issparse(y):
        return None
    estimator, params, classifier = search.estimator, best.results["params"], is_classifier(search.estimator)
    average, calibrated = search.averages, bool(search.calibrate)
    chosen = getattr(search, "best_index_", None)
    metric = best.metric or next(name.removeprefix("mean_test_") for name in best.results if name.startswith("mean_test_"))
    pool = best_candidates(best.results, metric, chosen, POOL if average else None)
    pool = sorted(pool) if average else pool
    trials = [t for t in search.study_.trials if t.state != "running"]
    found: list[FoldAnswers | None] = [kept_answers(trial) for trial in trials]
    merged = folds_of_all_classes(splits, y, search.study_.seed) if classifier else splits
    needed = average or calibrated
    again = pool if average else pool[:1] if calibrated or any(one is not None for one in found) else []
    if merged is not splits:
        found, again = [None] * len(trials), pool if average or not calibrated else pool[:1]
    if missing := [k for k in again if found[k] is None]:
        fixed = with_fixed_weights(estimator, [params[k] for k in missing], y, given.fit)
        for k, scores in zip(missing, run.scores_on(merged, fixed, needed), strict=True):
            found[k] = scores.answers
    if not average and pool and found[pool[0]] is None:
        return None
    own_trials = run.own_trials(search.study_)
    own = [k for k, trial in enumerate(trials) if found[k] is not None and is_own(estimator, params[k], trial in own_trials)]
    units = units_of(search.cv, given.groups, len(np.asarray(y)))
    n_tests = most_tests(merged, len(np.asarray(y)))
    asked = Asked(estimator, y, classifier, given, units, n_tests, scoring_of(search, metric), search.study_.seed)
    settings = pd.DataFrame(
        [{"number": t.number, "state": t.state} | {f"param_{name}": value for name, value in t.params.items()} for t in trials]
    )
    default = found[own[0]] if own else None
    return search_table(
        asked, settings, params, found, pool, average=average, calibrated=calibrated, default=default, n_dropped=run.n_dropped
    )


def is_own(estimator: Any, params: Mapping[str, Any], start: bool) -> bool:
    """Return whether these are the estimator's own parameters; in its `start` a number may stand for a gamma such as "scale"."""
    own = estimator.get_params()

    def same(name: str, value: Any) -> bool:
        if start and isinstance(own[name], str) and own[name] in ("scale", "auto"):
            return True
        if start and isinstance(value, float) and isinstance(own[name], int | float):
            return bool(np.isclose(own[name], value))
        return type(own[name]) is type(value) and bool(np.array_equal(own[name], value))

    return all(name in own and same(name, value) for name, value in params.items())


def combined_estimator(search: Any, table: OutOfFold, n_jobs: int | None) -> Any:
    """Return the average of a few candidates or the best one calibrated, not fitted yet."""
    assert table.pool is not None
    if search.calibrate and not search.averages:
        _check_decisions(search, table)
    found, competing = table.combination, table.kept[table.pool]
    members, params = np.flatnonzero(found.weights), search.cv_results_["params"]
    response = cast("Response", table.responding)
    kind = AverageRegressor if table.classes is None else partial(AverageClassifier, response=response)
    return kind(
        [with_params(search.estimator, params[competing[k]]) for k in members],
        weights=found.weights[members].tolist(),
        scales=found.scales[members].tolist(),
        calibration=found.calibration,
        n_jobs=n_jobs,
    )


def _check_decisions(search: SearchArguments, table: OutOfFold) -> None:
    """Raise ArgumentError if the predictions of the best candidate are not those of the decisions that are to be calibrated."""
    best = table.answered.of(cast("Any", table.pool)[:1])
    disagree = best.disagreement()
    if best.response != "predict" and disagree > TIES:
        raise ArgumentError(
            f"calibrate=True makes probabilities of the answers of {best.response}, and in {disagree:.0%} of rows they are for "
            f"another class than the predictions of {search.estimator!r}; use calibrate=False"
        )


def estimates(table: OutOfFold) -> dict[str, Any]:
    """Return the attributes of a search that say what to expect of its model; empty if rows cannot be drawn by its score."""
    if not table.is_drawable:
        return {}
    found: dict[str, Any] = {"expected_score_": table.expected(), "constant_score_": table.constant()}
    if table.default is not None:
        evidence = table.evidence()
        found = dict(zip(JUDGED, judged([evidence], found["expected_score_"].metric), strict=True))
    return found


def answers_out_of_fold(table: OutOfFold, calibrated: bool) -> dict[str, Any]:
    """Return the attributes of a search with the answers of an average, or of a calibrated candidate, for the training rows."""
    decisions = as_vector(table.decisions())
    if table.classes is None:
        return {"oof_predict_": decisions}
    found: dict[str, Any] = {}
    if table.responding != "predict" or calibrated:
        found["oof_decision_function_"] = decisions
    if table.responding == "predict_proba" or calibrated:
        found["oof_predict_proba_"] = table.probabilities()
    return found
