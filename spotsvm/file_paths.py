"""Paths that a user gives, checked before anything is done with them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from spotsvm.errors import ArgumentError, StorageError
from spotsvm.printable import shown_value


def checked_path(path: Any, name: str = "path", such_as: str = "study.db") -> Path:
    """Return a path, or raise an error if it cannot be one.

    Parameters
    ----------
    path : path-like
        What was given.
    name : str, default="path"
        The argument's name, for the error's text.
    such_as : str, default="study.db"
        What it could have been.

    Raises
    ------
    ArgumentError
        If it is no path.
    StorageError
        If it is relative to a working directory that has been removed.

    Examples
    --------
    >>> checked_path(3)
    Traceback (most recent call last):
    spotsvm.errors.ArgumentError: path=3 is not the path of a file; use text, such as "study.db", or a pathlib.Path
    """
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not _can_be_a_name(text):
        raise ArgumentError(
            f'{name}={shown_value(path)} is not the path of a file; use text, such as "{such_as}", or a pathlib.Path'
        )
    checked = Path(text)
    if not checked.is_absolute() and not has_working_directory():
        raise StorageError(
            f"{name}={shown_value(text)} is relative, and the working directory has been removed; use an absolute path, or "
            "change to a directory that is there"
        )
    return checked


def has_working_directory() -> bool:
    """Tell whether the working directory is still there."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _can_be_a_name(text: str) -> bool:
    try:
        return bool(text) and "\0" not in text and bool(os.fsencode(text))
    except UnicodeEncodeError:  # halves of surrogate pairs
        return False
