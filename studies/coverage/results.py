"""Tables, sentences and picture of how often intervals contain a score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from spotsvm.studies.coverage.cases import REAL

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def coverage_table(fits: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return a row for each value of the keys: fits, percentages and their standard error, width and bias.

    An interval that is missing counts as one that does not contain the score.
    """
    fits = fits.assign(
        contained=fits.true.between(fits.low, fits.high),
        below=fits.true < fits.low,
        above=fits.true > fits.high,
        of_rows=fits.true.between(fits.rows_low, fits.rows_high),
        width=fits.high - fits.low,
        bias=fits.expected - fits.true,
    )
    return pd.DataFrame([dict(zip(keys, key, strict=True)) | _summary(group) for key, group in fits.groupby(keys, sort=False)])


def _summary(fits: pd.DataFrame) -> dict[str, Any]:
    contained = float(fits.contained.mean())
    # models share a simulated table, and splits of a real set share rows
    parts = fits.case.where((fits["rows"] == REAL) & (fits.case.nunique() > 1), fits.case + " " + fits.fit.astype(str))
    deviations = (fits.contained - contained).groupby(parts).sum()
    n = len(deviations)
    error = np.sqrt((deviations**2).sum() * n / (n - 1)) / len(fits) if n > 1 else np.nan
    return {
        "fits": len(fits),
        "contained": 100.0 * contained,
        "standard error": 100.0 * float(error),
        "below": 100.0 * float(fits.below.mean()),
        "above": 100.0 * float(fits.above.mean()),
        "contained, of these rows": 100.0 * float(fits.of_rows.mean()),
        "median width": float(fits.width.median()),
        "bias": float(fits.bias.median()),
    }


def on_coverage(fits: pd.DataFrame) -> list[str]:
    """Return a sentence for simulated tables and one for real sets: the coverage of each score over all models."""
    sentences = []
    for rows, table in coverage_table(fits, ["rows", "score"]).groupby("rows", sort=False):
        shares = "; ".join(
            f"{row['score']} {row['contained']:.1f} % of {row['fits']} fits (standard error {row['standard error']:.1f})"
            for row in table.to_dict("records")
        )
        sentences.append(f"On {rows} the 95 % interval of the score to expect contains the score on new rows: {shares}.")
    return sentences


def draw_coverage(table: pd.DataFrame) -> Figure:
    """Draw the percentages with their 95 % intervals, with the band from 93 to 97 %."""
    from matplotlib.figure import Figure

    kinds = list(dict.fromkeys(table["rows"]))
    figure = Figure(figsize=(4.5 * len(kinds) + 1.2, 0.25 * table.groupby("rows").size().max() + 1.0), layout="constrained")
    for panel, kind in zip(figure.subplots(1, len(kinds), squeeze=False)[0], kinds, strict=True):
        rows = table[table["rows"] == kind]
        at = np.arange(len(rows))
        panel.axvspan(93, 97, color="#009E73", alpha=0.15, lw=0)
        panel.errorbar(rows.contained, at, xerr=1.96 * rows["standard error"], fmt="o", color="#0072B2", capsize=3)
        panel.set_yticks(at, rows.model + ", " + rows.score)
        panel.invert_yaxis()
        panel.set_title(kind, fontsize=9)
        panel.set_xlabel("% of fits whose interval contains the score", fontsize=8)
        panel.tick_params(labelsize=8)
        panel.spines[["top", "right"]].set_visible(False)
    return figure
