import subprocess
import sys

import pytest

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdout=sys.stdout)
sys.stdin.readline()
"""

CHILD = """
import os, sys, time
from spotsvm.workers import parent_death
if {watch}:
    sys.platform = "other"
    parent_death._watch.__defaults__ = (0.05,)
parent_death.die_with_parent(os.getppid())
print(os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a dead parent's id")
@pytest.mark.parametrize("watch", [False, True])
def test_the_child_is_gone_with_its_parent(watch):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, CHILD.format(watch=watch)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert int(parent.stdout.readline())
    parent.kill()
    # the child holds the other end: this returns when it is gone
    assert parent.communicate(timeout=20)[0] == ""


def test_a_parent_that_is_gone_already_ends_it():
    code = "from spotsvm.workers.parent_death import die_with_parent; die_with_parent(1 << 30); import time; time.sleep(5)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=20).returncode == 1
