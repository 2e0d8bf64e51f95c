"""The records that the tests of this folder share."""

import sqlite3
from contextlib import closing, suppress

from scipy.stats import uniform

from spotsvm import Study
from spotsvm.study.record.schema import sign

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
