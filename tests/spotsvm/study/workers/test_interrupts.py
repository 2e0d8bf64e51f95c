import signal
import threading

import pytest

from spotsvm.study.workers.interrupts import Interrupts, interrupts_allowed


def press():
    signal.raise_signal(signal.SIGINT)


def test_the_first_is_held_back_until_it_is_asked_for():
    with Interrupts() as interrupts:
        press()
        assert interrupts.pressed
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_one_that_nobody_asked_for_is_raised_in_the_end():
    with pytest.raises(KeyboardInterrupt), Interrupts():
        press()


def test_the_second_is_raised_at_once():
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


def test_one_that_was_swallowed_is_raised_when_it_is_asked_for():
    with Interrupts() as interrupts:
        with interrupts.allowed():
            try:
                press()
            except KeyboardInterrupt:
                pass
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()


def test_the_innermost_takes_it():
    def inner():
        with Interrupts() as interrupts:
            press()
            assert interrupts.pressed

    with Interrupts() as outer:
        with pytest.raises(KeyboardInterrupt):
            inner()
        assert not outer.pressed
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_user_s_own_stays():
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with Interrupts() as interrupts:
            press()
        assert (seen, interrupts.pressed) == ([signal.SIGINT], False)
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_a_thread_it_does_nothing():
    def block():
        with Interrupts() as interrupts:
            handlers.append(signal.getsignal(signal.SIGINT))
            interrupts.check()

    handlers = []
    thread = threading.Thread(target=block)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]


def test_another_error_is_not_replaced():
    def fails():
        with Interrupts():
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
        signal.raise_signal(signal.SIGINT)
