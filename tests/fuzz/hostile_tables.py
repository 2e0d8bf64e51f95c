"""CSV files that were changed by chance or on purpose, in their bytes or in their fields."""

import bz2
import gzip
import io
import zipfile

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.hostile_values import TEXTS, changed_bytes

#: cells that readers of numbers, times and texts have trouble with
FIELDS = (
    *TEXTS, "1e308", "-1e308", "1e999", "0x10", "1_000", "١٢", "１２", "1,5", "True", "NA", "None", "-0", "1j",
    "99999999999999999999",
    "2024-13-45", "9999-12-31 23:59", "0001-01-01", "2024-01-01T00:00:00+14:00", "now", "today", "0", "-1", "1e-400",
    '"', '""', '"a',
)  # fmt: skip


def series_csv(rows=40):
    """Return a table of the kind that is changed: times, two features, a target."""
    times = np.datetime64("2024-01-01T00:00") + np.arange(rows) * np.timedelta64(1, "h")
    lines = [f"{str(t).replace('T', ' ')},{k % 3 / 2},{np.cos(k):.3f},{0.5 + k % 7 / 3:g}" for k, t in enumerate(times)]
    return "\n".join(["time,rain,warm,level", *lines]) + "\n"


@st.composite
def changed_csv(draw, text):
    """Draw a table with other bytes, or with other fields, rows, delimiters, line ends and encoding."""
    if draw(st.integers(0, 2)) == 0:
        return draw(changed_bytes(text.encode()))
    rows = [line.split(",") for line in text.splitlines()]
    for _ in range(draw(st.integers(1, 3))):
        k, at = draw(st.integers(0, len(rows) - 1)), draw(st.integers(0, 3))
        field = draw(st.sampled_from(FIELDS)).encode("utf-8", "replace").decode()
        match draw(st.integers(0, 5)):
            case 0:
                rows[k][at : at + 1] = [field]
            case 1:
                for row in rows[1:]:
                    row[at : at + 1] = [field]
            case 2:
                rows[0][at : at + 1] = [field]
            case 3:
                rows[k].extend(["1"] * draw(st.sampled_from([1, 5000])))
            case 4:
                del rows[k][at:]
            case 5:
                rows[1:] = rows[k : k + 1] * draw(st.integers(0, 3)) + rows[k:]
    mark, end = (
        draw(st.sampled_from([",", ",", ",", ";", "\t", "\x1f"])),
        draw(st.sampled_from(["\n", "\n", "\r\n", "\r", "\x00\n"])),
    )
    whole = end.join(mark.join(row) for row in rows) + draw(st.sampled_from([end, "", "\x1a"]))
    return whole.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-16", "utf-8-sig", "latin-1", "utf-32"])), "replace")


@st.composite
def csv_files(draw, text):
    """Draw the name and the content of such a table, plain or packed, in an archive that may be damaged."""
    content = draw(changed_csv(text))
    kind = draw(st.sampled_from(["", "", "", ".gz", ".bz2", ".zip", ".xz", ".tar"]))
    packed = {".gz": gzip.compress, ".bz2": bz2.compress, ".zip": _zipped}.get(kind, bytes)(content)
    return f"table.csv{kind}", packed if draw(st.booleans()) else draw(changed_bytes(packed))


def _zipped(content):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("../../table.csv", content)
    return out.getvalue()
