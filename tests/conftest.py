"""What all tests share: data sets, the number of examples of a property, and a list of what was skipped.

`--hypothesis-profile long` tries 10,000 examples of each property in place of 100. With `CI` set, as `.ci/run` does, the examples
are the same each time: a change is judged, and not the luck of a draw.
"""

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# before numpy is imported: matrices are small, and the processes of the tests share the processors
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

settings.register_profile("short", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ)
settings.register_profile("long", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("short")


@pytest.fixture(scope="session", autouse=True)
def compiled_before():
    """Say nothing of compilation in this process: a fresh clone is to behave as any other."""
    from spotsvm.surrogates import compiled

    compiled._ANNOUNCEMENT.made = True


@pytest.fixture(scope="session", autouse=True)
def explained_when_asked():
    """Make no explanation for a page that did not ask for one: the refits would take longer than the tests of all pages."""
    from spotsvm.luck.refits import explained

    explained.EXPLAINED_IN = 0.0


def pytest_runtest_setup(item):
    if item.get_closest_marker("data") and not Path(os.environ.get("SPOTSVM_DATA", ""), "MANIFEST.csv").is_file():
        pytest.skip("needs data sets that do not come with scikit-learn: set SPOTSVM_DATA to the folder with their MANIFEST.csv")


def pytest_terminal_summary(terminalreporter):
    """List the skipped tests by reason, in place of a line for each place in the code."""
    skipped = terminalreporter.getreports("skipped")
    if not skipped:
        return
    terminalreporter.section(f"{len(skipped)} skipped")
    reasons = {}
    for report in skipped:
        reasons.setdefault(report.longrepr[2].removeprefix("Skipped: "), []).append(report.nodeid.split("::")[0])
    for reason, files in sorted(reasons.items(), key=lambda item: -len(item[1])):
        terminalreporter.write_line(f"{len(files)}: {reason}")
        for file, count in sorted(Counter(files).items()):
            terminalreporter.write_line(f"    {file}" + (f" ({count})" if count > 1 else ""))
