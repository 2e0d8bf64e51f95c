"""The option --verbose: show log messages of the library on standard error."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


def verbose_option(command: Any) -> Any:
    """Add the option --verbose, for the command `spotsvm` and each of its subcommands."""
    return click.option(
        "-v",
        "--verbose",
        count=True,
        expose_value=False,
        callback=_show,
        help="Log the start and end of runs and the result of each trial on standard error; -vv also logs each suggestion.",
    )(command)


class _Shown(logging.Handler):
    """Write a line on standard error, above a progress bar if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm import tqdm  # on use: most commands log nothing

        from spotsvm.printable import printable_line

        try:
            text = printable_line(record.getMessage())
            when = logging.Formatter("%(asctime)s", "%H:%M:%S").format(record)[:8]
            mark = "warning:" if record.levelno >= logging.WARNING else when
            tqdm.write(f"spotsvm: {mark} {text}", file=sys.stderr)
        except Exception:  # as logging's own handlers do: a message that cannot be shown is no reason to stop
            self.handleError(record)


@contextmanager
def logs_shown(verbosity: int) -> Iterator[None]:
    """Show log messages: warnings, from verbosity 1 on also runs and trials, from 2 on also suggestions.

    Parameters
    ----------
    verbosity : int
        Number of times --verbose was given.
    """
    logger, handler = logging.getLogger("spotsvm"), _Shown()
    level = logger.level
    logger.setLevel(_LEVELS[min(verbosity, 2)])
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _show(ctx: click.Context, option: click.Parameter, verbosity: int) -> None:
    """Show logs until the outermost command has ended, at the level that it or its subcommand sets."""
    root = ctx.find_root()
    if ctx is root:
        root.with_resource(logs_shown(verbosity))
    elif verbosity:
        logging.getLogger("spotsvm").setLevel(_LEVELS[min(verbosity, 2)])
