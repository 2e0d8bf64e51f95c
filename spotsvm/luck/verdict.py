"""Whether tuning has helped, which model is recommended, and how other models compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from math import isfinite, nan, sqrt
from typing import Any, Literal

from scipy.stats import norm

from spotsvm.common.json_values import nan_to_none, none_to_nan, plain
from spotsvm.errors import ArgumentError
from spotsvm.luck.difference import Difference, TuningGain
from spotsvm.luck.drawn import Kind
from spotsvm.luck.estimate import ExpectedScore, score_text
from spotsvm.luck.sentences import Decision, expectation, gain_words, rows_words
from spotsvm.trials.metrics import ScoreUnit

#: how rows were held out
HeldOut = Literal["random", "groups", "time"]
CONSTANT, LINEAR, FOREST = "constant", "linear", "forest"
PLS, DISCRIMINANT, TUNED = "pls", "lda", "tuned_svm"
#: two scores are contradictory if they differ by more than this many standard errors
_CONTRADICTORY = 2.0


@dataclass(frozen=True)
class Rival:
    """Another model on the same held-out rows: a constant, a linear model, a random forest, or one for spectra.

    `difference` is the recommended model's score less its, for the constant beside an SVM over all kinds of rows; `out_of_fold`
    and `expected` are nan if it was scored on held-out rows alone, `on_folds` if there was no search.
    """

    code: str
    name: str
    held_out: float
    error: float
    difference: Difference
    seconds: float
    out_of_fold: float = nan
    expected: float = nan
    on_folds: float = nan

    @property
    def standing(self) -> Literal["better", "level", "worse", "unknown"]:
        """How this model compares with the recommended one, by the interval of their difference."""
        if not self.difference.known:
            return "unknown"
        if self.difference.side:
            return "worse" if self.difference.side > 0 else "better"
        return "level"


@dataclass(frozen=True)
class Replaced:
    """The trial that the search chose, with values at the `ends` of their ranges; another trial was compared instead."""

    number: int
    ends: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """Whether tuning has helped, with all that commands and pages show about it; for scores larger is better.

    `number` is None if the recommended model is no trial; `replaced` is the search's choice if another trial was compared.
    `rival` is the code of the rival recommended in place of `recommended`, `of_rival` its score, `over_svm` its lead, held out.
    """

    metric: str
    gain: TuningGain
    recommended: Literal["tuned", "default"]
    number: int | None
    params: Mapping[str, Any]
    default: ExpectedScore
    tuned: ExpectedScore
    compares: bool = True
    default_on_folds: float = nan
    tuned_on_folds: float = nan
    n_better: int = 0
    n_candidates: int = 0
    held_out_by: HeldOut = "random"
    replaced: Replaced | None = None
    rivals: tuple[Rival, ...] = ()
    by: Literal["search", "average"] = "search"
    rival: str = ""
    of_rival: ExpectedScore | None = None
    over_svm: Difference | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", plain(self.params))

    @property
    def decision(self) -> Decision:
        """Whether the tuned model is better; "no difference seen" if none can be seen."""
        return self.gain.decision if self.compares else "did not help"

    @property
    def expected(self) -> ExpectedScore:
        """The score to expect of the recommended model on new rows."""
        return self.of_svm if self.of_rival is None else self.of_rival

    @property
    def of_svm(self) -> ExpectedScore:
        """The score to expect of the better SVM on new rows."""
        return self.tuned if self.recommended == "tuned" else self.default

    @property
    def recommended_name(self) -> str:
        """The name of the recommended model."""
        svm = f"the {self.recommended} SVM"
        return next((rival.name for rival in self.rivals if rival.code == self.rival), svm) if self.rival else svm

    @property
    def n_held_out(self) -> int:
        """Number of held-out rows."""
        return self.gain.rows.get("held out", 0)

    @property
    def constant(self) -> Rival | None:
        """The constant among the rivals."""
        return next((rival for rival in self.rivals if rival.code == CONSTANT), None)

    @property
    def sentence(self) -> str:
        """The decision with its numbers, how other models compare, and which model is recommended."""
        return " ".join([f"{self._decided()}{self._beside_rivals()}.", *self._recommended(), *self._beside_constant()])

    def _decided(self) -> str:
        if not self.compares:
            return "Tuning did not help: no candidate scores better than the default SVM on the folds"
        return gain_words(self.gain, self.gain.counted_rows)

    def _beside_rivals(self) -> str:
        """Return the other models that are level with the recommended one or better, as a part of a sentence."""
        unit = ScoreUnit(self.metric)
        found = []
        for standing, words in (("better", "better"), ("level", "level with it")):
            some = [rival for rival in self.rivals if rival.code not in (CONSTANT, self.rival) and rival.standing == standing]
            names = " and ".join(f"{rival.name} ({score_text(unit.value(rival.held_out))})" for rival in some)
            found += [f"{names} {'is' if len(some) == 1 else 'are'} {words}"] if some else []
        if not found:
            return ""
        own = score_text(unit.value(self.expected.held_out))
        return (
            f"; on the {rows_words({'held out': self.n_held_out})}, where {self.recommended_name} has {unit.title} {own}, "
            f"{' and '.join(found)}"
        )

    def _recommended(self) -> Iterator[str]:
        better = [rival.name for rival in self.rivals if rival.code != CONSTANT and rival.standing == "better"]
        if self.rival:
            yield from self._rival_recommended(better)
        elif better:
            yield f"Of the SVMs the {self.recommended} one is recommended, but {' or '.join(better)} is the better choice here."
        elif self.decision == "did not help":
            yield "Keep the default SVM."
        elif self.decision == "no difference seen":
            why = {
                "tuned": "it has the better score on these rows, which may be chance",
                "default": "it is simpler, and no worse on these rows",
            }[self.recommended]
            yield f"The {self.recommended} SVM is recommended: {why}."

    def _rival_recommended(self, better: list[str]) -> Iterator[str]:
        """Yield why a rival is recommended, beside the better SVM."""
        unit = ScoreUnit(self.metric)
        own, svm = (score_text(unit.value(score.value)) for score in (self.expected, self.of_svm))
        but = f", but on the held-out rows {' or '.join(better)} is better" if better else ""
        yield (
            f"Recommended in place of the SVM is {self.recommended_name}: its {unit.title} on rows that the judged models had "
            f"not seen is {own}, that of the {self.recommended} SVM {svm}{but}."
        )

    def _beside_constant(self) -> Iterator[str]:
        rival = self.constant
        if rival is None or rival.standing in ("worse", "unknown"):
            return
        if rival.difference.value <= 0:
            yield f"{_capital(self.recommended_name)} is no better than {rival.name} ({self._of_constant(rival)})."
        else:
            yield f"{_capital(self.recommended_name)} cannot be distinguished from {rival.name} ({self._of_constant(rival)})."

    def _of_constant(self, rival: Rival) -> str:
        return f"{ScoreUnit(self.metric).title} less that of the constant is {rival.difference.text(signed=True)}"

    @property
    def expectation(self) -> str:
        """The score to expect on new rows, in a sentence; empty if it is unknown."""
        expected = self.expected
        if expected.too_few:
            return f"On new rows {expectation(expected, self.recommended_name)}."
        if not isfinite(expected.value):
            return ""
        held = isfinite(expected.held_out) and isfinite(expected.held_out_error)
        training = isfinite(expected.out_of_fold) and isfinite(expected.out_of_fold_error)
        rows = {kind: n for kind, n in self.gain.rows.items() if (held if kind == "held out" else training)} or self.gain.rows
        covers = f" The interval covers {expected.covers}." if expected.known else ""
        return f"On new rows {expectation(expected, self.recommended_name)}, as judged by {rows_words(rows)}.{covers}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Further warnings, one sentence each."""
        return (*self._contradiction(), *self._replacement())

    def _contradiction(self) -> Iterator[str]:
        expected = self.expected
        error = sqrt(expected.out_of_fold_error**2 + expected.held_out_error**2)
        apart = abs(expected.held_out - expected.out_of_fold) / error if error > 0 else nan
        if not apart > _CONTRADICTORY:
            return
        unit = ScoreUnit(self.metric)
        rows: dict[Kind, int] = {kind: n for kind, n in self.gain.rows.items() if kind != "held out"}
        held, training = (score_text(unit.value(score)) for score in (expected.held_out, expected.out_of_fold))
        may = {
            "random": "",
            "groups": ", and the groups held out may differ from the others",
            "time": ", and the later rows may differ from the earlier ones",
        }[self.held_out_by]
        yield (
            f"The {self.n_held_out} held-out rows have {unit.title} {held}, and the {rows_words(rows)} {training}: {apart:.1f} "
            f"standard errors apart. Chance alone sets rows so far apart in {200 * float(norm.sf(apart)):.2g} % of tables{may}."
        )

    def _replacement(self) -> Iterator[str]:
        if (old := self.replaced) is None:
            return
        ends = " and ".join(f"{name.rpartition('__')[2]} = {value:.4g}" for name, value in old.ends.items())
        yield (
            f"The search chose trial {old.number}, with {ends} at the end of the range; it was replaced by the best trial within "
            "all ranges that is better than the default SVM and scores the same but for the noise of the folds."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON types, with None in place of nan, and the decision and the sentences."""
        found: dict[str, Any] = nan_to_none(asdict(self))
        words = {"sentence": self.sentence, "expectation": self.expectation, "warnings": list(self.warnings)}
        return found | {"decision": self.decision} | words

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Verdict:
        """Create a Verdict from the result of `to_dict`; ArgumentError if an entry is missing."""
        names = [f.name for f in fields(cls)]
        found = {"rival": "", "of_rival": None, "over_svm": None} | dict(found)  # what 0.2.0 did not have
        if missing := [name for name in names if name not in found]:
            raise ArgumentError(f"found has no {missing[0]!r}; pass the result of Verdict.to_dict()")
        kept = ("number", "params")  # None does not stand for nan there
        values = {name: found[name] if name in kept else none_to_nan(found[name]) for name in names}
        values["gain"] = TuningGain.from_dict(found["gain"])
        for name in ("default", "tuned"):
            values[name] = ExpectedScore.from_dict(found[name])
        values["replaced"] = None if found["replaced"] is None else Replaced(**found["replaced"])
        rivals = [none_to_nan(rival) | {"difference": Difference.from_dict(rival["difference"])} for rival in found["rivals"]]
        values["rivals"] = tuple(Rival(**rival) for rival in rivals)
        values["of_rival"] = None if found["of_rival"] is None else ExpectedScore.from_dict(found["of_rival"])
        values["over_svm"] = None if found["over_svm"] is None else Difference.from_dict(found["over_svm"])
        return cls(**values)


def _capital(name: str) -> str:
    """Return a name as the beginning of a sentence."""
    return name[:1].upper() + name[1:]
