"""Find out whether a file of the user's hides one of the packages that spotsvm is made of."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

PACKAGES = ("surrogates", "solvers", "studies")


def check_not_shadowed(home: Path) -> None:
    """Raise ImportError if Python would find another file than the package beside `spotsvm`.

    Parameters
    ----------
    home : Path
        The folder in which `spotsvm` and its packages stand.
    """
    for name in PACKAGES:
        found = _location(name)
        if found is not None and found.parent.resolve() != (home / name).resolve():
            raise ImportError(
                f"{found} hides the package {name!r}, which spotsvm is made of; "
                "rename that file, or move it out of Python's search path"
            )


def _location(name: str) -> Path | None:
    loaded = sys.modules.get(name)
    spec = getattr(loaded, "__spec__", None) or (importlib.util.find_spec(name) if loaded is None else None)
    if isinstance(spec, importlib.machinery.ModuleSpec):
        return Path(spec.origin) if spec.origin else None
    file = getattr(loaded, "__file__", None)
    return Path(file) if file else None
