"""What the command line does when it is interrupted: it says how to go on, and ends with the code that shells expect."""

from __future__ import annotations

import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click

_COMMAND = "spotsvm.command"


def remember_command(context: click.Context, arguments: Sequence[str]) -> None:
    """Keep the command line in the context, to be said again."""
    context.meta[_COMMAND] = shlex.join(["spotsvm", *arguments])


@contextmanager
def exits_when_interrupted() -> Iterator[None]:
    """End with code 130 after Ctrl-C, and with 143 after SIGTERM, which a batch queue sends before it kills; say what was kept.

    SIGTERM is taken as Ctrl-C is: what has come back is recorded first.
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
def says_how_to_resume(out: Path | None) -> Iterator[None]:
    """Where this block is interrupted, say what is kept in the folder `out`, and with which command to go on."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        command = click.get_current_context().meta.get(_COMMAND, "the same command")
        if out is None:
            text = f"nothing is kept without --out. To be able to go on after an interruption: {command} --out FOLDER"
        else:
            text = f"the candidates scored so far are in {out}, and the same command goes on from there: {command}"
        raise KeyboardInterrupt(text) from interrupt
