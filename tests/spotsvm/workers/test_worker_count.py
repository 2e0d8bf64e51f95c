import re
from concurrent.futures import Executor, ThreadPoolExecutor

import joblib
import numpy as np
import pytest

from spotsvm import ArgumentError
from spotsvm.workers.worker_count import checked_n_jobs, executor_size


@pytest.mark.parametrize("n_jobs", [-100, -3, -2, -1, 1, 2, 7, np.int64(3)])
def test_negative_numbers_count_as_joblib_counts_them(n_jobs):
    with joblib.parallel_config("threading"):
        assert checked_n_jobs(n_jobs) == joblib.effective_n_jobs(n_jobs)


def test_none_stays_none():
    assert checked_n_jobs(None) is None


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True, np.float64(2)])
def test_what_is_no_number_of_jobs_is_named(n_jobs):
    with pytest.raises(
        ArgumentError, match=re.escape(f"n_jobs={n_jobs!r} is not a number of trials at once; use 1 or more, or -1")
    ):
        checked_n_jobs(n_jobs)


def test_an_executor_tells_its_size_unless_it_is_said():
    class Mpi(Executor):
        num_workers = 12

    with ThreadPoolExecutor(5) as threads:
        assert executor_size(threads, None) == 5
        assert executor_size(threads, 2) == 2
    assert executor_size(Mpi(), None) == 12
    assert executor_size(Executor(), None) == joblib.cpu_count()
