"""The methods section of a fitted TunedSVC or TunedSVR."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import pandas as pd

from spotsvm.common.checks import draws_groups
from spotsvm.common.fingerprint import versions
from spotsvm.common.text import counted, short, value_text
from spotsvm.luck.bootstrap import N_DRAWS
from spotsvm.reports.methods import MethodsSection, code, listed, version_words
from spotsvm.trials.metrics import ScoreUnit

_KERNELS = {
    "rbf": "Gaussian kernels",
    "laplacian": "Laplacian kernels",
    "power_rbf": "Gaussian kernels after a power transformation of the columns",
    "power_laplacian": "Laplacian kernels after a power transformation of the columns",
    "relevance_rbf": "Gaussian kernels of columns times their learned relevance",
    "relevance_laplacian": "Laplacian kernels of columns times their learned relevance",
    "linear": "linear kernels",
}
_LISTED = 8


def tuned_methods(model: Any) -> MethodsSection:
    """Return the methods section of a fitted model."""
    classifies = hasattr(model, "classes_")
    paragraphs = [
        _settings_words(model, classifies),
        _judged_words(model),
        _average_words(model, classifies),
        _score_words(model, classifies),
        f"The seed was {model.seed_}. {version_words(versions())}",
    ]
    return MethodsSection(tuple(paragraphs), _space(model.settings_), _results(model, classifies))


def _settings_words(model: Any, classifies: bool) -> str:
    facts = model.fit_facts_
    kernels = [_KERNELS.get(name, code(name)) for name in dict.fromkeys(model.settings_["family"])]
    kind = "classification" if classifies else "regression"
    searched = facts.n_searched
    text = (
        f"Support vector machines for {kind} were tuned by {code(type(model).__name__)} of spotsvm {versions()['spotsvm']} "
        f"[@spotsvm]. A setting is a kernel with its width, and C{'' if classifies else ' and epsilon'} (Table 1): "
        f"{counted(len(model.settings_), 'setting')} with {listed(kernels)}."
    )
    if searched:
        text += (
            f" Of {facts.n_sweeps} kernels, each scored with a series of values of C, {facts.n_sweeps - searched} are those of "
            f"a fixed grid, and {searched} were proposed by a Kriging search by the expected improvement [@jones1998]."
        )
    if any(name.startswith("relevance") for name in model.settings_["family"]):
        text += " The relevance of a column is the root mean square gradient of a kernel ridge regression [@radhakrishnan2024]."
    if not model.complete_:
        text += " A limit of time ended the fit before all settings were scored or fitted."
    return text


def _judged_words(model: Any) -> str:
    facts = model.fit_facts_
    whole = " of whole groups" if facts.by_group and (isinstance(model.cv, Integral) or draws_groups(model.cv)) else ""
    n = f"{len(facts.judged)} rows{facts.of_distinct}"
    if facts.n_held:
        text = (
            f"Kernels were compared by {facts.n_folds} folds{whole} of {facts.n_grid_rows} rows. The best were fitted on up to "
            f"{model.n_rows_} rows, and judged on {n} that were held out from all of this."
        )
    else:
        text = (
            f"Settings were judged by {facts.n_folds} folds{whole} of cross-validation, on {n}, each by the models that "
            f"had not seen it. The final model was fitted on {model.n_rows_} rows."
        )
    if facts.of_distinct:
        text += " Rows that are equal in all columns stayed on one side of each split, and were drawn together."
    return f"{text} What is done to the columns was learned from the training rows of each fold alone."


def _average_words(model: Any, classifies: bool) -> str:
    if not model.average:
        params = listed([f"{name} = {value_text(value)}" for name, value in model.best_params_.items()])
        text = f"The single best setting was chosen: {params}."
    else:
        how = (
            "The weight of a setting is how often it is the best when the judged rows are drawn again [@lacoste2014]."
            if classifies or model.scoring_ == "neg_mean_absolute_error"
            else "They were selected greedily with replacement, as they lower the squared error of the average [@caruana2004]."
        )
        text = f"The model is the weighted average of {counted(len(model.members_), 'setting')}. {how}"
    if classifies:
        kind = "a sigmoid" if len(model.classes_) == 2 else "a softmax"
        text += f" Probabilities are {kind} of the decisions, fitted to those of rows that the models had not seen [@platt1999]."
        if model.class_weight is not None:
            weights = code(value_text(model.class_weight))
            text += f" They are those of rows with weights of the classes, {weights}, which are factors of C."
        if model.threshold is not None:
            rule = model.fit_facts_.threshold_text
            text += f" {rule[0].upper()}{rule[1:]}."
    return text


def _score_words(model: Any, classifies: bool) -> str:
    facts = model.fit_facts_
    unit = ScoreUnit(model.scoring_)
    default = f"{code(svc_text(model) if classifies else 'SVR()')} after {code('StandardScaler')}"
    if not classifies:
        default += ", with a target scaled to mean 0 and variance 1"
    constant = "the most frequent class" if classifies else "the mean"
    drawn = "The groups" if facts.by_group else "The judged rows"
    held = model.verdict_.rows.get("held out")
    further = f" The fitted models were also scored on {held} held-out rows; each row counts the same." if held else ""
    constant = f"{constant} {short(unit.value(model.constant_score_.value))}"
    return (
        f"The expected {facts.score_title} on new rows is {model.expected_score_.text()}; that of the default model, "
        f"scikit-learn's {default}, is {model.default_score_.text()}, and that of {constant} (Table 2). "
        f"{model.verdict_.sentence} {drawn} were drawn again with replacement; each of {N_DRAWS} draws made the choice among "
        "settings again on the drawn rows, and was judged on the rows left out [@tsamardinos2018]. The means of the draws were "
        f"corrected by the .632 rule [@efron1983], and the 95 % intervals are by their spread.{further} They cover the luck of "
        "the rows and of the choice, and not rows of another time or place."
    )


def svc_text(model: Any) -> str:
    """Return the code of the default classifier."""
    return "SVC()" if model.class_weight is None else f"SVC(class_weight={model.class_weight!r})"


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


def _results(model: Any, classifies: bool) -> pd.DataFrame:
    unit = ScoreUnit(model.scoring_)
    rows = [
        (type(model).__name__, model.expected_score_),
        ("default " + ("SVC" if classifies else "SVR"), model.default_score_),
        ("most frequent class" if classifies else "mean", model.constant_score_),
    ]
    cells = [(name, unit.value(score.value), *unit.interval(score.interval)) for name, score in rows]
    return pd.DataFrame(cells, columns=["model", f"expected {unit.title}", "low", "high"])
