import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from completed_trials import becomes, evaluated, is_alive

from spotsvm import Study
from spotsvm.errors import WorkersError
from spotsvm.study.workers.killable_pool import KillablePool


def test_compiled_code_that_keeps_the_interpreter_to_itself_is_ended_and_the_pool_is_whole_again():
    def objective(params):
        if params["x"] == 1:
            ctypes.PyDLL(None).sleep(1000)
        return os.getpid()

    with KillablePool(objective, 2, 2.0) as workers:
        outcomes = evaluated(workers, {"x": 1}, {"x": 0}, {"x": 0})
        assert [outcome.state for outcome in outcomes] == ["timeout", "ok", "ok"]
        assert (outcomes[0].seconds, outcomes[0].lost) == (2.0, False)
        assert outcomes[0].reason == "it took longer than trial_timeout=2 s"
        assert outcomes[1].value == outcomes[2].value
        again = evaluated(workers, *[{"x": 0}] * 6)
        assert {outcome.state for outcome in again} == {"ok"}
        assert outcomes[1].value in {outcome.value for outcome in again}


def test_neither_a_trial_that_is_killed_nor_what_it_has_started_lives_on(tmp_path):
    def objective(params):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        pids.write_text(f"{child.pid} {os.getpid()}")
        child.wait()

    pids = tmp_path / "pids"
    with KillablePool(objective, 1, 2.0) as workers:
        assert evaluated(workers, {})[0].state == "timeout"
    assert becomes(lambda: not any(is_alive(int(pid)) for pid in pids.read_text().split()))


def test_workers_run_on_one_thread_also_in_libraries_that_are_loaded_later():
    def objective(params):
        import numba
        import sklearn.cluster  # noqa: F401
        import threadpoolctl

        pools = threadpoolctl.threadpool_info()
        kinds = {pool["user_api"] for pool in pools}
        return {"value": max(pool["num_threads"] for pool in pools), "kinds": len(kinds), "numba": numba.get_num_threads()}

    with KillablePool(objective) as workers:
        outcome = evaluated(workers, {})[0]
    assert (outcome.value, outcome.extra) == (1.0, {"kinds": 2.0, "numba": 1.0})


def test_a_worker_loads_no_library_that_the_objective_does_not_use():
    """All of scipy takes longer to load than the rest of a worker."""
    with KillablePool(lambda params: {"value": 1.0} | {name: name in sys.modules for name in ("scipy", "pandas")}) as workers:
        outcome = evaluated(workers, {})[0]
    assert outcome.extra == {"scipy": False, "pandas": False}


@pytest.mark.parametrize("size", [0, 30_000_000])
def test_no_thread_is_left_with_semaphores_or_with_what_it_was_sending(size):
    before, data = set(threading.enumerate()), bytes(size)
    with KillablePool(lambda p: len(data) + p["x"], 2) as workers:
        for key in range(2):
            workers.submit(key, {"x": key})
        if not size:
            assert len(workers.wait()) >= 1
    left = {thread.name for thread in set(threading.enumerate()) - before}
    assert not {name for name in left if "Feeder" in name or "Manager" in name or "_shut_down" in name}


def test_workers_that_die_again_and_again_as_they_start_end_it():
    class Deadly:
        def __reduce__(self):
            return os._exit, (7,)

        def __call__(self, params):
            return 1.0

    with KillablePool(Deadly(), 1) as workers:
        workers.submit(0, {})
        said = "worker processes died while they started, 3 times in a row: the worker process ended with exit code 7; try the"
        with pytest.raises(WorkersError, match=re.escape(said)):
            workers.wait()


# what a trial or the system can do to a worker process: always an outcome, never the end of the others
POSIX = pytest.mark.skipif(os.name != "posix", reason="how a process died is told by its signal on POSIX only")


def faults(test):
    return pytest.mark.faults(POSIX(test))


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


@faults
def test_processes_that_die_lose_their_own_trial_alone(pool):
    outcomes = evaluated(pool, *(params for do in DEATHS.values() for params in (FINE, {"do": do})), FINE)
    assert [(o.state, o.lost) for o in outcomes] == [("ok", False), ("failed", True)] * len(DEATHS) + [("ok", False)]
    assert [o.reason for o in outcomes if o.lost] == list(DEATHS)


CAUGHT = [
    (lambda: sys.exit(3), "the objective left by sys.exit(3)"),
    (sys.exit, "the objective left by sys.exit()"),
    (lambda: signal.default_int_handler(2, None), "KeyboardInterrupt: "),
    (lambda: threading.Lock(), "the objective returned <unlocked _thread.lock object"),
    (raising(lambda self: 1 / 0), "Own: mine"),
    (raising(lambda self: (exec, ("raise RuntimeError('unpickled')",))), "Own: mine"),
    (lambda: (lambda f: f(f))(lambda f: f(f)), "RecursionError: maximum recursion depth exceeded"),
    (threading.Lock(), "TypeError: cannot pickle '_thread.lock' object"),
]


@faults
def test_a_worker_outlives_what_can_be_caught(pool):
    before = evaluated(pool, FINE)[0]
    for do, reason in CAUGHT:
        failed, after = (evaluated(pool, params)[0] for params in ({"do": do}, FINE))
        assert (failed.state, failed.lost) == ("failed", False)
        assert failed.reason.startswith(reason)
        assert isinstance(failed.error, Exception) or "returned" in failed.reason
        assert after.value == before.value


@faults
def test_a_worker_that_is_killed_from_outside_is_replaced(pool):
    first = int(evaluated(pool, FINE)[0].value)
    os.kill(first, signal.SIGKILL)
    assert becomes(lambda: not is_alive(first))
    outcomes = evaluated(pool, *[FINE] * 4)
    assert [outcome.state for outcome in outcomes] == ["ok"] * 4
    assert first not in {outcome.value for outcome in outcomes}


@faults
def test_a_worker_whose_children_hold_its_pipes_open_is_missed_all_the_same(tmp_path):
    def objective(params):
        if params["x"]:
            if os.fork() == 0:
                becomes((tmp_path / "missed").exists)
                (tmp_path / "child").touch()
                os._exit(0)
            os._exit(5)
        return 1.0

    with KillablePool(objective, 1) as workers:
        outcomes = evaluated(workers, {"x": 1}, {"x": 0})
        assert [outcome.state for outcome in outcomes] == ["failed", "ok"]
        assert outcomes[0].reason == "the worker process ended with exit code 5"
        assert not (tmp_path / "child").exists()
        (tmp_path / "missed").touch()


@faults
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


@faults
@pytest.mark.parametrize("options", [{"batch_size": 3}, {"retries": 1}])
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
