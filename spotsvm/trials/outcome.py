"""Outcomes of evaluations: their values, or why they failed."""

from __future__ import annotations

import math
import pickle
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from spotsvm.common.json_values import plain_number
from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError
from spotsvm.trials.trial import Evaluated

#: what is wrong with what an objective returned: a code, of which `reason` is the sentence
Fault = Literal[
    "", "nothing", "no number", "not finite", "no sweep", "other values", "other sweep", "no bounded number", "too many answers"
]  # fmt: skip
#: faults of the program rather than of one trial: the study raises an ArgumentError once the trial is recorded as failed
OF_THE_PROGRAM: tuple[Fault, ...] = ("nothing", "other values", "other sweep", "no bounded number", "too many answers")


#: bytes of the answers of a trial, those of all values in its sweep together
MOST_ANSWERS = 2**28


@dataclass(frozen=True)
class Outcome(Evaluated):
    """The outcome of one evaluation: the fields of a Trial that it gives, and what is needed until it is told.

    `named` has values by objective, before they are judged; `sweep` swept values (of a list, indices) with their outcomes. `lost`
    says that the worker died, so that another may succeed. `error` is not recorded.
    """

    error: BaseException | None = field(default=None, metadata={"recorded": False})
    lost: bool = False
    sweep: tuple[tuple[float, Outcome], ...] = ()
    named: Mapping[str, float] = field(default_factory=dict)
    fault: Fault = ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle; an error that cannot be unpickled, and so would break the pool, is replaced by its text."""
        cells = {one.name: getattr(self, one.name) for one in fields(self)}
        try:
            pickle.loads(pickle.dumps(self.error))
        except Exception:  # a user's error can raise anything when it is pickled
            cells["error"] = RuntimeError(self.reason)
        return _outcome, (cells,)


def _outcome(cells: dict[str, Any]) -> Outcome:
    return Outcome(**cells)


def failed_by(error: BaseException, seconds: float | None = None) -> Outcome:
    """Return the outcome of an evaluation that raised an error."""
    return Outcome(
        "failed", reason=reason_of(error), seconds=seconds, error=error, traceback=traceback_of(error),
        error_type=type(error).__name__,
    )  # fmt: skip


def timed_out(timeout: float | None) -> Outcome:
    """Return the outcome of a trial that exceeded its time."""
    return Outcome("timeout", reason=f"it took longer than trial_timeout={timeout:g} s", seconds=timeout)


def reason_of(error: BaseException) -> str:
    """Return in one line what was raised and where."""
    try:
        text = one_line(str(error))
    except Exception:  # an error whose text cannot be computed
        text = ""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {text[:500]}{where}"


#: number of first and last characters of a traceback that are kept
_FIRST, _LAST = 1000, 2990


def traceback_of(error: BaseException) -> str:
    """Return the traceback of an error from the objective on, as text valid in UTF-8; a long text is cut in the middle."""
    began = error.__traceback__
    try:
        text = "".join(traceback.format_exception(type(error), error, began.tb_next if began and began.tb_next else began))
    except Exception:  # a source file or an error that cannot be read
        return ""
    text = text.strip().encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= _FIRST + _LAST else f"{text[:_FIRST]}\n...\n{text[-_LAST:]}"


def one_line(text: str) -> str:
    """Return text as one line that can be written as UTF-8, unlike some file names in error messages."""
    return " ".join(text.split()).encode("utf-8", "backslashreplace").decode("utf-8")


def checked_seconds(seconds: Any) -> float | None:
    """Return the seconds that an evaluation took as a float or None; ArgumentError if they are not a time."""
    if seconds is None:
        return None
    number = None if isinstance(seconds, bool | np.bool_) else plain_number(seconds)
    if number is None or not 0.0 <= number < math.inf:
        raise ArgumentError(f"seconds={shown_value(seconds)} is not a time; use a finite number of at least 0, or None")
    return number
