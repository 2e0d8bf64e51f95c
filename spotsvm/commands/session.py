"""Interruption of the command line: print how to resume, and exit with the code that shells expect."""

from __future__ import annotations

import logging
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

_COMMAND = "spotsvm.command"


def remember_command(context: click.Context, arguments: Sequence[str]) -> None:
    """Store the command line in the context, for the message after an interruption."""
    context.meta[_COMMAND] = shlex.join(["spotsvm", *arguments])


def command_line() -> str:
    """Return the command line that is being run; empty where none was remembered."""
    context = click.get_current_context(silent=True)
    return "" if context is None else str(context.meta.get(_COMMAND, ""))


@contextmanager
def exits_when_interrupted() -> Iterator[None]:
    """Exit with code 130 after Ctrl-C, and with 143 after SIGTERM, which a batch queue sends before it kills.

    SIGTERM is handled as Ctrl-C is: finished trials are recorded first, and a message says what was saved.
    """
    terminated = []

    def terminate(number: int, frame: FrameType | None) -> None:
        terminated.append(number)
        handler: Any = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # a script's background job ignores Ctrl-C
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)

    in_main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, terminate) if in_main else None
    try:
        yield
    except KeyboardInterrupt as interrupt:
        click.echo("; ".join(["spotsvm: interrupted", *map(str, interrupt.args)]), err=True)
        sys.exit(143 if terminated else 130)
    finally:
        if in_main:
            signal.signal(signal.SIGTERM, before)


@contextmanager
def says_how_to_resume(out: Path | None, records: bool = True) -> Iterator[None]:
    """If this block is interrupted, add what is saved in the folder `out`, and the command to resume, to the message.

    Without `records` nothing is saved before the end.
    """
    try:
        yield
    except KeyboardInterrupt as interrupt:
        command = click.get_current_context().meta.get(_COMMAND, "the same command")
        if not records:
            text = f"nothing was saved, as a fit of the average is saved at its end. The same command starts again: {command}"
        elif out is None:
            text = f"nothing was saved, as there was no --out. To be able to resume after an interruption: {command} --out FOLDER"
        else:
            text = f"the candidates scored so far are saved in {out}. To resume, run the same command: {command}"
        raise KeyboardInterrupt(text) from interrupt


@contextmanager
def warns_in_one_line() -> Iterator[None]:
    """Show a Python warning, such as one of another library, in one line, without the place in the code."""

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        from spotsvm.common.text import printable_line  # on use: --help needs none of the library

        click.echo(f"spotsvm: warning: {printable_line(str(message))}", err=True)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
_WAITS = "spotsvm.surrogates.compiled"  # where somebody would wonder otherwise


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

        from spotsvm.common.text import printable_line

        try:
            text = printable_line(record.getMessage())
            when = logging.Formatter("%(asctime)s", "%H:%M:%S").format(record)[:8]
            mark = "warning:" if record.levelno >= logging.WARNING else "notice:" if record.name == _WAITS else when
            tqdm.write(f"spotsvm: {mark} {text}", file=sys.stderr)
        except Exception:  # as logging's own handlers do: a message that cannot be shown is no reason to stop
            self.handleError(record)


@contextmanager
def logs_shown(verbosity: int) -> Iterator[None]:
    """Show log messages: warnings and compilation, with one --verbose also runs and trials, with two also suggestions."""
    logger, waits, handler = logging.getLogger("spotsvm"), logging.getLogger(_WAITS), _Shown()
    levels = logger.level, waits.level
    logger.setLevel(_LEVELS[min(verbosity, 2)])
    waits.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(levels[0])
        waits.setLevel(levels[1])


def _show(ctx: click.Context, option: click.Parameter, verbosity: int) -> None:
    """Show logs until the outermost command has ended, at the level that it or its subcommand sets."""
    root = ctx.find_root()
    if ctx is root:
        root.with_resource(logs_shown(verbosity))
    elif verbosity:
        logging.getLogger("spotsvm").setLevel(_LEVELS[min(verbosity, 2)])
