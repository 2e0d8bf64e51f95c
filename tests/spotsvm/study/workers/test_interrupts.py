import signal
import threading

import pytest

from spotsvm.study.workers.interrupts import Interrupts, interrupts_allowed, interrupts_held


def press():
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def steps():
    return []


@pytest.fixture
def pressed_twice(steps):
    @interrupts_held()
    def work():
        press()
        steps.append("held")
        press()
        steps.append("not reached")

    return work


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
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_block_in_which_it_is_raised_at_once_may_hold_another_one():
    with Interrupts() as interrupts, interrupts_allowed():
        with interrupts_allowed():
            assert not interrupts.holds
        assert not interrupts.holds
    assert interrupts.holds
    with interrupts_allowed(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_second_one_is_not_held(pressed_twice, steps):
    with pytest.raises(KeyboardInterrupt):
        pressed_twice()
    assert steps == ["held"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_in_a_run_it_holds_nothing_more_so_that_a_second_one_ends_at_once(pressed_twice, steps):
    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt):
            pressed_twice()
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
    assert steps == ["held"]


def test_where_a_run_lets_interrupts_through_it_holds_them(steps):
    @interrupts_held()
    def work():
        press()
        steps.append("held")

    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt), interrupts.allowed():
            work()
        assert interrupts.pressed
    assert steps == ["held"]


def test_a_handler_of_the_user_s_own_gets_what_was_held_afterwards():
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with interrupts_held():
            press()
            assert not heard
        assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)
