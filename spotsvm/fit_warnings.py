"""Warnings of fits that fail."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sklearn.exceptions import FitFailedWarning


def warn_of_failure(candidate: Mapping[str, Any], numbers: Mapping[str, float], reason: str) -> None:
    """Warn that a candidate failed, in some of its folds or in all of them."""
    where = "some folds" if any("_test_" in name for name in numbers) else "every fold"
    warnings.warn(f"{dict(candidate)} failed in {where}: {reason}", FitFailedWarning, stacklevel=3)


@contextmanager
def unwarned() -> Iterator[None]:
    """Ignore warnings, but not in a thread: filters are of the whole process, and two threads would not put them back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
