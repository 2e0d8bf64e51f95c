import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from completed_trials import SQUARE as SPACE
from completed_trials import bowl, facts

from spotsvm import Study
from spotsvm.errors import ArgumentError


def here_or_there():
    """Return an objective that worker processes need no module of the tests for."""
    return lambda params: {"value": (params["x"] - 0.3) ** 2, "pid": os.getpid()}


class Job:
    """A job that tells its state only when it is asked, as those of submitit."""

    def __init__(self, future):
        self._future = future

    def done(self):
        return self._future.done()

    def result(self):
        return self._future.result()

    def cancel(self):
        self._future.cancel()


class Cluster:
    """Has `submit`, and is no executor."""

    def __init__(self, pool):
        self._pool = pool

    def submit(self, function, *args):
        return Job(self._pool.submit(function, *args))


@pytest.mark.parametrize("batch_size", [None, 2])
def test_anything_with_submit_evaluates(batch_size):
    with ThreadPoolExecutor(2) as pool:
        study = Study(SPACE, "random", 0).run(bowl, 6, Cluster(pool), n_jobs=2, batch_size=batch_size)
    assert sorted(t.value for t in study.trials) == sorted(bowl(t.params) for t in study.trials)
    if batch_size:
        assert facts(study) == facts(Study(SPACE, "random", 0).run(bowl, 6, batch_size=2))


def test_jobs_may_be_futures_and_may_fail():
    class Failing:
        def submit(self, function, *args):
            raise OSError("the queue is closed")

    class Futures:
        def __init__(self, pool):
            self.submit = pool.submit

    with ThreadPoolExecutor(1) as pool:
        assert Study(SPACE, "random", 0).run(bowl, 3, Futures(pool)).n_finished == 3
    with pytest.raises(RuntimeError, match="takes no more trials .*the queue is closed"):
        Study(SPACE, "random", 0).run(bowl, 3, Failing())


def test_jobs_that_end_in_an_error_are_lost_trials():
    class Lost:
        def submit(self, function, *args):
            return self

        def done(self):
            return True

        def result(self):
            raise RuntimeError("the node is gone")

    study = Study(SPACE, "random", 0).run(bowl, 2, Lost(), n_jobs=1, max_failures=None)
    assert [t.state for t in study.trials] == ["failed"] * 2
    assert "the executor failed: RuntimeError: the node is gone" in study.trials[0].reason


@pytest.mark.parametrize("name", ["nonsense", "multiprocessing"])
def test_others_are_refused(name):
    with pytest.raises(ArgumentError, match=f"executor='{name}' cannot evaluate trials; use 'loky'"):
        Study(SPACE, "random", 0).run(bowl, 4, name)
