import signal
import threading
from contextlib import contextmanager, nullcontext, suppress
from functools import partial

import pytest

from spotsvm.study.workers.protocol import Interrupts, interrupts_allowed, interrupts_held


def press():
    signal.raise_signal(signal.SIGINT)


@pytest.fixture(autouse=True)
def the_handler_is_restored():
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@contextmanager
def own_handler():
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_first_is_held_back_until_it_is_asked_for_also_if_it_was_swallowed():
    for block in (lambda run: nullcontext(), lambda run: run.allowed()):
        with Interrupts() as interrupts:
            with block(interrupts), suppress(KeyboardInterrupt):
                press()
            assert interrupts.pressed
            with pytest.raises(KeyboardInterrupt):
                interrupts.check()


def test_one_that_nobody_asked_for_is_raised_in_the_end_and_the_second_at_once():
    with pytest.raises(KeyboardInterrupt), Interrupts():
        press()
    with Interrupts():
        press()
        with pytest.raises(KeyboardInterrupt):
            press()


def test_it_is_raised_where_it_is_allowed_and_before_that_if_it_waits():
    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt), interrupts.allowed():
            press()
        assert interrupts.pressed
    with Interrupts() as interrupts:
        press()
        with pytest.raises(KeyboardInterrupt), interrupts.allowed():
            pytest.fail("the block was entered")


def test_the_innermost_takes_it():
    with Interrupts() as outer:
        with pytest.raises(KeyboardInterrupt), Interrupts() as inner:
            press()
        assert (inner.pressed, outer.pressed) == (True, False)


def test_a_handler_of_the_user_s_own_stays_and_gets_what_was_held_afterwards():
    with own_handler() as seen:
        with Interrupts() as interrupts:
            press()
        assert (seen, interrupts.pressed) == ([signal.SIGINT], False)
    with own_handler() as seen:
        with interrupts_held():
            press()
            assert not seen
        assert seen == [signal.SIGINT]


@pytest.mark.parametrize("block", [Interrupts, interrupts_held])
def test_in_a_thread_it_does_nothing(block):
    def work():
        with block():
            handlers.append(signal.getsignal(signal.SIGINT))

    handlers = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]


@pytest.mark.parametrize("block", [Interrupts, interrupts_held])
def test_another_error_is_not_replaced(block):
    def fails():
        with block():
            press()
            raise KeyError

    with pytest.raises(KeyError):
        fails()


def test_a_block_in_which_it_is_raised_at_once_may_hold_another_one():
    with Interrupts() as interrupts, interrupts_allowed():
        with interrupts_allowed():
            assert not interrupts.holds
        assert not interrupts.holds
    assert interrupts.holds
    with interrupts_allowed(), pytest.raises(KeyboardInterrupt):
        press()


def test_a_second_one_is_not_held_and_in_a_run_only_where_it_lets_interrupts_through():
    steps = []

    @interrupts_held()
    def pressed(times):
        for _ in range(times):
            press()
            steps.append("held")

    with pytest.raises(KeyboardInterrupt):
        pressed(2)
    with Interrupts() as interrupts:
        for call in (partial(pressed, 2), interrupts.check):
            with pytest.raises(KeyboardInterrupt):
                call()
    assert steps == ["held"] * 2
    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt), interrupts.allowed():
            pressed(1)
        assert interrupts.pressed
    assert steps == ["held"] * 3
