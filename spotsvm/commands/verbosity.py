"""How much of what the library logs is shown on standard error."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


def verbose_option(command: Any) -> Any:
    """Add the option --verbose, which the command `spotsvm` takes and each of its commands too."""
    return click.option(
        "-v",
        "--verbose",
        count=True,
        expose_value=False,
        callback=_show,
        help="Say on standard error when runs start and end and what came of each trial; -vv also what is asked for.",
    )(command)


class _Shown(logging.Handler):
    """Writes a line on standard error, above a progress bar if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        from tqdm import tqdm  # on use: most commands say nothing

        from spotsvm.printable import printable_line

        try:
            text = printable_line(record.getMessage())
            when = logging.Formatter("%(asctime)s", "%H:%M:%S").format(record)[:8]
            mark = "warning:" if record.levelno >= logging.WARNING else when
            tqdm.write(f"spotsvm: {mark} {text}", file=sys.stderr)
        except Exception:  # as logging's own handlers: what cannot be shown ends nothing
            self.handleError(record)


@contextmanager
def logs_shown(verbosity: int) -> Iterator[None]:
    """Show what the library logs: warnings, from 1 on also what happens, from 2 on also what is asked for.

    Parameters
    ----------
    verbosity : int
        How often --verbose was given.
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
    """Show logs until the outermost command has ended, as much as it or the one within it asks for."""
    root = ctx.find_root()
    if ctx is root:
        root.with_resource(logs_shown(verbosity))
    elif verbosity:
        logging.getLogger("spotsvm").setLevel(_LEVELS[min(verbosity, 2)])
