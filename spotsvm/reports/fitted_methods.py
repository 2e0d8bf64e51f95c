"""The paragraphs of a methods section on a fitted model: what was fitted, the score to expect, the data, and the versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import pandas as pd

from spotsvm.common.text import short, value_text
from spotsvm.luck.bootstrap import N_DRAWS
from spotsvm.luck.estimate import ExpectedScore
from spotsvm.luck.sentences import rows_words
from spotsvm.reports.fitted_model import FittedModel
from spotsvm.reports.methods import MethodsSection, code, listed, plain
from spotsvm.trials.metrics import ScoreUnit

#: maximum number of members whose weights are listed
_MOST_WEIGHTS = 5
_LONGEST = 2000
_GREEDY = "They were selected greedily with replacement, as they lower the squared error of the average [@caruana2004]."
_OFTEN_BEST = "The weight of a configuration is how often it is the best{} when the judged rows are drawn again [@lacoste2014]."
_HALVES = ", in half of the draws by the {}, and in the other half by the log loss,"
_DRAWN = {"rows": "The judged rows", "groups": "The groups", "blocks": "Blocks of consecutive rows"}
LEARNED = "What is done to the columns was learned from the training rows of each fold alone."


def methods_section(
    before: Sequence[str],
    model: FittedModel | None,
    versions: Any,
    space: pd.DataFrame,
    results: pd.DataFrame,
    *,
    luck: str | None = None,
    confidence: float = 0.95,
) -> MethodsSection:
    """Return the section: paragraphs on how settings were found and scored, followed by those that all models share.

    `luck` replaces the paragraph on the score to expect.
    """
    paragraphs = [*before]
    if model is not None and model.is_fitted:
        paragraphs.append(_fitted_words(model))
    paragraphs.append(luck if luck is not None else "" if model is None else _score_words(model))
    if model is not None:
        paragraphs.append(_data_words(model))
    paragraphs.append(_version_words(versions, None if model is None else model.seed))
    return MethodsSection(tuple(text for text in paragraphs if text), space, results, confidence)


def folds_words(n_folds: int, whole_groups: bool) -> str:
    """Return the folds in words."""
    return f"{n_folds} folds{' of whole groups' * whole_groups} of cross-validation"


def params_words(params: Mapping[str, Any]) -> str:
    """Return parameters with their values in words."""
    return listed([f"{code(name)} = {plain(value_text(value))}" for name, value in params.items()])


def _fitted_words(model: FittedModel) -> str:
    """Return what was fitted on which rows, with which weights, and how its probabilities are made."""
    if model.average and model.members is not None:
        weights = [short(float(weight), 2) for weight in model.members["weight"]]
        some = f", with the weights {listed(weights)}" if 1 < len(weights) <= _MOST_WEIGHTS else ""
        by = _HALVES.format(plain(ScoreUnit(model.scoring).title)) if model.by_log_loss else ""
        how = _GREEDY if model.greedy else _OFTEN_BEST.format(by)
        text = f"The final model is the {model.members_words('configuration')}, fitted on {model.fitted_on}{some}."
        text = text.replace("is the one of", "is one of") + (f" {how}" if model.n_settings > 1 else "")
    else:
        which = "single best configuration, " if model.chosen == "best" else "configuration with "
        params = f"the {which}{params_words(model.best_params)}," if model.best_params else "the estimator,"
        text = f"The final model is {params} fitted on {model.fitted_on}."
        text += " It is the simplest whose mean score is at most one standard error below the best." * (
            model.chosen == "simplest"
        )
    text += f" Rows count for their weights {model.weighted}." if model.weighted else ""
    if model.calibrated and model.classes is not None:
        kind = "a sigmoid" if len(model.classes) == 2 else "a softmax"
        text += f" Probabilities are {kind} of the decisions, fitted to those of rows that the models had not seen [@platt1999]."
    if model.class_weights:
        of = " The probabilities are those of rows with these weights." if model.calibrated else ""
        text += f" The fits have weights of the classes, {code(model.class_weights)}.{of}"
    if model.threshold:
        text += f" {model.threshold[0].upper()}{plain(model.threshold[1:])}."
    return text if model.complete else f"{text} A limit of time ended the fit before all configurations were scored or fitted."


def _score_words(model: FittedModel) -> str:
    """Return the score to expect on new rows, beside those of the default and a constant, the verdict, and their method."""
    expected, verdict = model.expected, model.verdict
    if expected is None:
        return ""
    text = expectation_words(expected, plain(model.score_title), model.judged_words)
    beside = []
    if model.default is not None:
        beside.append(f"that of the default model, {model.default_is}, is {plain(model.default.text())}")
    if model.constant is not None:
        value = model.unit.value(model.constant.value)
        beside.append(f"that of {model.constant_is}{'' if beside else ' is'} {short(value) if isfinite(value) else 'unknown'}")
    text += f" {_first_large(', and '.join(beside))} (Table 2)." if beside else ""
    text += f" {verdict.sentence}" if verdict is not None else ""
    return f"{text} {_method_words(expected, model)}"


def expectation_words(expected: ExpectedScore, title: str = "", rows: str = "") -> str:
    """Return the score to expect on new rows, and the rows that judged it."""
    text = f"The {title or plain(ScoreUnit(expected.metric).title)} to expect on new rows is {plain(expected.text())}"
    return f"{text}." if expected.too_few else f"{text}, as judged by {rows or rows_words({'out of fold': expected.n_rows})}."


def luck_words(expected: ExpectedScore) -> str:
    """Return the score to expect by itself, and how it was obtained."""
    return f"{expectation_words(expected)} {_method_words(expected, None)}"


def _method_words(expected: ExpectedScore, model: FittedModel | None) -> str:
    if expected.how != "draws":
        return (
            "The chosen configuration was fitted on folds again, and the interval comes from the spread of the scores over draws "
            "of their rows. It covers the sampling of the rows, but not the choice, so the score is a little too good."
        )
    held = 0 if model is None else model.n_held_out
    further = f" The fitted models were also scored on {held} held-out rows; each row counts the same." if held else ""
    return (
        f"{_DRAWN['rows' if model is None else model.drawn]} were drawn again with replacement; each of {N_DRAWS} draws made the "
        "choice among the configurations again on the drawn rows, and was judged on the rows left out [@tsamardinos2018]. The "
        "means of the draws were corrected by the .632 rule [@efron1983], and the intervals are by their spread."
        f"{further} They cover the sampling of the rows and the choice, and not rows of another time or place."
    )


def _data_words(model: FittedModel) -> str:
    """Return what was found in the data, such as columns that were left out."""
    return f"About the data: {plain('; '.join(model.notices).rstrip('.'), _LONGEST)}." if model.notices else ""


def _version_words(versions: Any, seed: int | None) -> str:
    """Return the seed of a model, and the versions of the software; empty if they are unknown."""
    text = "" if seed is None else f"The seed was {seed}."
    if not isinstance(versions, Mapping) or not versions:
        return text
    names = {"python": "Python", "numpy": "NumPy", "scipy": "SciPy"}
    used = [f"{plain(names.get(name, name))} {plain(version)}" for name, version in versions.items()]
    return f"{text} The computations used {listed(used)}.".lstrip()


def score_rows(model: FittedModel) -> Iterator[tuple[str, float, float, float]]:
    """Yield the name, the score to expect and the ends of its interval, of the model, the default and a constant."""
    for name, score in model.expected_scores:
        yield (name, model.unit.value(score.value), *model.unit.interval(score.interval))


def _first_large(text: str) -> str:
    return text[:1].upper() + text[1:]
