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
from functools import cache, partial
from importlib.metadata import version
from sysconfig import get_paths
from types import CodeType, FunctionType, MethodType
from typing import Any

import joblib
import numpy as np
import pandas as pd
from scipy.sparse import issparse

from spotsvm.common.checkout import library_version

#: numpy's default print options
_PRINTED: dict[str, Any] = {
    "precision": 8, "threshold": 1000, "edgeitems": 3, "linewidth": 75, "suppress": False, "nanstr": "nan", "infstr": "inf",
    "formatter": None, "sign": "-", "floatmode": "maxprec", "legacy": False,
}  # fmt: skip


def canonical(data: Any) -> Any:
    """Return sparse data in canonical form, and other data unchanged."""
    if not issparse(data):
        return data
    rows = data.tocsr(copy=True)
    rows.sum_duplicates()
    return rows.shape, rows.data, rows.indices, rows.indptr


def as_text(value: Any, **options: Any) -> str:
    """Return a repr that is the same in every process, independent of the print settings of numpy and scikit-learn.

    `options` are arguments of `np.printoptions` that differ from numpy's defaults.
    """
    sklearn = sys.modules.get("sklearn")  # if it is not imported, the value has no estimator
    with np.printoptions(**_PRINTED | options), sklearn.config_context(print_changed_only=True) if sklearn else nullcontext():
        return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def content_hash(value: Any) -> str:
    """Return a hash of the contents of a value, the same in every process and for equal contents.

    Functions count by name, code, constants, defaults and closures (by name alone if installed, as do classes), so it depends on
    the version of Python; other objects by what pickle would store, or by class and text.
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
    if isinstance(value, CodeType):
        return [b"code", value.co_code, *map(inside, (value.co_names, value.co_varnames, value.co_freevars, value.co_consts))]
    if isinstance(value, FunctionType) and not _is_installed(value):
        # the docstring is one of the constants, but does not change results
        consts = tuple(None if const == value.__doc__ else const for const in value.__code__.co_consts)
        parts = [value.__code__.replace(co_consts=consts), value.__defaults__, value.__kwdefaults__, *_closure(value)]
        return [b"function", _name(value), *map(inside, parts)]
    if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")):
        return [b"name", _name(value)]
    if callable(getattr(value, "get_params", None)):
        return [kind, inside(value.get_params(deep=False))]
    if value is getattr(np.random.get_state, "__self__", None):
        return [kind]  # numpy's own generator, which differs in each process
    try:
        kept = value.__reduce_ex__(4)
    except Exception:  # a user's object may raise any error
        return [kind, as_text(value).encode("utf-8", "backslashreplace")]
    if isinstance(kept, str):
        return [kind, kept.encode()]
    return [kind, *(inside(list(part) if isinstance(part, Iterator) else part) for part in kept)]


def _is_installed(function: FunctionType) -> bool:
    """Return whether a function is from an installed package or from Python itself, whose versions are recorded."""
    file, paths = function.__code__.co_filename, get_paths()
    ours = str(function.__module__).partition(".")[0] == "spotsvm"
    return ours or file.startswith(("<frozen", *(paths[name] for name in ("stdlib", "purelib", "platlib"))))


def _closure(function: FunctionType) -> list[Any]:
    """Return the values of a function's closure; the name of a variable that is not set yet."""
    held = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            held.append(cell.cell_contents)
        except ValueError:
            held.append(name)
    return held


def _name(of: Any) -> bytes:
    """Return the name of a class or function; for those of this library without the module, which may change."""
    module = str(getattr(of, "__module__", ""))
    place = "spotsvm" if module.partition(".")[0] == "spotsvm" else module
    return f"{place}.{getattr(of, '__qualname__', of.__name__)}".encode("utf-8", "backslashreplace")


def whole(value: Any) -> Any:
    """Return a parameter whose text is complete: frames, series, sparse data and functions are replaced by a hash or a text."""
    function = _function_in(value)
    if isinstance(function, FunctionType) and not _is_installed(function):
        return f"{as_text(value)} with the code {content_hash(value if function is not _scored_by(value) else function)}"
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
        # by values, not by their memory layout in pandas
        return joblib.hash((names, pd.util.hash_pandas_object(value).to_numpy()))
    except TypeError:  # cells that have no hash, such as lists
        return joblib.hash(value)


def _function_in(value: Any) -> Any:
    """Return the function that a method, a partial or a scorer calls; other values unchanged."""
    while isinstance(value, MethodType | partial) or _scored_by(value) is not None:
        inner = value.__func__ if isinstance(value, MethodType) else value.func if isinstance(value, partial) else None
        value = _scored_by(value) if inner is None else inner
    return value


def _scored_by(value: Any) -> Any:
    """Return the function of a scorer made by `make_scorer`; None for other values."""
    if "sklearn.metrics" not in sys.modules:
        return None
    from spotsvm.common.compat import scorer_parts  # imported here: without scikit-learn there are no scorers

    parts = scorer_parts(value)
    return None if parts is None else parts.function


_PACKAGES = ("numpy", "scipy", "scikit-learn")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages on which a study's trials depend, by name."""
    return {"python": platform.python_version(), "spotsvm": library_version()} | {name: version(name) for name in _PACKAGES}
