"""Ctrl-C while something long runs: one sentence says what is finished and how to go on, in place of a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Any

#: the method by which IPython lets an exception say how it is shown
_SHOWN = "_render_traceback_"


@contextmanager
def says_when_interrupted(sentence: Callable[[str], str]) -> Iterator[None]:
    """Give a Ctrl-C in this block a sentence, which Python and IPython then show alone; the traceback stays its context.

    `sentence` is called with the one of a block within this one, or "".
    """
    try:
        yield
    except KeyboardInterrupt as interrupt:
        said = KeyboardInterrupt(sentence(str(interrupt) if _SHOWN in vars(interrupt) else ""))
        vars(said)[_SHOWN] = partial(list, (f"KeyboardInterrupt: {said}",))
        if not (isinstance(sys.excepthook, partial) and sys.excepthook.func is _show):
            sys.excepthook = partial(_show, sys.excepthook)
        raise said from None


def _show(others: Callable[..., Any], kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Show an exception that nobody has caught: an interruption with a sentence as one line, others as before."""
    if issubclass(kind, KeyboardInterrupt) and _SHOWN in vars(error):
        print(*vars(error)[_SHOWN](), sep="\n", file=sys.stderr)
    else:
        others(kind, error, traceback)
