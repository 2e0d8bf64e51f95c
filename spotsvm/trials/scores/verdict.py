"""Whether tuning has helped: the tuned machine beside the default one, on the folds and on held-out rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite
from typing import Any, Literal

from spotsvm.common.errors import ArgumentError
from spotsvm.trials.scores.intervals import NO_INTERVAL, Interval
from spotsvm.trials.scores.optimism import nan_to_none, none_to_nan, plain

Decision = Literal["helped", "may have helped", "did not help"]


@dataclass(frozen=True)
class Verdict:
    """Whether tuning has helped, and with which numbers: the one source of what a command and a page say about it.

    Attributes
    ----------
    metric : str
        Name of the score; larger is better.
    decision : {"helped", "may have helped", "did not help"}
        Whether the tuned machine is better. It "may have helped" where the folds say so, and the held-out rows are too few to
        tell.
    recommended : {"tuned", "default"}
        Which of the two to use: the default one where tuning did not help.
    number : int or None
        The trial of the recommended one, which `Study.recommend` then gives; None if the study has none, as where its space
        cannot hold the default.
    params : dict
        What was searched, with the values of the recommended machine.
    default_score, tuned_score : float
        Mean scores over the folds of the training rows.
    default_held_out, default_error, tuned_held_out, tuned_error : float
        Scores on the held-out rows, and their standard errors.
    gain, gain_error : float
        Tuned score minus default score, and its standard error (Nadeau and Bengio).
    difference, difference_error : float
        The same on the held-out rows, paired by row.
    interval : tuple of float
        Confidence interval of the difference on held-out rows; (nan, nan) if there is none.
    confidence : float
        Its confidence level.
    n_held_out : int
        Number of held-out rows.
    reason : str
        Why the decision is this one; it ends its sentence.
    expected, expected_interval : float, tuple of float
        The score of the recommended machine to expect on new data, judged by the training rows alone, with its interval; nan
        where this was not asked for.
    instead_of : str
        What was replaced by a value within its range that scores the same within the noise; empty if nothing was.

    See Also
    --------
    Optimism : How much of a tuned score is luck.
    """

    metric: str
    decision: Decision
    recommended: Literal["tuned", "default"]
    number: int | None
    params: Mapping[str, Any]
    default_score: float
    default_held_out: float
    default_error: float
    tuned_score: float
    tuned_held_out: float
    tuned_error: float
    gain: float
    gain_error: float
    difference: float
    difference_error: float
    interval: Interval
    confidence: float
    n_held_out: int
    reason: str
    expected: float = float("nan")
    expected_interval: Interval = NO_INTERVAL
    instead_of: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", plain(self.params))
        for name in ("interval", "expected_interval"):
            low, high = getattr(self, name)
            object.__setattr__(self, name, (float(low), float(high)))

    @property
    def held_out(self) -> float:
        """The score of the recommended machine on the held-out rows."""
        return self.tuned_held_out if self.recommended == "tuned" else self.default_held_out

    @property
    def held_out_error(self) -> float:
        """Its standard error."""
        return self.tuned_error if self.recommended == "tuned" else self.default_error

    @property
    def score(self) -> float:
        """The score of the recommended machine on the folds."""
        return self.tuned_score if self.recommended == "tuned" else self.default_score

    @property
    def sentence(self) -> str:
        """The decision, the difference on held-out rows, and the reason."""
        if self.decision == "did not help":
            return f"Tuning did not help on these rows; keep the default SVM: {self.reason}."
        ends = self.interval
        sure = f" ({100 * self.confidence:g} % interval {ends[0]:+.3g} to {ends[1]:+.3g})" if isfinite(ends[0]) else ""
        error = f" +- {self.difference_error:.2g}" if isfinite(self.difference_error) else ""
        known = f": held-out {self.difference:+.3g}{error}{sure}" if isfinite(self.difference) else ""
        return f"Tuning {self.decision}{known}; {self.reason}."

    @property
    def warnings(self) -> tuple[str, ...]:
        """What else a reader has to know, a sentence each: a held-out score outside its interval, a value that was replaced."""
        found = []
        low, high = self.expected_interval
        if isfinite(low) and isfinite(self.held_out) and not low <= self.held_out <= high:
            side, by = ("above", self.held_out - high) if self.held_out > high else ("below", low - self.held_out)
            error = f" (standard error {self.held_out_error:.2g})" if isfinite(self.held_out_error) else ""
            why = "they are few, so this can be chance" if by <= 2 * self.held_out_error else "they differ from the training rows"
            found.append(
                f"The score on the {self.n_held_out} held-out rows, {self.held_out:.4g}{error}, is {side} the interval of the "
                f"expected score, {low:.4g} to {high:.4g}, which the training rows give: {why}."
            )
        if self.recommended == "default" and isfinite(self.interval[0]) and self.interval[0] > 0:
            low, high = self.interval
            found.append(
                f"On the {self.n_held_out} held-out rows the tuned machine is better by {self.difference:.3g} "
                f"({100 * self.confidence:g} % interval {low:.3g} to {high:.3g}). These rows can reject the tuned machine, but "
                "do not choose it: more trials or another seed will show whether it is better."
            )
        if self.instead_of:
            found.append(self.instead_of)
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON types, with None in place of nan, and the sentences."""
        found: dict[str, Any] = nan_to_none(asdict(self))
        return found | {"sentence": self.sentence, "warnings": list(self.warnings)}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Verdict:
        """Create a Verdict from what `to_dict` returned.

        Raises
        ------
        ArgumentError
            If an entry is missing.
        """
        names = [f.name for f in fields(cls)]
        if missing := [name for name in names if name not in found]:
            raise ArgumentError(f"found has no {missing[0]!r}; pass what Verdict.to_dict() returned")
        kept = ("number", "params")  # None is no nan there
        return cls(**{name: found[name] if name in kept else none_to_nan(found[name]) for name in names})
