"""Whether tuning has helped: the tuned model compared with the default, on the folds and on held-out rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from math import isfinite, nan, sqrt
from typing import Any, Literal

from spotsvm.common.json_values import nan_to_none, none_to_nan, plain
from spotsvm.errors import ArgumentError
from spotsvm.luck.difference import Difference
from spotsvm.luck.estimate import ExpectedScore, score_text
from spotsvm.luck.sentences import Decision, decided, expectation
from spotsvm.trials.metrics import ScoreUnit

#: reason of a decision: no candidate is better on the folds, or the comparison on the held-out rows
Reason = Literal["none better", "held-out worse", "held-out better", "undecided", "no interval"]
#: how rows were held out
HeldOut = Literal["random", "groups", "time"]
CONSTANT, LINEAR, FOREST = "constant", "linear", "forest"
#: two scores are contradictory if they differ by more than this many standard errors
_CONTRADICTORY = 2.0


@dataclass(frozen=True)
class Rival:
    """Another model on the same held-out rows: a constant, a linear model or a random forest.

    Attributes
    ----------
    code : {"constant", "linear", "forest"}
        Code of the model.
    name : str
        Name of the model in texts.
    score : float
        Mean score over the folds; nan if it was not scored there.
    held_out, error : float
        Score on the held-out rows, and its standard error.
    difference : Difference
        Score of the recommended model less that of this model on rows that neither has seen: for the constant on all rows, for
        the other models on the held-out rows.
    seconds : float
        Time of its fit.
    """

    code: str
    name: str
    score: float
    held_out: float
    error: float
    difference: Difference
    seconds: float


@dataclass(frozen=True)
class Replaced:
    """The trial that the search chose, with values at the `ends` of their ranges; another trial was compared instead."""

    number: int
    ends: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """Whether tuning has helped, with all numbers and sentences that commands and pages show about it.

    All scores are those of the scorer: larger is better. Sentences show errors as positive numbers, in their own unit.

    Attributes
    ----------
    metric : str
        Name of the score.
    decision : {"helped", "did not help", "no difference seen"}
        Whether the tuned model is better; "no difference seen" if none can be seen.
    reason : str
        A code for why; see `Reason`.
    recommended : {"tuned", "default"}
        The model to use.
    number : int or None
        The trial of the recommended model, which `Study.recommend` then returns; None if there is no such trial, for example
        because the default is not in the space.
    params : dict
        The searched parameters, with the values of the recommended model.
    default_score, tuned_score : float
        Mean scores over the folds of the training rows.
    default_held_out, default_error, tuned_held_out, tuned_error : float
        Scores on the held-out rows, and their standard errors.
    gain : Difference
        Tuned score minus default score on the folds, with its standard error (Nadeau and Bengio).
    difference : Difference
        Tuned score minus default score on the held-out rows, paired by row.
    n_held_out : int
        Number of held-out rows.
    overall : float
        Mean of `gain` and `difference`, weighted by the numbers of training and held-out rows.
    n_better, n_candidates : int
        Number of candidates that score better than the default on the folds, and number of all candidates.
    held_out_by : {"random", "groups", "time"}
        How rows were held out.
    expected : ExpectedScore
        The score to expect of the recommended model on new rows, from out-of-fold training rows and held-out rows.
    replaced : Replaced or None
        The choice of the search, if another trial was compared instead.
    rivals : tuple of Rival
        Other models on the same rows, a constant first.
    by : {"search", "average"}
        Whether the tuned model is a search's choice or an average of settings. For an average, "folds" means out-of-fold rows:
        each row is scored with a choice that did not use it, and the expected score comes from these rows alone.
    """

    metric: str
    decision: Decision
    reason: Reason
    recommended: Literal["tuned", "default"]
    number: int | None
    params: Mapping[str, Any]
    default_score: float
    default_held_out: float
    default_error: float
    tuned_score: float
    tuned_held_out: float
    tuned_error: float
    gain: Difference
    difference: Difference
    n_held_out: int
    overall: float = nan
    n_better: int = 0
    n_candidates: int = 0
    held_out_by: HeldOut = "random"
    expected: ExpectedScore = field(default_factory=lambda: ExpectedScore(nan))
    replaced: Replaced | None = None
    rivals: tuple[Rival, ...] = ()
    by: Literal["search", "average"] = "search"

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", plain(self.params))

    @property
    def compares(self) -> bool:
        """Whether a tuned model other than the default was compared with it."""
        return self.reason != "none better"

    @property
    def held_out(self) -> float:
        """The score of the recommended model on the held-out rows."""
        return self.tuned_held_out if self.recommended == "tuned" else self.default_held_out

    @property
    def held_out_error(self) -> float:
        """The standard error of `held_out`."""
        return self.tuned_error if self.recommended == "tuned" else self.default_error

    @property
    def score(self) -> float:
        """The score of the recommended model on the folds."""
        return self.tuned_score if self.recommended == "tuned" else self.default_score

    @property
    def constant(self) -> Rival | None:
        """The constant among the rivals."""
        return next((rival for rival in self.rivals if rival.code == CONSTANT), None)

    @property
    def sentence(self) -> str:
        """The decision with its numbers, and whether the recommended model is better than a constant."""
        return " ".join([*self._decided(), *self._beside_constant()])

    @property
    def folds(self) -> str:
        """Name of the training rows whose scores are compared."""
        return "folds" if self.by == "search" else "out-of-fold"

    def _decided(self) -> Iterator[str]:
        unit = ScoreUnit(self.metric)
        if not self.compares:
            yield "Tuning did not help: no candidate scores better than the default SVM on the folds. Keep the default SVM."
            return
        found = decided(self.decision)
        if self.difference.too_few:
            yield f"{found}: the {self.n_held_out} held-out rows are too few for {unit.title}."
        elif not isfinite(self.difference.value):
            yield f"{found}: the {self.n_held_out} held-out rows have no score."
        else:
            tuned, default = (score_text(unit.value(score)) for score in (self.tuned_held_out, self.default_held_out))
            yield (
                f"{found}: on the {self.n_held_out} held-out rows the tuned SVM has {unit.title} {tuned}, the default SVM "
                f"{default} (difference {_by(self.difference)})."
            )
        if self.decision == "did not help":
            yield "Keep the default SVM."
        elif self.decision == "no difference seen":
            by = f"better by {score_text(abs(self.overall))}" if self.recommended == "tuned" else "not better"
            which = "it" if self.recommended == "tuned" else "the tuned SVM"
            yield f"The {self.recommended} SVM is recommended: over {self.folds} and held-out rows together {which} is {by}."

    def _beside_constant(self) -> Iterator[str]:
        rival = self.constant
        if rival is None or not isfinite(rival.difference.value) or rival.difference.side > 0:
            return
        unit = ScoreUnit(self.metric)
        scores = " and ".join(score_text(unit.value(score)) for score in (self.held_out, rival.held_out))
        scores = f"{unit.title} {scores} on the held-out rows"
        if rival.difference.value <= 0:
            yield f"The recommended SVM is no better than {rival.name}: {scores}."
        else:
            where = "over all rows" if self.by == "search" else "on them"
            yield (
                f"Whether the recommended SVM is better than {rival.name} cannot be told from these rows: {scores}; {where} the "
                f"difference is {rival.difference.text(signed=True)}."
            )

    @property
    def expectation(self) -> str:
        """The score to expect on new rows, in a sentence; empty if it is unknown."""
        expected = self.expected
        if expected.too_few:
            return f"On new rows {expectation(expected, f'the {self.recommended} SVM')}."
        if not isfinite(expected.value):
            return ""
        n = expected.n_rows - (self.n_held_out if self.by == "search" else 0)
        unseen = "out of fold" if self.by == "search" else "that the judged models had not seen"
        rows = [f"{n} training rows {unseen}"] * (n > 0) + [f"{self.n_held_out} held-out rows"] * (self.by == "search")
        covers = f". The interval covers {expected.covers}" if expected.known else ""
        return f"On new rows {expectation(expected, f'the {self.recommended} SVM')}, as judged by {' and '.join(rows)}{covers}."

    @property
    def warnings(self) -> tuple[str, ...]:
        """Further warnings, one sentence each."""
        return (*self._contradiction(), *self._replacement(), *self._better_rivals())

    def _contradiction(self) -> Iterator[str]:
        out_of_fold = self.expected.out_of_fold
        error = sqrt(self.expected.out_of_fold_error**2 + self.held_out_error**2)
        apart = abs(self.held_out - out_of_fold) / error if error > 0 else nan
        if not apart > _CONTRADICTORY:
            return
        unit = ScoreUnit(self.metric)
        why = {
            "random": "They were drawn at random, so this is chance"
            + (", or the choice suits the training rows better than new ones." if self.held_out < out_of_fold else "."),
            "groups": "This is chance, or the groups held out differ from the others.",
            "time": "This is chance, or the later rows differ from the earlier ones.",
        }[self.held_out_by]
        yield (
            f"The {self.n_held_out} held-out rows have {unit.title} {score_text(unit.value(self.held_out))}, and the training "
            f"rows out of fold {score_text(unit.value(out_of_fold))}: {apart:.1f} standard errors apart. {why}"
        )

    def _replacement(self) -> Iterator[str]:
        if (old := self.replaced) is None:
            return
        ends = " and ".join(f"{name.rpartition('__')[2]} = {value:.4g}" for name, value in old.ends.items())
        yield (
            f"The search chose trial {old.number}, with {ends} at the end of the range; it was replaced by the best trial within "
            "all ranges that is better than the default SVM and scores the same but for the noise of the folds."
        )

    def _better_rivals(self) -> Iterator[str]:
        unit = ScoreUnit(self.metric)
        for rival in self.rivals:
            if rival.code != CONSTANT and rival.difference.side < 0:
                name = rival.name[0].upper() + rival.name[1:]
                theirs, own = (score_text(unit.value(score)) for score in (rival.held_out, self.held_out))
                yield (
                    f"{name} is better than the recommended SVM on the same held-out rows: {unit.title} {theirs} in place of "
                    f"{own} (difference of the SVM {_by(rival.difference)})."
                )

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON types, with None in place of nan, and the sentences."""
        found: dict[str, Any] = nan_to_none(asdict(self))
        return found | {"sentence": self.sentence, "expectation": self.expectation, "warnings": list(self.warnings)}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Verdict:
        """Create a Verdict from the result of `to_dict`.

        Raises
        ------
        ArgumentError
            If an entry is missing.
        """
        names = [f.name for f in fields(cls)]
        if missing := [name for name in names if name not in found]:
            raise ArgumentError(f"found has no {missing[0]!r}; pass the result of Verdict.to_dict()")
        kept = ("number", "params")  # None does not stand for nan there
        values = {name: found[name] if name in kept else none_to_nan(found[name]) for name in names}
        for name in ("gain", "difference"):
            values[name] = Difference.from_dict(found[name])
        values["expected"] = ExpectedScore.from_dict(found["expected"])
        values["replaced"] = None if found["replaced"] is None else Replaced(**found["replaced"])
        rivals = [none_to_nan(rival) | {"difference": Difference.from_dict(rival["difference"])} for rival in found["rivals"]]
        values["rivals"] = tuple(Rival(**rival) for rival in rivals)
        return cls(**values)


def _by(difference: Difference) -> str:
    """Return a difference for use in brackets."""
    interval = difference.interval_text(signed=True)
    return score_text(ScoreUnit(difference.metric).value(difference.value), signed=True) + (interval and f", {interval}")
