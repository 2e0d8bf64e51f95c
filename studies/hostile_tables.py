"""CSV files that were changed by chance or on purpose, in their bytes or in their fields."""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from studies.hostile_values import TEXTS, Rng, changed_bytes, one_of

#: cells that readers of numbers, times and texts have trouble with
FIELDS: tuple[str, ...] = (
    *TEXTS, "1e308", "-1e308", "1e999", "0x10", "1_000", "١٢", "１２", "1,5", "True", "NA", "None", "-0", "1j",
    "99999999999999999999",
    "2024-13-45", "9999-12-31 23:59", "0001-01-01", "2024-01-01T00:00:00+14:00", "now", "today", "0", "-1", "1e-400",
    '"', '""', '"a',
)  # fmt: skip


def series_csv(rows: int = 40) -> str:
    """Give a table of the kind that is changed: times, two features, a target.

    Examples
    --------
    >>> series_csv(1).splitlines()
    ['time,rain,warm,level', '2024-01-01 00:00,0.0,1.000,0.5']
    """
    times = np.datetime64("2024-01-01T00:00") + np.arange(rows) * np.timedelta64(1, "h")
    lines = [f"{str(t).replace('T', ' ')},{k % 3 / 2},{np.cos(k):.3f},{0.5 + k % 7 / 3:g}" for k, t in enumerate(times)]
    return "\n".join(["time,rain,warm,level", *lines]) + "\n"


def hostile_csv(rng: Rng, text: str) -> bytes:
    """Give a table with other bytes, or other fields, or other rows."""
    if rng.random() < 0.3:
        return changed_bytes(rng, text.encode())
    rows = [line.split(",") for line in text.splitlines()]
    for _ in range(int(rng.choice([1, 1, 2, 5]))):
        one_of(rng, _CHANGES)(rng, rows)
    mark = one_of(rng, [","] * 16 + [";", "\t", " ", "\x1f"])
    end = one_of(rng, ["\n"] * 12 + ["\r\n", "\r", "\n\n", "\x00\n"])
    out = end.join(mark.join(row) for row in rows) + one_of(rng, [end, "", "\x1a"])
    return bytes(out.encode(one_of(rng, ["utf-8"] * 12 + ["utf-16", "utf-8-sig", "latin-1", "utf-32"]), "replace"))


def write_hostile_csv(rng: Rng, text: str, folder: Path) -> Path:
    """Write such a table, plain or as an archive of some kind; give the file."""
    data = hostile_csv(rng, text)
    kind = one_of(rng, ["csv"] * 12 + ["gz", "bz2", "xz", "zip", "tar", "zst"])
    path = folder / ("table.csv" if kind == "csv" else f"table.csv.{kind}")
    packers: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "zip": _zipped}
    packed = packers[kind](data) if kind in packers else data
    path.write_bytes(packed if kind == "csv" or rng.random() < 0.5 else changed_bytes(rng, packed))
    return path


def _zipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("../../table.csv", data)
    return out.getvalue()


def _field(rng: Rng, rows: list[list[str]]) -> None:
    row = one_of(rng, rows)
    if row:
        row[int(rng.integers(len(row)))] = one_of(rng, FIELDS).encode("utf-8", "replace").decode()


def _column(rng: Rng, rows: list[list[str]]) -> None:
    at, cell = int(rng.integers(4)), one_of(rng, FIELDS).encode("utf-8", "replace").decode()
    for row in rows[1:]:
        row[at : at + 1] = [cell]


def _header(rng: Rng, rows: list[list[str]]) -> None:
    head = rows[0] if rows else []
    if head:
        head[int(rng.integers(len(head)))] = one_of(rng, [*TEXTS, *head]).encode("utf-8", "replace").decode()


def _long_row(rng: Rng, rows: list[list[str]]) -> None:
    one_of(rng, rows).extend(["1"] * int(rng.choice([1, 3, 5000])))


def _short_row(rng: Rng, rows: list[list[str]]) -> None:
    del one_of(rng, rows)[int(rng.integers(4)) :]


def _drop_rows(rng: Rng, rows: list[list[str]]) -> None:
    del rows[int(rng.integers(len(rows))) + 1 :]


def _double_row(rng: Rng, rows: list[list[str]]) -> None:
    rows.insert(int(rng.integers(len(rows))) + 1, list(one_of(rng, rows)))


def _shuffle(rng: Rng, rows: list[list[str]]) -> None:
    rows[1:] = [rows[1 + k] for k in rng.permutation(len(rows) - 1)]


_CHANGES: tuple[Callable[[Rng, list[list[str]]], None], ...] = (
    _field, _field, _field, _column, _header, _long_row, _short_row, _drop_rows, _double_row, _shuffle,
)  # fmt: skip
