"""The tables of the conformal study: errors before and after, and by how much they fall."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from spotsvm.optimism.intervals import nadeau_bengio
from studies.common.data import Floats
from studies.conformal.mushroom import TABLE
from studies.conformal.toy import PRINTED, Reading


class Improvement(NamedTuple):
    """A relative improvement, (before - after) / before, in percent, with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


def improvement_by_draw(before: Floats, after: Floats) -> Improvement:
    """Return the mean over draws of each draw's relative improvement; a draw without an error before has none, and is left out.

    Examples
    --------
    >>> found = improvement_by_draw(np.array([0.2, 0.1, 0.0]), np.array([0.1, 0.1, 0.0]))
    >>> float(found.mean)
    25.0
    """
    some = before > 0
    return _interval(100.0 * (before[some] - after[some]) / before[some])


def improvement_of_means(before: Floats, after: Floats) -> Improvement:
    """Return the relative improvement of the mean error over all draws; its interval is by the delta method.

    Examples
    --------
    >>> found = improvement_of_means(np.array([0.2, 0.1, 0.0]), np.array([0.1, 0.1, 0.0]))
    >>> round(float(found.mean), 4)
    33.3333
    """
    mean = before.mean()
    if mean == 0:
        return Improvement(np.nan, np.nan, np.nan)
    ratio = (before - after).mean() / mean
    return _interval(100.0 * (ratio + (before - after - ratio * before) / mean))


def _interval(values: Floats) -> Improvement:
    if not len(values):
        return Improvement(np.nan, np.nan, np.nan)
    low, high = nadeau_bengio(values, 0.0) if len(values) > 1 else (np.nan, np.nan)
    return Improvement(float(values.mean()), low, high)


def toy_row(reading: Reading, runs: pd.DataFrame) -> dict[str, Any]:
    """Return the row of a reading of the toy experiment.

    Parameters
    ----------
    reading : Reading
        What was run.
    runs : DataFrame
        Its draws, as `run_toy` gives them.
    """
    known = runs.dropna(subset="before")
    before, after = known["before"].to_numpy(), known["after"].to_numpy()
    by_draw, of_means = improvement_by_draw(before, after), improvement_of_means(before, after)
    row: dict[str, Any] = {
        "curve": reading.curve,
        "square": f"[{-reading.side:g}, {reading.side:g}]^2",
        "bias": "yes" if reading.bias else "no",
        "kappa": f"{reading.kappa:g} / max|f|",
        "passes": reading.n_passes,
        "draws": len(known),
        "before": 100 * before.mean(),
        "after": 100 * after.mean(),
        "improvement": by_draw.mean,
        "low": by_draw.low,
        "high": by_draw.high,
        "of means": of_means.mean,
        "of means, low": of_means.low,
        "of means, high": of_means.high,
        "far before": 100 * known["far_before"].mean(),
        "far after": 100 * known["far_after"].mean(),
        "max|f|": known["max_f"].mean(),
    }
    return row | {"printed": PRINTED}


def mushroom_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row an encoding and setting: mean errors in percent with standard errors, beside the printed ones.

    Parameters
    ----------
    runs : DataFrame
        Draws as `run_mushroom` gives them, with columns encoding, C and sigma.
    """
    rows = []
    keys: Any
    for keys, group in runs.groupby(["encoding", "C", "sigma"], sort=False):
        encoding, C, sigma = keys
        printed = next(row for row in TABLE if (row.C, row.sigma) == (C, sigma))
        of_means = improvement_of_means(group["before"].to_numpy(), group["after"].to_numpy())
        row: dict[str, Any] = {"encoding": encoding, "C": C, "sigma": sigma, "draws": len(group)}
        for what in ("before", "after"):
            errors = 100 * group[what].to_numpy()
            row |= {what: errors.mean(), f"se {what}": errors.std(ddof=1) / np.sqrt(len(errors))}
        row |= {"improvement": of_means.mean, "low": of_means.low, "high": of_means.high}
        row |= {"printed before": printed.before, "printed after": printed.after}
        rows.append(row | {"printed improvement": 100 * (printed.before - printed.after) / printed.before})
    return pd.DataFrame(rows)


def distance_to_printed(table: pd.DataFrame) -> pd.Series[float]:
    """Return for each encoding the root mean square of its differences to the printed errors, in percentage points, least first.

    Parameters
    ----------
    table : DataFrame
        As `mushroom_table` gives it.
    """
    before, after = (table[what] - table[f"printed {what}"] for what in ("before", "after"))
    squares = (before**2 + after**2) / 2
    return squares.groupby(table["encoding"], sort=False).mean().pow(0.5).sort_values()
