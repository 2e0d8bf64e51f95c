"""Further random partitions: the contenders of a search are scored on them, and the best on average is recommended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.cross_validation.fold_data import Split
from spotsvm.trials.trial import Outcome, Trial

Floats = NDArray[np.float64]
#: further partitions that choose among the contenders, by default; as many more score the one that is chosen
N_PARTITIONS = 5
#: contenders; where a parameter is profiled paths, and on each the neighbours of its best value on either side
N_CONTENDERS, N_PATHS, N_BESIDE = 5, 3, 1
#: scores candidates on splits
ScoreOn = Callable[[Sequence[Split], Sequence[Mapping[str, Any]]], list[Outcome]]
#: returns the number by which a trial or an outcome is compared with others, larger being better; nan if it has none
Merit = Callable[[Trial | Outcome], float]


@dataclass(frozen=True)
class Confirmation:
    """What further partitions say of the contenders.

    Attributes
    ----------
    numbers : tuple of int
        The contenders, by the numbers of their trials.
    scores : ndarray of shape (n_contenders, n_partitions)
        Their mean scores on each further partition; nan if one failed.
    merits : ndarray of shape (n_contenders,)
        What they were compared by: the mean over the given folds and the further partitions; nan if one failed.
    chosen : int
        The best of them.
    fresh : ndarray of shape (n_partitions,)
        Its mean scores on as many more partitions, which had no part in the choice.
    """

    numbers: tuple[int, ...]
    scores: Floats
    merits: Floats
    chosen: int
    fresh: Floats

    @property
    def fresh_score(self) -> float:
        """The mean score of the chosen contender on partitions that had no part in the choice."""
        return float(self.fresh.mean())

    def columns(self, metric: str, numbers: Sequence[int]) -> dict[str, Floats]:
        """Return columns of `cv_results_` for trials with these numbers: the mean score on each further partition, else nan."""
        rows = [list(numbers).index(number) for number in self.numbers]
        found = {}
        for k in range(self.scores.shape[1]):
            found[f"partition{k + 1}_test_{metric}"] = column = np.full(len(numbers), np.nan)
            column[rows] = self.scores[:, k]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the finding of a study, in JSON's types, with a sentence."""
        names = [f"partition {k + 1}" for k in range(self.scores.shape[1])]
        rows = [
            {"trial": number, **dict(zip(names, scores, strict=True)), "compared by": merit}
            for number, scores, merit in zip(self.numbers, self.scores.tolist(), self.merits.tolist(), strict=True)
        ]
        sentence = (
            f"Of {len(rows)} contenders trial {self.chosen} is the best on average over the given folds and {len(names)} further "
            f"random partitions. On {len(self.fresh)} more, which had no part in the choice, its mean score is "
            f"{self.fresh_score:.4g}."
        )
        return {"sentence": sentence, "chosen": self.chosen, "fresh": self.fresh.tolist(), "contenders": rows}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Confirmation:
        """Return what `to_dict` gave."""
        rows = found["contenders"]
        scores = np.array([[row[key] for key in row if key.startswith("partition ")] for row in rows], dtype=float)
        merits = np.array([row["compared by"] for row in rows], dtype=float)
        return cls(tuple(row["trial"] for row in rows), scores, merits, found["chosen"], np.array(found["fresh"], dtype=float))


def contenders(trials: Sequence[Trial], merit: Merit, profiled: str | None, always: Sequence[Trial] = ()) -> list[Trial]:
    """Return the trials to score on further partitions: the best by merit, without repeated parameters.

    Where a parameter is profiled, these are the best values on the best paths, and their neighbours. `always` are those that are
    among them in any case.
    """
    ranked = sorted((t for t in trials if np.isfinite(merit(t))), key=lambda t: (-merit(t), t.number))
    found = list(always)
    if profiled is None:
        for t in ranked:
            if len(found) < N_CONTENDERS + len(always) and all(t.params != known.params for known in found):
                found.append(t)
        return found
    for suggestion in list(dict.fromkeys(t.suggestion for t in ranked))[:N_PATHS]:
        path = sorted((t for t in ranked if t.suggestion == suggestion), key=lambda t: t.params[profiled])
        at = path.index(next(t for t in ranked if t.suggestion == suggestion))
        beside = path[max(at - N_BESIDE, 0) : at + N_BESIDE + 1]
        found += [t for t in beside if all(t.params != known.params for known in found)]
    return found


def confirm(
    found: Sequence[Trial], merit: Merit, metric: str, partitions: Sequence[Sequence[Split]], score_on: ScoreOn
) -> Confirmation:
    """Score contenders on the first half of the partitions, and the best of them on the other half.

    The given folds count as one partition. A contender that fails on a further partition is not chosen unless all do. Of equal
    ones the first is chosen.
    """
    half = len(partitions) // 2
    splits = [split for folds in partitions[:half] for split in folds]
    outcomes = score_on(splits, [t.params for t in found])
    given, further = (np.array([merit(one) for one in ones]) for ones in (found, outcomes))
    merits = (given + half * further) / (1 + half)
    chosen = int(np.argmax(np.where(np.isfinite(merits), merits, -np.inf)))
    others = [split for folds in partitions[half:] for split in folds]
    fresh = score_on(others, [found[chosen].params])
    return Confirmation(
        tuple(t.number for t in found), _by_partition(outcomes, metric, len(splits), half), merits, found[chosen].number,
        _by_partition(fresh, metric, len(others), half)[0],
    )  # fmt: skip


def seconds_a_partition(trials: Sequence[Trial], profiled: bool) -> float:
    """Return what a further partition is expected to take: the mean seconds of a candidate, for each contender and the best."""
    done = [t for t in trials if t.state != "running"]
    n = min(N_PATHS * (1 + 2 * N_BESIDE) if profiled else N_CONTENDERS, len(done))
    return (n + 1) * sum(t.seconds or 0.0 for t in done) / max(len(done), 1)


def _by_partition(outcomes: Sequence[Outcome], metric: str, n_splits: int, n_partitions: int) -> Floats:
    """Return the mean score of each outcome on each partition; nan if a fold has none."""
    each = [[one.extra.get(f"split{k}_test_{metric}", np.nan) for k in range(n_splits)] for one in outcomes]
    return np.asarray(np.array(each).reshape(len(outcomes), n_partitions, -1).mean(axis=2))
