"""A fitted search as the methods section, the page and the notebook show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from spotsvm.common.checks import draws_groups
from spotsvm.common.text import duration, shown_value
from spotsvm.luck.draws import unit_name
from spotsvm.luck.explanation import Explanation, NotExplained
from spotsvm.luck.refits.search_access import given_by
from spotsvm.luck.refits.search_table import POOL
from spotsvm.luck.scores import as_vector, by_class, labels_of
from spotsvm.out_of_fold.combination import selects_greedily, weighs_by_log_loss
from spotsvm.out_of_fold.table import OutOfFold
from spotsvm.reports.fitted_model import FittedModel, JudgedAnswers
from spotsvm.reports.notebook import fitted_lines, results_html, trials_words
from spotsvm.search_cv.scoring import metric_name
from spotsvm.search_cv.simplest import ONE_SE
from spotsvm.trials.ledger import suggested
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.trials.own_unit import OwnUnits


def fitted_model(search: Any, explanation: Explanation | NotExplained | None = None) -> FittedModel:
    """Return the facts of a fitted `SpotSearchCV`, with the explanation of its columns, if there is one."""
    table: OutOfFold | None = getattr(search, "out_of_fold_", None)
    given = given_by(search, search.fit_params_)
    expected = getattr(search, "expected_score_", None)
    scoring = metric_name(search) if expected is None else expected.metric
    params = getattr(search, "best_params_", {})
    by_refit = search.refit if isinstance(search.refit, str) else ""
    n_judged = len(table.rows) if table is not None else 0 if expected is None else expected.n_rows
    candidates = search.cv_results_["params"] if hasattr(search, "cv_results_") else []
    n_settings = len({repr(one) for one in candidates})
    settings = _settings(search, table)
    members = _members(settings) if search.averages and settings is not None else None
    score_weights = given.score.get("sample_weight") is not None
    return FittedModel(
        name=type(search).__name__,
        is_fitted=hasattr(search, "best_estimator_"),
        classes=getattr(search, "classes_", None) if table is None else table.classes,
        scoring=scoring,
        score_title=ScoreUnit(scoring).title,
        whole_groups=given.groups is not None and draws_groups(search.cv),
        drawn=unit_name(search.cv, given.groups),
        n_judged=n_judged,
        fitted_on=_rows_words(search, table),
        weighted="" if given.fit.get("sample_weight") is None else f"in the fits{' and in the scores' * score_weights}",
        prepares_columns=len(getattr(search.estimator, "steps", ())) > 1,
        notices=tuple(search.study_.findings.notices),
        best_params=params,
        chosen="simplest" if by_refit == ONE_SE else "given" if callable(search.refit) or search.noise is not False else "best",
        average=search.averages,
        members=members,
        equal_members=None if members is None or table is None else table.equal_members(),
        n_settings=n_settings,
        n_competing=min(POOL, n_settings),
        greedy=selects_greedily(is_classifier(search.estimator), scoring, 1 if table is None else as_vector(table.y).ndim),
        by_log_loss=table is not None and weighs_by_log_loss(table.classes is not None, scoring, table.response),
        calibrated=bool(search.calibrate),
        class_weights=_class_weights(search, params),
        expected=expected,
        default=getattr(search, "default_score_", None),
        constant=getattr(search, "constant_score_", None),
        verdict=getattr(search, "verdict_", None),
        default_is="the estimator with its own parameters",
        default_short="own parameters",
        settings=settings if search.averages else None,
        about_settings="The candidates are those of the search.",
        times=_times(search),
        explanation=explanation,
        judged=lambda: None if table is None else _judged(table, bool(search.calibrate)),
    )


def _rows_words(search: Any, table: OutOfFold | None) -> str:
    searched, fitted = search.sampled_rows_, getattr(search, "refit_rows_", None)
    if fitted is not None:
        seen = ", which the search has seen" if len(fitted) == len(searched) else f" (the search has seen {len(searched)} rows)"
        return f"{len(fitted)} rows, drawn at random{seen}"
    if searched is not None:
        return f"all rows (the search has seen {len(searched)} of them, drawn at random)"
    return "all rows" if table is None else f"all {table.n_samples} rows"


def _settings(search: Any, table: OutOfFold | None) -> pd.DataFrame | None:
    """Return the candidates of an average with their weights, and their scores if these follow from answers; None without any."""
    if "weight" not in getattr(search, "cv_results_", {}):
        return None
    if table is None:
        results = search.cv_results_
        params = {name: pd.Series(list(values)) for name, values in results.items() if name.startswith("param_")}
        return pd.DataFrame({**params, "weight": results["weight"]}).rename_axis("number").reset_index()
    settings = table.settings.drop(columns="answered").assign(weight=table.weights)
    return settings.assign(score=table.scores()) if table.is_drawable else settings


def _members(settings: pd.DataFrame) -> pd.DataFrame:
    members = settings[settings["weight"] > 0].sort_values("weight", ascending=False, kind="stable")
    return members.dropna(axis=1, how="all").reset_index(drop=True)


def _class_weights(search: Any, params: Mapping[str, Any]) -> str:
    """Return the weights of the classes in all fits as text; empty without any, or if the members of an average may differ."""
    if search.averages and any(_is_class_weight(name) for one in search.cv_results_["params"] for name in one):
        return ""
    if not is_classifier(search.estimator):
        return ""
    own = {k: v for k, v in search.estimator.get_params().items() if not any(k.startswith(f"{name}__") for name in params)}
    return "; ".join(
        shown_value(value) for name, value in {**own, **params}.items() if _is_class_weight(name) and value is not None
    )


def _is_class_weight(name: str) -> bool:
    return name.rpartition("__")[2] == "class_weight"


def _times(search: Any) -> str:
    seconds = sum(t.seconds or 0.0 for t in suggested(search.study_.trials))
    refit = f", refit {duration(search.refit_time_)}" if hasattr(search, "refit_time_") else ""
    return f"scoring {duration(seconds)}{refit}"


def _judged(table: OutOfFold, calibrated: bool) -> JudgedAnswers | None:
    rows, y = table.rows, as_vector(np.asarray(table.y))
    if y.ndim > 1:
        return None
    if table.classes is None:
        return JudgedAnswers(rows=rows, target=y, weights=table.sample_weight, predictions=table.predictions()[rows])
    known = calibrated or table.responding == "predict_proba"
    decisions = table.decisions()[rows]
    return JudgedAnswers(
        rows=rows,
        predicted=labels_of(decisions),
        ranks=None if table.responding == "predict" else by_class(decisions),
        target=np.searchsorted(table.classes, y),
        weights=table.sample_weight,
        probabilities=table.probabilities()[rows] if known else None,
        calibration_weights=table.fit_weight,
        confusion=table.confusion(),
    )


def notebook_html(search: Any) -> str:
    """Return the results of a search as HTML; empty if it is not fitted."""
    if not hasattr(search, "study_"):
        return ""
    model = fitted_model(search)
    return results_html(fitted_lines(model, _search_lines(search)), search.study_)


def _search_lines(search: Any) -> Iterator[tuple[str, str]]:
    study = search.study_
    unit = OwnUnits.of(study.about, study.objectives).error or ScoreUnit(metric_name(search))
    words = f"{unit.title}; {unit.better}" if unit.is_error else unit.metric
    if hasattr(search, "best_score_"):
        yield "mean score", f"{unit.value(search.best_score_):.4g} ({words}, {search.n_splits_} folds)"
    if study.objectives.several and any(t.values is not None for t in study.trials):
        yield "front", f"{len(study.pareto())} candidates that no other one dominates"
    yield "trials", trials_words(study)
