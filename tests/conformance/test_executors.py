"""Executors evaluate the trials of a study alike, and an executor that does not is refused."""

import re
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import loky
import pytest

from spotsvm import check_executor
from spotsvm.errors import ArgumentError


class Here(Executor):
    """Calls the function at once."""

    def submit(self, function, *args):
        future = Future()
        future.set_result(function(*args))
        return future


class Polled:
    """Has submit alone, and jobs that tell their state when they are asked."""

    def submit(self, function, *args):
        return Job(function(*args))


class Job:
    def __init__(self, value):
        self._value = value

    def done(self):
        return True

    def result(self):
        return self._value


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor, loky.ProcessPoolExecutor])
def test_executors_that_run_several_trials_pass(kind):
    with kind(2) as executor:
        check_executor(executor)


@pytest.mark.parametrize("kind", [Here, Polled])
def test_executors_that_run_one_trial_pass(kind):
    check_executor(kind(), n_jobs=1)


class Values(Here):
    def submit(self, function, *args):
        return function(*args)


class Repeating(Here):
    first = None

    def submit(self, function, *args):
        self.first = self.first or super().submit(function, *args)
        return self.first


class Failing(Here):
    def submit(self, function, *args):
        future = Future()
        future.set_exception(OSError("the network is down"))
        return future


class Once(Here):
    """Takes trials until the first run has ended."""

    n = 0

    def submit(self, function, *args):
        self.n += 1
        if self.n > 8:
            raise RuntimeError("cannot schedule new futures after shutdown")
        return super().submit(function, *args)


BROKEN = [
    (Values, "submit(function, *args) must return a job with done and result, or a concurrent.futures.Future"),
    (Repeating, "and the result of its job must be what the function returns"),
    (Failing, "the executor failed: OSError: the network is down"),
    (Once, "or a concurrent.futures.Future, in later runs as well"),
]


@pytest.mark.parametrize(("executor", "message"), BROKEN, ids=[row[0].__name__ for row in BROKEN])
def test_an_executor_that_breaks_the_contract_is_refused(executor, message):
    with pytest.raises(AssertionError, match=re.escape(message)):
        check_executor(executor(), n_jobs=1)


def test_none_is_no_executor():
    with pytest.raises(ArgumentError, match="executor=None is no executor; use an object with submit"):
        check_executor(None)
