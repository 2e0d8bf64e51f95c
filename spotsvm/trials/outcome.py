"""Outcomes of evaluations: their values, or why they failed."""

from __future__ import annotations

import json
import math
import numbers
import pickle
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.json_values import read_json
from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError
from spotsvm.trials.trial import Evaluated

#: what is wrong with what an objective returned: a code, of which `reason` is the sentence
Fault = Literal[
    "", "nothing", "no number", "not finite", "no sweep", "other values", "other sweep", "no bounded number", "too many answers"
]  # fmt: skip
#: faults of the program rather than of one trial: the study raises an ArgumentError once the trial is recorded as failed
OF_THE_PROGRAM: tuple[Fault, ...] = ("nothing", "other values", "other sweep", "no bounded number", "too many answers")


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


def as_float(value: Any) -> float | None:
    """Return a number of any kind as a float, infinite if it is too large; None if it is not a number.

    Times and time differences are none, as their number depends on their unit, and neither is a masked element.
    """
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind in ("m", "M") or np.ma.is_masked(value):
        return None
    if not isinstance(value, numbers.Real):
        try:
            value = value.item() if getattr(value, "shape", None) == () else None
        except (AttributeError, TypeError, ValueError):
            return None
        if not isinstance(value, numbers.Real):
            return None
    number: Any = value
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def checked_seconds(seconds: Any) -> float | None:
    """Return the seconds that an evaluation took as a float or None; ArgumentError if they are not a time."""
    if seconds is None:
        return None
    number = None if isinstance(seconds, bool | np.bool_) else as_float(seconds)
    if number is None or not 0.0 <= number < math.inf:
        raise ArgumentError(f"seconds={shown_value(seconds)} is not a time; use a finite number of at least 0, or None")
    return number


def as_attributes(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Return named values as a record returns them: arrays become lists, and values that it cannot store become text."""
    found = {}
    for name, value in given.items():
        try:
            found[str(name)] = read_json(json.dumps(value, default=_json_of))
        except (TypeError, ValueError, RecursionError):
            found[str(name)] = _text_of(value)
    return found


_LONGEST_ATTRIBUTE = 1000
#: bytes of the answers of a trial, those of all values in its sweep together
MOST_ANSWERS = 2**28


def as_answers(given: Any) -> NDArray[np.floating[Any]] | None:
    """Return a read-only copy of an array of numbers for rows, (n_rows, n_outputs); None for anything else."""
    if not isinstance(given, np.ndarray) or given.ndim not in (1, 2) or given.dtype.kind not in "fiub":
        return None
    kind = np.float32 if given.dtype in (np.float16, np.float32) else np.float64
    answers: NDArray[np.floating[Any]] = np.array(given[:, np.newaxis] if given.ndim == 1 else given, dtype=kind, order="C")
    answers.flags.writeable = False
    return answers


def _json_of(value: Any) -> Any:
    if hasattr(value, "tolist"):  # numpy's and pandas' numbers and arrays
        return value.tolist()
    return dict(value) if isinstance(value, Mapping) else _text_of(value)


def _text_of(value: Any) -> str:
    try:
        return repr(value)[:_LONGEST_ATTRIBUTE]
    except Exception:  # lists nested too deep have no repr, and a user's object may raise any error
        return f"a value of type {type(value).__name__}"
