"""Events as rows of a record: JSON text derived from the fields of their dataclasses, and the bytes of their arrays."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from itertools import repeat
from types import UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.json_values import plain_number, read_json
from spotsvm.trials.events import Event

#: the error of a row that was changed after it was written
UNLIKE = "its checksum does not match its content"
#: the types of the numbers of an array
_DTYPES = ("<f4", "<f8")
Cell = int | float | str | bytes | None


class RowError(ValueError):
    """A row has content that spotsvm did not write."""


def encoded(event: Event) -> tuple[str, str, bytes | None]:
    """Return the kind of an event, its content as JSON text, and the bytes of its arrays."""
    arrays: list[bytes] = []
    content = _written(event, type(event), arrays)
    return type(event).__name__.lower(), json.dumps(content, separators=(",", ":")), b"".join(arrays) or None


def decoded(kind: Any, content: Any, arrays: Any) -> Event:
    """Return the event of a row, or raise RowError."""
    if not isinstance(kind, str) or kind not in _EVENTS:
        raise RowError(f"its kind is {brief_repr(kind)}")
    if not isinstance(arrays, bytes | None):
        raise RowError(f"its arrays are {brief_repr(arrays)}")
    unread = _Unread(arrays or b"")
    event = _read(from_json(content), _EVENTS[kind], unread, "content")
    if unread.content:
        raise RowError(f"its arrays have {len(unread.content)} bytes too many")
    return cast("Event", event)


_EVENTS: dict[str, type] = {one.__name__.lower(): one for one in get_args(Event)}


def checksum(*cells: Cell) -> int:
    """Return the CRC-32 of the cells of a row; a number counts by its value, as SQLite keeps 3.0 as an integer."""
    found = 0
    for cell in cells:
        if isinstance(cell, bytes):
            found = zlib.crc32(cell, zlib.crc32(b"bytes", found))
        else:
            plain = float(cell) if isinstance(cell, int | float) else cell
            # ascii, because the characters that repr escapes depend on the version of Python
            found = zlib.crc32(ascii(plain).encode("ascii"), zlib.crc32(b",", found))
    return found - 2**31


def from_json(text: Any) -> Any:
    """Return the content of a cell with JSON text; raise RowError if `read_json` refuses it."""
    try:
        return read_json(text)
    except (TypeError, ValueError):
        raise RowError(f"it holds {brief_repr(text)}, which is not JSON") from None


def brief_repr(value: Any) -> str:
    """Return the text of a value for an error message, in at most 80 characters."""
    if isinstance(value, dict | list):  # repr of a large container is slow
        return f"a {'mapping' if isinstance(value, dict) else 'list'} of {len(value)}"
    text = repr(value[:80]) if isinstance(value, str | bytes) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


@cache
def _recorded(kind: type) -> tuple[tuple[Field[Any], Any], ...]:
    """Return the fields of a dataclass that are recorded, with their types."""
    hints = get_type_hints(kind)
    return tuple((one, hints[one.name]) for one in fields(kind) if one.metadata.get("recorded", True))


@cache
def _parts(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    origin = get_origin(kind)
    if hasattr(origin, "__value__"):  # numpy's NDArray may be an alias
        origin = get_origin(origin.__value__)
    return UnionType if origin is Union else origin, get_args(kind)


def _written(value: Any, kind: Any, arrays: list[bytes]) -> Any:
    """Return a value of a type as JSON types, a dataclass without the fields that have their defaults; append its arrays."""
    origin, inside = _parts(kind)
    if origin is UnionType:
        return None if value is None else _written(value, inside[0], arrays)
    if is_dataclass(kind):
        cells = [(one, of, getattr(value, one.name)) for one, of in _recorded(cast("type", kind))]
        return {one.name: _written(cell, of, arrays) for one, of, cell in cells if not _is_default(cell, one)}
    if origin is np.ndarray:
        plain = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        arrays.append(plain.tobytes())
        return [plain.dtype.str, *plain.shape]
    if origin is tuple:
        return [_written(one, of, arrays) for one, of in zip(value, _each(inside), strict=False)]
    if origin is Mapping:
        return {str(name): _written(one, inside[1], arrays) for name, one in value.items()}
    if kind is Any:
        return value if _is_json(value) else _text_of(value)
    return float(value) if kind is float else value


def _each(inside: tuple[Any, ...]) -> Sequence[Any] | repeat[Any]:
    """Return the types of the parts of a tuple, all of one type or each of its own."""
    return repeat(inside[0]) if inside[-1] is ... else inside


def _is_default(value: Any, of: Field[Any]) -> bool:
    if of.default is MISSING:
        return of.default_factory is dict and not value
    return value is of.default or (type(value) is type(of.default) and bool(value == of.default))


def _is_json(value: Any) -> bool:
    if isinstance(value, float | str | None):
        return True
    try:
        read_json(json.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _text_of(value: Any) -> str:
    """Return a value without a JSON type, such as an estimator, as text for people and programs that read the file."""
    from spotsvm.common.fingerprint import as_text  # on use: most values are numbers and texts

    return as_text(value)


@dataclass
class _Unread:
    """The bytes of a row's arrays that are still to be read."""

    content: bytes

    def array(self, read: Any, what: str) -> NDArray[Any]:
        """Return the next array, of the type and the shape that were written."""
        dtype, *shape = _of(list, read, what) or [None]
        if dtype not in _DTYPES or not shape or not all(type(n) is int and n >= 0 for n in shape):
            raise RowError(f"its {what} are {brief_repr(read)}, not a type and a shape")
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size > len(self.content):
            raise RowError(f"its {what} have {len(self.content)} bytes, not {size}")
        taken, self.content = self.content[:size], self.content[size:]
        return np.frombuffer(taken, dtype=dtype).reshape(shape)


def _read(read: Any, kind: Any, arrays: _Unread, what: str) -> Any:
    """Return the value of a type that `_written` made JSON types of, or raise RowError, which names the field."""
    origin, inside = _parts(kind)
    if origin is UnionType:
        return None if read is None else _read(read, inside[0], arrays, what)
    if is_dataclass(kind):
        return _read_fields(_of(dict, read, what), cast("type", kind), arrays)
    if origin is np.ndarray:
        return arrays.array(read, what)
    if origin is tuple:
        cells = _of(list, read, what)
        if inside[-1] is not ... and len(cells) != len(inside):
            raise RowError(f"its {what} has {brief_repr(cells)}, not {len(inside)} parts")
        return tuple(_read(one, of, arrays, what) for one, of in zip(cells, _each(inside), strict=False))
    if origin is Mapping:
        named = _of(dict, read, what).items()
        return {_key(name, inside[0], what): _read(one, inside[1], arrays, what) for name, one in named}
    if origin is Literal:
        if not isinstance(read, str) or read not in inside:
            raise RowError(f"its {what} is {brief_repr(read)}")
        return read
    if kind is float:
        return read if isinstance(read, float) else plain_number(_of(int, read, what))
    return read if kind is Any or (kind is bool and isinstance(read, bool)) else _of(kind, read, what)


def _read_fields(cells: dict[str, Any], kind: type, arrays: _Unread) -> Any:
    known = {one.name: _read(cells[one.name], of, arrays, one.name) for one, of in _recorded(kind) if one.name in cells}
    if lacking := [one.name for one, _ in _recorded(kind) if _is_required(one) and one.name not in known]:
        raise RowError(f"it lacks {', '.join(lacking)}")
    if further := sorted(cells.keys() - known.keys()):
        raise RowError(f"it has {brief_repr(further[0])}, which this version of spotsvm does not write")
    return kind(**known)


def _is_required(one: Field[Any]) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def _key(name: str, kind: type, what: str) -> Any:
    if kind is str:
        return name
    if not name.isascii() or not name.isdigit() or len(name) > 15:
        raise RowError(f"its {what} has {brief_repr(name)}")
    return int(name)


def _of(kind: type, value: Any, what: str) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise RowError(f"its {what} is {brief_repr(value)}")
    return value
