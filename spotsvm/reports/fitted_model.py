"""What the methods section, the page and the notebook say of a fitted model, whichever class has tuned it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.common.text import counted
from spotsvm.luck.difference import TuningGain
from spotsvm.luck.drawn import Kind
from spotsvm.luck.draws import Unit
from spotsvm.luck.estimate import ExpectedScore
from spotsvm.luck.explanation import Explanation, NotExplained
from spotsvm.luck.sentences import rows_words
from spotsvm.trials.metrics import ScoreUnit

Array = NDArray[Any]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
_NUMBERS = {10: "ten"}


@dataclass(frozen=True, kw_only=True)
class JudgedAnswers:
    """The answers for judged rows of models that have not seen them, and the target: class codes, or numbers.

    `rows` are places in X. `ranks` (n, n_classes) are larger for more certain classes; the functions take a coverage.
    """

    rows: Rows
    target: Array
    weights: Floats  # in scores
    predicted: Array | None = None  # class codes
    ranks: Floats | None = None
    probabilities: Floats | None = None
    calibration_weights: Floats | None = None  # in the probabilities
    predictions: Floats | None = None
    confusion: pd.DataFrame | None = None
    sets: Callable[[float], NDArray[np.bool_]] | None = None
    half_length: Callable[[float], float] | None = None


@dataclass(frozen=True, kw_only=True)
class FittedModel:
    """The facts of a fitted model; what is None or empty is unknown, and is not told.

    `greedy` and `by_log_loss` say how an average weights its members. `fitted_on` and `weighted` are words for the rows and for
    what their weights count in. `default` is the score of what `default_is` names in the text and `default_short` in tables.
    """

    name: str
    is_fitted: bool = True
    classes: Array | None = None
    scoring: str = "score"
    score_title: str = "score"
    # the rows
    n_folds: int = 0
    whole_groups: bool = False
    drawn: Unit = "rows"
    n_judged: int = 0
    n_distinct: int | None = None  # different judged rows, if some are copies
    fitted_on: str = "all rows"
    weighted: str = ""
    prepares_columns: bool = True
    notices: tuple[str, ...] = ()
    # the model
    best_params: Mapping[str, Any] = field(default_factory=dict)
    chosen: Literal["best", "simplest", "given"] = "best"
    average: bool = False
    members: pd.DataFrame | None = None  # settings with a weight, largest weight first
    equal_members: Array | None = None  # a number for each member, the same for members with the same answers
    n_settings: int = 0  # that were scored
    n_competing: int = 0  # that an average chooses from
    greedy: bool = False
    by_log_loss: bool = False
    calibrated: bool = False
    class_weights: str = ""
    threshold: str = ""
    positive: int = 1  # code of the positive one of two classes
    complete: bool = True
    # the scores to expect
    expected: ExpectedScore | None = None
    default: ExpectedScore | None = None
    constant: ExpectedScore | None = None
    verdict: TuningGain | None = None
    default_is: str = ""
    default_short: str = ""
    # further parts of a page
    settings: pd.DataFrame | None = None
    about_settings: str = ""
    columns: pd.DataFrame | None = None
    relevance: pd.Series[float] | None = None
    code: str = ""
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    times: str = ""
    #: names of the rows of X on the page, and how they are counted
    row_names: Sequence[Any] | None = None
    rows_counted: str = "Rows of X are counted from 0."
    explanation: Explanation | NotExplained | None = None
    judged: Callable[[], JudgedAnswers | None] = lambda: None

    @property
    def classifies(self) -> bool:
        """Whether the model is a classifier."""
        return self.classes is not None

    @property
    def unit(self) -> ScoreUnit:
        """The unit of the scores."""
        return ScoreUnit(self.scoring)

    @property
    def rows(self) -> Mapping[Kind, int]:
        """The numbers of rows that the scores rest on, by kind."""
        if self.verdict is not None:
            return self.verdict.counted_rows
        return {"out of fold": self.n_judged if self.expected is None else self.expected.n_rows}

    @property
    def n_held_out(self) -> int:
        """Number of rows held out from the fit that count in the scores."""
        return 0 if self.verdict is None else self.verdict.rows.get("held out", 0)

    @property
    def judged_words(self) -> str:
        """The rows that the scores rest on, in words."""
        return f"{rows_words(self.rows)}{self.of_distinct}"

    @property
    def of_distinct(self) -> str:
        """The number of different judged rows, in words, if some are copies."""
        return "" if self.n_distinct in (None, self.n_judged) else f" ({self.n_distinct} of them different)"

    def members_words(self, noun: str) -> str:
        """Return the members of an average in words; the empty text for a single setting."""
        if not self.average or self.members is None:
            return ""
        pool = counted(self.n_settings, noun)
        if self.n_competing < self.n_settings:
            pool = f"the {_NUMBERS.get(self.n_competing, self.n_competing)} best {noun}s"
        n = len(self.members)
        return f"weighted average of {n} of {pool}" if n > 1 else f"one of {pool}" if self.n_settings > 1 else f"only {noun}"

    @property
    def constant_is(self) -> str:
        """The constant in words."""
        if not self.classifies:
            return "the mean"
        if self.unit.of_probabilities:
            return "the shares of the classes"
        # a threshold may make it another class than the most frequent one
        return "a constant" if self.threshold else "the most frequent class"

    @property
    def expected_scores(self) -> list[tuple[str, ExpectedScore]]:
        """The scores to expect of the model, of the default and of a constant, by their names in tables."""
        scores = [
            (self.name, self.expected),
            (self.default_short, self.default),
            (self.constant_is.removeprefix("the "), self.constant),
        ]
        return [(name, score) for name, score in scores if score is not None]
