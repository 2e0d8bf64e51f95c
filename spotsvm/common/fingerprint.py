"""Texts and hashes of data and parameters that are the same for equal values in every process."""

from __future__ import annotations

import hashlib
import inspect
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import nullcontext
from functools import cache
from importlib.metadata import version
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy.sparse import issparse

from spotsvm.common.checkout import library_version

#: numpy's own way to print
_PRINTED: dict[str, Any] = {
    "precision": 8, "threshold": 1000, "edgeitems": 3, "linewidth": 75, "suppress": False, "nanstr": "nan", "infstr": "inf",
    "formatter": None, "sign": "-", "floatmode": "maxprec", "legacy": False,
}  # fmt: skip


def canonical(data: Any) -> Any:
    """Return sparse data in a form that does not depend on how they were made; other data unchanged."""
    if not issparse(data):
        return data
    rows = data.tocsr(copy=True)
    rows.sum_duplicates()
    return rows.shape, rows.data, rows.indices, rows.indptr


def as_text(value: Any, **options: Any) -> str:
    """Return the repr of a value as it is in any process, whatever the print settings of numpy and scikit-learn.

    `options` are those of `np.printoptions`, where they differ from numpy's defaults.
    """
    sklearn = sys.modules.get("sklearn")  # without it no estimator is to be shown
    with np.printoptions(**_PRINTED | options), sklearn.config_context(print_changed_only=True) if sklearn else nullcontext():
        return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def content_hash(value: Any) -> str:
    """Return a hash of the contents of a value, the same in every process and for equal contents.

    Numbers and texts count by value, arrays by type, shape and numbers, frames and sparse data by their cells, lists and mappings
    by their items, functions and classes by their names, estimators by their class and parameters, and other objects by the state
    that pickle would store. An object that cannot be pickled counts by its class and its text.
    """
    return _digest(value, ()).hex()


def _digest(value: Any, above: tuple[int, ...]) -> bytes:
    hashed = hashlib.blake2b(digest_size=8)
    for part in _parts(value, above):
        hashed.update(len(part).to_bytes(8, "little") + part)
    return hashed.digest()


def _parts(value: Any, above: tuple[int, ...]) -> list[bytes]:
    """Return the parts of a value as bytes; `above` has the ids of the values that contain it, to detect cycles."""
    value = value.item() if isinstance(value, np.bool_ | np.number) else value
    if value is None or type(value) in (bool, int, float, complex, str, bytes):
        return [type(value).__name__.encode(), (hex(value) if type(value) is int else ascii(value)).encode()]
    if id(value) in above:
        return [b"itself", str(above[::-1].index(id(value))).encode()]

    def inside(part: Any) -> bytes:
        return _digest(part, (*above, id(value)))

    kind = _name(type(value))
    if isinstance(value, list | tuple):
        return [kind, *map(inside, value)]
    if isinstance(value, Mapping):
        return [kind, *sorted(inside(key) + inside(one) for key, one in value.items())]
    if isinstance(value, AbstractSet):
        return [kind, *sorted(map(inside, value))]
    if issparse(value) or isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        return [kind, str(whole(value)).encode()]
    if isinstance(value, np.ma.MaskedArray):
        return [kind, inside(np.ma.getdata(value)), inside(np.ma.getmaskarray(value))]
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        held = inside(array.tolist()) if array.dtype.hasobject else np.ascontiguousarray(array).tobytes()
        return [b"array", ascii(array.dtype.descr).encode(), str(array.shape).encode(), held]
    if inspect.ismethod(value):
        return [b"method", inside(value.__self__), inside(value.__func__)]
    if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")):
        return [b"name", _name(value)]
    if callable(getattr(value, "get_params", None)):
        return [kind, inside(value.get_params(deep=False))]
    if value is getattr(np.random.get_state, "__self__", None):
        return [kind]  # numpy's own, which is another in each process
    try:
        kept = value.__reduce_ex__(4)
    except Exception:  # what an object of the user's raises can be anything
        return [kind, as_text(value).encode("utf-8", "backslashreplace")]
    if isinstance(kept, str):
        return [kind, kept.encode()]
    return [kind, *(inside(list(part) if isinstance(part, Iterator) else part) for part in kept)]


def _name(of: Any) -> bytes:
    """Return the name of a class or function; for our own without the module, which may change."""
    module = str(getattr(of, "__module__", ""))
    place = "spotsvm" if module.partition(".")[0] == "spotsvm" else module
    return f"{place}.{getattr(of, '__qualname__', of.__name__)}".encode("utf-8", "backslashreplace")


def whole(value: Any) -> Any:
    """Return a parameter whose text is complete: frames, series and sparse data are replaced by a hash of their values."""
    if isinstance(value, Mapping):
        return {key: whole(one) for key, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(whole(one) for one in value)
    if issparse(value):
        return joblib.hash(canonical(value))
    if not isinstance(value, pd.DataFrame | pd.Series | pd.Index):
        return value
    names = list(value.columns) if isinstance(value, pd.DataFrame) else value.name
    try:
        # by values alone, not by how pandas has laid them out in memory
        return joblib.hash((names, pd.util.hash_pandas_object(value).to_numpy()))
    except TypeError:  # cells that have no hash, such as lists
        return joblib.hash(value)


_PACKAGES = ("numpy", "scipy", "scikit-learn")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages on which a study's trials depend, by name."""
    return {"python": platform.python_version(), "spotsvm": library_version()} | {name: version(name) for name in _PACKAGES}
