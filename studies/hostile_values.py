"""Values that no file of this library holds, and JSON and bytes that were changed at random."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Rng = np.random.Generator

#: JSON texts: of a wrong type, too large, too deep, or not JSON at all
JSON_TEXTS: tuple[str, ...] = (
    "null", "true", "-1", "0", "1e308", "-1e308", "1e400", "NaN", "Infinity", "-Infinity", str(2**63), str(-(2**63) - 1),
    "9" * 400, "9" * 5000, '""', '"x"', '"\\ud800"', '"\\u0000"', '"' + "a" * 100_000 + '"', "[]", "{}", "[[]]", "[0, 1]",
    "[" * 100 + "]" * 100, "[" * 900 + "]" * 900, "[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a": ' * 900 + "1" + "}" * 900,
    '{"a": 1, "a": 2}', "[" + "0," * 50_000 + "0]", "{", "", "nul", "'x'", "\x00", "1 2",
    json.dumps({"<script>": "</script><b>&\"'"}), json.dumps(["=1+1", "\x1b[31m", "../../x", "a\r\nb", "\u202e", "$x^$"]),
)  # fmt: skip

#: texts for names, categories, reasons and notes
TEXTS: tuple[str, ...] = (
    "", " ", "</script><script>alert(1)</script>", "\"'><img src=x onerror=alert(1)>", "</title>", "]]>", "&amp;", "=cmd()",
    "@SUM(A1)", "\t=1", "-2+3", "\uff1d1+1", "\x1b]0;title\x07\x1b[2J", "a\rb", "a\nb", "\x00", "\x0b\x85\u2028",
    "\ud800", "\ufffe",
    "\u202eabc", "$", "$x", "$\\frac{$", "{{ 7 * 7 }}", "%s%n", "../../etc/passwd", "C:\\con", "a" * 100_000, "a" * 300,
    "__import__('os')",
    "param_", "value", "number", "__class__", "\\", "|", "`", "~", "nan", "inf", "1e400", "9" * 400,
)  # fmt: skip

#: values of cells of a database
CELLS: tuple[Any, ...] = (
    None, 0, -1, 1, 2**63 - 1, -(2**63), 0.5, 1e308, -1e308, 5e-324, float("inf"), float("-inf"), b"", b"\x00\xff", b"{}",
    b"\x80" * 1000,
)  # fmt: skip


def one_of(rng: Rng, values: Sequence[Any]) -> Any:
    """Draw one of these."""
    return values[int(rng.integers(len(values)))]


def hostile_json(rng: Rng, text: str) -> str:
    """Change a part of a JSON text, or give another; what is no JSON is replaced.

    Parameters
    ----------
    rng : numpy Generator
        Source of the choices.
    text : str
        JSON.

    Examples
    --------
    >>> hostile_json(np.random.default_rng(3), '{"a": [1, 2]}') != '{"a": [1, 2]}'
    True
    """
    kind = rng.random()
    if kind < 0.1:
        return str(one_of(rng, JSON_TEXTS))
    if kind < 0.2:
        return changed_bytes(rng, text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return str(one_of(rng, JSON_TEXTS))
    mark = "\x00here\x00"
    content = _replaced(rng, content, mark)
    piece = json.dumps(one_of(rng, TEXTS)) if rng.random() < 0.3 else str(one_of(rng, JSON_TEXTS))
    return json.dumps(content).replace(json.dumps(mark), piece)


def _replaced(rng: Rng, content: Any, mark: str) -> Any:
    """Go down to a random part; change it, its key, its order or its number."""
    if isinstance(content, dict) and content:
        key = one_of(rng, list(content))
        if rng.random() < 0.7:
            return {**content, key: _replaced(rng, content[key], mark)}
        others = {k: v for k, v in content.items() if k != key}
        options: list[Callable[[], Any]] = [
            lambda: others,
            lambda: {**others, one_of(rng, TEXTS): content[key]},
            lambda: {**content, one_of(rng, TEXTS): mark},
            lambda: dict(reversed(content.items())),
            lambda: mark,
        ]
        return one_of(rng, options)()
    if isinstance(content, list) and content:
        k = int(rng.integers(len(content)))
        if rng.random() < 0.7:
            return [*content[:k], _replaced(rng, content[k], mark), *content[k + 1 :]]
        return one_of(rng, [content[:k] + content[k + 1 :], [*content, content[k]], content[::-1], [], mark, [mark, *content]])
    return mark


def changed_bytes(rng: Rng, data: bytes) -> bytes:
    """Flip, cut, double, overwrite, or shift bytes, once to several times.

    Examples
    --------
    >>> changed_bytes(np.random.default_rng(0), b"number,state") != b"number,state"
    True
    """
    out = bytearray(data)
    for _ in range(int(rng.choice([1, 1, 2, 5, 20]))):
        size = len(out)
        at = int(rng.integers(size + 1))
        length = int(min(size - at, rng.choice([1, 2, 4, 16, 64, 512, 4096])))
        match int(rng.integers(7)):
            case 0 if at < size:
                out[at] ^= 1 << int(rng.integers(8))
            case 1 if at < size:
                out[at] = int(rng.choice([0, 1, 0x0A, 0x22, 0x2C, 0x7F, 0x80, 0xFE, 0xFF]))
            case 2:
                del out[at : at + length]
            case 3:
                out[at:at] = out[at : at + length]
            case 4:
                out[at : at + length] = rng.integers(256, size=length, dtype=np.uint8).tobytes()
            case 5:
                other = int(rng.integers(size + 1))
                out[at : at + length] = out[other : other + length]
            case 6 if rng.random() < 0.3:
                del out[at:]
    return bytes(out)
