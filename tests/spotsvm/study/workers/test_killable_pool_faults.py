"""What a trial or the system can do to a worker process: always an outcome, never the end of the others."""

import ctypes
import os
import signal
import sys
import threading
import time

import pytest
from completed_trials import evaluated

from spotsvm import Study
from spotsvm.study.workers.killable_pool import KillablePool

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(os.name != "posix", reason="how a process died is told by its signal on POSIX only"),
]


def killed_by(name):
    return lambda: os.kill(os.getpid(), getattr(signal, name)) or time.sleep(60)


def raising(reduce):
    def do():
        raise type("Own", (Exception,), {"__reduce__": reduce})("mine")

    return do


FINE = {"do": lambda: time.sleep(0.02) or os.getpid()}
DEATHS = {
    "the worker process was killed by SIGSEGV, a crash in compiled code": lambda: ctypes.string_at(0),
    "the worker process ended with exit code 0": lambda: os._exit(0),
    "the worker process ended with exit code 255": lambda: os._exit(255),
    "the worker process was killed by SIGKILL, as the system does where memory runs out": killed_by("SIGKILL"),
    "the worker process was killed by SIGTERM": killed_by("SIGTERM"),
    "the worker process was killed by SIGABRT, a crash in compiled code": killed_by("SIGABRT"),
}


@pytest.fixture
def pool():
    with KillablePool(lambda params: params["do"](), 2, 60.0) as workers:
        yield workers


def test_processes_that_die_lose_their_own_trial_alone(pool):
    outcomes = evaluated(pool, *(params for do in DEATHS.values() for params in (FINE, {"do": do})), FINE)
    assert [(o.state, o.lost) for o in outcomes] == [("ok", False), ("failed", True)] * len(DEATHS) + [("ok", False)]
    assert [o.reason for o in outcomes if o.lost] == list(DEATHS)


@pytest.mark.parametrize(
    ("do", "reason"),
    [
        (lambda: sys.exit(3), "the objective left by sys.exit(3)"),
        (sys.exit, "the objective left by sys.exit()"),
        (lambda: signal.default_int_handler(2, None), "KeyboardInterrupt: "),
        (lambda: threading.Lock(), "the objective returned <unlocked _thread.lock object"),
        (raising(lambda self: 1 / 0), "Own: mine"),
        (raising(lambda self: (exec, ("raise RuntimeError('unpickled')",))), "Own: mine"),
        (lambda: (lambda f: f(f))(lambda f: f(f)), "RecursionError: maximum recursion depth exceeded"),
        (threading.Lock(), "TypeError: cannot pickle '_thread.lock' object"),
    ],
    ids=["exit 3", "exit", "interrupt", "result", "pickled", "unpickled", "deep", "parameters"],
)
def test_a_worker_outlives_what_can_be_caught(pool, do, reason):
    before, failed, after = (evaluated(pool, params)[0] for params in (FINE, {"do": do}, FINE))
    assert (failed.state, failed.lost) == ("failed", False)
    assert failed.reason.startswith(reason)
    assert isinstance(failed.error, Exception) or "returned" in failed.reason
    assert after.value == before.value


def test_a_worker_that_is_killed_from_outside_is_replaced(pool):
    first = int(evaluated(pool, FINE)[0].value)
    os.kill(first, signal.SIGKILL)
    time.sleep(0.05)
    outcomes = evaluated(pool, *[FINE] * 4)
    assert [outcome.state for outcome in outcomes] == ["ok"] * 4
    assert first not in {outcome.value for outcome in outcomes}


def test_a_worker_whose_children_hold_its_pipes_open_is_missed_all_the_same():
    def objective(params):
        if params["x"]:
            if os.fork() == 0:
                time.sleep(4)
                os._exit(0)
            os._exit(5)
        return 1.0

    with KillablePool(objective, 1) as workers:
        began = time.monotonic()
        outcomes = evaluated(workers, {"x": 1}, {"x": 0})
        assert [outcome.state for outcome in outcomes] == ["failed", "ok"]
        assert outcomes[0].reason == "the worker process ended with exit code 5"
        assert time.monotonic() - began < 4


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory limits are held on Linux only")
def test_memory_beyond_the_limit_fails_the_trial_and_the_worker_serves_the_next():
    import numpy as np

    own = np.zeros(10_000_000)  # what a worker loads is its own

    def objective(params):
        held = np.ones(int(params["MB"] * 1e6 / 8))
        return {"value": held[0] + own[0], "pid": os.getpid()}

    with KillablePool(objective, 1, memory_limit="60MB") as workers:
        outcomes = evaluated(workers, {"MB": 40}, {"MB": 75}, {"MB": 40}, {"MB": 75}, {"MB": 40})
    assert [outcome.state for outcome in outcomes] == ["ok", "failed", "ok", "failed", "ok"]
    assert outcomes[1].reason.startswith("it took more than memory_limit=60 MB: ")
    assert "MemoryError: Unable to allocate" in outcomes[1].reason
    assert not outcomes[1].lost
    assert len({outcome.extra["pid"] for outcome in outcomes if outcome.extra}) == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory limits are held on Linux only")
def test_a_worker_that_keeps_more_than_the_limit_is_replaced():
    kept = []

    def objective(params):
        kept.append(b"x" * 30_000_000)
        return os.getpid()

    with KillablePool(objective, 1, memory_limit="50MB") as workers:
        outcomes = evaluated(workers, *[{}] * 4)
    assert [outcome.state for outcome in outcomes] == ["ok"] * 4
    pids = [outcome.value for outcome in outcomes]
    assert pids[0] == pids[1] != pids[2] == pids[3]


@pytest.mark.parametrize("options", [{}, {"batch_size": 3}, {"retries": 1}])
def test_a_study_survives_what_kills_its_workers(options):
    def objective(params):
        time.sleep(0.02)
        if params["x"] in (2, 5):
            os._exit(3)
        return params["x"]

    study = Study({"x": list(range(8))}, "random", 0).run(objective, 8, "loky", n_jobs=2, **options)
    assert {t.params["x"]: t.state for t in study.trials} == {x: "failed" if x in (2, 5) else "ok" for x in range(8)}
    lost = {t.params["x"]: len(t.lost) for t in study.trials}
    assert lost == {x: 1 + options.get("retries", 0) if x in (2, 5) else 0 for x in range(8)}
