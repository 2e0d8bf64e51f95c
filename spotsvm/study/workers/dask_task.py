"""The tasks that run in a Dask worker."""

from __future__ import annotations

import asyncio
import os
import pickle
import threading
import time
from collections import OrderedDict

from spotsvm.study.workers.limits import limited_process, with_limit_named
from spotsvm.study.workers.one_thread import one_thread
from spotsvm.study.workers.protocol import packed
from spotsvm.trials.trial import Objective, Outcome, call, reason_of

# seconds: messages are sent in batches every 2 ms, and an objective that does not release the interpreter delays them
_SEND_TIME = 0.01

# the objectives of the studies that this process evaluates for; Dask drops copies of its data that no task waits for
_objectives: OrderedDict[str, Objective] = OrderedDict()
_lock = threading.Lock()
_MAX_OBJECTIVES = 8


def evaluate(
    objective: Objective | None, study: str, params: bytes, number: int, topic: str | None, memory_limit: int | None
) -> bytes | None:
    """Evaluate one trial in a thread of a Dask worker; return its outcome, `packed`, or None if it has no objective.

    The objective is stored for the study, so that later trials pass None. If a topic is given, the start and the end are
    reported on it, with the number of the attempt.
    """
    if objective is None:
        objective = _objectives.get(study)  # another thread may drop it at any moment
        if objective is None:
            return None
    with _lock:
        _objectives[study] = objective
        _objectives.move_to_end(study)
        while len(_objectives) > _MAX_OBJECTIVES:
            _objectives.popitem(last=False)
    if topic is not None:
        from distributed import get_worker  # not above: this file is also imported without Dask, for the error that it is missing
        from distributed.utils import sync

        worker = get_worker()

        async def report() -> None:
            # a nanny, if there is one, can kill this process and start another
            worker.log_event(topic, {"started": number, "pid": os.getpid(), "nanny": bool(worker.nanny)})
            await asyncio.sleep(_SEND_TIME)

        sync(worker.loop, report)
    began = time.perf_counter()
    try:
        with one_thread():
            outcome = with_limit_named(call(objective, pickle.loads(params), limited_process(memory_limit)), memory_limit)
    except (SystemExit, KeyboardInterrupt) as error:  # either would end the worker
        outcome = Outcome("failed", reason=reason_of(error), seconds=time.perf_counter() - began)
    finally:
        if topic is not None:
            worker.log_event(topic, {"completed": number})
    return packed(outcome)


def drop_objective(study: str) -> None:
    """Drop the objective of a study."""
    with _lock:
        _objectives.pop(study, None)


def placeholder(number: int) -> None:
    """Do nothing: no worker can run this task, which shows an adaptive cluster that it is too small."""
