"""Send an outcome from a worker process as bytes that always can be read."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import cloudpickle

from spotsvm.evaluation import Outcome

# a reply that fits a pipe's buffer is written whole, or, by a worker that is killed, not at all
_LARGEST_ERROR = 8192


def packed(outcome: Outcome) -> bytes:
    """Give an outcome as bytes; its error apart, for an error can raise when it is pickled or unpickled.

    Examples
    --------
    >>> unpacked(packed(Outcome("ok", 0.5, {"time": 2.0})))
    Outcome(state='ok', value=0.5, extra={'time': 2.0}, reason='', seconds=None, error=None, values=None, lost=False)
    """
    values = _plain(outcome.values) if isinstance(outcome.values, Mapping) else outcome.values
    sent = replace(outcome, extra={}, error=None, values=None)
    return pickle.dumps((sent, _plain(outcome.extra), values, _packed_error(outcome.error)))


def _plain(named: Mapping[str, float]) -> dict[str, float]:
    """Give named numbers by names that are strings and no more: a name of another type need not unpickle."""
    return {str.__str__(name) if isinstance(name, str) else repr(name): float(number) for name, number in named.items()}


def _packed_error(error: BaseException | None) -> bytes:
    if error is None:
        return b""
    try:
        sent = cloudpickle.dumps(error)
        pickle.loads(sent)
    except BaseException:  # what an error of the user's raises when it is pickled can be anything
        return b"?"
    return sent if len(sent) <= _LARGEST_ERROR else b"?"


def unpacked(sent: bytes) -> Outcome:
    """Give the outcome that `packed` made bytes of; an error that cannot be read here becomes a RuntimeError of its text."""
    read: tuple[Outcome, dict[str, float], Any, bytes] = pickle.loads(sent)
    outcome, extra, values, error_sent = read
    outcome = replace(outcome, extra=extra, values=values)
    if not error_sent:
        return outcome
    try:
        error = pickle.loads(error_sent)
    except Exception:
        error = None
    return replace(outcome, error=error if isinstance(error, BaseException) else RuntimeError(outcome.reason))
