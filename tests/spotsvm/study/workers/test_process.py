"""What becomes of worker processes when the process that started them is interrupted, or killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from completed_trials import becomes, is_alive

import spotsvm

pytestmark = [pytest.mark.faults, pytest.mark.skipif(os.name != "posix", reason="signals and process groups are POSIX's")]

# no `if __name__ == "__main__"`: a worker that imported it would start workers of its own
SCRIPT = """
import os, sys, time
from pathlib import Path

from spotsvm.study.workers.killable_pool import KillablePool

folder, nap = Path(sys.argv[1]), float(sys.argv[2])
(folder / f"script {os.getpid()}").touch()
FACTOR = 3


class Settings:
    offset = 1


def objective(params):
    import ctypes

    (folder / f"trial {params['x']} {os.getpid()}").touch()
    ctypes.PyDLL(None).sleep(int(nap))
    return FACTOR * params["x"] + Settings().offset


with KillablePool(objective, 2, 600.0) as workers:
    for x in range(2):
        workers.submit(x, {"x": x})
    ended = workers.wait()
    while len(ended) < 2:
        ended += workers.wait()
    print(sorted((key, outcome.value) for key, outcome in ended))
"""


def started(folder, nap):
    (folder / "script.py").write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, "-W", "error", str(folder / "script.py"), str(folder), str(nap)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(spotsvm.__file__).parent.parent)},
    )


def workers_of(folder, n=2):
    """Wait until so many trials have begun; return the ids of their processes."""
    assert becomes(lambda: len(list(folder.glob("trial *"))) >= n)
    return [int(path.name.split()[-1]) for path in folder.glob("trial *")]


def gone(pids):
    return becomes(lambda: not any(map(is_alive, pids)))


def test_a_script_needs_no_main_guard(tmp_path):
    script = started(tmp_path, 0)
    said, errors = script.communicate(timeout=120)
    assert (said, errors, script.returncode) == ("[(0, 1.0), (1, 4.0)]\n", "", 0)
    assert len(list(tmp_path.glob("script *"))) == 1
    assert gone(workers_of(tmp_path))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a thread looks, which a trial like this one holds up")
def test_no_worker_outlives_a_parent_that_is_killed(tmp_path):
    script = started(tmp_path, 60)
    workers = workers_of(tmp_path)
    assert all(map(is_alive, workers))
    script.kill()
    script.communicate(timeout=120)
    assert gone(workers)


PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdout=sys.stdout)
sys.stdin.readline()
"""

CHILD = """
import os, sys, time
from spotsvm.study.workers import process
if {watch}:
    sys.platform = "other"
    process._watch_parent.__defaults__ = (0.05,)
process.die_with_parent(os.getppid())
print(os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("watch", [False, True])
def test_the_child_is_gone_with_its_parent(watch):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, CHILD.format(watch=watch)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert int(parent.stdout.readline())
    parent.kill()
    # the child holds the other end: this returns when it is gone
    assert parent.communicate(timeout=120)[0] == ""


def test_a_parent_that_is_gone_already_ends_it():
    code = "from spotsvm.study.workers.process import die_with_parent; die_with_parent(1 << 30); import time; time.sleep(5)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=20).returncode == 1
