import os
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from completed_trials import Unloadable, evaluated

from spotsvm import ArgumentError
from spotsvm.common.errors import WorkersError
from spotsvm.study.workers import killable_pool
from spotsvm.study.workers.killable_pool import KillablePool


def test_lambdas_and_closures_will_do_and_outcomes_come_as_they_end(tmp_path):
    factor = np.array([2.0])

    def objective(params):
        while params["x"] == 4 and not (tmp_path / "go").exists():
            time.sleep(0.01)
        return {"value": float(factor[0] * params["x"]), "pid": os.getpid()}

    with KillablePool(objective, 2, 60.0) as workers:
        assert workers.n_workers == 2
        assert workers.wait() == []
        workers.submit(4, {"x": 4})
        workers.submit(7, {"x": 7})
        assert workers.wait(0.0) == []
        first = workers.wait()
        (tmp_path / "go").touch()
        assert [(key, outcome.value) for key, outcome in first + workers.wait()] == [(7, 14.0), (4, 8.0)]
        outcomes = evaluated(workers, *({"x": x} for x in range(9)))
    assert [outcome.value for outcome in outcomes] == [2.0 * x for x in range(9)]
    pids = {outcome.extra["pid"] for outcome in outcomes}
    assert os.getpid() not in pids
    assert len(pids) <= 2


def test_compiled_code_that_keeps_the_interpreter_to_itself_is_ended_and_the_pool_is_whole_again():
    def objective(params):
        import ctypes

        if params["x"] == 1:
            ctypes.PyDLL(None).sleep(1000)
        time.sleep(0.3)
        return os.getpid()

    with KillablePool(objective, 2, 1.0) as workers:
        outcomes = evaluated(workers, {"x": 1}, {"x": 0}, {"x": 0})
        assert [outcome.state for outcome in outcomes] == ["timeout", "ok", "ok"]
        assert (outcomes[0].seconds, outcomes[0].lost) == (1.0, False)
        assert outcomes[0].reason == "it took longer than trial_timeout=1 s"
        assert outcomes[1].value == outcomes[2].value
        again = evaluated(workers, *[{"x": 0}] * 6)
        assert {outcome.state for outcome in again} == {"ok"}
        assert outcomes[1].value in {outcome.value for outcome in again}


def test_neither_a_trial_that_is_killed_nor_what_it_has_started_lives_on(tmp_path):
    def objective(params):
        path = tmp_path / "child"
        subprocess.Popen([sys.executable, "-c", f"import time; time.sleep(1.5); open({str(path)!r}, 'w')"])
        time.sleep(1.5)
        (tmp_path / "trial").touch()

    with KillablePool(objective, 1, 0.4) as workers:
        assert evaluated(workers, {})[0].state == "timeout"
    time.sleep(1.6)
    assert list(tmp_path.iterdir()) == []


def test_starting_and_loading_take_no_time_of_the_trial():
    class LoadsSlowly:
        def __setstate__(self, state):
            time.sleep(0.7)

        def __getstate__(self):
            return {"x": 1}

        def __call__(self, params):
            return params["x"]

    with KillablePool(LoadsSlowly(), 1, 0.5) as workers:
        assert [outcome.value for outcome in evaluated(workers, {"x": 1}, {"x": 2})] == [1.0, 2.0]


def test_data_are_sent_once_to_each_worker(tmp_path):
    pickled = []

    class Data:
        def __init__(self):
            self.rows = np.random.default_rng(0).random(1_000_000)

        def __getstate__(self):
            pickled.append(1)
            return {"rows": self.rows}

        def __setstate__(self, state):
            self.rows = state["rows"]
            with (tmp_path / "loads").open("a") as log:
                log.write(f"{os.getpid()}\n")

    data = Data()

    def objective(params):
        time.sleep(0.05)
        return {"value": data.rows[params["x"]], "pid": os.getpid()}

    with KillablePool(objective, 2) as workers:
        outcomes = evaluated(workers, *({"x": x} for x in range(20)))
    assert [outcome.value for outcome in outcomes] == data.rows[:20].tolist()
    loads = (tmp_path / "loads").read_text().split()
    assert sum(pickled) == 1
    assert len(loads) == len(set(loads)) <= 2
    assert {int(outcome.extra["pid"]) for outcome in outcomes} <= set(map(int, loads))


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


def test_what_is_abandoned_is_killed_and_what_has_ended_is_given(tmp_path):
    def objective(params):
        time.sleep(params["nap"])
        (tmp_path / str(params["nap"])).touch()
        return 1.0

    with KillablePool(objective, 2) as workers:
        for key, nap in enumerate((0.0, 1.5, 1.5, 1.5)):
            workers.submit(key, {"nap": nap})
        until = time.monotonic() + 20
        while not (tmp_path / "0.0").exists() and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.3)
        assert [(key, outcome.value) for key, outcome in workers.abandon()] == [(0, 1.0)]
        assert workers.wait() == []
        with pytest.raises(WorkersError, match="the workers are closed; open new ones"):
            workers.submit(9, {"nap": 0.0})
    time.sleep(1.3)
    assert not (tmp_path / "1.5").exists()


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


def test_an_objective_that_cannot_be_sent_or_loaded_is_named():
    lock = threading.Lock()
    said = "cannot be sent to a worker process: TypeError: cannot pickle '_thread.lock' object"
    with pytest.raises(ArgumentError, match=said):
        KillablePool(lambda params: lock)
    with KillablePool(Unloadable()) as workers:
        workers.submit(0, {})
        for _ in range(2):
            with pytest.raises(ArgumentError, match="cannot be loaded in a worker process: ImportError: no such library"):
                workers.wait()


@pytest.mark.parametrize("look", [0.001, 10.0])
def test_workers_that_die_again_and_again_as_they_start_end_it(look, monkeypatch):
    monkeypatch.setattr(killable_pool, "_CHECK_INTERVAL", look)

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
