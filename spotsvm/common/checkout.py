"""The version of the library, and its import from a checkout of the repository.

Python started in a checkout finds the checkout's folder `spotsvm/` before an installed package. Packages that an installation has
inside `spotsvm` lie beside that folder; without this module they would be missing, or come from another version.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

#: the packages whose folders lie beside `spotsvm/` in a checkout
_BESIDE = ("surrogates", "solvers", "studies")
_ROOT = Path(__file__).parents[2]
#: the beginning of this project's pyproject.toml
_PROJECT = re.compile(r'^\[project\]\nname = "spotsvm"\nversion = "(.+)"$', flags=re.MULTILINE)


class _BesideFinder(MetaPathFinder):
    """Finds `spotsvm.surrogates` and so on in the root of the checkout, and nothing else there."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        return PathFinder.find_spec(fullname, [str(_ROOT)], target) if package == "spotsvm" and name in _BESIDE else None


@cache
def _checkout_version() -> str | None:
    """Return the version of the checkout that this file is in; None if it is in an installation."""
    if not all((_ROOT / name / "__init__.py").is_file() for name in _BESIDE):
        return None
    try:
        project = _PROJECT.search((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return project[1] if project else None


def library_version() -> str:
    """Return the version of the imported library; a checkout may have another version than the installation."""
    return _checkout_version() or version("spotsvm")


def use_checkout() -> None:
    """Make the folders beside `spotsvm/` importable as its packages if this file lies in a checkout."""
    if _checkout_version() is not None:
        # first, as an editable installation of another checkout also has a finder
        sys.meta_path.insert(0, _BesideFinder())
