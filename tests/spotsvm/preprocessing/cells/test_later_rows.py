"""Equal values in another form are the same values in later rows; what cannot be read is told, or an error."""

import datetime
import unicodedata
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from spotsvm import TableEncoder, TunedSVC
from spotsvm.errors import DataError, DataWarning

N = 60
RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=N)
CODES = RNG.integers(1, 4, N)
TRUTH = RNG.choice([True, False], N)
X = RNG.normal(size=N).round(3)
DAYS = pd.Series(pd.date_range("2020-01-01", periods=N, freq="17D"))
TOWNS = np.array([*["Ulm", "Bonn", "Rom"], *RNG.choice(["Ulm", "Bonn", "Rom"], N - 3)], dtype=object)
HOURS = pd.Series(pd.to_timedelta(range(N), "h"))
ZIP = [f"{k % 7 + 1000:05d}" for k in range(N)]


def comma(numbers):
    return [str(v).replace(".", ",") for v in numbers]


def read(train, new, **arguments):
    """Return the training rows and the new rows as numbers, and what the new rows tell."""
    encoder = TableEncoder(**arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        encoded = encoder.fit_transform(pd.DataFrame({"a": pd.Series(train), "b": NOISE}))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        later = encoder.transform(pd.DataFrame({"a": pd.Series(new), "b": NOISE[: len(new)]}))
    assert len(caught) <= 1
    return encoded, later, [notice.code for one in caught for notice in one.message.notices]


ZIPPED = {"categorical": ["a"]}
#: the training rows, the same values in another form, arguments, and what is told
SAME = {
    "integers as floats": (CODES, CODES.astype(float), ZIPPED, []),
    "integers as texts": (CODES, CODES.astype(str), ZIPPED, []),
    "integers as texts of floats": (CODES, CODES.astype(float).astype(str), ZIPPED, []),
    "texts as integers": (CODES.astype(str).astype(object), CODES, ZIPPED, []),
    "nullable integers": (CODES, pd.array(CODES, dtype="Int64"), ZIPPED, []),
    "halves as decimals": (CODES / 2, [Decimal(str(c / 2)) for c in CODES], ZIPPED, []),
    "halves with commas": (CODES / 2, comma(CODES / 2), ZIPPED, []),
    "true as text": (TRUTH, TRUTH.astype(str), {}, []),
    "true as TRUE": (TRUTH.astype(float), np.where(TRUTH, "TRUE", "FALSE"), {}, []),
    "text as true": (TRUTH.astype(str), TRUTH, {}, []),
    "text of truth as 0 and 1": (TRUTH.astype(str), TRUTH.astype(int), {}, []),
    "truth as 0 and 1": (TRUTH, TRUTH.astype(int), {}, []),
    "yes as Yes": (np.where(TRUTH, "yes", "no"), np.where(TRUTH, "Yes", " NO "), {}, []),
    "yes as true": (np.where(TRUTH, "yes", "no"), TRUTH, {}, []),
    "true as yes": (TRUTH, np.where(TRUTH, "yes", "no"), {}, []),
    "true as ja": (TRUTH, np.where(TRUTH, "ja", "nein"), {}, []),
    "Oui as true": (np.where(TRUTH, "Oui", "Non"), TRUTH, {}, []),
    "numbers as texts": (X, X.astype(str), {}, []),
    "numbers with commas": (X, comma(X), {}, ["other notation"]),
    "commas as numbers": (comma(X), X, {}, []),
    "another minus": (X, [str(v).replace("-", "\u2212") for v in X], {}, []),
    "thousands": (1000 * X, [f"{1000 * v:,.1f}" for v in X], {}, ["other notation"]),
    "thousands that the argument explains": (
        np.arange(1000, 1060),
        [f"{v:,}" for v in range(1000, 1060)],
        {"decimal": "."},
        ["other notation"],
    ),
    "dollars as numbers": ([f"${v}" for v in X], X, {}, ["unit"]),
    "percent as numbers": ([f"{v}%" for v in X], [*X[:30], *[f"{v} %" for v in X[30:]]], {}, ["unit"]),
    "dates as time stamps": (DAYS.dt.strftime("%d.%m.%Y"), DAYS, {}, []),
    "time stamps as ISO": (DAYS, DAYS.dt.strftime("%Y-%m-%d"), {}, []),
    "time stamps as German dates": (DAYS, DAYS.dt.strftime("%d.%m.%Y"), {}, ["other notation"]),
    "American dates as English": (DAYS.dt.strftime("%m/%d/%Y"), DAYS.dt.strftime("%d/%m/%Y"), {}, ["other notation"]),
    "dates with midnight": (DAYS.dt.strftime("%Y-%m-%d"), DAYS.dt.strftime("%Y-%m-%d %H:%M:%S"), {}, []),
    "time stamps as days": (DAYS, DAYS.dt.date, {}, []),
    "time stamps as periods": (DAYS, DAYS.dt.to_period("D"), {}, []),
    "time stamps with a zone": (DAYS, DAYS.dt.tz_localize("UTC"), {}, ["zone"]),
    "durations as texts": (HOURS, HOURS.astype(str), {}, ["other notation"]),
    "times as texts": ([datetime.time(k % 24) for k in range(N)], [f"{k % 24:02d}:00" for k in range(N)], {}, ["other notation"]),
    "categories as objects": (pd.Categorical(TOWNS), TOWNS, {}, []),
    "objects as categories": (TOWNS, pd.Categorical(TOWNS), {}, []),
    "bytes": (TOWNS, [town.encode() for town in TOWNS], {}, []),
    "string": (TOWNS, pd.array(TOWNS, dtype="string"), {}, []),
    "capitals": (TOWNS, [town.upper() for town in TOWNS], {}, []),
    "another spelling in Unicode": (
        np.where(TRUTH, "Köln  (West)", "Łódź"),
        np.where(TRUTH, unicodedata.normalize("NFD", "Köln\u00a0(West)"), unicodedata.normalize("NFD", "Łódź")),
        {},
        [],
    ),
    "codes that lost their zeros": (ZIP, [int(code) for code in ZIP], {}, []),
    "a word that another file has as a gap": (["NA", *TOWNS[1:]], [None, *TOWNS[1:]], {}, []),
    "a gap that another file has as a word": ([None, *TOWNS[1:]], ["NA", *TOWNS[1:]], {}, []),
}


@pytest.mark.parametrize("case", SAME)
def test_equal_values_in_another_form_are_matched(case):
    train, new, arguments, told = SAME[case]
    encoded, later, codes = read(train, new, **arguments)
    np.testing.assert_allclose(later, encoded, rtol=1e-6)
    assert codes == told


def test_forms_that_are_different_levels_in_the_training_rows_are_matched_exactly():
    train = np.where(TOWNS == "Ulm", "ulm", np.where(TOWNS == "Bonn", "Ulm", TOWNS))
    encoded, later, codes = read(train, train)
    assert np.array_equal(encoded, later)
    assert codes == []
    _, later, codes = read(train, ["ULM", *train[1:]])
    assert codes == ["unknown level"]
    assert not later[0, 1:].any()


@pytest.mark.parametrize(
    ("train", "new", "told", "share"),
    [
        (TOWNS, ["Paris", *TOWNS[1:]], "unknown level", 1 / N),
        (TOWNS, ["Paris"] * N, "unknown level", 1.0),
        (X, ["w", *X[1:]], "unread", 1 / N),
        (X, [*X[:30], *["w"] * 30], "unread", 0.5),
        (X, ["w"] * 9, "unread", 1.0),
        (X, ["NA"] * N, "unread", 1.0),
        (DAYS, [*DAYS[:40], *["later"] * 20], "unread", 1 / 3),
        (HOURS, np.arange(N), "unit", 1.0),
    ],
)
def test_what_is_unknown_or_cannot_be_read_is_told_with_its_share(train, new, told, share):
    encoder = TableEncoder().fit(pd.DataFrame({"a": train, "b": NOISE}))
    with pytest.warns(DataWarning) as caught:
        encoder.transform(pd.DataFrame({"a": new, "b": NOISE[: len(new)]}))
    (notice,) = caught[0].message.notices
    assert (notice.code, notice.column, notice.share) == (told, "a", pytest.approx(share))


@pytest.mark.parametrize(
    ("train", "new", "message"),
    [
        (
            X,
            ["w"] * 10,
            "column 'a': none of its 10 values can be read as a number, .*; the first is 'w'; write them as there, or",
        ),
        (X, [None, *["w"] * 10], "none of its 10 values"),
        (X, DAYS, "none of its 60 values can be read as a number"),
        (X, HOURS, "none of its 60 values can be read as a number"),
        (X, [f"${v}" for v in X], r"the first is '\$"),
        ([f"{v} mg" for v in X], [f"{v} g" for v in X], "the first is '.* g'"),
        (np.arange(1000, 1060), [f"{v:,}" for v in range(1000, 1060)], "the first is '1,000'"),
        (DAYS, ["w"] * N, "can be read as a date"),
        (DAYS, X, "can be read as a date"),
        (TOWNS, X, "column 'a' has numbers, the first .*, where the training rows have texts such as 'Bonn'"),
        (TOWNS, DAYS, "column 'a' has dates, the first 2020-01-01 00:00:00, where the training rows have texts"),
    ],
)
def test_a_column_in_which_nothing_can_be_read_is_an_error_with_a_remedy(train, new, message):
    with pytest.raises(DataError, match=message):
        read(train, new)
    _, later, _ = read(train, [None] * len(new))  # empty cells, as the error says
    assert np.isfinite(later).all()


def test_a_column_that_is_left_out_may_hold_anything():
    encoder = TableEncoder()
    with pytest.warns(DataWarning):
        encoder.fit(pd.DataFrame({"a": [f"p{k}" for k in range(N)], "c": 1.0, "b": NOISE}))
    assert encoder.transform(pd.DataFrame({"a": X, "c": "w", "b": NOISE})).shape == (N, 1)


def test_a_model_predicts_the_same_from_another_form():
    table = pd.DataFrame({"code": CODES, "truth": TRUTH, "x": X, "day": DAYS.dt.strftime("%Y-%m-%d"), "town": TOWNS})
    y = np.where(TRUTH ^ (CODES > 1), "yes", "no")
    model = TunedSVC(budget=1, random_state=0, categorical=["code"]).fit(table, y)
    later = pd.DataFrame(
        {"code": CODES.astype(float), "truth": TRUTH.astype(str), "x": comma(X), "day": DAYS, "town": pd.Categorical(TOWNS)}
    )
    with pytest.warns(DataWarning, match="column 'x' is written otherwise than in the training rows, and read as numbers"):
        found = model.decision_function(later)
    np.testing.assert_allclose(found, model.decision_function(table))
    assert model.score(table, y) > 0.9
