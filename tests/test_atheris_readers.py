"""The harness of the coverage-guided fuzzer, in short; skipped where atheris is not installed."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="fuzzing needs atheris: pip install atheris"),
]
HARNESS = Path(__file__).parent / "fuzz" / "atheris_readers.py"


@pytest.mark.parametrize("reader", ["record", "table", "kernel"])
def test_some_runs(reader, tmp_path):
    command = [sys.executable, str(HARNESS), reader, "--runs", "200"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Done 200 runs" in done.stderr
    assert "Is the code instrumented" not in done.stderr
