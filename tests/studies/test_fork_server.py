import os
from pathlib import Path

import pytest

from studies.fork_server import ForkServer

pytestmark = [pytest.mark.faults, pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")]


@pytest.fixture(scope="module")
def server():
    with ForkServer("json:loads", "[]") as server:
        yield server


def test_a_job_gets_its_arguments_and_ends(server, tmp_path):
    ended = server.run("studies.killable_runs:note", {"path": str(tmp_path / "a"), "text": "b"})
    assert (ended.code, ended.hung, ended.left) == (0, False, 0)
    assert (tmp_path / "a").read_text() == "b"


def test_a_job_that_raises_ends_with_1_and_the_server_goes_on(server):
    assert server.run("json:loads", {"s": "no json"}).code == 1
    assert server.run("json:loads", {"s": "[]"}).code == 0


def test_a_job_is_killed_when_its_time_comes_and_so_is_what_it_leaves_behind(server):
    ended = server.run("subprocess:call", {"args": ["sleep", "60"]}, kill_after=0.1)
    assert (ended.code, ended.hung) == (-9, False)
    assert 0.1 <= ended.seconds < 30
    if Path("/proc/self/stat").exists():
        assert ended.left == 1


def test_a_job_that_does_not_end_has_hung(server):
    ended = server.run("subprocess:call", {"args": ["sleep", "60"]}, at_most=0.1)
    assert (ended.code, ended.hung) == (-9, True)
