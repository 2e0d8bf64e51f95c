import numpy as np
from threadpoolctl import threadpool_info

from spotsvm.surrogates.one_thread import one_blas_thread


def threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_one_thread_inside_and_what_there_was_outside():
    before = threads()
    with one_blas_thread():
        assert np.eye(3).sum() == 3
        assert set(threads()) <= {1}
    assert threads() == before
