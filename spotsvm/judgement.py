"""Whether the trial that is recommended does better on fresh data than the best one seen: the result."""

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
    """The recommended trial and the best one seen, on data that the search has not used; `judge_recommendation` makes it.

    Attributes
    ----------
    recommended_number, best_seen_number : int
        The two trials.
    recommended_value, best_seen_value : float
        What the study expects of the one, and has seen of the other.
    recommended_fresh, best_seen_fresh : float
        Their means on fresh data.
    difference : float
        By how much the recommended one does better there; below 0 it does worse. 0 where both are one configuration.
    interval : tuple of float
        Confidence interval of the difference; (nan, nan) where there is none.
    confidence : float
        Its confidence.
    n_fresh : int
        Fresh values of each.
    n_failed : int
        Fresh evaluations that gave no value, and were left out.
    fresh : str
        What the fresh data are.
    paired : bool
        Whether both had the same seeds, splits or rows.
    same : bool
        Whether the two are one configuration.
    choice : {"recommended", "best predicted"}
        What the first of the two is: of a study that was told that there is no noise, the best predicted is not recommended.
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
        """Which one does better: by the interval."""
        if self.same:
            return "same"
        low, high = self.interval
        return self.choice if low > 0 else "best seen" if high < 0 else "no clear difference"

    @property
    def sentence(self) -> str:
        """The judgement in words."""
        luck = f"the best value seen, {self.best_seen_value:.4g}, is {self.best_seen_fresh:.4g}"
        if self.same:
            return f"The {self.choice} trial {self.recommended_number} is the best one seen; on {self.fresh} {luck}."
        low, high = self.interval
        size = f"{abs(self.difference):.3g} {'better' if self.difference >= 0 else 'worse'}"
        sure = "" if isnan(low) else f" ({100 * self.confidence:g} % interval of the difference {low:.3g} to {high:.3g})"
        ending = self.verdict if self.verdict == "no clear difference" else f"the {self.verdict} is the better choice"
        return (
            f"On {self.fresh} the {self.choice} trial {self.recommended_number} gives {self.recommended_fresh:.4g}, {size} than "
            f"the best seen, {self.best_seen_number}{sure}: {ending}. There {luck}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Give it in JSON's types, with verdict and sentence."""
        return asdict(self) | {"interval": list(self.interval), "verdict": self.verdict, "sentence": self.sentence}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Judgement:
        """Make it of what `to_dict` gave."""
        values = {f.name: given[f.name] for f in fields(cls)}
        low, high = values["interval"]
        return cls(**values | {"interval": (float(low), float(high))})
