"""The versions of what a study depends on."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version

_PACKAGES = ("spotsvm", "numpy", "scipy", "scikit-learn")


@cache
def versions() -> dict[str, str]:
    """Give the versions of Python and of the packages on which a study's trials depend, by name.

    Examples
    --------
    >>> list(versions())
    ['python', 'spotsvm', 'numpy', 'scipy', 'scikit-learn']
    """
    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}
