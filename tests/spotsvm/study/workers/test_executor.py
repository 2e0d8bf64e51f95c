import os
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import cloudpickle
import loky
import numpy as np
import pytest
import threadpoolctl
from completed_trials import all_completed, becomes, evaluated
from sklearn.svm import SVC

from spotsvm.errors import ArgumentError, WorkersError
from spotsvm.study.workers import executor as on_executor
from spotsvm.study.workers.executor import OnExecutor

KINDS = [ThreadPoolExecutor, ProcessPoolExecutor]


def test_what_cannot_be_pickled_will_do_in_threads_and_fails_its_trial_in_processes():
    lock = threading.Lock()
    with ThreadPoolExecutor(1) as executor, OnExecutor(lambda params: lock.locked(), executor, 1) as workers:
        assert evaluated(workers, {"lock": lock})[0].value == 0.0
    with ProcessPoolExecutor(1) as executor, OnExecutor(lambda params: params["x"], executor, 1) as workers:
        outcomes = evaluated(workers, {"x": lock}, {"x": 2})
        assert [o.state for o in outcomes] == ["failed", "ok"]
        assert "TypeError: cannot pickle" in outcomes[0].reason


class AnotherMachine(Executor):
    """One worker, which sees no file of ours; it counts what it is sent."""

    def __init__(self):
        self.process, self.sizes = ProcessPoolExecutor(1, initializer=see_no_folder), []

    def submit(self, function, *args):
        self.sizes.append(len(cloudpickle.dumps(args)))
        return self.process.submit(function, *args)


def see_no_folder():
    import spotsvm.study.workers.executor as module

    class NoFolder:
        def __init__(self, *parts):
            pass

        def __truediv__(self, other):
            return self

        def read_bytes(self):
            raise FileNotFoundError

        touch = read_bytes

    module.Path = NoFolder


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the worker is a fork, which changes what it sees")
def test_another_machine_gets_the_objective_inline_once_and_a_trial_is_timed_from_when_it_is_first_in_line(monkeypatch):
    data = np.arange(100_000.0)
    executor = AnotherMachine()
    with executor.process, OnExecutor(lambda params: data[params["x"]], executor, 1, 30.0) as workers:
        for x in range(5):
            assert evaluated(workers, {"x": x})[0].value == x
    assert [size > 800_000 for size in executor.sizes] == [False, True, False, False, False, False]
    assert max(size for size in executor.sizes if size < 800_000) < 2000
    monkeypatch.setattr(on_executor, "_START", 0.3)
    executor = AnotherMachine()
    with executor.process, OnExecutor(lambda params: time.sleep(params["nap"]) or 1.0, executor, 1, 1.0) as workers:
        assert [o.state for o in evaluated(workers, {"nap": 0.0}, {"nap": 1.6})] == ["ok", "timeout"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_late_trial_is_given_up_and_its_worker_does_not_count_until_it_returns(kind, tmp_path):
    def objective(params):
        assert params["x"] != 1 or becomes((tmp_path / "release").exists)
        return params["x"]

    with kind(2) as executor, OnExecutor(objective, executor, 2, 0.8) as workers:
        outcomes = evaluated(workers, *({"x": x} for x in range(4)))
        assert [o.state for o in outcomes] == ["ok", "timeout", "ok", "ok"]
        assert (outcomes[1].reason, outcomes[1].seconds) == ("it took longer than trial_timeout=0.8 s", 0.8)
        assert workers.n_workers == 1
        (tmp_path / "release").touch()
        assert becomes(lambda: workers.n_workers == 2)
        assert evaluated(workers, {"x": 7})[0].value == 7.0


def test_a_trial_has_its_own_time_under_the_same_number_and_is_late_even_if_nobody_looked():
    def objective(params):
        time.sleep(0.3)
        return 1.0

    with ProcessPoolExecutor(1) as executor, OnExecutor(objective, executor, 1, 0.9) as workers:
        for _ in range(4):
            workers.submit(7, {})
            assert workers.wait()[0][1].state == "ok"
    ended = threading.Event()
    with (
        ThreadPoolExecutor(1) as executor,
        OnExecutor(lambda params: objective(params) and ended.set(), executor, 1, 0.2) as workers,
    ):
        workers.submit(0, {})
        assert ended.wait(60)
        assert [o.state for _, o in workers.wait()] == ["timeout"]
        assert becomes(lambda: workers.n_workers == 1)


def test_if_all_workers_are_stuck_it_is_said():
    release = threading.Event()
    try:
        with ThreadPoolExecutor(2) as executor, OnExecutor(lambda params: release.wait(30), executor, 2, 0.2) as workers:
            for key in range(3):
                workers.submit(key, {})
            assert [o.state for _, o in all_completed(workers, 2)] == ["timeout"] * 2
            assert workers.n_workers == 0
            with pytest.raises(WorkersError, match=r"all 2 workers of the executor are stuck in trials past trial_timeout=0.2 s"):
                workers.wait()
            release.set()
    finally:
        release.set()


@pytest.mark.parametrize("kind", [ProcessPoolExecutor, loky.ProcessPoolExecutor])
def test_a_broken_pool_loses_what_was_in_flight_and_then_says_so(kind):
    def objective(params):
        if params["x"] == 1:
            os._exit(1)
        time.sleep(params["x"])
        return 1.0

    with kind(2) as executor, OnExecutor(objective, executor, 2) as workers:
        assert evaluated(workers, {"x": 0})[0].state == "ok"
        for key, x in ((0, 20), (1, 1)):
            workers.submit(key, {"x": x})
        outcomes = dict(all_completed(workers, 2))
        assert [(o.state, o.lost) for o in outcomes.values()] == [("failed", True)] * 2
        assert "a worker process died, and broke the executor: " in outcomes[1].reason
        for _ in range(2):
            with pytest.raises(WorkersError, match=r"the executor takes no more trials \(.*\); continue with a new one"):
                workers.submit(2, {"x": 0})
        assert workers.wait() == []


def test_an_executor_that_is_closed_is_said():
    executor = ThreadPoolExecutor(1)
    release = threading.Event()
    with OnExecutor(lambda params: release.wait(10), executor, 1) as workers:
        workers.submit(0, {})
        workers.submit(1, {})
        executor.shutdown(wait=False, cancel_futures=True)
        release.set()
        outcomes = dict(all_completed(workers, 2))
        assert (outcomes[0].state, outcomes[1].lost, outcomes[1].reason) == ("ok", True, "it was cancelled: CancelledError: ")
        with pytest.raises(WorkersError, match="takes no more trials"):
            workers.submit(2, {})
    with (
        OnExecutor(lambda params: 1.0, executor, 1) as workers,
        pytest.raises(WorkersError, match="cannot schedule new futures after shutdown"),
    ):
        workers.submit(0, {})


@pytest.mark.parametrize("kind", KINDS)
def test_workers_run_on_one_thread(kind):
    loads_libraries = SVC

    def objective(params):
        assert loads_libraries
        return max(pool["num_threads"] for pool in threadpoolctl.threadpool_info())

    def threads():
        return {pool["filepath"]: pool["num_threads"] for pool in threadpoolctl.threadpool_info()}

    with threadpoolctl.threadpool_limits(2), kind(1) as executor:
        before = threads()
        with OnExecutor(objective, executor, 1) as workers:
            assert [o.value for o in evaluated(workers, *[{}] * 2)] == [1.0] * 2
        assert set(before.values()) == {2}
        assert threads().items() >= before.items()  # a library may have been loaded meanwhile


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory limits are held on Linux only")
def test_a_limit_to_memory_is_refused_in_threads():
    said = "memory_limit=200 MB cannot be enforced in threads, which share their memory; use executor=None or 'loky'"
    with ThreadPoolExecutor(1) as executor, pytest.raises(ArgumentError, match=said):
        OnExecutor(abs, executor, 1, memory_limit="200MB")

    class OtherThreads(Executor):
        def submit(self, function, *args):
            future = Future()
            future.set_result(function(*args))
            return future

    with OnExecutor(abs, OtherThreads(), 1, memory_limit="200MB") as workers:
        workers.submit(0, {})
        with pytest.raises(ArgumentError, match=said):
            workers.wait()
