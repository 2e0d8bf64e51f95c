import os
import signal
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

import pytest
from ended_trials import all_ended

from spotsvm import Study
from spotsvm.errors import WorkersError
from spotsvm.workers.named_workers import named_workers
from spotsvm.workers.reopened_executor import OnReopenedExecutor


def evaluated(workers, *xs):
    for key, x in enumerate(xs):
        workers.submit(key, {"x": x})
    ended = dict(all_ended(workers, len(xs)))
    assert workers.wait() == []
    return [ended[key] for key in range(len(xs))]


def dies_at(*fatal, log=None):
    def objective(params):
        if log is not None:
            with log.open("a") as file:
                file.write(f"{params['x']}\n")
        time.sleep(0.02)
        if params["x"] in fatal:
            os._exit(3)
        return params["x"]

    return objective


@pytest.mark.faults
def test_only_the_trial_that_a_process_died_of_is_lost(tmp_path):
    log = tmp_path / "calls"
    with named_workers(dies_at(2, 5, log=log), "multiprocessing", 3) as workers:
        outcomes = evaluated(workers, *range(8))
        assert workers.n_workers == 3
    assert [o.lost for o in outcomes] == [x in (2, 5) for x in range(8)]
    assert [o.value for o in outcomes] == [None if x in (2, 5) else x for x in range(8)]
    assert outcomes[2].reason.startswith("a worker process died, and broke the executor: ")
    calls = log.read_text().split()
    assert calls.count("2") == 2  # at first among others, then alone
    assert all(calls.count(str(x)) <= 2 for x in (0, 1, 3, 4, 6, 7))


@pytest.mark.faults
def test_a_trial_that_was_under_way_alone_is_lost_at_once(tmp_path):
    log = tmp_path / "calls"
    with named_workers(dies_at(1, log=log), "multiprocessing", 1) as workers:
        for x in range(3):
            workers.submit(x, {"x": x})
            ((key, outcome),) = workers.wait()
            assert (key, outcome.lost) == (x, x == 1)
    assert log.read_text().split() == ["0", "1", "2"]


@pytest.mark.faults
def test_a_lost_trial_that_comes_again_takes_no_other_with_it(tmp_path):
    log = tmp_path / "calls"
    with named_workers(dies_at(0, log=log), "multiprocessing", 2) as workers:
        workers.submit(0, {"x": 0})
        assert workers.wait()[0][1].lost
        for key, x in ((1, 1), (2, 2), (0, 0), (3, 3)):
            workers.submit(key, {"x": x})
        ended = dict(all_ended(workers, 4))
    assert [ended[key].lost for key in range(4)] == [True, False, False, False]
    assert sorted(log.read_text().split()) == ["0", "0", "1", "2", "3"]


@pytest.mark.faults
@pytest.mark.skipif(os.name != "posix", reason="processes are killed by a signal")
def test_a_process_that_dies_idle_costs_no_trial():
    with named_workers(lambda params: os.getpid(), "multiprocessing", 2) as workers:
        pid = int(evaluated(workers, 0)[0].value)
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.3)
        assert [o.state for o in evaluated(workers, 1, 2, 3)] == ["ok"] * 3


@pytest.mark.faults
def test_processes_that_are_all_stuck_are_killed_and_replaced():
    n_threads = threading.active_count()
    with named_workers(lambda params: time.sleep(params["x"]) or 1.0, "multiprocessing", 2, trial_timeout=0.5) as workers:
        outcomes = evaluated(workers, 60, 60, 0, 0)
    assert [o.state for o in outcomes] == ["timeout", "timeout", "ok", "ok"]
    assert threading.active_count() <= n_threads


class BrokenFromTheStart(Executor):
    def submit(self, *args):
        raise BrokenProcessPool("no process can be started")


def test_executors_that_never_take_a_trial_end_it():
    opened = []

    def make():
        opened.append(BrokenFromTheStart())
        return opened[-1]

    with OnReopenedExecutor(abs, make, 2) as workers:
        workers.submit(0, {})
        with pytest.raises(WorkersError, match=r"broke 3 times in a row with no trial under way \(BrokenProcessPool: no process"):
            workers.wait()
    assert len(opened) == 3


def test_it_comes_back_when_the_time_is_up_and_gives_up_what_is_under_way():
    with OnReopenedExecutor(lambda params: time.sleep(params["x"]) or 1.0, partial(ProcessPoolExecutor, 1), 1) as workers:
        workers.submit(0, {"x": 0})
        assert workers.wait()[0][1].value == 1.0
        workers.submit(1, {"x": 60})
        assert workers.wait(0.05) == []
        assert workers.abandon() == []
        assert workers.wait() == []


class Never(Executor):
    """Its trials never end, until it breaks."""

    def __init__(self):
        self.futures = []

    def submit(self, *args):
        self.futures.append(Future())
        return self.futures[-1]


def test_while_the_culprit_is_looked_for_one_trial_is_under_way():
    opened = []

    def make():
        opened.append(Never())
        return opened[-1]

    with OnReopenedExecutor(abs, make, 3) as workers:
        for key in range(3):
            workers.submit(key, {})
        assert workers.n_workers == 3
        for future in opened[0].futures:
            future.set_exception(BrokenProcessPool("died"))
        assert workers.wait(0.05) == []
        assert workers.n_workers == 1
        assert [len(executor.futures) for executor in opened] == [3, 1]


@pytest.mark.faults
@pytest.mark.parametrize("options", [{}, {"batch_size": 3}, {"retries": 1}])
@pytest.mark.parametrize("name", ["loky", "multiprocessing"])
def test_a_study_on_an_executor_by_name_survives_what_kills_its_processes(name, options):
    study = Study({"x": list(range(8))}, "random", 0).run(dies_at(2, 5), 8, name, n_jobs=2, **options)
    assert {t.params["x"]: t.state for t in study.trials} == {x: "failed" if x in (2, 5) else "ok" for x in range(8)}
    lost = {t.params["x"]: len(t.lost) for t in study.trials}
    assert lost == {x: 1 + options.get("retries", 0) if x in (2, 5) else 0 for x in range(8)}
