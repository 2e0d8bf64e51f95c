"""What tests share: Ctrl-C reaches them, their processes keep compiled modules, and workers leave each other a processor."""

import gc
import os
import signal
import sys

import pytest

# some containers turn bytecode files off: then each process compiles the library anew, for 3 to 6 seconds
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

if "PYTEST_XDIST_WORKER" in os.environ:
    # before numpy is imported: threads of a worker for each processor wait for those of the others
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def pytest_configure(config: pytest.Config) -> None:
    """Take interrupts, which a job in the background of a script ignores: the tests of them would wait for ever."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Search for garbage in what tests leave only: modules and collected tests are a million objects, half a second a time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
