"""The records that the tests of this folder share."""

import sqlite3
from contextlib import closing, suppress

from scipy.stats import uniform

from spotsvm import Study
from spotsvm.study.record.rows import ASKED, TOLD, checksum

SPACE = {"C": uniform(0, 1), "kernel": ["rbf", "poly", "linear"]}


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
    connection.execute("UPDATE about SET checksum = checksum(key, value)")
    asked, told = ", ".join(ASKED), ", ".join(TOLD)
    connection.execute(f"UPDATE trials SET asked_checksum = checksum({asked}), told_checksum = checksum({told})")
    connection.execute("UPDATE outcomes SET checksum = checksum(number, outcome)")
