"""The score to expect on new rows, from out-of-fold decisions of candidates.

Rows are drawn with replacement. On each draw the choice among candidates (the single best, or an average with weights:
`luck.weights`) is repeated, and scored on the rows that the draw leaves out, so the estimate does not include the optimism of the
choice. No model is fitted again. Tsamardinos, Greasidou and Borboudakis 2018, "Bootstrapping the out-of-sample predictions for
efficient and accurate cross-validation" (BBC-CV). A draw has 63 % of the rows, so its choice is worse than the choice on all
rows, and this score is too low. The choice on all rows scored on the same rows is too high. Efron's .632 rule (1983) takes
0.632 times the first score and 0.368 times the second. A draw leaves out 37 % of the rows, so the spread of the draws is
1.3 standard errors of a mean over all rows. This excess makes up for the variation of folds and fits.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.luck.draws import Draws
from spotsvm.luck.intervals import ROUNDING
from spotsvm.luck.scores import Score

Array = NDArray[Any]
_BLOCK = 4_000_000  # maximum number of decisions in memory at once
N_DRAWS = 200
#: standard deviation of the scores of left-out rows, in standard errors of the score of all rows
WIDER = sqrt(0.632 / 0.368)


def left_out_scores(
    decisions: Array,
    y: Array,
    sample_weight: Array,
    score: Score,
    draws: Draws,
    shares: Array,
    calibrate: Callable[[Array, Array, Array], Array] | None = None,
) -> Array:
    """Score averages of candidates, `shares` (n_draws, n_candidates), on the rows that their draw left out; :eq:`left-out-score`.

    `decisions` (n_candidates, n, k) are out of fold. `calibrate` takes averages (b, n, k), counts (b, n) and shares (b, m). nan
    if a draw leaves out no rows, or too few classes.
    """
    m, n, k = decisions.shape
    flat = decisions.reshape(m, n * k)
    counts = draws.counts
    scores = np.empty(len(counts))
    size = max(_BLOCK // (n * k), 1)
    for start in range(0, len(counts), size):
        block = slice(start, start + size)
        average = (shares[block].astype(flat.dtype) @ flat).reshape(-1, n, k)
        if calibrate is not None:
            average = calibrate(average, counts[block], shares[block])
        scores[block] = score.values(average, y, (counts[block] == 0) * sample_weight)
    return scores


def corrected(scores: Array, on_all_rows: float) -> Array:
    """Return the scores of draws, shifted so that their mean follows the .632 rule; equation :eq:`six-three-two`.

    `scores` are on the rows that each draw leaves out, `on_all_rows` is of the choice on all rows, on the same rows.
    """
    return np.asarray(scores + 0.368 * (on_all_rows - mean_score(scores)))


def mean_score(scores: Array) -> float:
    """Return the mean over the draws whose score is defined; nan if there are no such draws."""
    known = scores[np.isfinite(scores)]
    return float(known.mean()) if len(known) else np.nan


def spread(scores: Array) -> float:
    """Return the standard deviation of the scores of draws; nan if fewer than two are defined, 0 if they differ by rounding."""
    known = scores[np.isfinite(scores)]
    if len(known) < 2:
        return nan
    return 0.0 if np.ptp(known) <= ROUNDING * np.abs(known).max() else float(known.std(ddof=1))
