"""A context in which BLAS uses one thread, for small matrices."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any, cast

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread.

    Matrices of a few hundred rows gain nothing from more threads. If other processes compete for the processor, the threads wait
    for each other: one fit took twenty times as long. One thread also gives the same bits everywhere.
    """
    return cast("AbstractContextManager[Any]", _controller().limit(limits=1, user_api="blas"))
