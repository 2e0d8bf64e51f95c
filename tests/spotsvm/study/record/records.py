"""The records that the tests of this folder share, and changes of their rows."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager, suppress

from scipy.stats import uniform

from spotsvm import Study
from spotsvm.study.record.codec import checksum

SPACE = {"C": uniform(0, 1), "kernel": ["rbf", "poly", "linear"]}
CELLS = "position, kind, number, content, arrays"


def objective(params):
    return params["C"]


def partly_failing(params):
    if params["kernel"] == "poly":
        raise ValueError("no poly")
    return {"value": params["C"], "split0_test_score": params["C"], "split1_test_score": 1.0}


def study(path, search="random", **options):
    return Study(SPACE, search, 0, path=path, **options)


def change(path, script, *values, signed=False):
    """Change a file by SQL; with `signed`, write the checksums that match the new rows."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(script, values) if values else connection.executescript(script)
        if signed:
            with suppress(sqlite3.OperationalError):  # it is no record
                sign(connection)
        connection.commit()


def sign(connection):
    """Write the checksums of all rows as they are: of a record that something else than `Record` has changed."""
    connection.create_function("checksum", -1, checksum, deterministic=True)
    connection.execute(f"UPDATE events SET checksum = checksum({CELLS})")


def edit(path, kind, edited, number=None):
    """Change the content of the events of a kind, or of those of one trial, by a function of its JSON; sign the record."""
    with closing(sqlite3.connect(path)) as connection:
        chosen = "SELECT position, content FROM events WHERE kind = ? AND number IS ?"
        rows = connection.execute(chosen, (kind, number)).fetchall()
        for position, content in rows:
            read = json.loads(content)
            new = edited(read)
            text = json.dumps(read if new is None else new)
            connection.execute("UPDATE events SET content = ? WHERE position = ?", (text, position))
        sign(connection)
        connection.commit()
    assert rows, f"no event {kind} of trial {number}"


def describe(path, **entries):
    """Change entries of the study's description; those that are None are removed."""

    def edited(content):
        old = content["entries"]
        for name in old.keys() & entries.keys():
            old[name] = entries[name]
            if entries[name] is None:
                del old[name]

    edit(path, "described", edited)


def content_of(path, kind, number=None):
    """Return the JSON of the events of a kind."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT content FROM events WHERE kind = ? AND number IS ?", (kind, number)).fetchall()
    return [json.loads(content) for (content,) in rows]


HOLD = """
import sys, time
from pathlib import Path
from spotsvm.study.record.opening import WriterLock
held = WriterLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


@contextmanager
def holder(path):
    """Start a process that holds the record's lock."""
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()
