"""Values that no file of this library holds, and strategies that change a text, its bytes or its JSON."""

import json
from functools import reduce

from hypothesis import strategies as st

#: JSON texts: of a wrong type, too large, too deep, or not JSON at all
JSON_TEXTS = (
    "null", "true", "-1", "0", "1e308", "-1e308", "1e400", "NaN", "Infinity", "-Infinity", str(2**63), str(-(2**63) - 1),
    "9" * 400, "9" * 5000, '""', '"x"', '"\\ud800"', '"\\u0000"', '"' + "a" * 100_000 + '"', "[]", "{}", "[[]]", "[0, 1]",
    "[" * 100 + "]" * 100, "[" * 900 + "]" * 900, "[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a": ' * 900 + "1" + "}" * 900,
    '{"a": 1, "a": 2}', "[" + "0," * 50_000 + "0]", "{", "", "nul", "'x'", "\x00", "1 2",
    json.dumps({"<script>": "</script><b>&\"'"}), json.dumps(["=1+1", "\x1b[31m", "../../x", "a\r\nb", "\u202e", "$x^$"]),
)  # fmt: skip

#: texts for names, categories, reasons and notes
TEXTS = (
    "", " ", "</script><script>alert(1)</script>", "\"'><img src=x onerror=alert(1)>", "</title>", "]]>", "&amp;", "=cmd()",
    "@SUM(A1)", "\t=1", "-2+3", "\uff1d1+1", "\x1b]0;title\x07\x1b[2J", "a\rb", "a\nb", "\x00", "\x0b\x85\u2028",
    "\ud800", "\ufffe",
    "\u202eabc", "$", "$x", "$\\frac{$", "{{ 7 * 7 }}", "%s%n", "../../etc/passwd", "C:\\con", "a" * 100_000, "a" * 300,
    "__import__('os')",
    "param_", "value", "number", "__class__", "\\", "|", "`", "~", "nan", "inf", "1e400", "9" * 400,
)  # fmt: skip

#: values of cells of a database
CELLS = (
    None, 0, -1, 1, 2**63 - 1, -(2**63), 0.5, 1e308, -1e308, 5e-324, float("inf"), float("-inf"), b"", b"\x00\xff", b"{}",
    b"\x80" * 1000,
)  # fmt: skip


#: what takes the place of some bytes
PIECES = st.binary(max_size=64) | st.sampled_from([b"", b"\x00", b"\xff", b"\xfe", b"\n", b'"', b",", b"\x00" * 4096])


def changed_bytes(data):
    """Draw these bytes with one to five pieces cut out, put in, overwritten, or copied from elsewhere."""
    places = st.integers(0, len(data))
    pieces = PIECES | places.map(lambda at: data[at : at + 512])
    changes = st.tuples(places, st.sampled_from([0, 1, 4, 64, 4096, len(data)]), pieces)
    return st.lists(changes, min_size=1, max_size=5).map(
        lambda found: reduce(lambda left, c: left[: c[0]] + c[2] + left[c[0] + c[1] :], found, data)
    )


def changed_json(text):
    """Draw a JSON text with another part, key or number, with other bytes, or something else altogether."""
    pieces = st.sampled_from(JSON_TEXTS) | st.sampled_from(TEXTS).map(json.dumps)
    other = pieces | changed_bytes(text.encode("utf-8", "surrogatepass")).map(lambda data: data.decode("utf-8", "replace"))
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return other
    mark = "\x00here\x00"
    marked = st.sampled_from([json.dumps(changed) for changed in _changed_once(content, mark)])
    return other | st.builds(lambda whole, piece: whole.replace(json.dumps(mark), piece), marked, pieces)


def _changed_once(content, mark):
    """Yield the content with a mark in place of one part or key, or without the part."""
    yield mark
    if isinstance(content, dict):
        for key, part in content.items():
            others = {name: other for name, other in content.items() if name != key}
            yield from (others, {**others, mark: part})
            yield from ({**content, key: changed} for changed in _changed_once(part, mark))
    elif isinstance(content, list):
        yield from ([], [*content, mark])
        for k, part in enumerate(content):
            yield from ([*content[:k], changed, *content[k + 1 :]] for changed in _changed_once(part, mark))
