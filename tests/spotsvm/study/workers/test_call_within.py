import os
import threading
import time

import pytest

from spotsvm.errors import ArgumentError, WorkersError
from spotsvm.study.workers.process import TimeUpError, call_within


def test_it_is_called_in_another_process_and_killed_when_the_time_is_up(tmp_path):
    assert call_within(os.getpid, 60.0) != os.getpid()

    def hang():
        (tmp_path / "pid").write_text(str(os.getpid()))
        while True:
            pass

    began = time.monotonic()
    with pytest.raises(TimeUpError, match="longer than 0.3 s"):
        call_within(hang, 0.3)
    assert time.monotonic() - began >= 0.3
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_its_errors_are_raised():
    def fail():
        raise TimeoutError("one of its own")

    with pytest.raises(TimeoutError, match="one of its own") as caught:
        call_within(fail, 60.0)
    assert not isinstance(caught.value, TimeUpError)
    with pytest.raises(WorkersError, match="the worker process died"):
        call_within(lambda: os._exit(3), 60.0)
    lock = threading.Lock()
    with pytest.raises(ArgumentError, match="cannot be sent to a worker process"):
        call_within(lambda: lock, 60.0)

    class Unloadable:
        def __reduce__(self):
            return exec, ("raise RuntimeError('unpickled')",)

    unloadable = Unloadable()
    with pytest.raises(ArgumentError, match="cannot be loaded in a worker process: RuntimeError: unpickled"):
        call_within(lambda: unloadable, 60.0)
