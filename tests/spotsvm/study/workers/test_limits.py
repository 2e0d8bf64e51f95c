import re
import sys

import numpy as np
import pytest

from spotsvm import ArgumentError
from spotsvm.study.workers.limits import checked_memory_limit, limited_memory, own_memory, shown, with_limit_named
from spotsvm.trials.trial import Outcome, call

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
        ("1e", None),
        ("3000kB", 3_000_000),
        ("0.5TB", 5 * 10**11),
        ("2000000", 2_000_000),
        ("2000000 B", 2_000_000),
    ],
)
def test_amounts_are_read_as_dask_reads_them(given, size):
    if size is None:
        with pytest.raises(ArgumentError):
            checked_memory_limit(given)
        return
    assert checked_memory_limit(given) == size
    if isinstance(given, str):
        utils = pytest.importorskip("dask.utils")
        assert utils.parse_bytes(given) == size


@pytest.mark.parametrize(
    "given",
    [-1, 0, 999_999, "10", "", "GB", "two GB", "-2GB", "2PB", "1e9", "9" * 40 + "GB", True, float("nan"), 1e300, [1], b"2GB"],
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
    assert [shown(size) for size in (10**6, 1_500_000_000, 2**29)] == ["1 MB", "1.5 GB", "537 MB"]
