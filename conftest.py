"""What doctests and tests share: Ctrl-C reaches them, and doctests that need an extra are skipped by name where it is missing."""

import importlib.util
import signal

import pytest

_NEED_DASK = ("spotsvm.workers.dask_workers.DaskWorkers",)


def pytest_configure(config: pytest.Config) -> None:
    """Take interrupts, which a job in the background of a script ignores: the tests of them would wait for ever."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip doctests that need what is not installed."""
    if importlib.util.find_spec("distributed") is not None:
        return
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name in _NEED_DASK:
            item.add_marker(pytest.mark.skip(reason='Dask is not installed: pip install "spotsvm[dask]"'))
