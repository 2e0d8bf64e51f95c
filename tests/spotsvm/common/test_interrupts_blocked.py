"""Interrupts are kept from workers while they are started."""

import signal

import joblib
import pytest
from joblib.parallel import BACKENDS, LokyBackend

from spotsvm.common.worker_interrupts import interrupts_blocked, interrupts_kept_from_workers


def test_what_was_pressed_in_a_block_is_raised_when_it_is_left():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    steps = []

    def press():
        with interrupts_blocked():
            signal.raise_signal(signal.SIGINT)  # in this thread: another one, of a library, may not block it
            steps.append("done")

    with pytest.raises(KeyboardInterrupt):
        press()
    assert steps == ["done"]
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_only_the_default_backend_of_joblib_is_replaced_and_only_meanwhile():
    with joblib.parallel_config(backend="threading"), interrupts_kept_from_workers():
        assert type(joblib.parallel.get_active_backend()[0]) is joblib.parallel.ThreadingBackend
    with interrupts_kept_from_workers(), interrupts_kept_from_workers():
        assert type(joblib.parallel.get_active_backend()[0]) is BACKENDS["loky"]
        assert BACKENDS["loky"] is not LokyBackend
        assert joblib.Parallel(n_jobs=2)(joblib.delayed(divmod)(7, k) for k in (2, 3)) == [(3, 1), (2, 1)]
    assert BACKENDS["loky"] is LokyBackend
