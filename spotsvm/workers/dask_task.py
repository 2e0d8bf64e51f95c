"""What a Dask worker does with a trial."""

from __future__ import annotations

import asyncio
import os
import pickle
import threading
import time
from collections import OrderedDict

from spotsvm.evaluation import Objective, Outcome, call, reason_of
from spotsvm.workers.memory_limit import limited_process, with_limit_named
from spotsvm.workers.one_thread import one_thread
from spotsvm.workers.protocol import packed

# a worker's messages leave in batches, one every 2 ms; an objective that holds the interpreter would keep them back
_SENT = 0.01


# the objectives of the studies that this process evaluates for; Dask drops copies of its data that no task waits for
_objectives: OrderedDict[str, Objective] = OrderedDict()
_keeping = threading.Lock()
_KEPT = 8


def evaluate(
    objective: Objective | None, study: str, params: bytes, number: int, topic: str | None, memory_limit: int | None
) -> bytes | None:
    """Evaluate one trial in this thread of a Dask worker; give its outcome as `packed` does, None if it has no objective.

    Parameters
    ----------
    objective : callable or None
        What to keep for the study; None is what is kept.
    study : str
        A name for it.
    params : bytes
        The configuration, pickled.
    number : int
        Number of the attempt, by which `topic` speaks of it.
    topic : str or None
        The topic to tell when the trial begins and ends; None tells nobody.
    memory_limit : int or None
        Bytes that the trial may take.
    """
    if objective is None:
        objective = _objectives.get(study)  # another thread may push it out at any moment
        if objective is None:
            return None
    with _keeping:
        _objectives[study] = objective
        _objectives.move_to_end(study)
        while len(_objectives) > _KEPT:
            _objectives.popitem(last=False)
    if topic is not None:
        from distributed import get_worker  # not above: without Dask too this file is imported, to say that it is missing
        from distributed.utils import sync

        worker = get_worker()

        async def tell() -> None:
            # the nanny can kill this process and start another, if there is one
            worker.log_event(topic, {"began": number, "pid": os.getpid(), "nanny": bool(worker.nanny)})
            await asyncio.sleep(_SENT)

        sync(worker.loop, tell)
    began = time.perf_counter()
    try:
        with one_thread():
            outcome = with_limit_named(call(objective, pickle.loads(params), limited_process(memory_limit)), memory_limit)
    except (SystemExit, KeyboardInterrupt) as error:  # either would end the worker
        outcome = Outcome("failed", reason=reason_of(error), seconds=time.perf_counter() - began)
    finally:
        if topic is not None:
            worker.log_event(topic, {"ended": number})
    return packed(outcome)


def forget(study: str) -> None:
    """Keep a study's objective no longer."""
    with _keeping:
        _objectives.pop(study, None)


def want_worker(number: int) -> None:
    """Do nothing: no worker can run it, and so an adaptive cluster sees that it is too small."""
