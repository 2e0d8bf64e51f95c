"""A standard output that is closed, or cannot be written to: one line says so."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from traceback import walk_tb

import click

_REMEDY = "redirect it to another file, or to /dev/null"


@contextmanager
def standard_output() -> Iterator[None]:
    """Exit with code 2 and one line if standard output is closed, or a write to it in this block fails.

    A reader that has gone away, such as `head`, is not reported: click ends quietly.
    """
    _open_closed()
    if sys.stdout is None:
        _refuse("is closed")
    try:
        yield
    except OSError as error:
        if not (_fails() or _was_echoed(error)):
            raise
        _refuse(f"cannot be written to: {error.strerror or error}")
    finally:
        if _fails():
            with suppress(OSError, ValueError):  # else the interpreter fails once more to write what is left, at its end
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_closed() -> None:
    """Open the null device where one of the three standard streams is closed: a record would get its number, and its text."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free


def _refuse(what: str) -> None:
    click.echo(f"spotsvm: error: standard output {what}; {_REMEDY}", err=True)
    sys.exit(2)


def _was_echoed(error: OSError) -> bool:
    """Return whether an error was raised as click wrote to standard output, for which it may use a stream of its own."""
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    return any(frame.f_code is click.utils.echo.__code__ and not frame.f_locals["err"] for frame in frames)


def _fails() -> bool:
    """Return whether what waits to be written to standard output cannot be."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return True
    except AttributeError:  # it is closed
        return False
    return False
