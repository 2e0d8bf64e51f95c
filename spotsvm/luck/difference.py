"""Two models on the same unseen rows: the difference of their scores, paired by row, with its verdict."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, nan, sqrt
from typing import Any, NamedTuple, Self

from spotsvm.luck.drawn import KINDS, Drawn, Evidence, Kind, expected_of, pooled
from spotsvm.luck.estimate import Estimate, ExpectedScore, How
from spotsvm.luck.intervals import Floats, Interval, bounded_difference, corrected_variance, nadeau_bengio, t_interval
from spotsvm.luck.sentences import DECISIONS, Decision, gain_sentence

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Difference(Estimate):
    """The score of a second model less that of a first model on the same rows, with the verdict."""

    def _possible(self, interval: Interval) -> Interval:
        return bounded_difference(interval, self.value, self.metric)

    @property
    def decision(self) -> Decision:
        """The verdict: the interval is above 0 ("helped"), below 0 ("did not help"), or contains 0 ("no difference seen")."""
        return DECISIONS[self.side]

    def turned(self) -> Difference:
        """Return the difference of the first model less the second."""
        low, high = self.interval
        return Difference(-self.value, (-high, -low), self.error, self.confidence, self.metric, self.how, self.too_few)


@dataclass(frozen=True)
class TuningGain(Difference):
    """The score of the tuned model less that of the default, and whether tuning has helped.

    `on_training_rows` (that the judged models had not seen) and `on_held_out_rows` are nan without such rows; `rows` has numbers
    of "out of fold", "left out" (of a fit on many rows) and "held out".
    """

    over_constant: Difference = field(default_factory=lambda: Difference(nan))
    default_over_constant: Difference = field(default_factory=lambda: Difference(nan))
    on_training_rows: Difference = field(default_factory=lambda: Difference(nan))
    on_held_out_rows: Difference = field(default_factory=lambda: Difference(nan))
    rows: Mapping[Kind, int] = field(default_factory=dict)

    @property
    def beats_constant(self) -> bool:
        """Whether the tuned model is better than a constant."""
        return self.over_constant.side > 0

    @property
    def counted_rows(self) -> dict[Kind, int]:
        """The rows that the verdict rests on: `rows` without a kind whose difference has no standard error, unless none has."""
        parts = {kind: self.on_held_out_rows if kind == "held out" else self.on_training_rows for kind in self.rows}
        some = {kind: n for kind, n in self.rows.items() if isfinite(parts[kind].error)}
        return some or dict(self.rows)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return gain_sentence(self, self.over_constant, self.counted_rows)

    def __str__(self) -> str:
        return self.sentence

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Self:
        """Create the object from the result of `to_dict`; ArgumentError if an entry is missing or unknown."""
        return replace(
            super().from_dict(found),
            over_constant=Difference.from_dict(found["over_constant"]),
            default_over_constant=Difference.from_dict(found["default_over_constant"]),
            on_training_rows=Difference.from_dict(found["on_training_rows"]),
            on_held_out_rows=Difference.from_dict(found["on_held_out_rows"]),
        )


def difference_of(
    parts: Sequence[Drawn], others: Sequence[Drawn], metric: str, how: How, confidence: float = CONFIDENCE
) -> Difference:
    """Return the score of a model less that of another on the same rows, of one or several kinds; each row counts the same.

    Equation :eq:`verdict`.
    """
    found = pooled(part.less(other) for part, other in zip(parts, others, strict=True))
    interval = t_interval(found.value, found.error**2, found.units - 1.0, confidence)
    return Difference(found.value, interval, found.error, confidence, metric, how)


def tuning_gain(
    tuned: Sequence[Drawn], default: Sequence[Drawn], constant: Sequence[Drawn], metric: str, how: How = "draws"
) -> TuningGain:
    """Return whether tuned models are better than the default, and which of the two are better than a constant.

    This is the one place that makes the verdict on tuning: `TunedSVC`, searches and the command line call it. Each argument has
    an entry for each kind of rows. The draws of the tuned models repeat the choice among settings.
    """

    def over(kinds: Collection[Kind], parts: Sequence[Drawn] = tuned, others: Sequence[Drawn] = default) -> Difference:
        some = [k for k, part in enumerate(parts) if part.kind in kinds]
        return difference_of([parts[k] for k in some], [others[k] for k in some], metric, how)

    gain = over(KINDS)
    rows: dict[Kind, int] = {}
    for part in tuned:
        rows[part.kind] = rows.get(part.kind, 0) + part.n_rows
    return TuningGain(
        **vars(gain),
        over_constant=over(KINDS, tuned, constant),
        default_over_constant=over(KINDS, default, constant),
        on_training_rows=over(set(KINDS) - {"held out"}),
        on_held_out_rows=over({"held out"}),
        rows=rows,
    )


class Judged(NamedTuple):
    """The scores to expect of the tuned model, the default and a constant, and the verdict on tuning."""

    tuned: ExpectedScore
    default: ExpectedScore
    constant: ExpectedScore
    gain: TuningGain


def judged(evidence: Sequence[Evidence], metric: str) -> Judged:
    """Return what rows of one or several kinds say about a tuned model; the draws of the tuned scores repeat the choice."""
    tuned, default = [one.tuned for one in evidence], [one.default for one in evidence]
    constant = [one.constant for one in evidence]
    how: How = "held out" if all(part.kind != "out of fold" for part in default) else "rows"
    return Judged(
        expected_of(tuned, metric, "draws"),
        expected_of(default, metric, how),
        expected_of(constant, metric, how),
        tuning_gain(tuned, default, constant, metric),
    )


def difference_on_folds(
    first: Floats,
    second: Floats,
    ratio: float,
) -> Difference:
    """Return the second model's score less the first's on the same folds; with a single fold there is no interval.

    `ratio` is the number of rows tested on per row trained on, as in `nadeau_bengio`.
    """
    gains = second - first
    interval = nadeau_bengio(gains, ratio, CONFIDENCE)
    return Difference(float(gains.mean()), interval, sqrt(corrected_variance(gains, ratio)), CONFIDENCE, how="rows")
