"""What runs in a worker of an executor, for each trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spotsvm.evaluation import Outcome, reason_of
from spotsvm.workers.one_thread import hold_process_to_one_thread, one_thread
from spotsvm.workers.sent_outcome import packed, unpacked
from spotsvm.workers.shared_objective import Token, find, shared_here, tell_begin
from spotsvm.workers.worker_process import call_to_the_end


@dataclass(frozen=True)
class Reply:
    """What a worker answers: the outcome, packed where it comes from another process; or why there is none.

    `lacks` is whether it cannot read the objective, and `trouble` what came of unpickling it.
    """

    outcome: Outcome | bytes = b""
    lacks: bool = False
    trouble: str = ""
    is_thread: bool = False

    def read(self) -> Outcome:
        """Give the outcome."""
        return unpacked(self.outcome) if isinstance(self.outcome, bytes) else self.outcome


def run_trial(
    token: Token, ticket: int | None, params: bytes | dict[str, Any], memory_limit: int | None, payload: bytes | None
) -> Reply:
    """Evaluate a trial in whatever this is: a thread of the process that asks, another process, another machine.

    Parameters
    ----------
    token : Token
        Of the objective.
    ticket : int or None
        By which the beginning is told; None where nobody asks.
    params : bytes or dict
        Its configuration, pickled; as it is where it cannot be.
    memory_limit : int or None
        Bytes that it may take beyond what the process has; not held in threads.
    payload : bytes or None
        The pickled objective, for a worker that could not read its file.
    """
    is_thread = shared_here(token) is not None
    if is_thread and memory_limit is not None:
        return Reply(is_thread=True)
    try:
        objective = find(token, payload)
    except BaseException as error:  # what an object of the user's raises when it is unpickled can be anything
        return Reply(trouble=reason_of(error))
    if objective is None:
        return Reply(lacks=True)
    if is_thread:
        with one_thread():
            tell_begin(token, ticket)
            return Reply(call_to_the_end(objective, params), is_thread=True)
    hold_process_to_one_thread()
    tell_begin(token, ticket)
    return Reply(packed(call_to_the_end(objective, params, memory_limit)))
