"""Columns of numbers and dates with a few other cells, or in another notation: used, and what was done is told once."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from spotsvm import TableEncoder, TunedSVC
from spotsvm.errors import DataError, DataWarning
from spotsvm.tables import Choices, make_table, read_table

N = 300
RNG = np.random.default_rng(0)
X = RNG.normal(size=N).round(3)
NOISE = RNG.normal(size=N)
#: amounts with thousands
AMOUNTS = RNG.uniform(1000, 9_999_999, N).round(2)
WORDS = [
    "-",
    "?",
    "",
    " ",
    "NA",
    "N/A",
    "n.a.",
    "None",
    "NULL",
    "#N/A",
    "unknown",
    "missing",
    ".",
    "k.A.",
    "\u2014",
    "n/d",
]
STRAYS = [*WORDS, "<0.01", "12 mg", "red", "$5", "1-2", "0x1F", "1_000x"]


def frame(cells):
    return pd.DataFrame({"a": cells, "b": NOISE[: len(cells)]})


def told_by(call):
    """Return what a call returns, and the notices of its only warning, if it warns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    assert len(caught) <= 1, [str(one.message) for one in caught]
    assert all(one.category is DataWarning for one in caught)
    return found, list(caught[0].message.notices) if caught else []


def fitted(cells, **arguments):
    """Return the numbers of a column, its row of `columns_`, and what the fit told."""
    encoder, notices = told_by(lambda: TableEncoder(**arguments).fit(frame(cells)))
    return encoder.transform(frame(cells))[:, 0] if not notices else None, encoder.columns_.iloc[0], notices


FORMS = {
    "objects": lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": NOISE}),
    "texts": lambda cells: pd.DataFrame({"a": [str(cell) for cell in cells], "b": NOISE}),
    "string": lambda cells: pd.DataFrame({"a": pd.array([str(cell) for cell in cells], dtype="string"), "b": NOISE}),
    "category": lambda cells: pd.DataFrame({"a": pd.Categorical([str(cell) for cell in cells]), "b": NOISE}),
    "array of objects": lambda cells: np.array([*zip(cells, NOISE, strict=True)], dtype=object),
    "lists": lambda cells: [[cell, noise] for cell, noise in zip(cells, NOISE.tolist(), strict=True)],
}


@pytest.mark.parametrize(
    ("stray", "form"),
    [*((stray, "objects") for stray in STRAYS), *((stray, form) for stray in ("-", "", "12 mg") for form in FORMS)],
)
def test_a_stray_cell_is_a_gap_and_is_told(stray, form):
    cells = X.tolist()
    cells[7] = stray
    encoder = TableEncoder()
    encoded, notices = told_by(lambda: encoder.fit_transform(FORMS[form](cells)))
    (notice,) = notices
    assert (notice.code, notice.share) == ("unread", pytest.approx(1 / N))
    assert notice.column == ("x0" if form in ("lists", "array of objects") else "a")
    if stray.strip():
        assert repr(stray) in notice.sentence
    assert "in row 7" in notice.sentence
    report = encoder.columns_.iloc[0]
    assert (report["kind"], report["gaps"], report["n_outputs"]) == ("number", 1, 2)
    assert "counts as a gap" in report["treatment"]
    others = np.arange(N) != 7
    assert np.array_equal(encoded[others, 0], X[others])
    assert encoded[7, 0] == np.median(X[others])
    assert encoded[:, 2].tolist() == (~others).tolist()


@pytest.mark.parametrize("stray", STRAYS)
def test_the_command_reads_as_python_does(stray, tmp_path):
    """The same cells, from a file: the same kinds, numbers and notices, up to the name of the row."""
    cells = [*map(str, X)]
    cells[7] = stray
    table = frame(cells).assign(kind=np.where(X > 0, "high", "low"))
    table.to_csv(tmp_path / "t.csv", index=False)
    read = read_table(tmp_path / "t.csv", "kind")
    encoder, notices = told_by(lambda: TableEncoder().fit(frame(cells)))
    assert read.kinds == {"a": "number", "b": "number"}
    expected = [] if not stray.strip() else [(one.code, one.column, one.share) for one in notices]  # an empty field is a gap
    assert [(one.code, one.column, one.share) for one in read.notices] == expected
    if expected:
        assert read.notices[0].sentence == notices[0].sentence.replace("row 7 (counted from 0)", "line 9")
    made = make_table(frame(cells), table["kind"])
    assert np.array_equal(made.X["a"], read.X["a"], equal_nan=True)
    assert np.array_equal(np.isnan(read.X["a"]), np.arange(N) == 7)


def test_words_for_a_missing_value_may_be_many_and_other_cells_a_twentieth():
    cells = [*map(str, X)]
    cells[:100] = ["NA"] * 100
    _, report, notices = fitted(cells)
    assert (report["kind"], report["gaps"], [one.code for one in notices]) == ("number", 100, ["unread"])
    assert notices[0].share == pytest.approx(1 / 3)
    assert "'NA' (100 times)" in notices[0].sentence
    for n, kind in ((15, "number"), (16, "text")):  # of 300
        cells = [*map(str, X)]
        cells[:n] = ["red"] * n
        _, report, (notice,) = fitted(cells)
        assert (report["kind"], notice.code) == (kind, "unread" if kind == "number" else "mixed")
    said = "94.7 % of its cells are numbers in one notation, too few for a column of numbers; others are 'red' (16 times)"
    assert said in notice.sentence
    assert "replace them by None" in notice.sentence
    _, report, notices = fitted([None if cell == "red" else cell for cell in cells])  # the remedy
    assert (report["kind"], notices) == ("number", [])


#: each notation: how a number is written, the numbers, and words of the notice
NOTATIONS = {
    "decimal commas": (lambda v: str(v).replace(".", ","), X, "a decimal comma"),
    "percent": (lambda v: f"{v}%", X, "the unit '%'"),
    "percent after a blank, and commas": (lambda v: f"{v} %".replace(".", ","), X, "a decimal comma and the unit '%'"),
    "dollars": (lambda v: f"${v:,.2f}", AMOUNTS, "',' between thousands and the unit '$'"),
    "euros behind": (
        lambda v: f"{v:,.2f}".translate(str.maketrans(",.", ".,")) + " EUR", AMOUNTS, "'.' between thousands and the unit 'EUR'",
    ),
    "euros in front": (lambda v: f"\u20ac {v}", AMOUNTS, "the unit '\u20ac'"),
    "thousands by commas": (lambda v: f"{v:,}", AMOUNTS, "',' between thousands"),
    "thousands by points": (lambda v: f"{v:,}".translate(str.maketrans(",.", ".,")), AMOUNTS, "'.' between thousands"),
    "thousands by apostrophes": (lambda v: f"{v:,}".replace(",", "\u2019"), AMOUNTS, '"\'" between thousands'),
    "thousands by narrow blanks": (lambda v: f"{v:,}".replace(",", "\u202f").replace(".", ","), AMOUNTS, "' ' between thousands"),
    "thousands by underscores": (lambda v: f"{v:_}", AMOUNTS, "'_' between thousands"),
    "units": (lambda v: f"{v} mg", X, "the unit 'mg'"),
    "units with a power": (lambda v: f"{v}m\u00b2", X, "the unit 'm\u00b2'"),
    "units with a sign of a power": (lambda v: f"{v} mg/m^3", X, "the unit 'mg/m^3'"),
    "decimal commas before a power of ten": (lambda v: f"{v:.3e}".replace(".", ","), X, "a decimal comma"),
    "accountants": (lambda v: f"({-v:,})" if v < 0 else f"{v:,}", 1e4 * X, "brackets, which mean a negative number"),
    "a minus behind": (lambda v: f"{-v}-" if v < 0 else f"{v}", X, "the minus of a negative number at its end"),
    "times": (lambda v: f"{int(v) // 60:02d}:{int(v) % 60:02d}", np.arange(N), "is a time, in seconds"),
    "durations": (lambda v: f"{int(v) // 24} days {int(v) % 24:02d}:00:00", np.arange(N), "is a time, in seconds"),
}  # fmt: skip


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_notation_is_read_and_told(notation):
    write, numbers, words = NOTATIONS[notation]
    cells = [write(v) for v in numbers]
    encoder = TableEncoder()
    encoded, (notice,) = told_by(lambda: encoder.fit_transform(frame(cells)))
    factor = {"times": 60, "durations": 3600}.get(notation, 1)
    np.testing.assert_allclose(encoded[:, 0], np.asarray(numbers) * factor, rtol=1e-12)
    assert (notice.code, notice.column, notice.share) == ("notation", "a", 1.0)
    assert words in notice.sentence
    assert "read as numbers" in encoder.columns_["treatment"][0]
    new, nothing = told_by(lambda: encoder.transform(frame(cells[:20])))
    assert np.array_equal(new, encoded[:20])
    assert nothing == []


@pytest.mark.parametrize("write", [str, "{:e}".format, " {} ".format, lambda v: str(v).replace("-", "\u2212"), "{:+}".format])
def test_numbers_as_python_writes_them_are_no_news(write):
    encoded, report, notices = fitted([write(v) for v in X])
    assert (report["kind"], notices) == ("number", [])
    np.testing.assert_allclose(encoded, X, rtol=1e-6)


def test_bounds_count_as_their_number_if_they_are_a_part_of_the_column():
    cells = [*map(str, np.abs(X) + 0.02)]
    cells[:60] = ["<0.01"] * 60
    encoder = TableEncoder()
    encoded, (notice,) = told_by(lambda: encoder.fit_transform(frame(cells)))
    assert encoded[:60, 0].tolist() == [0.01] * 60
    assert "'<0.01' has the sign of a bound, which counts as the number behind it" in notice.sentence
    _, report, notices = fitted(["<=50K", ">50K"] * 150)  # where the sign is what differs
    assert (report["kind"], notices) == ("yes/no", [])


def test_a_comma_before_three_digits_is_between_thousands_unless_said_otherwise():
    cells = [f"{k % 9 + 1},{k:03d}" for k in range(N)]
    encoder, (notice,) = told_by(lambda: TableEncoder().fit(frame(cells)))
    assert encoder.transform(frame(cells))[0, 0] == 1000.0
    assert "if the comma is the decimal mark, replace it by a point" in notice.sentence
    encoder, notices = told_by(lambda: TableEncoder(decimal=",").fit(frame(cells)))
    assert encoder.transform(frame(cells))[1, 0] == 2.001
    assert notices == []
    with pytest.raises(ValueError, match="decimal=';'; use '.' or ','"):
        TableEncoder(decimal=";").fit(frame(cells))


@pytest.mark.parametrize(
    ("cells", "code", "kind", "words"),
    [
        ([f"{v} {'mg' if k % 3 else 'g'}" for k, v in enumerate(X)], "units", "text", "'mg' in 200 cells, 'g' in 100 cells"),
        ([f"{k + 1000:05d}" for k in range(N)], "codes", "identifier", "codes with zeros in front, such as '01000'"),
        ([f"{k % 7 + 1000:05d}" for k in range(N)], "codes", "category", "codes with zeros in front, such as '01000' (43 times)"),
        ([f"w{k}" if k % 5 == 0 else str(v) for k, v in enumerate(X)], "mixed", "identifier", "80 % of its cells are numbers"),
        ([f"A{k}" for k in range(N)], "identifier", "identifier", "a different word, like an identifier, such as 'A0'"),
        (["a"] * N, "constant", "constant", "the same value in all rows"),
        ([1.5] * N, "constant", "constant", "the same value in all rows"),
        ([None] * N, "empty", "constant", "it has no values"),
        ([1.5, *[None] * (N - 1)], "constant", "number", "left out but for its gaps"),
        ([f"{k % 12 + 1}/{k % 11 + 1}/2024" for k in range(N)], "day or month", "date", "read in the format %m/%d/%Y"),
    ],
)
def test_what_is_left_out_or_in_doubt_is_told_with_its_cause(cells, code, kind, words):
    _, report, (notice,) = fitted(cells)
    assert (notice.code, notice.column, report["kind"]) == (code, "a", kind)
    assert words in notice.sentence
    assert 0 < notice.share <= 1
    if report["n_outputs"] == 0:
        assert report["treatment"].startswith("left out")


def test_what_words_mean_missing_can_be_said():
    for cells, missing in (
        ([-999 if k % 9 == 0 else v for k, v in enumerate(X)], [-999]),
        (np.where(np.arange(N) % 9 == 0, -999.0, X), ["-999"]),
        ([str(-999) if k % 9 == 0 else str(v) for k, v in enumerate(X)], "-999.0"),
        (["k.x." if k % 9 == 0 else str(v) for k, v in enumerate(X)], ["K.X."]),
    ):
        encoder, notices = told_by(lambda cells=cells, missing=missing: TableEncoder(missing=missing).fit(frame(cells)))
        assert notices == []
        assert encoder.columns_["gaps"].tolist() == [34, 0]
    array = np.column_stack([np.where(np.arange(N) % 9 == 0, -999.0, X), NOISE])
    assert TableEncoder(missing=[-999]).fit_transform(array).shape == (N, 3)


def test_the_command_takes_words_that_mean_missing(tmp_path):
    cells = ["k.x." if k % 9 == 0 else str(v) for k, v in enumerate(X)]
    frame(cells).assign(kind=np.where(X > 0, "high", "low")).to_csv(tmp_path / "t.csv", index=False)
    (notice,) = read_table(tmp_path / "t.csv", "kind").notices
    assert notice.code == "mixed"
    assert notice.sentence.endswith("'k.x.' (34 times); if they mean missing values, name them by --missing")
    read = read_table(tmp_path / "t.csv", "kind", choices=Choices(missing=["k.x., other"]))
    assert (read.kinds["a"], read.notices) == ("number", ())


def test_dates_with_other_cells():
    days = pd.date_range("2020-01-01", periods=N)
    for written in ("%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y", "%b %d %Y", "%m/%d/%Y"):
        cells = list(days.strftime(written))
        cells[3] = "unknown"
        encoder = TableEncoder()
        encoded, (notice,) = told_by(lambda encoder=encoder, cells=cells: encoder.fit_transform(frame(cells)))
        assert (notice.code, encoder.columns_["kind"][0], encoder.columns_["gaps"][0]) == ("unread", "date", 1)
        assert "a cell that is no date" in notice.sentence
        day = encoder.get_feature_names_out().tolist().index("a_day")
        assert np.diff(encoded[4:, day]).tolist() == [1.0] * (N - 5)


@pytest.mark.parametrize("written", ["{}Q{}", "{}-Q{}", "Q{1} {0}", "q{1}/{0}"])
def test_quarters(written):
    quarters = pd.period_range("1980Q1", periods=N // 2, freq="Q").repeat(2)
    encoder = TableEncoder()
    encoded = encoder.fit_transform(frame([written.format(one.year, one.quarter) for one in quarters]))
    day = encoder.get_feature_names_out().tolist().index("a_day")
    assert encoded[:, day].tolist() == ((quarters.to_timestamp() - pd.Timestamp(0)) // pd.Timedelta(1, "D")).tolist()


@pytest.mark.parametrize("written", ["%Y-%m", "%m/%Y", "%m-%Y", "%b %Y", "%b-%y"])
def test_months_without_a_day(written):
    months = pd.date_range("2001-01-01", periods=N, freq="MS")
    encoder = TableEncoder()
    encoded = encoder.fit_transform(frame(list(months.strftime(written))))
    day = encoder.get_feature_names_out().tolist().index("a_day")
    assert encoded[:, day].tolist() == ((months - pd.Timestamp(0)) // pd.Timedelta(1, "D")).tolist()


@pytest.mark.parametrize("written", ["%d.%m.%Y", "%m/%d/%Y", "%b %d %Y"])
def test_dates_in_a_format_and_as_iso(written):
    days = pd.date_range("2020-01-01", periods=N)
    cells = [day.strftime("%Y-%m-%d" if k % 2 else written) for k, day in enumerate(days)]
    encoder = TableEncoder()
    encoded, notices = told_by(lambda: encoder.fit_transform(frame(cells)))
    day = encoder.get_feature_names_out().tolist().index("a_day")
    assert np.diff(encoded[:, day]).tolist() == [1.0] * (N - 1)
    assert notices == []


def test_a_date_of_zeros_is_a_gap():
    days = pd.date_range("2020-01-01", periods=N)
    _, report, (notice,) = fitted(["0000-00-00" if k % 10 == 0 else str(day.date()) for k, day in enumerate(days)])
    assert (notice.code, report["kind"], report["gaps"]) == ("unread", "date", 30)


def test_dates_in_two_other_formats_are_not_called_something_else():
    days = pd.date_range("2020-01-01", periods=N)
    cells = [day.strftime("%b %d %Y" if k % 2 else "%d.%m.%Y") for k, day in enumerate(days)]
    _, report, (notice,) = fitted(cells)
    assert (notice.code, report["kind"]) == ("mixed", "identifier" if report["n_outputs"] == 0 else "text")
    assert "50 % of its cells are dates in one format, too few for a column of dates; others are " in notice.sentence


def test_many_columns_of_one_kind_share_a_notice():
    table = pd.DataFrame({f"c{k}": "same" for k in range(30)}, index=range(N)).assign(x=X)
    _, notices = told_by(lambda: TableEncoder().fit(table))
    assert len(notices) == 8
    assert notices[-1].sentence == (
        "23 further columns are left out: they have the same value in all rows: 'c7', 'c8', 'c9', 'c10', 'c11', 'c12', 'c13', "
        "'c14' and 15 more"
    )


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT, "nan", "NaN", "<NA>"])
def test_missing_values_that_were_given_as_such_are_no_news(gap):
    cells = [gap if k % 3 == 0 else v for k, v in enumerate(X.tolist())]
    encoded, report, notices = fitted(pd.Series(cells, dtype=object))
    assert (notices, report["kind"], report["gaps"]) == ([], "number", 100)
    assert "gaps are filled with the median" in report["treatment"]


def test_usual_tables_tell_nothing():
    gaps = np.where(RNG.random((N, 3)) < 0.1, np.nan, RNG.normal(size=(N, 3)))
    texts = pd.DataFrame({"town": RNG.choice(["Ulm", None, "Bonn"], N), "day": pd.date_range("2020", periods=N), "x": X})
    same = np.column_stack([X, np.ones(N)])  # of an array all columns are kept
    tables = [load(return_X_y=True, as_frame=True)[0] for load in (load_iris, load_wine, load_breast_cancer, load_diabetes)]
    for table in [*tables, gaps, pd.DataFrame(gaps).convert_dtypes(), texts, same, texts.astype(object)]:
        encoder, notices = told_by(lambda table=table: TableEncoder().fit(table))
        assert notices == []
        assert told_by(lambda encoder=encoder, table=table: encoder.transform(table))[1] == []


def test_a_tuned_model_keeps_the_column_and_tells_once():
    y = X[:120] + 0.1 * RNG.normal(size=120) > 0
    cells = X[:120].tolist()
    cells[7] = "-"
    table = frame(cells).assign(c="same")
    model = TunedSVC(budget=1, random_state=0, n_jobs=2)
    _, notices = told_by(lambda: model.fit(table, y))
    assert [(one.code, one.column) for one in notices] == [("unread", "a"), ("constant", "c")]
    assert model.notices_ == tuple(notices)
    assert model.expected_score_.value > 0.85
    _, notices = told_by(lambda: model.predict(table))
    assert [(one.code, one.column) for one in notices] == [("unread", "a")]
    _, (notice,) = told_by(lambda: model.predict_proba(table.assign(a=1e6 * X[:120])))
    assert notice.code == "capped"
    assert "more than 50 standard deviations from its mean in" in notice.sentence


def test_warnings_as_errors_lose_no_fit():
    y = X[:60] > 0
    model = TunedSVC(budget=1, random_state=0)
    with pytest.raises(DataWarning):
        model.fit(frame(X[:60]).assign(c="same"), y)
    assert model.predict(frame(X[:60]).assign(c="same")).shape == (60,)


def test_infinity_in_a_column_is_an_error():
    for cells in ([np.inf, *X[1:]], ["inf", *map(str, X[1:])]):
        with pytest.raises(DataError, match="infinity in column 'a'"):
            TableEncoder().fit(frame(cells))
