"""A hash of the content of rows, targets and weights: what holds the numbers does not count."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse

from spotsvm.common.fingerprint import content_hash

#: how a hash begins; those of version 0.2.0 were of types and layouts as well
CONTENT = "content "
_FIRST_GAP = 2**53 + 1  # the first whole number that is no float


def data_hash(*parts: Any) -> str:
    """Return a hash of the content of data, the same for equal numbers, texts and times in any container and layout.

    A frame's column names count, and which columns are categories or have a time zone; its index does not.
    """
    hashed = hashlib.sha256()
    for piece in _pieces(parts):
        hashed.update(len(piece).to_bytes(8, "little"))
        hashed.update(piece)
    return f"{CONTENT}{hashed.hexdigest()[:32]}"


def _pieces(parts: Iterable[Any]) -> Iterator[bytes]:
    for data in parts:
        if data is None:
            yield b"none"
        elif issparse(data):
            rows = data.tocsr(copy=True)
            rows.sum_duplicates()
            rows.eliminate_zeros()
            yield f"sparse {rows.shape}".encode()
            yield from map(_cells, (rows.data, rows.indices, rows.indptr))
        elif isinstance(data, Mapping):
            for name in sorted(data, key=repr):
                yield _text(f"named {name!r}")
                yield from _pieces([data[name]])
        elif isinstance(data, pd.DataFrame) or hasattr(data, "get_column"):  # of polars
            names = list(data.columns)
            yield f"frame {len(data)} {len(names)}".encode()
            for k, name in enumerate(names):
                column = data.iloc[:, k] if isinstance(data, pd.DataFrame) else data.get_column(name)
                yield _text(f"column {name!r} {_kind(column.dtype)}")
                yield _cells(_values(column))
        else:
            values = _values(data)
            yield f"array {values.shape}".encode()
            yield _cells(values)


def _kind(dtype: Any) -> str:
    """Return what a type says about a column beside its cells."""
    named = isinstance(dtype, pd.CategoricalDtype) or str(dtype).startswith(("Categorical", "Enum"))
    zone = getattr(dtype, "tz", None) or getattr(dtype, "time_zone", None)
    return "category" if named else "" if zone is None else str(zone)


def _values(data: Any) -> NDArray[Any]:
    if isinstance(data, pd.Series | pd.Index):
        if isinstance(data.dtype, pd.CategoricalDtype):
            return np.asarray(data.astype(object))
        if isinstance(data.dtype, pd.DatetimeTZDtype):
            return np.asarray(pd.DatetimeIndex(data).tz_convert("UTC").tz_localize(None))
        return data.to_numpy()
    if isinstance(data, np.ma.MaskedArray):
        cells: NDArray[Any] = np.ma.getdata(data).astype(object)
        cells[np.ma.getmaskarray(data)] = None
        return cells
    try:
        return np.asarray(data)
    except ValueError:  # rows of unequal length
        return np.array([*data, None], dtype=object)[:-1]


def _cells(values: NDArray[Any]) -> bytes:
    kind = values.dtype.kind
    if kind in "iu" and values.size and max(abs(int(values.min())), abs(int(values.max()))) >= _FIRST_GAP:
        return b"whole " + " ".join(map(str, values.ravel().tolist())).encode()
    if kind in "biuf":
        numbers = np.ascontiguousarray(values, dtype=np.float64) + 0.0  # -0.0 is 0.0
        numbers[np.isnan(numbers)] = np.nan
        return b"numbers " + numbers.tobytes()
    if kind == "c":
        return b"complex " + np.ascontiguousarray(values, dtype=np.complex128).tobytes()
    if kind in "mM":
        whole: NDArray[Any] = values.astype(f"{kind}8[us]")
        rest: NDArray[Any] = (values - whole).astype("m8[ns]")
        return b"times " + whole.astype(np.int64).tobytes() + rest.astype(np.int64).tobytes()
    cells = values.ravel().tolist()
    numbers_alone = [np.nan if _is_missing(cell) else cell for cell in cells]
    if all(isinstance(cell, float) or (isinstance(cell, Integral) and abs(int(cell)) < _FIRST_GAP) for cell in numbers_alone):
        return _cells(np.array(numbers_alone, dtype=np.float64))
    return b"cells " + b"".join(len(text).to_bytes(8, "little") + text for text in map(_cell, cells))


def _is_missing(cell: Any) -> bool:
    return cell is None or cell is pd.NA or cell is pd.NaT or (isinstance(cell, float) and cell != cell)


def _cell(cell: Any) -> bytes:
    if _is_missing(cell):
        return b"-"
    if isinstance(cell, str):
        return b"s" + _text(cell)
    if isinstance(cell, Integral):
        return b"n" + str(int(cell)).encode()
    if isinstance(cell, float):
        return b"n" + (str(int(cell)) if cell.is_integer() else repr(cell)).encode()
    if isinstance(cell, date):
        return b"t" + pd.Timestamp(cell).isoformat().encode()
    return b"o" + content_hash(cell).encode()


def _text(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
