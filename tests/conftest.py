"""What all tests share: `--hypothesis-profile long` tries 10,000 examples of each property in place of 100.

With `CI` set, as `.ci/run` does, the examples are the same each time: a change is judged, and not the luck of a draw.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("short", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ)
settings.register_profile("long", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("short")


@pytest.fixture(scope="session", autouse=True)
def compiled_before():
    """Say nothing of compilation in this process: a fresh clone is to behave as any other."""
    from spotsvm.surrogates import compiled

    compiled._ANNOUNCEMENT.made = True
