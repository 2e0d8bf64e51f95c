"""A decorator that compiles loops with numba, and logs when compiling takes time."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile

_LOG = logging.getLogger(__name__)

_LONG = "compiling functions at their first use in this installation, which takes up to half a minute"
_KEPT = f"{_LONG} once; `spotsvm warmup` does it in advance"
_NOT_KEPT = f"{_LONG} in each process, because no cache folder is writable; set NUMBA_CACHE_DIR to a writable folder"


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function by numba (njit's options), and cache the machine code beside the source or in the user's cache folder.

    By default it releases the GIL and divides as numpy does. Without a writable folder it is compiled in each process; a damaged
    file is replaced.
    """
    if function is None:
        return partial(compiled, **options)
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    dispatcher = njit(function, **options)
    with suppress(RuntimeError):  # numba found no cache folder
        dispatcher._cache = _Cache(function)  # as `cache=True` does, which takes no other class
    _ANNOUNCEMENT.of.append(dispatcher)
    return dispatcher


_DIGEST = hashlib.sha256
_SIZE = _DIGEST().digest_size


class _Cache(FunctionCache):
    """numba's cache, with files that are checked before they are used, and written only where that is possible."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__(function)  # type: ignore[no-untyped-call]
        impl = self._impl
        self._cache_file = _CheckedFiles(self._cache_path, impl.filename_base, impl.locator.get_source_stamp())

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save what was compiled, unless the disk is full or the folder has become read-only."""
        with suppress(OSError):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]


class _CheckedFiles(IndexDataCacheFile):
    """The files of a function in the cache, which end with a checksum: numba itself loads damaged machine code as it is."""

    def __init__(self, *where: Any):
        super().__init__(*where)  # type: ignore[no-untyped-call]

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BytesIO]:
        with super()._open_for_write(filepath) as file:
            content = BytesIO()
            yield content
            file.write(content.getvalue() + _DIGEST(content.getvalue()).digest())  # which the reader of a pickle does not see

    def _load_index(self) -> Any:
        return super()._load_index() if _is_whole(self._index_path) else {}  # type: ignore[no-untyped-call]

    def _load_data(self, name: str) -> Any:
        if not _is_whole(path := self._data_path(name)):  # type: ignore[no-untyped-call]
            raise FileNotFoundError(path)  # as if it were not there, which numba expects
        return super()._load_data(name)  # type: ignore[no-untyped-call]


def _is_whole(path: str) -> bool:
    """Return whether a file is there, and ends with the checksum of the rest."""
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        return False
    whole = len(content) > _SIZE and _DIGEST(content[:-_SIZE]).digest() == content[-_SIZE:]
    if not whole:
        _LOG.debug("%s is damaged, or was written by numba alone; its function is compiled anew", path)
    return whole


class _Announcement(event.Listener):
    """Log once that a function is being compiled; numba sends no event for a function that it loads from the cache."""

    def __init__(self) -> None:
        self.made, self.of = False, list[Any]()

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        if not self.made and any(dispatcher is ours for ours in self.of):
            self.made = True
            _LOG.info(_KEPT if dispatcher.stats.cache_path else _NOT_KEPT)

    def on_end(self, event: Any) -> None:
        pass


_ANNOUNCEMENT = _Announcement()
event.register("numba:compile", _ANNOUNCEMENT)  # type: ignore[no-untyped-call]
