import subprocess
import sys

import pytest
import threadpoolctl
from sklearn.svm import SVC  # noqa: F401  (it loads BLAS and OpenMP)

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory limits are held on Linux only")


def threads(user_api):
    return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == user_api]


@pytest.fixture
def two_threads():
    with threadpoolctl.threadpool_limits(2):
        yield


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
