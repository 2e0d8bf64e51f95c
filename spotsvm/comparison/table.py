"""The table of a comparison: summary statistics, mean ranks, and a paired test against the best search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata, wilcoxon

Floats = NDArray[np.float64]
#: up to this number of differences all 2^n signs are tried
_ENUMERATED = 13


def rank_searches(results: pd.DataFrame, sign: float) -> pd.DataFrame:
    """Return the rank of each search within each seed, 1 for the best; equal results share the mean of their ranks.

    A result of nan, of a run in which no trial succeeded, ranks last. `sign` is 1 if a smaller result is better, else -1.
    """
    losses = np.where(np.isnan(results), np.inf, sign * results)
    return pd.DataFrame(rankdata(losses, axis=1), index=results.index, columns=results.columns)


def signed_rank_test(differences: ArrayLike) -> tuple[float, str]:
    """Test paired differences against 0 by Wilcoxon's signed ranks (1945), two-sided; return p, and the reason if it is nan.

    Differences of 0 are left out. p is exact for up to 13 differences, and up to 50 without ties; else it is the normal
    approximation's.

    Examples
    --------
    >>> signed_rank_test([1.0, 2.0, 3.0, 4.0, 5.0])
    (0.0625, '')
    >>> signed_rank_test([0.0, 0.0])
    (nan, 'all differences are 0')
    """
    d = np.asarray(differences, dtype=float)
    if missing := int(np.isnan(d).sum()):
        return np.nan, f"{missing} of {len(d)} pairs have a run without a result"
    if len(d) < 2:
        return np.nan, "a single seed does not show the spread"
    d = d[d != 0]
    if not len(d):
        return np.nan, "all differences are 0"
    if len(d) > _ENUMERATED:
        return float(wilcoxon(d).pvalue), ""
    ranks = rankdata(np.abs(d))
    signs = np.arange(2 ** len(d))[:, None] >> np.arange(len(d)) & 1
    sums, seen = signs @ ranks, ranks[d > 0].sum()
    return min(1.0, 2.0 * float(min(np.mean(sums <= seen), np.mean(sums >= seen)))), ""


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p-values for multiple tests by Holm's step-down method (1979); nan stays nan and does not count.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, np.nan]).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    p = np.asarray(p_values, dtype=float)
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else []
    return adjusted


def comparison_table(results: pd.DataFrame, sign: float, failed: Sequence[int], ask_seconds: Sequence[float]) -> pd.DataFrame:
    """Return a summary with one row per search, best mean rank first; `Comparison.table` describes the columns.

    `failed` has the number of failed trials of each search, `ask_seconds` the mean time of a suggestion.
    """
    losses = sign * results
    mean_rank = rank_searches(results, sign).mean()
    # of equal mean ranks the better median comes first, and none last
    order = losses.median().to_frame("median").assign(rank=mean_rank).sort_values(["rank", "median"], kind="stable").index
    differences = {label: results[label] - results[order[0]] for label in order}
    tests = [signed_rank_test(differences[label]) if label != order[0] else (np.nan, "best ranked") for label in order]
    adjusted = holm([p for p, _ in tests])
    at = {label: k for k, label in enumerate(results.columns)}
    rows: list[dict[str, Any]] = []
    for label, (p, note), p_holm in zip(order, tests, adjusted, strict=True):
        row = {"search": label, "best": sign * losses[label].min(), "mean": results[label].mean()}
        row |= {"median": results[label].median(), "worst": sign * losses[label].max(), "sd": results[label].std(ddof=1)}
        row |= {"mean_rank": mean_rank[label], "difference": differences[label].median(), "p": p, "p_holm": p_holm, "note": note}
        row |= {"runs": int(results[label].notna().sum()), "failed": failed[at[label]], "ask_seconds": ask_seconds[at[label]]}
        rows.append(row)
    return pd.DataFrame(rows)
