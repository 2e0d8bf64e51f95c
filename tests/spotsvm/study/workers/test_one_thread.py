import subprocess
import sys
import threading

import numba
import pytest
import threadpoolctl
from sklearn.svm import SVC  # noqa: F401  (it loads BLAS and OpenMP)

from spotsvm.study.workers.limits import one_thread


def threads(user_api):
    return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == user_api]


@pytest.fixture(autouse=True)
def two_threads():
    with threadpoolctl.threadpool_limits(2):
        yield


def test_it_holds_inside_and_gives_back_after():
    assert set(threads("blas")) == set(threads("openmp")) == {2}
    before = numba.get_num_threads()
    with one_thread():
        assert set(threads("blas")) == set(threads("openmp")) == {1}
        assert numba.get_num_threads() == 1
    assert set(threads("blas")) == set(threads("openmp")) == {2}
    assert numba.get_num_threads() == before


def test_blas_is_given_back_when_the_last_has_ended():
    openmp = threadpoolctl.ThreadpoolController().select(user_api="openmp")
    inside, leave, seen = threading.Barrier(3), [threading.Event(), threading.Event()], []

    def trial(k):
        with openmp.limit(limits=2), one_thread():
            inside.wait(10)
            leave[k].wait(10)
            seen.append((set(threads("blas")), set(threads("openmp")), numba.get_num_threads()))

    workers = [threading.Thread(target=trial, args=(k,)) for k in range(2)]
    for worker in workers:
        worker.start()
    inside.wait(10)
    for k, worker in enumerate(workers):
        assert set(threads("blas")) == {1}
        assert set(threads("openmp")) == {2}  # a thread's own, and this one is not in a trial
        leave[k].set()
        worker.join(10)
    assert seen == [({1}, {1}, 1)] * 2
    assert set(threads("blas")) == {2}


def test_it_gives_back_after_an_error():
    with pytest.raises(ValueError, match="mine"), one_thread():
        raise ValueError("mine")
    assert set(threads("blas")) == {2}


def test_a_process_is_held_with_what_it_has_loaded_and_what_it_will():
    code = """
import os
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "2"
import numpy, threadpoolctl
assert {pool["num_threads"] for pool in threadpoolctl.threadpool_info()} == {2}
from spotsvm.study.workers.limits import hold_process_to_one_thread
hold_process_to_one_thread()
import sklearn.cluster, numba
assert {pool["num_threads"] for pool in threadpoolctl.threadpool_info()} == {1}, threadpoolctl.threadpool_info()
assert {pool["user_api"] for pool in threadpoolctl.threadpool_info()} == {"blas", "openmp"}
assert numba.get_num_threads() == 1
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
