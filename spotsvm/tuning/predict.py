"""Predict the rows of a later table with a saved model; the table is read by the rules of the training table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from spotsvm.common.fingerprint import versions
from spotsvm.common.notices import untold
from spotsvm.errors import DataError
from spotsvm.preprocessing.cells.findings import notices, speaking
from spotsvm.preprocessing.cells.levels import Levels
from spotsvm.preprocessing.cells.values import values_of
from spotsvm.preprocessing.typed_table import typed_table
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuning.saved import SavedModel
from spotsvm.tuning.scoring import scorer_of
from spotsvm.tuning.tables.faults import check_sizes, listed
from spotsvm.tuning.tables.reading import Choices, TableFile, read_rows
from spotsvm.tuning.tables.table import COMMAND
from spotsvm.tuning.tables.target import read_target

#: a number is far outside the training range if its distance is more than this many widths of the range
_WIDTHS = 1.0


def predictions(
    model: SavedModel,
    path: str | Path,
    how: Choices | None = None,
    say: Callable[[str], Any] = lambda line: None,
    only: bool = False,
) -> pd.DataFrame:
    """Return the table with the number of each row, its prediction, and in classification decision value and probabilities.

    Columns are matched by name; rows without any value are left out; with `only` the table's own columns, too. `say` gets each
    notice: versions, rows unlike the training table, the score if there is a target.
    """
    for line in _other_versions(model):
        say(line)
    file = read_rows(path, model.columns[0], how or Choices())
    X = _features(model, file, say)
    if not len(X):
        raise DataError(f"{path}: the table has no rows below its header; name a file with rows")
    for line in _unlike(model, X):
        say(line)
    if model.task == "classification":
        say(f"notice: {_about_probabilities(model)}")
    if model.target in file.frame:
        say(_score(model, X, file.frame[model.target]))
    answers = predicted(model, X)
    return answers if only else with_answers(file.frame, answers)


def predicted(model: SavedModel, X: pd.DataFrame) -> pd.DataFrame:
    """Return the predictions of rows that have the types of the training table; a row's index is its number from 0."""
    inputs = _given(model, X)
    with untold():  # what is to be told was found when the rows were read
        answers = pd.DataFrame({"row": X.index.to_numpy() + 1, "prediction": model.pipeline.predict(inputs)})
        if len(getattr(model.pipeline, "classes_", ())) == 2 and hasattr(model.pipeline, "decision_function"):
            answers["decision"] = model.pipeline.decision_function(inputs)
        chances = model.probabilities(inputs)
    return answers if chances is None else pd.concat([answers, chances], axis=1)


def with_answers(frame: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of a table followed by its predictions; a prediction whose name is taken gets an underscore."""
    names = []
    for name in answers.columns:
        while name in frame.columns:
            name += "_"
        names.append(name)
    return pd.concat([frame.reset_index(drop=True), answers.set_axis(names, axis=1)], axis=1)


def _given(model: SavedModel, X: pd.DataFrame) -> Any:
    return X if hasattr(model.pipeline, "feature_names_in_") else X.to_numpy()


def _other_versions(model: SavedModel) -> Iterator[str]:
    mine = versions()
    for name in ("spotsvm", "scikit-learn"):
        if model.versions.get(name) != mine[name]:
            yield (
                f"warning: the model was made with {name} {model.versions.get(name)}, and this is {mine[name]}: its predictions "
                "may differ; install that version, or tune again"
            )


def _about_probabilities(model: SavedModel) -> str:
    if hasattr(model.pipeline, "predict_proba"):
        return "the probabilities are the model's own"
    if model.calibration is None:
        return "the model has no probabilities"
    n = model.calibration["rows"]
    return f"the probabilities come from the decision values, by a logistic regression on the {n} rows held out in tuning"


def _score(model: SavedModel, X: pd.DataFrame, target: pd.Series) -> str:
    """Return the score on the rows with a target, or why there is none."""
    y, _ = read_target(target, model.task)
    has_target = y.notna()
    y = y[has_target].infer_objects()
    if not len(y):
        return f"score: none, as no row has the target {model.target!r}"
    if model.task == "classification":
        classes = model.pipeline.classes_
        known = values_of(pd.Series(classes), "class").as_texts()
        labels = dict(zip(known, classes, strict=True))
        levels = Levels(tuple(known), has_gaps=True)
        texts = values_of(y, str(y.name)).as_texts()
        matched = [levels.match(text) for text in texts]
        other = sorted(text for text, label in zip(texts, matched, strict=True) if label is None)
        if other:
            return f"score: none, as the target {model.target!r} has a class that the training table does not have: {other[0]!r}"
        y = pd.Series([labels[label] for label in matched], index=y.index)
    elif not is_numeric_dtype(y):
        return f"score: none, as the target {model.target!r} is not numeric"
    unit = ScoreUnit(model.metric)
    try:
        with untold():
            value = scorer_of(model.metric, model.positive)(model.pipeline, _given(model, X[has_target]), y)
    except ValueError as error:  # for example, a class is missing
        return f"score: none, as {unit.title} cannot be computed: {error}"
    return f"score: {unit.title} {unit.value(float(value)):.4g} on the {len(y)} rows with a target; {unit.better}"


def _unlike(model: SavedModel, X: pd.DataFrame) -> Iterator[str]:
    """Yield how many rows have gaps where there were none, or numbers far outside the training range."""
    gaps: dict[str, Any] = {}
    far: dict[str, Any] = {}
    for name, seen in model.seen.items():
        column = X[name]
        if not seen["gaps"]:
            gaps[name] = column.isna()
        if "low" in seen:
            width = _WIDTHS * (seen["high"] - seen["low"])
            far[name] = (column < seen["low"] - width) | (column > seen["high"] + width)
    for marked, what in (
        (gaps, "a gap in a column that has none in the training table"),
        (far, "a number far outside the range of the training table"),
    ):
        where = [name for name, rows in marked.items() if rows.any()]
        if where:
            n = int(np.logical_or.reduce([marked[name] for name in where]).sum())
            yield f"notice: {n} of {len(X)} rows {'has' if n == 1 else 'have'} {what} (in {listed(where)})"


def _features(model: SavedModel, file: TableFile, say: Callable[[str], Any]) -> pd.DataFrame:
    """Return the model's columns, in the types of the training table."""
    frame = file.frame
    missing = [name for name in model.columns if name not in frame.columns]
    if missing:
        what = "column" if len(missing) == 1 else f"{len(missing)} columns"
        raise DataError(f"{file.path} lacks the {what} {listed(missing)} of the training table; it has {listed(frame.columns)}")
    spare = [name for name in frame.columns if name not in model.columns and name != model.target]
    if spare:
        say(f"notice: {'1 column is' if len(spare) == 1 else f'{len(spare)} columns are'} not used: {listed(spare)}")
    X = frame[list(model.columns)]
    try:
        cells = model.cells.with_decimal("," if file.layout.decimal == "," else None)
        with speaking(replace(COMMAND, row=lambda k: file.where(X.index[k]))):
            typed, findings = typed_table(cells, X)
            told = list(notices(findings))
        check_sizes(typed.select_dtypes("number"), file.where)
    except DataError as error:
        raise DataError(f"{file.path}: {error}") from error
    for notice in told:
        say(f"notice: {notice.sentence}")
    return typed
