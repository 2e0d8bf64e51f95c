"""Helpers of the tests of studies and workers."""

import logging
import os
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import loguniform, uniform

from spotsvm.errors import SpotSVMError

SVM = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
SQUARE = {"x": uniform(0, 1), "y": uniform(0, 1)}
OURS = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL + 1}  # of a Dask cluster


def valley(params):
    return (np.log2(params["C"]) - 3) ** 2 + (np.log2(params["gamma"]) + 5) ** 2


def mixed(params):
    """An objective in a conditional space."""
    return abs(np.log10(params["C"])) + (0.5 if params["kernel"] == "rbf" else 0.1 * params["degree"])


def trade(params):
    """Two objectives: more gain costs more; y is a waste."""
    return {"values": [params["x"] ** 2 + params["y"], params["x"] - params["y"]], "time": 3.0}


def bowl(params):
    return (params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2


def facts(study):
    """All that two studies of the same trials have in common: no times."""
    return [(t.number, t.params, t.point, t.state, t.values, t.extra, t.reason, t.origin, t.note, t.seed) for t in study.trials]


class BrokenOff(Exception):
    """Stands for whatever ends a run."""


def break_off_after(n):
    def callback(study, trial):
        if study.n_finished == n:
            raise BrokenOff

    return callback


def all_completed(workers, n):
    """Wait for n trials; return (key, outcome) in the order of completion."""
    completed, until = [], time.monotonic() + 300
    while len(completed) < n:
        assert time.monotonic() < until, f"only {len(completed)} of {n} trials have ended"
        completed += workers.wait(30)
    return completed


def evaluated(workers, *batch):
    """Submit a batch; return its outcomes in the order of the batch."""
    for key, params in enumerate(batch):
        workers.submit(key, params)
    completed = dict(all_completed(workers, len(batch)))
    return [completed[key] for key in range(len(batch))]


def becomes(condition, seconds=120):
    """Return whether a condition comes to hold in time."""
    until = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < until:
        time.sleep(0.01)
    return holds


def is_alive(pid):
    """Return whether a process runs; one that has ended and was not waited for does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self/stat").exists()


class Watched:
    """A connection to a database that calls `before` with each statement, and `after` with it and its cursor."""

    def __init__(self, connection, before=lambda statement: None, after=lambda statement, cursor: None):
        self._connection, self._before, self._after = connection, before, after

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def execute(self, statement, *values):
        self._before(statement)
        cursor = self._connection.execute(statement, *values)
        self._after(statement, cursor)
        return cursor


class Diagonal:
    """A search of a user's own: no more than `ask` and `tell`."""

    def __init__(self):
        self.told = []
        self.asked = 0

    def ask(self):
        self.asked += 1
        return [self.asked / 20] * 2

    def tell(self, point, value):
        self.told.append((point.tolist(), value))


class Unloadable:
    """An objective that can be sent but not loaded."""

    def __reduce__(self):
        return exec, ("raise ImportError('no such library')",)

    def __call__(self, params):
        return 1.0


def in_order(workers, batch):
    """Evaluate a batch with nothing else pending; return the outcomes in the order of the batch."""
    for key, params in enumerate(batch):
        workers.submit(key, params)
    completed = {}
    while len(completed) < len(batch):
        completed.update(workers.wait())
    return [completed[key] for key in range(len(batch))]


def refused(kind, said, call):
    """Check that a call raises an error of the library, of one line that is not too long."""
    with pytest.raises(kind, match=said) as caught:
        call()
    assert isinstance(caught.value, SpotSVMError)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
