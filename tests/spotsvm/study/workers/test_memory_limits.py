"""Limits of memory."""

import re
import sys
import threading
from contextlib import suppress

import numba
import numpy as np
import pytest
import threadpoolctl
from sklearn.svm import SVC  # noqa: F401  (it loads BLAS and OpenMP)

from spotsvm.errors import ArgumentError
from spotsvm.study.workers.limits import (
    checked_memory_limit,
    limited_memory,
    memory_text,
    one_thread,
    own_memory,
    with_limit_named,
)
from spotsvm.trials.evaluation import call
from spotsvm.trials.outcome import Outcome

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory limits are held on Linux only")


@linux_only
@pytest.mark.parametrize(
    ("given", "size"),
    [
        (1_000_000, 10**6),
        (2.5e9, 2_500_000_000),
        (np.int64(2**30), 2**30),
        ("2GB", 2 * 10**9),
        ("2gb", 2 * 10**9),
        (" 1.5 GiB ", 3 * 2**29),
        ("512M", 512 * 10**6),
        ("512 MiB", 2**29),
        ("3000kB", 3_000_000),
        ("0.5TB", 5 * 10**11),
        ("2000000", 2_000_000),
        ("2000000 B", 2_000_000),
    ],
)
def test_amounts_are_read_as_dask_reads_them(given, size):
    assert checked_memory_limit(given) == size
    if isinstance(given, str):
        utils = pytest.importorskip("dask.utils")
        assert utils.parse_bytes(given) == size


@pytest.mark.parametrize(
    "given",
    [-1, 0, 999_999, "10", "", "GB", "two GB", "-2GB", "2PB", "1e", "9" * 40 + "GB", True, float("nan"), 1e300, [1], b"2GB"],
)
def test_what_is_no_amount_is_named(given):
    with pytest.raises(ArgumentError, match=re.escape(f"memory_limit={given!r} is not an amount of memory")):
        checked_memory_limit(given)


def test_where_it_cannot_be_held_it_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(ArgumentError, match="memory_limit='2GB' cannot be enforced on darwin, only on Linux; use None"):
        checked_memory_limit("2GB")
    assert checked_memory_limit(None) is None


@linux_only
def test_what_goes_beyond_is_a_memory_error_and_no_more_outside():
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    with limited_memory(100_000_000):
        small = np.ones(5_000_000)
        with pytest.raises(MemoryError):
            np.ones(100_000_000)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before
    assert np.ones(20_000_000).sum() == 4 * small.sum()
    with limited_memory(None):
        assert resource.getrlimit(resource.RLIMIT_DATA) == before


@linux_only
def test_own_memory_counts_what_is_allocated():
    before = own_memory()
    block = np.ones(10_000_000)
    assert own_memory() - before == pytest.approx(block.nbytes, abs=5e6)


def test_the_limit_is_named_where_it_is_the_reason():
    def objective(params):
        raise MemoryError("Unable to allocate")

    outcome = call(objective, {})
    assert with_limit_named(outcome, 2 * 10**9).reason.startswith("it took more than memory_limit=2 GB: MemoryError: Unable to")
    assert with_limit_named(outcome, None) is outcome
    other = Outcome("failed", reason="no", error=ValueError())
    assert with_limit_named(other, 10**9) is other
    assert [memory_text(size) for size in (10**6, 1_500_000_000, 2**29)] == ["1 MB", "1.5 GB", "537 MB"]


def threads(user_api):
    return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == user_api]


@pytest.fixture
def two_threads():
    with threadpoolctl.threadpool_limits(2):
        yield


def test_it_holds_inside_and_gives_back_after(two_threads):
    assert set(threads("blas")) == set(threads("openmp")) == {2}
    before = numba.get_num_threads()
    with suppress(ValueError), one_thread():
        assert set(threads("blas")) == set(threads("openmp")) == {1}
        assert numba.get_num_threads() == 1
        raise ValueError("mine")
    assert set(threads("blas")) == set(threads("openmp")) == {2}
    assert numba.get_num_threads() == before


def test_blas_is_given_back_when_the_last_has_ended(two_threads):
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
