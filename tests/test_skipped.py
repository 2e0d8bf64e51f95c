"""The end of a run says what was skipped, where, and what to do about it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE_3 = "tests/spotsvm/search_cv/test_carrizosa_table3.py"


def test_skipped_tests_are_listed_by_reason():
    settings = {name: value for name, value in os.environ.items() if name != "SPOTSVM_DATA" and not name.startswith("PYTEST")}
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", TABLE_3]
    lines = subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, text=True, check=True).stdout.splitlines()
    (number,) = (k for k, line in enumerate(lines) if "set SPOTSVM_DATA to the folder" in line)
    count, _ = lines[number].split(": ", 1)
    assert lines[number - 1].strip("= ") == f"{count} skipped"
    assert lines[number + 1] == f"    {TABLE_3} ({count})"
    assert int(count) > 10
    assert lines[-1].startswith(f"{count} skipped in ")
