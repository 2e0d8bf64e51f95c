"""A fitted TunedSVC or TunedSVR as the methods section, the page and the notebook show it."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.common.checks import draws_groups
from spotsvm.common.text import counted, duration, short, shown_value
from spotsvm.luck.calibration import conformal_limit
from spotsvm.luck.draws import unit_name
from spotsvm.luck.explanation import Explanation, NotExplained
from spotsvm.luck.scores import by_class
from spotsvm.out_of_fold.combination import selects_greedily, weighs_by_log_loss
from spotsvm.reports.fitted_methods import LEARNED, folds_words, methods_section, score_rows
from spotsvm.reports.fitted_model import FittedModel, JudgedAnswers
from spotsvm.reports.methods import MethodsSection, code, listed
from spotsvm.reports.notebook import fitted_lines, results_html
from spotsvm.space.description import parameter_code
from spotsvm.space.space import Space
from spotsvm.tuned.encodings import CODES, CYCLES, LEVELS
from spotsvm.tuned.families import FAMILIES, with_support_vectors

_KERNELS = {
    "rbf": "Gaussian kernels",
    "laplacian": "Laplacian kernels",
    "power_rbf": "Gaussian kernels after a power transformation of the columns",
    "power_laplacian": "Laplacian kernels after a power transformation of the columns",
    "relevance_rbf": "Gaussian kernels of columns times their learned relevance",
    "relevance_laplacian": "Laplacian kernels of columns times their learned relevance",
    "linear": "linear kernels",
}
_ENCODINGS = {
    LEVELS: "levels of categories kept the values 0 and 1",
    CODES: "whole numbers of few different values ({}) were categories",
    CYCLES: "the columns {} were sine and cosine of their period",
}
_LISTED = 8
_ABOUT_SETTINGS = (
    "Kernels: rbf is exp(-(d / width)^2) with d the Euclidean distance, laplacian exp(-d / width) with d the sum of absolute "
    "differences; widths are in units of the typical distance of rows. The families with relevance multiply each column by its "
    "learned relevance first; those with squared loss are least-squares support vector machines, whose C is half the inverse of "
    "the ridge."
)


def fitted_model(model: Any, explanation: Explanation | NotExplained | None = None) -> FittedModel:
    """Return the facts of a fitted model, with the explanation of its columns, if there is one."""
    facts, classifies = model.fit_facts_, hasattr(model, "classes_")
    weights = getattr(model, "class_weight", None)
    svc = "SVC()" if weights is None else f"SVC(class_weight={weights!r})"
    alike = facts.n_distinct != len(facts.judged)  # drawn together with their copies
    return FittedModel(
        name=type(model).__name__,
        classes=model.classes_ if classifies else None,
        scoring=model.scoring_,
        score_title=facts.score_title,
        whole_groups=facts.by_group and (isinstance(model.cv, Integral) or draws_groups(model.cv)),
        drawn="groups" if facts.by_group else "rows" if alike else unit_name(model.cv, None),
        n_judged=len(facts.judged),
        n_distinct=facts.n_distinct,
        fitted_on=counted(model.n_rows_, "row"),
        weighted="in the fits and in the scores" if np.ptp(facts.weights) > 0 else "",
        notices=tuple(notice.sentence for notice in model.notices_),
        best_params=model.best_params_,
        average=model.average,
        members=model.members_,
        equal_members=_equal_members(model),
        n_settings=len(model.settings_),
        n_competing=len(model.settings_),
        greedy=selects_greedily(classifies, model.scoring_),
        by_log_loss=weighs_by_log_loss(classifies, model.scoring_, "decision_function"),
        calibrated=classifies,
        class_weights="" if weights is None else shown_value(weights),
        threshold=facts.threshold_text,
        positive=facts.positive,
        complete=model.complete_,
        expected=model.expected_score_,
        default=model.default_score_,
        constant=model.constant_score_,
        verdict=model.verdict_,
        default_is=f"scikit-learn's {code(svc)} on standardised numbers"
        if classifies
        else f"scikit-learn's {code('SVR()')} on standardised numbers, with a target scaled to mean 0 and variance 1",
        default_short=f"default {'SVC' if classifies else 'SVR'}",
        settings=model.settings_,
        about_settings=_ABOUT_SETTINGS,
        columns=model.columns_,
        relevance=getattr(model, "relevance_", None),
        code=_fit_code(model),
        seed=model.seed_,
        versions=facts.versions,
        times=duration(model.fit_seconds_),
        judged=lambda: _judged(model, classifies),
        explanation=explanation,
    )


def _judged(model: Any, classifies: bool) -> JudgedAnswers:
    facts = model.fit_facts_
    if not classifies:
        return JudgedAnswers(
            rows=facts.judged,
            target=facts.target,
            weights=facts.weights,
            predictions=model.average_oof_[facts.judged],
            half_length=lambda coverage: conformal_limit(facts.unusual, facts.weights, coverage),
        )
    odds = np.asarray(model.oof_decision_function_)[facts.judged]
    odds = odds[:, None] if odds.ndim == 1 else odds
    table = getattr(model, "out_of_fold_", None)
    return JudgedAnswers(
        rows=facts.judged,
        target=facts.target,
        weights=facts.weights,
        predicted=facts.predicted,
        ranks=by_class(odds),
        probabilities=model.oof_predict_proba_[facts.judged],
        calibration_weights=facts.calibration_weights,
        confusion=None if table is None else table.confusion(),
        sets=partial(facts.sets, odds),
    )


def _equal_members(model: Any) -> Any:
    """Return which members give the same answers; None if the table of answers was dropped, or has other members."""
    table = getattr(model, "out_of_fold_", None)
    equal = None if table is None else table.equal_members()
    return equal if equal is not None and len(equal) == len(model.members_) else None


def tuned_methods(model: Any) -> MethodsSection:
    """Return the methods section of a fitted model."""
    found = fitted_model(model)
    before = [_settings_words(model, found), _judged_words(model, found)]
    columns = ["model", f"expected {found.unit.title}", "low", "high"]
    results = pd.DataFrame(score_rows(found), columns=columns)
    return methods_section(before, found, found.versions, _space(model.settings_), results)


def notebook_html(model: Any) -> str:
    """Return the results of a model as HTML."""
    return results_html(fitted_lines(fitted_model(model)))


def _settings_words(model: Any, found: FittedModel) -> str:
    facts, classifies = model.fit_facts_, found.classifies
    families = model.settings_["family"].unique().tolist()
    kernels = [_KERNELS[name] for name in dict.fromkeys(map(with_support_vectors, families))]
    kind = "classification" if classifies else "regression"
    squared = {FAMILIES[name].squared for name in families}
    machines = "Least-squares support vector machines" if squared == {True} else "Support vector machines"
    text = (
        f"{machines} for {kind} were tuned by {code(found.name)} of spotsvm {found.versions['spotsvm']} "
        f"[@spotsvm]. A configuration is a kernel with its width, and C{'' if classifies else ' and epsilon'} (Table 1): "
        f"{counted(found.n_settings, 'configuration')} with {listed(kernels)}."
    )
    if True in squared:
        text += f" {'Some are' if False in squared else 'These are'} least-squares machines, with squared loss [@suykens1999]."
    if "encoding" in model.settings_:
        text += f" {_encoding_words(model)}"
    if "target" in model.settings_ and (share := _share(model, "target", "power")):
        text += (
            f" With {share} of the weight, the target was predicted on a scale on which it is nearer to a normal distribution "
            "[@yeo2000], with a smeared inverse [@duan1983]; the power was learned from the targets of all rows."
        )
    if facts.screening[0]:
        text += (
            f" The configurations belong to the kernels that were promising among the {facts.screening[0]} of a grid, which were "
            f"compared by the same folds on {facts.screening[1]} of the rows."
        )
    if searched := facts.n_searched:
        text += (
            f" Of {facts.n_sweeps} kernels, each scored with a series of values of C, {facts.n_sweeps - searched} are those of "
            f"a fixed grid, and {searched} were proposed by a Kriging search by the expected improvement [@jones1998]."
        )
    if any(FAMILIES[name].columns == "relevance" for name in families):
        text += " The relevance of a column is the root mean square gradient of a kernel ridge regression [@radhakrishnan2024]."
    return text


def _share(model: Any, name: str, value: str) -> str:
    """Return the weight of the members with this value as a percentage; empty if they have none."""
    members = model.members_
    weight = float(members.loc[members[name] == value, "weight"].sum())
    return f"{100 * weight:.0f} %" if weight > 0 else ""


def _encoding_words(model: Any) -> str:
    """Return in which ways the members take the columns of the table."""
    parts = []
    for name, columns in model.fit_facts_.encodings.items():
        if name in _ENCODINGS and (share := _share(model, "encoding", name)):
            shown = [code(column) for column in columns[:_LISTED]] + [f"{len(columns) - _LISTED} more"] * (len(columns) > _LISTED)
            parts.append(f"in members with {share} of the weight {_ENCODINGS[name].format(listed(shown) if shown else '')}")
    if not parts:
        return "All numbers made from the columns had variance 1."
    return (
        f"Out-of-fold rows chose how the columns became numbers: {'; '.join(parts)}. What the columns allow was seen on all "
        "rows, without the target."
    )


def _judged_words(model: Any, found: FittedModel) -> str:
    facts = model.fit_facts_
    folds = folds_words(facts.n_folds, found.whole_groups)
    n = f"{found.n_judged} rows{found.of_distinct}"
    if facts.n_held:
        text = (
            f"Kernels were compared by {folds} on {facts.n_grid_rows} rows. The best were fitted on up to {model.n_rows_} rows, "
            f"and judged on {n} that were held out from all of this."
        )
    else:
        text = f"Configurations were judged by {folds} on {n}, each by the models that had not seen it."
    if found.of_distinct:
        text += " Rows that are equal in all columns stayed on one side of each split, and were drawn together."
    return f"{text} {LEARNED}"


def _space(settings: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each parameter with the values that were scored."""
    rows = []
    for name in settings.columns.difference(["weight", "score", "rows", "landmarks"], sort=False):
        values = settings[name].dropna().unique().tolist()
        if all(isinstance(value, str) for value in values):
            rows.append((name, "category", ", ".join(values)))
        elif len(values) <= _LISTED:
            rows.append((name, "listed values", ", ".join(map(short, sorted(map(float, values))))))
        else:
            rows.append((name, f"{len(values)} values", f"{short(float(min(values)))} to {short(float(max(values)))}"))
    return pd.DataFrame(rows, columns=["parameter", "type", "values"])


class _Written(str):
    """Code that appears without quotes in the repr of an estimator."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _fit_code(model: Any) -> str:
    """Return Python code that fits the same model to the same rows."""
    name = type(model).__name__
    parameters = {**model.get_params(deep=False), "random_state": model.seed_, "path": None}
    needed = ""
    if model.space:
        codes = [f"{key!r}: {parameter_code(one)}" for key, one in Space(model.space).branches[0].items()]
        parameters["space"] = _Written(f"{{{', '.join(codes)}}}")
        needed = "from scipy.stats import loguniform, randint, uniform\n"
    return f"{needed}from spotsvm import {name}\n\nmodel = {type(model)(**parameters)!r}.fit(X, y)\nprint(model.verdict_)\n"
