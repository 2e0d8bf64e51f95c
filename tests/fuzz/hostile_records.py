"""Records that were changed on purpose: in their bytes, their cells, or the tables themselves."""

import contextlib
import json
import shutil
import sqlite3
from contextlib import closing

from hypothesis import strategies as st
from scipy.stats import loguniform, randint, truncnorm, uniform

from spotsvm import Study
from spotsvm.errors import SpotSVMError
from tests.fuzz.hostile_values import CELLS, JSON_TEXTS, TEXTS, changed_bytes, changed_json
from tests.spotsvm.study.record.records import sign

SPACE = [
    {"kernel": ["rbf"], "C": loguniform(0.1, 10), "gamma": truncnorm(-2, 2), "shape": [(1, 2), (3,), None]},
    {"kernel": ["poly"], "C": loguniform(0.1, 10), "degree": randint(2, 6), "scale": uniform(0, 1)},
]

#: what a schema may hold beside the table of a record, or in its place
SCHEMAS = (
    "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END",
    "CREATE TRIGGER t BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no'); END",
    "CREATE TRIGGER t AFTER INSERT ON events BEGIN UPDATE events SET content = (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT"
    " x + 1 FROM c) SELECT count(*) FROM c); END",
    "DROP TABLE events; CREATE VIEW events AS WITH RECURSIVE c(position) AS (SELECT 0 UNION ALL SELECT position + 1 FROM c)"
    " SELECT position, 'noted' kind, NULL number, '{}' content, NULL arrays, 0 checksum FROM c",
    "ALTER TABLE events RENAME TO old; CREATE VIEW events AS SELECT position, kind, number, CASE position WHEN 0 THEN content"
    " ELSE hex(zeroblob(99999999)) END AS content, arrays, checksum FROM old",
    "ALTER TABLE events RENAME TO old; CREATE TABLE events AS SELECT * FROM old",
    "ALTER TABLE events RENAME TO old; CREATE TABLE events AS SELECT * FROM old; CREATE TRIGGER t AFTER INSERT ON events BEGIN"
    " DELETE FROM events; END",
    "DROP TABLE events; CREATE VIRTUAL TABLE events USING fts5(position, kind, number, content, arrays, checksum)",
    "DROP TABLE events; CREATE VIRTUAL TABLE events USING rtree(position, kind, number)",
    "DROP TABLE events; CREATE VIEW about AS WITH RECURSIVE c(key) AS (SELECT 'a' UNION ALL SELECT key || 'a' FROM c) SELECT key,"
    " '1' AS value FROM c",
    "DROP TABLE events; CREATE VIRTUAL TABLE about USING fts5(key, value)",
    "DROP TABLE events; CREATE TABLE about (key AS (value || value), value)",
    "CREATE INDEX i ON events (abs(number))",
    "CREATE INDEX i ON events (kind)",
    "ALTER TABLE events ADD COLUMN twice AS (number * 2)",
    "ALTER TABLE events ADD COLUMN other TEXT",
    "CREATE TABLE other (x)",
    "DROP TABLE events",
    "DROP TABLE events; CREATE TABLE events (position, kind)",
    "ANALYZE",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'TEXT', 'BLOB')",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 3",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE ' || name || '(x, y, z)'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', 'NOT NULL CHECK"
    " (load_extension(''x''))')",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = 'trials', tbl_name = 'trials'",
    "PRAGMA user_version = 2147483647; PRAGMA application_id = -1",
)  # fmt: skip


_START = {"kernel": "rbf", "C": 1.0, "gamma": 0.5, "shape": (1, 2)}
#: the arguments of the studies of `make_records`: one objective with folds and findings, several, a Kriging search, empty
_STUDIES = (
    ((SPACE, "random", 0), {"context": {"data": "a hash", "estimator": "SVC()"}, "start": [_START]}),
    ((SPACE, "random", 1), {"direction": {"error": "minimize", "margin": "maximize"}}),
    (({"x": uniform(0, 1), "y": uniform(-1, 2)}, "kriging", 2), {}),
    (({"x": [1, 2, 3], "name": ["a", "b"]}, "cmaes", 3), {"direction": "maximize"}),
    (({"x": uniform(0, 1)}, "random", 4), {}),
)


def resumed(number, path):
    """Open a record as the study that wrote it, as `make_records` has them."""
    arguments, named = _STUDIES[number]
    return Study(*arguments, path=path, **named)


def make_records(folder):
    """Write the records that are changed."""
    files = [folder / f"base{k}.db" for k in range(len(_STUDIES))]
    objectives = (
        _folds,
        lambda p: {"values": [p["C"], p["C"] ** 2 % 3]},
        lambda p: p["x"] + p["y"] ** 2,
        lambda p: float(p["x"]),
        None,
    )
    for number, (file, objective) in enumerate(zip(files, objectives, strict=True)):
        with resumed(number, file) as study:
            if objective is not None:
                study.run(objective, 9 if number == 2 else 6)
            if number == 0:
                study.ask()
                study.add_finding("stop", {"sentence": "It went on.", "stopped": False, "rows": [{"a": 1.0, "b": [1, 2]}]})
                study.add_finding("oversearching", _oversearching())
    return files


def _folds(params):
    if params["kernel"] == "poly" and params["degree"] == 3:
        raise ValueError("no <machine> for 'degree' 3")
    return {"value": params["C"], "split0_test_score": params["C"], "split1_test_score": 0.5, "test_score": 1.0}


def _oversearching():
    rows = [{"fold": k, "tuned": 0.9, "outer": 0.8 + 0.01 * k, "optimism": 0.1, "params": {"C": 1.0}} for k in range(3)]
    points = [{"n_trials": k, "tuned": 0.9, "outer": 0.8, "optimism": 0.1, "low": 0.0, "high": 0.2} for k in (1, 2)]
    return {
        "value": 0.1, "interval": [0.0, 0.2], "error": 0.05, "confidence": 0.95, "metric": "accuracy", "how": "nested",
        "tuned_score": 0.9, "n_trials": 6, "variance": "nadeau-bengio", "rows": rows, "points": points, "notes": ["a note"],
        "expected_score": {"value": 0.8, "interval": [0.7, 0.9], "error": None, "confidence": 0.95, "metric": "accuracy",
                           "how": "nested"},
    }  # fmt: skip


def change_bytes(data, base, target):
    """Write a copy of a record with other bytes, sometimes with a log beside it that was never its own."""
    content = base.read_bytes()
    target.write_bytes(data.draw(changed_bytes(content) | changed_bytes(content[:100]).map(lambda head: head + content[100:])))
    if data.draw(st.integers(0, 9)) == 0:
        target.with_name(f"{target.name}-wal").write_bytes(data.draw(changed_bytes(content)))


def change_content(data, base, target):
    """Write a copy of a record with other cells, other rows, or another schema, most often with the checksums that belong."""
    shutil.copy(base, target)
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("PRAGMA journal_mode = DELETE")
        for change in data.draw(st.lists(st.sampled_from(_CHANGES), min_size=1, max_size=4)):
            # what SQLite itself refuses is no hostile file
            with contextlib.suppress(sqlite3.Error, UnicodeEncodeError, OverflowError):
                change(data, connection)
        if data.draw(st.integers(0, 9)):
            with contextlib.suppress(sqlite3.Error):
                sign(connection)
        if data.draw(st.booleans()):  # what a schema leaves behind may take no end to read, and comes last
            with contextlib.suppress(sqlite3.Error):
                connection.executescript(data.draw(st.sampled_from(SCHEMAS)))


def _drawn_position(data, connection):
    positions = [position for (position,) in connection.execute("SELECT position FROM events ORDER BY position")]
    return data.draw(st.sampled_from(positions or [0]))


def _change_content(data, connection):
    """Change the JSON of an event; of the first ones, which describe the study, as often as of all others."""
    position = data.draw(st.integers(0, 2)) if data.draw(st.booleans()) else _drawn_position(data, connection)
    (before,) = connection.execute("SELECT content FROM events WHERE position = ?", (position,)).fetchone() or ("{}",)
    new = data.draw(changed_json(str(before)) | st.sampled_from([*CELLS, *JSON_TEXTS]))
    connection.execute("UPDATE events SET content = ? WHERE position = ?", (new, position))


def _change_cell(data, connection):
    column = data.draw(st.sampled_from(["position", "kind", "number", "arrays", "content"]))
    new = data.draw(st.sampled_from([*CELLS, *TEXTS, *JSON_TEXTS, *KINDS]) | st.binary(max_size=20))
    connection.execute(f"UPDATE events SET {column} = ? WHERE position = ?", (new, _drawn_position(data, connection)))


def _add_event(data, connection):
    content = data.draw(st.sampled_from(JSON_TEXTS) | changed_json(data.draw(st.sampled_from(CONTENTS))))
    (last,) = connection.execute("SELECT max(position) FROM events").fetchone()
    row = ((last or 0) + 1, data.draw(st.sampled_from(KINDS)), data.draw(st.none() | st.integers(0, 8)), content)
    connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, NULL, 0)", row)


def _drop_rows(data, connection):
    connection.execute(f"DELETE FROM events WHERE position >= {data.draw(st.integers(0, 20))}")


def _change_encoding(data, connection):
    """Write all anew, in another encoding of text and with pages of another size."""
    script = "\n".join(connection.iterdump())
    encoding, size = data.draw(st.sampled_from(["UTF-16le", "UTF-16be", "UTF-8"])), data.draw(st.sampled_from([512, 65536]))
    with closing(sqlite3.connect(":memory:")) as new:
        new.executescript(f"PRAGMA encoding = '{encoding}'; PRAGMA page_size = {size};\n{script}")
        new.backup(connection)


KINDS = ("described", "asked", "lost", "reported", "told", "noted", "widened")
CONTENTS = (
    '{"entries": {"budget": 3, "space": [], "direction": "minimize"}}',
    '{"trial": {"number": 6, "params": {"x": 0.5}, "point": [0.5], "seed": 3}}',
    '{"number": 6, "told_at": 1.5, "outcome": {"state": "ok", "value": 0.5}}',
    '{"number": 6, "told_at": 1.5, "outcome": {}, "rows": [{"number": 6, "params": {}, "point": [1], "outcome": {}}]}',
    '{"number": 6, "outcome": {"state": "ok", "sweep": [[1.5, {"state": "ok", "value": 1}]], "answers": ["<f8", 2, 2]}}',
    '{"entries": {}, "points": [[0.5], [0.25]], "outcomes": {"3": {"state": "failed"}}}',
    '{"name": "judgement", "finding": {"a": {"b": [1.5, "c"]}}}',
    '{"number": 3, "reason": "gone"}',
)  # fmt: skip
_CHANGES = (_change_content, _change_content, _change_content, _change_cell, _add_event, _drop_rows, _change_encoding)


def write_hostile_study(data, target):
    """Run a small study that this library accepts, with hostile text and numbers everywhere, and keep its record."""
    texts = st.sampled_from(TEXTS)
    names = st.sampled_from([text for text in TEXTS if text and len(text) <= 500])
    values = st.sampled_from([0.0, 1.0, -1.0, 1e308, -1e308, 5e-324, 2.5, float("nan")])
    several = data.draw(st.booleans())
    direction = (
        dict.fromkeys(data.draw(st.lists(names, min_size=2, max_size=2, unique=True)), "minimize") if several else "minimize"
    )
    parameters = st.lists(names, min_size=2, max_size=4, unique=True) | st.sampled_from(
        [uniform(-1e308, 1e308), loguniform(1e-300, 1e300), randint(0, 10**9), [True, False, None], [(1, 2), "a"]]
    )
    space = data.draw(st.dictionaries(names, parameters, min_size=1, max_size=3))
    try:
        study = Study(space, "random", 0, path=target, direction=direction, context={data.draw(names): data.draw(texts)})
    except SpotSVMError:
        target.unlink(missing_ok=True)
        study = Study({"x": uniform(0, 1)}, "random", 0, path=target, direction=direction)
    with study, contextlib.suppress(SpotSVMError):  # a small space has no more
        for number in range(6):
            trial = study.ask()
            extra = {data.draw(texts): data.draw(values), "split0_test_score": 0.5}
            if number == 2:
                study.fail(trial, data.draw(texts), extra=extra)
            else:
                told = [data.draw(values), data.draw(values)]
                study.tell(trial, {"values": told, **extra} if several else {"value": told[0], **extra})
    whole = json.dumps({"sentence": "It went on.", "stopped": True, **_oversearching()})
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        (last,) = connection.execute("SELECT max(position) FROM events").fetchone()
        for position, name in enumerate(("oversearching", "stop", "judgement"), last + 1):
            finding = f'{{"name": "{name}", "finding": {data.draw(changed_json(whole))}}}'
            connection.execute("INSERT INTO events VALUES (?, 'noted', NULL, ?, NULL, 0)", (position, finding))
        sign(connection)
