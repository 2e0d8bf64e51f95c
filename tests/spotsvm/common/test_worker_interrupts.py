"""Ctrl-C while a worker process is still importing: it is said once, by the process that the user started."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import joblib
import pytest
from joblib.parallel import BACKENDS, LokyBackend

from spotsvm.common.worker_interrupts import interrupts_blocked, interrupts_kept_from_workers

pytestmark = pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs signals of a posix system")

SCRIPT = """
    import pathlib, sys, time

    def long(seconds):
        pathlib.Path(sys.argv[2], "begun").touch()
        time.sleep(seconds)

    def joblib():
        from joblib import Parallel, delayed
        from spotsvm.common.worker_interrupts import interrupts_kept_from_workers
        with interrupts_kept_from_workers():
            results = Parallel(2, return_as="generator")(delayed(long)(60) for _ in range(2))
        list(results)

    def killable():
        from spotsvm.study.workers.killable_pool import KillablePool
        with KillablePool(lambda params: time.sleep(60), 2) as workers:
            workers.submit(0, {})
            workers.submit(1, {})
            workers.wait()

    def call():
        from spotsvm.study.workers.process import call_within
        call_within(lambda: time.sleep(60), 60.0)

    try:
        globals()[sys.argv[1]]()
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.parametrize(
    ("kind", "worker"),
    [("joblib", "LokyProcess-2"), ("killable", "LokyProcess-2"), ("call", "LokyProcess-1")],
)
def test_a_worker_that_is_still_importing_says_nothing_of_ctrl_c(kind, worker, tmp_path, worker_held_at_import):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    held = worker_held_at_import(worker)
    with subprocess.Popen(
        [sys.executable, str(script), kind, str(held.folder)],
        env=held.environment, start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            while process.poll() is None and not held.is_there():
                time.sleep(0.01)
            os.killpg(process.pid, signal.SIGINT)
            held.let_go()
            told, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert (told, said, process.returncode) == ("interrupted\n", "", 0)


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
