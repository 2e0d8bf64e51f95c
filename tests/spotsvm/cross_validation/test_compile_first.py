"""What shared cross-validation compiles is compiled beforehand."""

import subprocess
import sys

SCRIPT = """
import numpy as np
from sklearn.datasets import load_iris
from sklearn.svm import SVC, SVR
from spotsvm import cross_val_scores
from spotsvm.cross_validation.compile_first import compile_shared_work
from spotsvm.surrogates.compiled import _ANNOUNCEMENT

compile_shared_work()
known = {one: list(one.signatures) for one in _ANNOUNCEMENT.of}
X, y = load_iris(return_X_y=True)
assert any(known.values())
for machine, rows, target in ((SVC(), X, y), (SVC(), X[:100], y[:100]), (SVR(), X, X[:, 0])):
    cross_val_scores(machine, rows, target, [{"C": C, "gamma": 0.1} for C in (0.1, 10.0, 1000.0)], cv=3)
print([one.__name__ for one in _ANNOUNCEMENT.of if list(one.signatures) != known.get(one, [])])
"""


def test_nothing_is_left_to_compile_for_a_search():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
