"""Every type of column that pandas has, and frames of polars: right at fit and at predict, or one clear error."""

import datetime
import uuid
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, TableEncoder, TunedSVC, TunedSVR
from spotsvm.errors import DataError, DataWarning

N = 60
RNG = np.random.default_rng(0)
NUMBERS = RNG.permutation(N).astype(float)  # 0 to 59
CLASSES = np.where(NUMBERS + RNG.normal(size=N) > 30, "high", "low")
GAP = 5
DAYS = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(NUMBERS, "D"))
TOWNS = np.array(["Bonn", "Rom", "Ulm"], dtype=object)[NUMBERS.astype(int) % 3]


def objects(cells):
    found = np.empty(len(cells), dtype=object)
    found[:] = cells
    return pd.Series(found)


def gap(column):
    """Return a column with a gap."""
    column = pd.Series(column)
    return column.where(np.arange(N) != GAP, other=None if column.dtype == object else pd.NA)


#: columns of numbers that are equal to NUMBERS, perhaps after a gap
AS_NUMBERS = {
    **{name: pd.Series(NUMBERS).astype(name) for name in ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64")},
    **{name: pd.Series(NUMBERS).astype(name) for name in ("float16", "float32", "float64", "longdouble")},
    **{name: gap(pd.Series(NUMBERS).astype(name)) for name in ("Int8", "UInt16", "Int64", "Float32", "Float64")},
    "sparse": pd.Series(NUMBERS).astype(pd.SparseDtype(float, 0.0)),
    "sparse integers": pd.Series(NUMBERS.astype(int)).astype(pd.SparseDtype(int, 0)),
    "decimals": gap(objects([Decimal(int(v)) for v in NUMBERS])),
    "fractions": gap(objects([Fraction(int(v)) for v in NUMBERS])),
    "objects": gap(objects(NUMBERS.tolist())),
    "integers and floats": gap(objects([int(v) if v % 2 else float(v) for v in NUMBERS])),
    "texts": gap(objects(NUMBERS.astype(str))),
    "string": gap(pd.array(NUMBERS.astype(str), dtype="string")),
    "bytes": gap(objects([str(v).encode() for v in NUMBERS])),
    "categories of numbers": pd.Series(pd.Categorical(NUMBERS)),
    "timedelta": gap(pd.Series(pd.to_timedelta(NUMBERS, "s"))),
    "timedelta of Python": gap(objects([datetime.timedelta(seconds=v) for v in NUMBERS])),
    "times": objects([datetime.time(0, 0, int(v)) for v in NUMBERS]),
}
AS_DATES = {
    "datetime": gap(DAYS),
    "datetime in seconds": DAYS.astype("datetime64[s]"),
    "with a zone": gap(DAYS.dt.tz_localize("UTC")),
    "period": gap(DAYS.dt.to_period("D")),
    "date": gap(objects(DAYS.dt.date.tolist())),
    "datetime of Python": gap(objects([datetime.datetime(2020, 1, 1) + datetime.timedelta(v) for v in NUMBERS])),
    "datetime of numpy": objects(list(DAYS.to_numpy().astype("datetime64[D]"))),
    "date texts": gap(objects(DAYS.dt.strftime("%d.%m.%Y").tolist())),
    "string dates": gap(pd.array(DAYS.dt.strftime("%Y-%m-%d"), dtype="string")),
}
AS_LEVELS = {
    "objects of text": gap(objects(TOWNS)),
    "string of text": gap(pd.array(TOWNS, dtype="string")),
    "category": gap(pd.Series(pd.Categorical(TOWNS))),
    "ordered category": pd.Series(pd.Categorical(TOWNS, ordered=True)),
    "few integer categories": pd.Series(pd.Categorical(NUMBERS.astype(int) % 3)),
    "bytes of text": gap(objects([town.encode() for town in TOWNS])),
    "intervals": pd.Series(pd.cut(NUMBERS, 3)),
    "interval dtype": pd.Series(pd.arrays.IntervalArray.from_arrays(NUMBERS % 3, NUMBERS % 3 + 1)),
    "uuids": objects([uuid.UUID(int=int(v) % 3) for v in NUMBERS]),
    "numbers and texts": objects([int(v) % 3 if v % 2 else "a" for v in NUMBERS]),
}
AS_TRUTH = {
    "bool": pd.Series(NUMBERS % 2 == 0),
    "boolean": gap(pd.array(NUMBERS % 2 == 0, dtype="boolean")),
    "objects of truth": gap(objects((NUMBERS % 2 == 0).tolist())),
    "texts of truth": gap(objects(np.where(NUMBERS % 2 == 0, "True", "False"))),
}
REFUSED = {
    "complex": (pd.Series(NUMBERS + 1j), r"column 'a' has complex numbers \(complex128\); make two columns"),
    "objects of complex": (objects((NUMBERS + 1j).tolist()), "column 'a'.* complex"),
    "lists": (
        objects([[v, v] for v in NUMBERS]),
        r"column 'a' \(object\) has \[.*\] in row 0 .* of type list; a cell is a number",
    ),
    "tuples": (objects([(v, v) for v in NUMBERS]), "column 'a' .* of type tuple"),
    "dictionaries": (objects([{"v": v} for v in NUMBERS]), "column 'a' .* of type dict"),
    "sets": (objects([{v} for v in NUMBERS]), "column 'a' .* of type set"),
    "arrays": (objects([np.arange(2)] * N), "column 'a' .* of type ndarray"),
    "objects without a text": (objects([object() for _ in NUMBERS]), "column 'a' .* of type object"),
    "functions": (objects([len] * N), "column 'a' .* of type builtin_function_or_method"),
}


def search():
    pipeline = make_pipeline(TableEncoder(), StandardScaler(), SVC())
    return SpotSearchCV(pipeline, {"svc__C": [1.0, 10.0]}, n_iter=2, cv=2, random_state=0)


MODELS = {
    "TableEncoder": lambda: TableEncoder(),
    "TunedSVC": lambda: TunedSVC(budget=1, cv=2, random_state=0),
    "TunedSVR": lambda: TunedSVR(budget=1, cv=2, random_state=0),
    "SpotSearchCV": search,
}


def encoded(column):
    """Return the outputs of a column, as the fit and as later rows have them, and its kind."""
    table = pd.DataFrame({"a": column})
    encoder = TableEncoder()
    fitted = encoder.fit_transform(table)
    assert np.array_equal(encoder.transform(table), fitted)
    assert np.array_equal(encoder.transform(table.iloc[GAP : GAP + 1]), fitted[GAP : GAP + 1])
    return fitted, encoder.columns_["kind"][0]


@pytest.mark.parametrize("name", AS_NUMBERS)
def test_numbers(name):
    found, kind = encoded(AS_NUMBERS[name])
    present = AS_NUMBERS[name].notna().to_numpy()
    assert kind == "number"
    assert found[present, 0].tolist() == NUMBERS[present].tolist()
    assert found.shape[1] == (1 if present.all() else 2)


@pytest.mark.parametrize("name", AS_DATES)
def test_dates(name):
    found, kind = encoded(AS_DATES[name])
    present = AS_DATES[name].notna().to_numpy()
    assert kind == "date"
    assert found[present, 0].tolist() == (18262 + NUMBERS[present]).tolist()


@pytest.mark.parametrize("name", AS_LEVELS)
def test_levels(name):
    found, kind = encoded(AS_LEVELS[name])
    assert kind == "category"
    assert found.shape[1] == 3 + AS_LEVELS[name].isna().any() + (name == "numbers and texts")
    assert (found.sum(axis=1) == 1).all()


@pytest.mark.parametrize("name", AS_TRUTH)
def test_truth_values(name):
    found, _ = encoded(AS_TRUTH[name])
    present = AS_TRUTH[name].notna().to_numpy()
    assert found[present, 0].tolist() == (NUMBERS % 2 == 0)[present].tolist()


@pytest.mark.parametrize("model", MODELS)
def test_every_model_takes_all_types_at_once(model):
    """A table of all types is fitted and predicted, also row by row, and nothing is told but what is left out."""
    every = AS_NUMBERS | AS_DATES | AS_LEVELS | AS_TRUTH
    table = pd.DataFrame({name: column.reset_index(drop=True) for name, column in every.items()})
    fitted = MODELS[model]().fit(table, NUMBERS if model == "TunedSVR" else CLASSES)
    respond = fitted.transform if model == "TableEncoder" else fitted.predict
    found = respond(table)
    assert len(found) == N
    again = respond(table.iloc[:3])
    assert np.allclose(again, found[:3]) if found.dtype.kind == "f" else np.array_equal(again, found[:3])
    if model == "TunedSVR":
        assert np.corrcoef(found, NUMBERS)[0, 1] > 0.95
    elif model != "TableEncoder":
        assert fitted.score(table, CLASSES) > 0.9


@pytest.mark.parametrize(
    ("model", "name"), [(m, name) for m in MODELS for name in REFUSED if m == "TableEncoder" or name in ("complex", "lists")]
)
def test_what_no_model_can_take_is_one_clear_error(model, name):
    column, message = REFUSED[name]
    y = NUMBERS if model == "TunedSVR" else CLASSES
    good = pd.DataFrame({"a": NUMBERS, "b": NUMBERS % 7})
    with pytest.raises(DataError, match=message):
        MODELS[model]().fit(good.assign(a=column), y)
    if name in ("complex", "lists"):
        fitted = MODELS[model]().fit(good, y)
        with pytest.raises(DataError, match=message):
            (fitted.transform if model == "TableEncoder" else fitted.predict)(good.assign(a=column))


def test_masked_arrays_have_gaps_where_they_are_masked():
    masked = np.ma.array(np.column_stack([NUMBERS, NUMBERS % 7]), mask=False)
    masked[GAP, 0] = np.ma.masked
    assert np.array_equal(TableEncoder().fit_transform(masked), TableEncoder().fit_transform(masked.filled(np.nan)))


# polars


def polars_frame(polars):
    days = DAYS.dt.date.tolist()
    gapped = [None if k == GAP else k for k in range(N)]
    pick = [None if k is None else int(k) for k in gapped]

    def of(cells):
        return [None if k is None else cells[k] for k in pick]

    frame = polars.DataFrame(
        {
            "integer": of(NUMBERS.astype(int).tolist()),
            "float": of(NUMBERS.tolist()),
            "truth": of((NUMBERS % 2 == 0).tolist()),
            "text": of(TOWNS.tolist()),
            "date": of(days),
            "stamp": of([datetime.datetime(2020, 1, 1, 6) + datetime.timedelta(v) for v in NUMBERS]),
            "duration": of([datetime.timedelta(seconds=v) for v in NUMBERS]),
            "decimal": of([Decimal(int(v)) for v in NUMBERS]),
            "time": of([datetime.time(0, 0, int(v)) for v in NUMBERS]),
            "bytes": of([town.encode() for town in TOWNS]),
            "digits": of(NUMBERS.astype(str).tolist()),
        }
    )
    return frame.with_columns(
        polars.col("text").cast(polars.Categorical).alias("category"),
        polars.col("text").cast(polars.Enum(["Bonn", "Rom", "Ulm"])).alias("enum"),
        polars.col("stamp").dt.replace_time_zone("Europe/Berlin").alias("zoned"),
        polars.col("integer").cast(polars.UInt8).alias("small"),
    )


KINDS = {
    "integer": "number", "float": "number", "truth": "number", "text": "category", "date": "date", "stamp": "date",
    "duration": "number", "decimal": "number", "time": "number", "bytes": "category", "digits": "number",
    "category": "category", "enum": "category", "zoned": "date", "small": "number",
}  # fmt: skip


def test_frames_of_polars_are_read_by_name_and_type():
    polars = pytest.importorskip("polars")
    frame = polars_frame(polars)
    encoder = TableEncoder()
    fitted = encoder.fit_transform(frame)
    assert encoder.columns_.set_index("column")["kind"].to_dict() == KINDS
    assert encoder.feature_names_in_.tolist() == list(KINDS)
    assert np.array_equal(encoder.transform(frame), fitted)
    assert np.array_equal(encoder.transform(frame[:7]), fitted[:7])
    by_name = dict(zip(encoder.get_feature_names_out(), fitted.T, strict=True))
    others = np.arange(N) != GAP
    for name in ("integer", "float", "duration", "decimal", "time", "digits", "small"):
        assert by_name[name][others].tolist() == NUMBERS[others].tolist(), name
    assert by_name["date_day"][others].tolist() == (18262 + NUMBERS[others]).tolist()
    assert by_name["stamp_day"][others].tolist() == (18262.25 + NUMBERS[others]).tolist()


@pytest.mark.parametrize("model", MODELS)
def test_every_model_takes_frames_of_polars_and_of_pandas_alike(model):
    polars = pytest.importorskip("polars")
    frame = polars_frame(polars)
    y = NUMBERS if model == "TunedSVR" else CLASSES
    fitted = MODELS[model]().fit(frame, polars.Series("y", y.tolist()))
    respond = fitted.transform if model == "TableEncoder" else fitted.predict
    as_pandas = pd.DataFrame({name: objects(frame[name].to_list()) for name in frame.columns})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of the time zone, which is given as UTC
        found, again = respond(frame), respond(as_pandas)
    assert np.allclose(again, found) if found.dtype.kind == "f" else np.array_equal(again, found)
    with pytest.raises(DataError, match="column 'integer' .* of type list"):
        respond(frame.with_columns(polars.Series("integer", [[1]] * N)))
    with pytest.raises(DataError, match=r"X is a LazyFrame, .* pass X.collect\(\)"):
        respond(frame.lazy())
