"""Scores of models in draws of rows that they have not seen: training rows out of fold, and held-out rows, which count alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan, sqrt
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.luck.bootstrap import N_DRAWS, WIDER, corrected, mean_score, spread
from spotsvm.luck.draws import draw_rows
from spotsvm.luck.estimate import ExpectedScore, How
from spotsvm.luck.intervals import ROUNDING, best_value
from spotsvm.luck.rows import Unseen

Array = NDArray[Any]

#: training rows judged by the models of other folds; training rows that a fit on many rows left out; rows held out from it all
Kind = Literal["out of fold", "left out", "held out"]
KINDS: dict[Kind, str] = {
    "out of fold": "training rows out of fold",
    "left out": "training rows left out of the fit",
    "held out": "held-out rows",
}
#: stream of random numbers for draws of rows
_STREAM = 22


@dataclass(frozen=True)
class Drawn:
    """The score of a model on rows of one kind, none of which it has seen, in draws of these rows (nan where undefined).

    `units`: independent rows, groups or blocks; `left_out`: each draw is scored on the rows it leaves out; `apparent`: score of
    the choice by all rows on these, nan without one; `best`: `best_value` of the metric; `shift`: what .632 has added to scores.
    """

    value: float
    scores: Array
    n_rows: int
    units: float
    kind: Kind = "out of fold"
    left_out: bool = True
    apparent: float = nan
    best: float | None = None
    shift: float = 0.0

    @property
    def error(self) -> float:
        """The standard error of the score (:eq:`log-error`); nan if the score is undefined in more than half of the draws."""
        if not np.isfinite(self.scores).mean() >= 0.5:
            return nan
        # draws of few rows vary a little less than samples of as many new ones
        wider = 1.0 if self.left_out else sqrt(self.units / (self.units - 1.0)) if self.units > 1 else nan
        return self._spread * wider

    @property
    def _spread(self) -> float:
        on_scale = spread(self.scores)
        if self.best is None or not on_scale > 0:
            return on_scale
        distances = self.best - (self.scores - self.shift)
        if self.value >= self.best or (distances <= 0.0).any():
            return on_scale
        return (self.best - self.value) * spread(np.log(distances))

    def less(self, other: Drawn) -> Drawn:
        """Return the difference of this score to that of another model, in the same draws."""
        values, others = np.append(self.scores, self.value), np.append(other.scores, other.value)
        gains = np.where(np.isclose(values, others, rtol=ROUNDING, atol=0.0), 0.0, values - others)
        return replace(self, value=float(gains[-1]), scores=gains[:-1], apparent=nan, best=None, shift=0.0)


class Evidence(NamedTuple):
    """The scores of the tuned model, of the default and of a constant on rows of one kind, in the same draws."""

    tuned: Drawn
    default: Drawn
    constant: Drawn


def left_out(
    scores: Array, on_all_rows: float, metric: str, n_rows: int, units: float, kind: Kind = "out of fold", *, chosen: bool = False
) -> Drawn:
    """Return the score of draws, each on the rows that the draw leaves out, by the .632 rule; `chosen` in each draw anew."""
    moved = corrected(scores, on_all_rows)
    value, apparent = mean_score(moved), on_all_rows if chosen else nan
    return Drawn(value, moved, n_rows, units, kind, apparent=apparent, best=best_value(metric), shift=value - mean_score(scores))


def unseen_score(unseen: Unseen, scorer: Any, metric: str, seed: int, kind: Kind = "held out", n_draws: int = N_DRAWS) -> Drawn:
    """Return the score of one model on rows that it has not seen.

    Of rows out of fold those are scored that a draw leaves out, as if the model were chosen on the others; of held-out rows those
    drawn.
    """
    value, out_of_fold = unseen.score(scorer), kind == "out of fold"
    scores = np.full(n_draws, nan)
    if isfinite(value):
        counts = draw_rows(len(unseen), n_draws, np.random.default_rng([seed, _STREAM]), unseen.unit).counts
        scores = unseen.in_draws(lambda rows: unseen.score(scorer, rows), counts == 0 if out_of_fold else counts)
    return Drawn(
        value, scores, len(unseen), unseen.units, kind, out_of_fold, nan if out_of_fold else value, best=best_value(metric)
    )


class Pooled(NamedTuple):
    """A score over rows of several kinds: value, standard error, that of a single row, rows, independent units."""

    value: float
    error: float
    row_error: float
    n_rows: int
    units: float


def pooled(parts: Iterable[Drawn]) -> Pooled:
    """Return the mean over kinds of rows, weighted by their numbers of rows, with its error (:eq:`pooled`).

    A kind without a standard error is left out, unless no kind has one.
    """
    known = [part for part in parts if isfinite(part.value)]
    kept = [part for part in known if isfinite(part.error)] or known
    if not kept:
        return Pooled(nan, nan, nan, 0, 0.0)
    n = sum(part.n_rows for part in kept)
    weights = np.array([part.n_rows for part in kept]) / n
    errors = np.array([part.error for part in kept])
    of_row = [part.error * sqrt(part.units) / (WIDER if part.left_out else 1.0) for part in kept]
    units = sum(part.units for part in kept) if np.isfinite(errors).all() else 0.0
    return Pooled(
        float(weights @ [part.value for part in kept]),
        float(np.sqrt(weights**2 @ errors**2)),
        float(np.sqrt(weights @ np.square(of_row))),
        n,
        units,
    )


def expected_of(parts: Sequence[Drawn], metric: str, how: How, confidence: float = 0.95) -> ExpectedScore:
    """Return the score to expect on new rows, from all kinds of rows; `how` says what the draws repeat."""
    found = pooled(parts)
    held = pooled(part for part in parts if part.kind == "held out")
    training = pooled(part for part in parts if part.kind != "held out")
    apparent = float(np.average([part.apparent for part in parts], weights=[part.n_rows for part in parts]))
    return ExpectedScore.of(
        found.value, found.error, units=found.units, degrees=found.units - 1.0, metric=metric, confidence=confidence, how=how,
        n_rows=sum(part.n_rows for part in parts if isfinite(part.value)), row_error=found.row_error,
        out_of_fold=training.value, out_of_fold_error=training.error, held_out=held.value, held_out_error=held.error,
        on_all_rows=apparent if isfinite(apparent) else nan,
    )  # fmt: skip
