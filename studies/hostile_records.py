"""Records that were changed by someone who wants to do harm: in their bytes, their cells, or the tables themselves."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from scipy.stats import loguniform, randint, truncnorm, uniform

from spotsvm.record_schema import sign
from spotsvm.study import Study
from studies.hostile_values import CELLS, JSON_TEXTS, TEXTS, Rng, changed_bytes, hostile_json, one_of

SPACE: Any = [
    {"kernel": ["rbf"], "C": loguniform(0.1, 10), "gamma": truncnorm(-2, 2), "shape": [(1, 2), (3,), None]},
    {"kernel": ["poly"], "C": loguniform(0.1, 10), "degree": randint(2, 6), "scale": uniform(0, 1)},
]

#: what a schema may hold beside the tables of a record, or in their place; {trials} is a table as it was
SCHEMAS: tuple[str, ...] = (
    "CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM trials; END",
    "CREATE TRIGGER t BEFORE UPDATE ON trials BEGIN SELECT RAISE(ABORT, 'no'); END",
    "CREATE TRIGGER t AFTER INSERT ON about BEGIN UPDATE trials SET value = 0; END",
    "DROP TABLE trials; CREATE VIEW trials AS WITH RECURSIVE c(number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM c) SELECT"
    " number, number asked, NULL told, 'ok' state, '[]' point, '{}' params, 0.0 value, '{}' extra, '' reason, '' origin, '' note,"
    " 0 seed, 0.0 ask_seconds, 0.0 seconds, NULL objectives, NULL fit_seconds, NULL acquisition_seconds, '[]' lost FROM c",
    "DROP TABLE about; CREATE VIEW about AS WITH RECURSIVE c(key) AS (SELECT 'a' UNION ALL SELECT key || 'a' FROM c) SELECT key,"
    " '1' AS value FROM c",
    "ALTER TABLE about RENAME TO old; CREATE VIEW about AS SELECT key, CASE key WHEN 'format' THEN value ELSE"
    " hex(zeroblob(99999999)) END AS value FROM old",
    "ALTER TABLE trials RENAME TO old; CREATE TABLE trials AS SELECT * FROM old",
    "ALTER TABLE trials RENAME TO old; CREATE TABLE trials AS SELECT * FROM old; CREATE TRIGGER t AFTER UPDATE ON trials BEGIN"
    " UPDATE trials SET note = (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c); END",
    "DROP TABLE trials; CREATE VIRTUAL TABLE trials USING fts5(number, asked, told, state, point, params, value, extra)",
    "DROP TABLE about; CREATE VIRTUAL TABLE about USING fts5(key, value)",
    "DROP TABLE trials; CREATE VIRTUAL TABLE trials USING rtree(number, asked, told)",
    "CREATE INDEX i ON trials (abs(value))",
    "CREATE INDEX i ON about (value)",
    "ALTER TABLE trials ADD COLUMN twice AS (value * 2)",
    "ALTER TABLE trials ADD COLUMN other TEXT",
    "CREATE TABLE other (x)",
    "DROP TABLE trials",
    "DROP TABLE about",
    "DROP TABLE about; CREATE TABLE about (key, value)",
    "ANALYZE",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'TEXT', 'BLOB')",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 2",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE ' || name || '(x, y, z)'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', 'NOT NULL CHECK"
    " (load_extension(''x''))')",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = 'trials', tbl_name = 'trials'",
    "PRAGMA user_version = 2147483647; PRAGMA application_id = -1",
)  # fmt: skip


def make_records(folder: Path) -> list[Path]:
    """Write the records that are changed: of one objective with folds and findings, of several, of a Kriging search, empty."""
    files = [folder / f"base{k}.db" for k in range(5)]
    with Study(SPACE, "random", 0, path=files[0], context={"data": "a hash", "estimator": "SVC()"}, start=[_START]) as study:
        study.run(_folds, 6)
        study.ask()
        study.add_finding("stop", {"sentence": "It went on.", "stopped": False, "rows": [{"a": 1.0, "b": [1, 2]}]})
        study.add_finding("oversearching", _oversearching())
    with Study(SPACE, "random", 1, path=files[1], direction={"error": "minimize", "margin": "maximize"}) as study:
        study.run(lambda p: {"values": [p["C"], p["C"] ** 2 % 3]}, 6)
    with Study({"x": uniform(0, 1), "y": uniform(-1, 2)}, "kriging", 2, path=files[2]) as study:
        study.run(lambda p: p["x"] + p["y"] ** 2, 9)
    with Study({"x": [1, 2, 3], "name": ["a", "b"]}, "cmaes", 3, path=files[3], direction="maximize") as study:
        study.run(lambda p: float(p["x"]), 6)
    Study({"x": uniform(0, 1)}, "random", 4, path=files[4]).close()
    return files


_START = {"kernel": "rbf", "C": 1.0, "gamma": 0.5, "shape": (1, 2)}


def resumed(number: int, path: Path) -> Study:
    """Open a record as the study that wrote it, as `make_records` has them."""
    match number:
        case 0:
            return Study(SPACE, "random", 0, path=path, context={"data": "a hash", "estimator": "SVC()"}, start=[_START])
        case 1:
            return Study(SPACE, "random", 1, path=path, direction={"error": "minimize", "margin": "maximize"})
        case 2:
            return Study({"x": uniform(0, 1), "y": uniform(-1, 2)}, "kriging", 2, path=path)
        case 3:
            return Study({"x": [1, 2, 3], "name": ["a", "b"]}, "cmaes", 3, path=path, direction="maximize")
    return Study({"x": uniform(0, 1)}, "random", path=path)


def _folds(params: dict[str, Any]) -> dict[str, float]:
    if params["kernel"] == "poly" and params["degree"] == 3:
        raise ValueError("no <machine> for 'degree' 3")
    return {"value": params["C"], "split0_test_score": params["C"], "split1_test_score": 0.5, "test_score": 1.0}


def _oversearching() -> dict[str, Any]:
    rows = [{"fold": k, "tuned": 0.9, "outer": 0.8 + 0.01 * k, "optimism": 0.1, "params": {"C": 1.0}} for k in range(3)]
    points = [{"n_trials": k, "tuned": 0.9, "outer": 0.8, "optimism": 0.1, "low": 0.0, "high": 0.2} for k in (1, 2)]
    return {
        "optimism": 0.1, "interval": [0.0, 0.2], "confidence": 0.95, "method": "nested", "variance": "nadeau-bengio",
        "tuned_score": 0.9, "outer_score": 0.8, "outer_interval": [0.7, 0.9], "n_trials": 6, "metric": "accuracy", "rows": rows,
        "points": points, "notes": ["a note"],
    }  # fmt: skip


def change_bytes(rng: Rng, base: Path, target: Path) -> None:
    """Write a copy of a record with other bytes, sometimes with a log beside it that was never its own."""
    data = base.read_bytes()
    if rng.random() < 0.2:  # the header decides how all else is read
        at = int(rng.integers(100))
        data = data[:at] + bytes([int(rng.integers(256))]) + data[at + 1 :]
    else:
        data = changed_bytes(rng, data)
    target.write_bytes(data)
    if rng.random() < 0.1:
        target.with_name(f"{target.name}-wal").write_bytes(changed_bytes(rng, data[: int(rng.integers(len(data) + 1))]))


def change_content(rng: Rng, base: Path, target: Path) -> None:
    """Write a copy of a record with other cells, other rows, or another schema."""
    shutil.copy(base, target)
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("PRAGMA journal_mode = DELETE")
        changes = [int(rng.integers(len(_CHANGES))) for _ in range(int(rng.choice([1, 1, 1, 2, 4])))]
        # those of the schema come last: what they leave behind may take no end to read
        for number in sorted(set(changes)):
            # what SQLite itself refuses is no hostile file
            with contextlib.suppress(sqlite3.Error, UnicodeEncodeError, OverflowError):
                _CHANGES[number](rng, connection)
        if rng.random() < 0.9:  # who wants to do harm knows the checksums
            with contextlib.suppress(sqlite3.Error):
                sign(connection)


def _change_about(rng: Rng, connection: sqlite3.Connection) -> None:
    rows = connection.execute("SELECT key, value FROM about ORDER BY key").fetchall()
    key, value = one_of(rng, rows or [("format", "1")])
    if rng.random() < 0.9:
        new = hostile_json(rng, str(value)) if rng.random() < 0.95 else one_of(rng, CELLS)
        connection.execute("UPDATE about SET value = ? WHERE key = ?", (new, key))
    else:
        connection.execute("UPDATE about SET key = ? WHERE key = ?", (one_of(rng, TEXTS), key))


def _add_about(rng: Rng, connection: sqlite3.Connection) -> None:
    key = one_of(
        rng, ["finding: ", "finding: judgement", "finding: x", "context: ", "search_state", "versions", "budget", "batch_size"]
    )
    value = one_of(rng, JSON_TEXTS) if rng.random() < 0.7 else hostile_json(rng, json.dumps({"a": {"b": [1.5, "c"]}}))
    connection.execute(
        "INSERT OR REPLACE INTO about (key, value) VALUES (?, ?)",
        (key + (one_of(rng, TEXTS) if rng.random() < 0.3 else ""), value),
    )


def _change_cell(rng: Rng, connection: sqlite3.Connection) -> None:
    columns = [row[1] for row in connection.execute("PRAGMA table_info(trials)")]
    numbers = [number for (number,) in connection.execute("SELECT number FROM trials ORDER BY number")]
    column, number = one_of(rng, columns), one_of(rng, [*numbers, 0])
    (before,) = connection.execute(f"SELECT {column} FROM trials WHERE number = ?", (number,)).fetchone() or ("",)
    if isinstance(before, bytes) and rng.random() < 0.8:
        new: Any = changed_bytes(rng, before)
    elif column in ("point", "params", "extra", "objectives", "lost") and rng.random() < 0.8:
        new = hostile_json(rng, str(before or "[1.0, 2.0]"))
    else:
        new = one_of(rng, [*CELLS, *TEXTS, *JSON_TEXTS])
    connection.execute(f"UPDATE trials SET {column} = ? WHERE number = ?", (new, number))


def _change_rows(rng: Rng, connection: sqlite3.Connection) -> None:
    table = one_of(rng, ["trials", "about"])
    connection.execute(f"DELETE FROM {table} WHERE random() % 3 = 0" if rng.random() < 0.5 else f"DELETE FROM {table}")


def _change_schema(rng: Rng, connection: sqlite3.Connection) -> None:
    connection.executescript(one_of(rng, SCHEMAS))


def _change_encoding(rng: Rng, connection: sqlite3.Connection) -> None:
    """Write all anew, in another encoding of text and with pages of another size."""
    path = connection.execute("PRAGMA database_list").fetchone()[2]
    script = list(connection.iterdump())
    encoding, size = one_of(rng, ["UTF-16le", "UTF-16be", "UTF-8"]), one_of(rng, [512, 65536])
    other = Path(f"{path}.other")
    other.unlink(missing_ok=True)
    with closing(sqlite3.connect(other)) as new:
        new.executescript(f"PRAGMA encoding = '{encoding}'; PRAGMA page_size = {size};")
        new.executescript("\n".join(script))
    other.replace(path)


_CHANGES: tuple[Callable[[Rng, sqlite3.Connection], None], ...] = (
    _change_about, _change_about, _change_about, _change_about, _change_cell, _change_cell, _change_cell, _add_about, _add_about,
    _change_rows, _change_encoding, _change_schema,
)  # fmt: skip
