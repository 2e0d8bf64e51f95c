import hashlib
import os
import stat
import threading
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

from spotsvm.errors import ArgumentError
from spotsvm.study.workers import executor as shared_objective
from spotsvm.study.workers.executor import (
    SharedObjective,
    load_objective,
    shared_in_this_process,
)


class Counted:
    loads = 0

    def __call__(self, params):
        return params["x"]

    def __getstate__(self):
        return {"data": 1}

    def __setstate__(self, state):
        Counted.loads += 1


@pytest.fixture
def elsewhere(monkeypatch):
    """Play another process: the objective is not found among those made here."""
    monkeypatch.setattr(shared_objective.os, "getpid", lambda: -1)
    monkeypatch.setattr(shared_objective, "_loaded", shared_objective.OrderedDict())
    Counted.loads = 0


def test_threads_of_the_same_process_use_it_as_it_is():
    lock = threading.Lock()

    def objective(params):
        return lock

    for in_threads in (True, False):
        with SharedObjective(objective, in_threads=in_threads) as shared:
            assert load_objective(shared.token) is objective
            assert shared_in_this_process(shared.token) is shared
        assert shared_in_this_process(shared.token) is None
    with SharedObjective(objective) as shared, pytest.raises(ArgumentError, match="TypeError: cannot pickle"):
        _ = shared.payload


def test_two_studies_take_turns_without_loading_again(request):
    with SharedObjective(np.arange(0)) as a, SharedObjective(np.arange(1)) as b, SharedObjective(np.arange(2)) as c:
        request.getfixturevalue("elsewhere")
        loaded = [load_objective(shared.token) for shared in (a, b, a, b)]
        assert loaded[0] is loaded[2]
        assert loaded[1] is loaded[3]
        load_objective(c.token)
        assert list(shared_objective._loaded) == [b.token.digest, c.token.digest]


def test_the_file_is_private_and_goes_with_the_context():
    with SharedObjective(abs) as shared:
        folder = Path(shared.token.folder)
        assert hashlib.sha256((folder / "objective").read_bytes()).hexdigest() == shared.token.digest
        if os.name == "posix":
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


def test_another_file_in_its_place_is_not_unpickled(request):
    with SharedObjective(abs) as shared:

        class Harm:
            def __reduce__(self):
                return pytest.fail, ("it was unpickled",)

        Path(shared.token.folder, "objective").write_bytes(cloudpickle.dumps(Harm()))
        request.getfixturevalue("elsewhere")
        assert load_objective(shared.token) is None
        assert load_objective(shared.token, cloudpickle.dumps(abs)) is abs


def test_a_full_disk_leaves_the_payload(monkeypatch, request):
    def fail(*arguments):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fail)
        shared = SharedObjective(Counted())
    with shared:
        request.getfixturevalue("elsewhere")
        assert load_objective(shared.token) is None
        assert load_objective(shared.token, shared.payload)({"x": 2}) == 2
        assert load_objective(shared.token) is not None
        assert Counted.loads == 1
