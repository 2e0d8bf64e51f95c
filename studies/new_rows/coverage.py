"""How often the interval of a model's `expected_score_` contains its score on new rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from spotsvm.studies.new_rows.scores import ERROR
from spotsvm.studies.new_rows.sets import KINDS
from spotsvm.studies.new_rows.sources import CLASSIFICATION

EXPECTED = ("expected", "expected_low", "expected_high", "expected_of_rows_low", "expected_of_rows_high")
#: scores that are 1 less the share of the error
_SCORES = {"accuracy", "r2"}
ALL = "all"
#: numbers of sets and fits; percentages of fits whose score on the new rows is in the interval, below and above it, and the
#: standard error of the first from the differences between sets; the same for the wider interval of `ExpectedScore.of_rows`; and
#: the median of the score to expect less that on the new rows ("bias")
_COLUMNS = ["sets", "fits", "contained", "error", "below", "above", "contained, of these rows", "median width", "bias"]
_KEYS = ["task", "rows", "entrant", "budget"]


def expected(model: Any, new_rows: int) -> dict[str, float]:
    """Return the score to expect of a fitted model, its interval, and that for as many new rows; nan if the model has none."""
    own = model[-1] if isinstance(model, Pipeline) else model
    score = getattr(own, "expected_score_", None)
    if score is None or score.metric not in _SCORES:
        return dict.fromkeys(EXPECTED, nan)
    return dict(zip(EXPECTED, map(float, (score.value, *score.interval, *score.of_rows(new_rows))), strict=True))


def coverage(runs: pd.DataFrame) -> pd.DataFrame:
    """Return for each task, number of rows, entrant, budget and kind of sets how often intervals contain the score on new rows.

    Columns are explained at `_COLUMNS`.
    """
    known = set(EXPECTED) <= set(runs)  # a file of an earlier version has none
    fits = runs.dropna(subset=[*EXPECTED, ERROR]) if known else runs.head(0).reindex(columns=[*runs, *EXPECTED])
    score = 1.0 - fits[ERROR] / 100.0
    fits = fits.assign(
        contained=score.between(fits["expected_low"], fits["expected_high"]),
        below=score < fits["expected_low"],
        above=score > fits["expected_high"],
        of_rows=score.between(fits["expected_of_rows_low"], fits["expected_of_rows_high"]),
        width=fits["expected_high"] - fits["expected_low"],
        bias=fits["expected"] - score,
    )
    parts = []
    for kind in (ALL, *KINDS):
        some = fits if kind == ALL else fits[(fits["kind"] == kind) | (fits["trait"] == kind)]
        for key, group in some.groupby(_KEYS, sort=False):
            parts.append(dict(zip(_KEYS, key, strict=True)) | {"kind": kind} | _summary(group))
    return pd.DataFrame(parts, columns=[*_KEYS, "kind", *_COLUMNS])


def _summary(fits: pd.DataFrame) -> dict[str, float]:
    by_set = fits.groupby("set")["contained"].mean()
    error = float(by_set.std(ddof=1) / np.sqrt(len(by_set))) if len(by_set) > 1 else nan
    contained, below, above, of_rows = fits[["contained", "below", "above", "of_rows"]].mean()
    percentages = (100.0 * share for share in (contained, error, below, above, of_rows))
    values = (len(by_set), len(fits), *percentages, fits["width"].median(), fits["bias"].median())
    return dict(zip(_COLUMNS, values, strict=True))


def coverage_sentences(found: pd.DataFrame, entrants: Sequence[str]) -> list[str]:
    """Return a sentence for each task and number of rows about the intervals of each of the entrants, over all sets."""
    sentences = []
    for row in found[(found["kind"] == ALL) & found["entrant"].isin(entrants)].to_dict("records"):
        score = "accuracy" if row["task"] == CLASSIFICATION else "R2"
        error = f" (standard error {row['error']:.1f})" if np.isfinite(row["error"]) else ""
        sentences.append(
            f"{str(row['task']).capitalize()}, {row['rows']} rows: the 95 % interval of expected_score_ of {row['entrant']} "
            f"contained the {score} on the new rows in {row['contained']:.1f} % of {row['fits']} fits{error}; the {score} was "
            f"below it in {row['below']:.1f} % and above it in {row['above']:.1f} %. The interval for so many new rows contained "
            f"it in {row['contained, of these rows']:.1f} %."
        )
    return sentences
