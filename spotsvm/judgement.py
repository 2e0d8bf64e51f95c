"""`Judgement`: a comparison of the recommended trial with the best seen, on fresh data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isnan
from typing import Any, Literal

#: the name under which a study stores a judgement
JUDGEMENT = "judgement"

Choice = Literal["recommended", "best predicted"]
Verdict = Literal["recommended", "best predicted", "best seen", "no clear difference", "same"]


@dataclass(frozen=True)
class Judgement:
    """The recommended trial and the best seen, compared on data that the search has not used.

    `judge_recommendation` and `judge_search` return it.

    Attributes
    ----------
    recommended_number, best_seen_number : int
        The two trials.
    recommended_value, best_seen_value : float
        The value that the study expects of the recommended trial, and the observed value of the best seen.
    recommended_fresh, best_seen_fresh : float
        Their mean values on fresh data.
    difference : float
        By how much the recommended trial is better there; negative if it is worse, 0 if both have the same configuration.
    interval : tuple of float
        Confidence interval of the difference; (nan, nan) if there is none.
    confidence : float
        Its confidence level.
    n_fresh : int
        Number of fresh values of each.
    n_failed : int
        Number of fresh evaluations that failed, and were left out.
    fresh : str
        Description of the fresh data.
    paired : bool
        Whether both were evaluated with the same seeds, splits or rows.
    same : bool
        Whether both have the same configuration.
    choice : {"recommended", "best predicted"}
        What the first of the two is: without noise a study does not recommend the best predicted trial.
    """

    recommended_number: int
    best_seen_number: int
    recommended_value: float
    best_seen_value: float
    recommended_fresh: float
    best_seen_fresh: float
    difference: float
    interval: tuple[float, float]
    confidence: float
    n_fresh: int
    n_failed: int
    fresh: str
    paired: bool
    same: bool
    choice: Choice = "recommended"

    @property
    def verdict(self) -> Verdict:
        """Which of the two is better, judged by the interval."""
        if self.same:
            return "same"
        low, high = self.interval
        return self.choice if low > 0 else "best seen" if high < 0 else "no clear difference"

    @property
    def sentence(self) -> str:
        """The judgement as text."""
        if self.same:
            return (
                f"The {self.choice} trial {self.recommended_number} is also the best seen: its value was "
                f"{self.best_seen_value:.4g} in the search, and is {self.best_seen_fresh:.4g} on {self.fresh}."
            )
        low, high = self.interval if self.difference >= 0 else (0.0 - self.interval[1], 0.0 - self.interval[0])
        better = self.choice if self.difference >= 0 else "best seen"
        interval = "" if isnan(low) else f" ({100 * self.confidence:g} % interval {low:.3g} to {high:.3g})"
        unclear = "" if self.verdict != "no clear difference" else ", which is no clear difference"
        ending = f"The {better} trial is better by {abs(self.difference):.3g}{interval}{unclear}."
        return (
            f"On {self.fresh} the {self.choice} trial {self.recommended_number} has the value {self.recommended_fresh:.4g}, and "
            f"the best seen trial {self.best_seen_number} the value {self.best_seen_fresh:.4g} ({self.best_seen_value:.4g} in "
            f"the search). {ending if self.difference else 'There is no difference.'}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON types, with verdict and sentence."""
        return asdict(self) | {"interval": list(self.interval), "verdict": self.verdict, "sentence": self.sentence}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Judgement:
        """Create a Judgement from what `to_dict` returned."""
        values = {f.name: given[f.name] for f in fields(cls)}
        low, high = values["interval"]
        return cls(**values | {"interval": (float(low), float(high))})
