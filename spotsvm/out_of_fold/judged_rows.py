"""Rows that are judged by models that have not seen them, and the answers of settings for these rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spotsvm.luck.bootstrap import N_DRAWS
from spotsvm.luck.drawn import Kind
from spotsvm.luck.draws import Draws, draw_rows
from spotsvm.luck.scores import labels_of, probabilities_of

Array = NDArray[Any]
Response = Literal["predict_proba", "decision_function", "predict"]

#: a probability of 0 is taken for this one, as by scikit-learn's log loss; before a calibration for a larger one, as its log odds
#: count like any others
_LEAST_PROBABILITY, _LEAST_CALIBRATED = float(np.finfo(np.float64).eps), 0.01
#: largest share of answers in which the largest may be of another class than the one predicted: ties of votes
TIES = 0.05
#: added to the number of rows of each class in the shares of a constant
_PRIOR_ROWS = 1e-3


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """The target of judged rows in numbers (class codes, or targets), and their weights in scores and in fits.

    `aim`, by which settings are chosen, lacks far targets; `units` are drawn together; answers of regressions are in `scale` from
    `location`; `n_distinct` counts rows, if some are judged several times (else None).
    """

    y: Array
    aim: Array
    classes: Array | None
    weights: Array
    fit_weights: Array
    units: Array | None = None
    location: Any = 0.0
    scale: Any = 1.0
    kind: Kind = "out of fold"
    n_distinct: int | None = None

    @property
    def n_rows(self) -> int:
        """Number of different rows."""
        return len(self) if self.n_distinct is None else self.n_distinct

    def __len__(self) -> int:
        return len(self.y)

    def draws(self, seed: int) -> Draws:
        """Return draws of the rows with replacement."""
        return draw_rows(len(self), N_DRAWS, np.random.default_rng(seed), self.units)

    def in_units(self, values: Array) -> Array:
        """Return decisions as they are, and answers of regressions in the unit of the target."""
        if self.classes is not None:
            return values
        return np.asarray(np.asarray(values, dtype=np.float64) * self.scale + self.location)

    def constant(self, counts: Array) -> Array:
        """Return the decisions of a model without columns in each draw of rows, (b, n), as (b, n, k).

        It counts rows as the scores do: with weights of classes it could be weaker than the most frequent class.
        """
        weights = counts * self.weights
        if self.classes is None:
            means = weights @ self.y / weights.sum(axis=1)
            return np.repeat(means[:, None, None], len(self), axis=1)
        k = len(self.classes)
        shares = np.stack([(weights * (self.y == c)).sum(axis=1) for c in range(k)], axis=1) + _PRIOR_ROWS
        logs = np.log(shares / shares.sum(axis=1, keepdims=True))
        return np.repeat((logs[:, 1:] - logs[:, :1] if k == 2 else logs)[:, None], len(self), axis=1)


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of settings for judged rows, (m, n, k): probabilities, decisions, votes, or predictions as in `JudgedRows`.

    For two classes k is 1 for decisions, and for votes (0.5 the second, -0.5 the first). `votes` is given if the largest answer
    is not always predicted. Thresholds are moved by `factors` of classes in fits, or otherwise (`own_threshold`).
    """

    response: Response
    values: Array
    votes: Array | None = None
    factors: Array | None = None
    own_threshold: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def of(self, settings: Any) -> Answers:
        """Return the answers of some settings."""
        votes, factors = (None if one is None else one[settings] for one in (self.votes, self.factors))
        return replace(self, values=self.values[settings], votes=votes, factors=factors)

    def disagreement(self) -> float:
        """Return the share of answers whose largest is of another class than the one predicted."""
        return 0.0 if self.votes is None else float(np.mean(labels_of(self.values) != labels_of(self.votes)))

    def as_votes(self) -> Answers:
        """Return the votes as the answers; the same answers if these say what is predicted."""
        return self if self.votes is None else replace(self, response="predict", values=self.votes, votes=None)

    def public(self, rows: JudgedRows) -> Array:
        """Return the answers as `response` returns them, (m, n, k), and votes as 1 for the predicted class."""
        if rows.classes is None or self.response != "predict" or self.values.shape[-1] > 1:
            return rows.in_units(self.values)
        return np.concatenate([0.5 - self.values, 0.5 + self.values], axis=-1)


def as_decisions(answers: Array, response: str, calibrated: bool = False, ranks: bool = False) -> Array:
    """Return averaged answers as decisions: of probabilities logarithms, or log odds of the second of two classes.

    With `ranks` probabilities stay as they are, for scores that depend on their order alone.
    """
    if response != "predict_proba":
        return answers
    two = answers.shape[-1] == 2  # noqa: PLR2004
    if ranks and not calibrated:
        return answers[..., 1:] if two else answers
    least = _LEAST_CALIBRATED if calibrated else _LEAST_PROBABILITY
    logs = np.log(np.clip(answers, least, 1.0 - least if two else 1.0))
    return np.asarray(logs[..., 1:] - logs[..., :1] if two else logs)


def own_class(decisions: Array, y: Array) -> Array:
    """Return the probability of each row's own class, (n,), by calibrated decisions, (n, k)."""
    return np.asarray(probabilities_of(decisions)[np.arange(len(y)), y])
