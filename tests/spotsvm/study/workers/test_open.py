import math
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from completed_trials import becomes, in_order, is_alive

from spotsvm.errors import ArgumentError
from spotsvm.study.workers.executor import OnExecutor
from spotsvm.study.workers.killable_pool import KillablePool
from spotsvm.study.workers.open import checked_n_jobs, executor_size, open_workers
from spotsvm.study.workers.protocol import Here

LINUX_ONLY = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited on Linux only")


def objective(params):
    return params["x"]


@pytest.mark.parametrize(
    ("options", "kind", "n_workers"),
    [
        ({}, Here, 1),
        ({"n_jobs": 1}, Here, 1),
        ({"n_jobs": 2}, KillablePool, 2),
        ({"n_jobs": -1}, KillablePool if joblib.cpu_count() > 1 else Here, joblib.cpu_count()),
        ({"trial_timeout": 1.0}, KillablePool, 1),
        pytest.param({"memory_limit": "1GB"}, KillablePool, 1, marks=LINUX_ONLY),
        ({"executor": "threading", "n_jobs": 3}, OnExecutor, 3),
        ({"executor": "threading"}, OnExecutor, joblib.cpu_count()),
        ({"executor": "loky", "n_jobs": 1}, KillablePool, 1),
        ({"executor": "loky"}, KillablePool, joblib.cpu_count()),
    ],
)
def test_what_is_opened(options, kind, n_workers):
    with open_workers(objective, **options) as workers:
        assert type(workers) is kind
        assert workers.n_workers == n_workers


def test_the_users_executor_stays_open():
    with ThreadPoolExecutor(3) as executor:
        for n_jobs, n_workers in ((None, 3), (2, 2)):
            with open_workers(objective, executor, n_jobs=n_jobs) as workers:
                assert workers.n_workers == n_workers
                assert [o.value for o in in_order(workers, [{"x": x} for x in range(4)])] == [0, 1, 2, 3]
        assert executor.submit(abs, -1).result() == 1


@pytest.mark.parametrize("name", ["loky", "threading"])
def test_executors_by_name_are_closed_at_the_end_and_their_processes_killed(name):
    def nap(params):
        time.sleep(params["x"])
        return os.getpid()

    n_threads = threading.active_count()
    with open_workers(nap, name, n_jobs=2) as workers:
        pids = {int(o.value) for o in in_order(workers, [{"x": 0.05}] * 4)}
        assert (pids == {os.getpid()}) == (name == "threading")
        workers.submit(9, {"x": 0.5 if name == "threading" else 60})
        time.sleep(0.1)
    assert becomes(lambda: threading.active_count() <= n_threads)
    if name != "threading" and os.name == "posix":
        assert becomes(lambda: not any(map(is_alive, pids)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"executor": 7}, "executor=7 cannot evaluate trials; use 'loky', 'threading' or 'dask', a concurrent.futures.Executor"),
        ({"executor": "ray"}, "executor='ray' cannot evaluate trials; use 'loky', 'threading' or 'dask'"),
        ({"executor": ThreadPoolExecutor}, "executor=<class .*ThreadPoolExecutor'> cannot evaluate trials"),
        ({"objective": 0.5}, "objective=0.5 cannot be called; use a callable that takes the parameters"),
        ({"n_jobs": 0}, "n_jobs=0 is not a number of trials at once; use 1 or more, or -1"),
        *(({"n_jobs": n}, re.escape(f"n_jobs={n!r} is not a number")) for n in (math.inf, 1.5, "2", True, np.float64(2))),
        ({"memory_limit": -1}, "memory_limit=-1 is not an amount of memory"),
        ({"memory_limit": "much"}, "memory_limit='much' is not an amount of memory"),
        ({"executor": "threading", "memory_limit": "1GB"}, "memory_limit=1 GB cannot be enforced in threads"),
    ],
)
def test_bad_arguments_are_named_with_their_value(options, said):
    n_threads = threading.active_count()
    with pytest.raises(ArgumentError, match=said):
        open_workers(**{"objective": objective} | options)
    assert threading.active_count() == n_threads


def test_dask_is_not_loaded_to_find_out_that_it_is_not_asked_for():
    code = """
import sys
from concurrent.futures import ThreadPoolExecutor
from spotsvm.study.workers.open import open_workers
with ThreadPoolExecutor(1) as executor, open_workers(abs, executor):
    pass
with open_workers(abs):
    pass
assert not {"dask", "distributed", "loky"} & set(sys.modules), set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("n_jobs", [None, -100, -3, -2, -1, 1, 2, 7, np.int64(3)])
def test_negative_numbers_count_as_joblib_counts_them(n_jobs):
    with joblib.parallel_config("threading"):
        assert checked_n_jobs(n_jobs) == (None if n_jobs is None else joblib.effective_n_jobs(n_jobs))


def test_an_executor_tells_its_size_unless_it_is_said():
    class Mpi(Executor):
        num_workers = 12

    with ThreadPoolExecutor(5) as threads:
        assert executor_size(threads, None) == 5
        assert executor_size(threads, 2) == 2
    assert executor_size(Mpi(), None) == 12
    assert executor_size(Executor(), None) == joblib.cpu_count()


def test_a_run_that_ends_cancels_its_jobs():
    class Endless:
        cancelled = False

        def submit(self, function, *args):
            return self

        def done(self):
            return False

        def cancel(self):
            self.cancelled = True

    jobs = Endless()
    with open_workers(objective, jobs, n_jobs=1) as workers:
        workers.submit(0, {"x": 0.0})
        assert workers.wait(0.2) == []
    assert jobs.cancelled
