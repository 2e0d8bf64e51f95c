"""Further random partitions: the contenders of a search are scored on them, and the best on average is recommended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.cross_validation.fold_data import Split
from spotsvm.surrogates.acquisition.selection import select_evaluations
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.errors import NotPositiveDefiniteError
from spotsvm.surrogates.one_thread import one_blas_thread
from spotsvm.trials.scores.intervals import expected_interval
from spotsvm.trials.scores.metrics import ScoreUnit
from spotsvm.trials.trial import Outcome, Trial

Floats = NDArray[np.float64]
#: further partitions that choose among the contenders, by default; as many more score the one that is chosen
N_PARTITIONS = 5
#: the same where they cost more: in regression, and where every candidate fits transformers of its own
N_COSTLY = 2
#: contenders; where a parameter is profiled paths, and on each the neighbours of its best value on either side
N_CONTENDERS, N_PATHS, N_BESIDE = 5, 3, 1
#: scores candidates on splits
ScoreOn = Callable[[Sequence[Split], Sequence[Mapping[str, Any]]], list[Outcome]]
#: returns the number by which a trial or an outcome is compared with others, larger being better; nan if it has none
Merit = Callable[[Trial | Outcome], float]


#: how the finding of a study calls the rules to choose a contender
GIVEN, MEAN, PREDICTED = "the given folds alone", "mean over all partitions", "prediction of Kriging with a nugget"


@dataclass(frozen=True)
class Confirmation:
    """What further partitions say of the contenders.

    Attributes
    ----------
    numbers : tuple of int
        The contenders, by the numbers of their trials.
    scores : ndarray of shape (n_contenders, n_partitions)
        Their mean scores on each further partition; nan if one failed.
    intervals : ndarray of shape (n_contenders, 2)
        95 % intervals of their means over these; nan where there is none.
    merits : ndarray of shape (n_contenders,)
        What they were compared by: the mean over the given folds and the further partitions; nan if one failed.
    rules : dict of str to int
        Which contender each rule would choose; the mean over all partitions is the rule that counts.
    fresh : ndarray of shape (n_partitions, n_folds)
        The scores of the one that was chosen in the folds of as many more partitions, which had no part in the choice.
    ratio : float
        Rows tested on per row trained on in a fold.
    """

    numbers: tuple[int, ...]
    scores: Floats
    intervals: Floats
    merits: Floats
    rules: Mapping[str, int]
    fresh: Floats
    ratio: float

    @property
    def chosen(self) -> int:
        """The contender with the best mean over all partitions."""
        return self.rules[MEAN]

    @property
    def fresh_score(self) -> float:
        """The mean score of the chosen contender on partitions that had no part in the choice."""
        return float(self.fresh.mean(axis=1).mean())

    @property
    def spread(self) -> float:
        """The standard deviation of its scores over the folds of these partitions."""
        return float(self.fresh.std(ddof=1))

    def columns(self, metric: str, numbers: Sequence[int]) -> dict[str, Floats]:
        """Return columns of `cv_results_` for trials with these numbers: the mean score on each further partition, else nan."""
        rows = [list(numbers).index(number) for number in self.numbers]
        found = {}
        for k in range(self.scores.shape[1]):
            found[f"partition{k + 1}_{metric}"] = column = np.full(len(numbers), np.nan)
            column[rows] = self.scores[:, k]
        return found

    def to_dict(self, unit: ScoreUnit) -> dict[str, Any]:
        """Return the finding of a study, in JSON's types, with a sentence that has the score in its unit."""
        names = [f"partition {k + 1}" for k in range(self.scores.shape[1])]
        ends = [dict(zip(("low", "high"), interval, strict=True)) for interval in self.intervals.tolist()]
        rows = [
            {"trial": number, **dict(zip(names, scores, strict=True)), **interval, "compared by": merit}
            for number, scores, interval, merit in zip(
                self.numbers, self.scores.tolist(), ends, self.merits.tolist(), strict=True
            )
        ]
        rules = []
        for rule, number in self.rules.items():
            at = self.numbers.index(number)
            rules.append({"rule": rule, "trial": number, "mean of further partitions": float(self.scores[at].mean()), **ends[at]})
        sentence = (
            f"Of {len(rows)} contenders trial {self.chosen} is the best on average over the given folds and {len(names)} further "
            f"random partitions. On {len(self.fresh)} more, which had no part in the choice, its mean "
            f"{unit.title if unit.is_error else 'score'} is {unit.value(self.fresh_score):.4g}."
        )
        fresh: dict[str, Any] = {
            "fresh": self.fresh.mean(axis=1).tolist(),
            "fresh folds": self.fresh.tolist(),
            "ratio": self.ratio,
        }
        fresh["partition scores"] = self.scores.tolist()
        return {"sentence": sentence, "chosen": self.chosen, **fresh, "rules": rules, "contenders": rows}

    @staticmethod
    def is_of(recorded: Mapping[str, Any], found: Sequence[Trial], n_partitions: int | None = None) -> bool:
        """Return whether a finding is of these contenders, on so many partitions, and complete; earlier versions noted less."""
        if not {"rules", "fresh folds", "ratio", "partition scores"} <= recorded.keys() or n_partitions not in (
            None,
            len(recorded["fresh folds"]),
        ):
            return False
        return [row["trial"] for row in recorded["contenders"]] == [t.number for t in found]

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Confirmation:
        """Return what `to_dict` gave."""
        rows = found["contenders"]
        return cls(
            tuple(row["trial"] for row in rows),
            np.array(found["partition scores"], dtype=float),
            np.array([[row["low"], row["high"]] for row in rows], dtype=float),
            np.array([row["compared by"] for row in rows], dtype=float),
            {row["rule"]: row["trial"] for row in found["rules"]},
            np.array(found["fresh folds"], dtype=float),
            found["ratio"],
        )


def contenders(
    trials: Sequence[Trial], merit: Merit, profiled: str | None, always: Sequence[Trial] = (), ordered: bool = True
) -> list[Trial]:
    """Return the trials to score on further partitions: the best by merit, without repeated parameters.

    Where a parameter is profiled, these are the best values on the best paths, and their neighbours; unless its values are
    `ordered`, as many of the best. `always` are those that are among them in any case.
    """
    ranked = sorted((t for t in trials if np.isfinite(merit(t))), key=lambda t: (-merit(t), t.number))
    found = list(always)
    if profiled is None:
        for t in ranked:
            if len(found) < N_CONTENDERS + len(always) and all(t.params != known.params for known in found):
                found.append(t)
        return found
    for suggestion in list(dict.fromkeys(t.suggestion for t in ranked))[:N_PATHS]:
        path = [t for t in ranked if t.suggestion == suggestion]
        beside = path[: 2 * N_BESIDE + 1]
        if ordered:
            along = sorted(path, key=lambda t: t.params[profiled])
            at = along.index(path[0])
            beside = along[max(at - N_BESIDE, 0) : at + N_BESIDE + 1]
        found += [t for t in beside if all(t.params != known.params for known in found)]
    return found


def confirm(
    found: Sequence[Trial],
    merit: Merit,
    metric: str,
    partitions: Sequence[Sequence[Split]],
    score_on: ScoreOn,
    predict: Callable[[Floats], int | None],
) -> Confirmation:
    """Score contenders on the first half of the partitions, and the best of them on the other half.

    The given folds count as one partition. A contender that fails on a further partition is not chosen unless all do. Of equal
    ones the first is chosen. `predict` takes the merits on further partitions and returns the contender that a model prefers.
    """
    half = len(partitions) // 2
    splits = [split for folds in partitions[:half] for split in folds]
    ratio = float(np.mean([len(test) / len(train) for train, test in splits]))
    outcomes = score_on(splits, [t.params for t in found])
    given, further = (np.array([merit(one) for one in ones]) for ones in (found, outcomes))
    merits = (given + half * further) / (1 + half)
    rules = {GIVEN: _best(given), MEAN: _best(merits)}
    if (predicted := predict(further)) is not None:
        rules[PREDICTED] = predicted
    others = [split for folds in partitions[half:] for split in folds]
    fresh = score_on(others, [found[rules[MEAN]].params])
    scores = _fold_scores(outcomes, metric, len(splits))
    return Confirmation(
        tuple(t.number for t in found), scores.reshape(len(found), half, -1).mean(axis=2),
        np.array([expected_interval(row, ratio, 0.95, metric) for row in scores]), merits,
        {rule: found[k].number for rule, k in rules.items()},
        _fold_scores(fresh, metric, len(others)).reshape(half, -1), ratio,
    )  # fmt: skip


def predicted_contender(
    domain: Domain, trials: Sequence[Trial], merit: Merit, found: Sequence[Trial], further: Floats, seed: int
) -> int | None:
    """Return the contender with the best mean by a Kriging model with a nugget; None if there is no model.

    The model knows the trials with a merit on the given folds, and of a contender the merit on further partitions as well.
    """
    known = [t for t in trials if np.isfinite(merit(t))]
    again = np.isfinite(further)
    points = np.array([t.point for t in known] + [t.point for t, more in zip(found, again, strict=True) if more])
    values = -np.append([merit(t) for t in known], further[again])
    if len(np.unique(points, axis=0)) < 2 or not again.any():
        return None
    from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble

    try:
        with one_blas_thread():
            rows = select_evaluations(domain, points, values, noisy=True)
            models = KrigingEnsemble(domain, warped=False).fit(points[rows], values[rows], np.random.default_rng([seed, 1 << 42]))
            mean = models.predict(domain.model_inputs(np.array([t.point for t in found])))[0]
    except NotPositiveDefiniteError:
        return None
    return _best(np.where(again, -mean, np.nan))


def _best(merits: Floats) -> int:
    return int(np.argmax(np.where(np.isfinite(merits), merits, -np.inf)))


def _fold_scores(outcomes: Sequence[Outcome], metric: str, n_splits: int) -> Floats:
    """Return the score of each outcome in each fold; nan where it has none."""
    return np.array([[one.extra.get(f"split{k}_test_{metric}", np.nan) for k in range(n_splits)] for one in outcomes])


def seconds_a_partition(trials: Sequence[Trial], profiled: bool) -> float:
    """Return what a further partition is expected to take: the mean seconds of a candidate, for each contender and the best.

    What the first candidate took beyond the median of the others prepared its folds; a partition that chooses prepares new ones,
    and so does the one beside it that scores what is chosen.
    """
    done = [t for t in trials if t.state != "running"]
    n = min(N_PATHS * (1 + 2 * N_BESIDE) if profiled else N_CONTENDERS, len(done))
    spent = [t.seconds for t in done if t.seconds is not None]  # of a path the suggestion has those of all its values
    preparation = max(spent[0] - float(np.median(spent[1:])), 0.0) if len(spent) > 1 else 0.0
    return (n + 1) * (sum(spent) - preparation) / max(len(done), 1) + 2 * preparation
