"""Ctrl-C while a worker process is still importing: it is said once, by the process that the user started."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

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
