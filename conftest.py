"""What tests share: Ctrl-C reaches them."""

import signal

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Take interrupts, which a job in the background of a script ignores: the tests of them would wait for ever."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
