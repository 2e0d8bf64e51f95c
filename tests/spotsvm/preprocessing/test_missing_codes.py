"""Codes for missing values: what is told, what is not, and that nothing is changed."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn import datasets

from spotsvm import TableEncoder, TunedSVC, TunedSVR
from spotsvm.errors import DataWarning
from spotsvm.preprocessing.missing_codes import missing_codes
from spotsvm.tables import Choices, read_table
from spotsvm.tuning.tables.suspicions import suspicions

N = 200
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X[:, 0] + X[:, 1] + 0.3 * RNG.normal(size=N)
QUICK = {"families": ["rbf"], "budget": 1, "random_state": 0}


def with_code(values, code, share, seed=0):
    rows = np.random.default_rng(seed).permutation(len(values))[: round(share * len(values))]
    found = np.array(values, dtype=float)
    found[rows] = code
    return found


#: values, the code, its share
CODES = {
    "-200 in a concentration": (np.exp(RNG.normal(size=N)), -200.0, 0.17),
    "-200 below a wide range": (2.0 + 300.0 * np.exp(RNG.normal(size=N)), -200.0, 0.17),
    "-200 of a sensor": (RNG.normal(1000, 300, N).clip(221, 2523).round(), -200.0, 0.04),
    "-999": (RNG.normal(20, 8, N), -999.0, 0.15),
    "a column that has it mostly": (RNG.normal(20, 8, N), -999.0, 0.9),
    "99999": (RNG.gamma(2.0, 300.0, N), 99999.0, 0.03),
    "99.9": (RNG.normal(12, 3, N), 99.9, 0.1),
    "-99.9 of rain": (RNG.gamma(0.5, 60.0, N).round(1), -99.9, 0.1),
    "-1 of ages": (RNG.integers(18, 90, N), -1.0, 0.05),
    "-9 of answers": (RNG.integers(1, 6, N), -9.0, 0.1),
    "99 of answers": (RNG.integers(1, 6, N), 99.0, 0.1),
    "999 of counts": (RNG.integers(0, 28, N), 999.0, 0.9),
    "-999 of yes or no": (RNG.integers(0, 2, N), -999.0, 0.15),
    "zeros and -999": (RNG.integers(0, 5, N) * (RNG.random(N) < 0.2), -999.0, 0.15),
    "a long code": (RNG.normal(size=N), -99999999.0, 0.1),
}


@pytest.mark.parametrize("case", CODES)
def test_codes_are_found(case):
    values, code, share = CODES[case]
    column = with_code(values, code, share)
    (found,) = missing_codes(column)
    assert (found.value, found.n_rows) == (code, round(share * N))
    assert (found.low, found.high) == (column[column != code].min(), column[column != code].max())
    column[:20] = np.nan  # gaps are no values
    assert missing_codes(column)[0].value == code


def test_a_code_at_either_end():
    column = with_code(with_code(RNG.normal(20, 8, N), -999.0, 0.1), 9999.0, 0.1, seed=1)
    low, high = missing_codes(column)
    assert (low.value, high.value) == (-999.0, 9999.0)
    assert low.low == high.low == column[column > -999].min()


#: quantile functions of ordinary columns
ORDINARY = {
    "normal": norm.ppf,
    "skewed": lambda u: np.exp(norm.ppf(u)),
    "very skewed": lambda u: np.exp(2 * norm.ppf(u)),
    "rounded": lambda u: np.round(np.exp(norm.ppf(u)), 1),
    "uniform": lambda u: u,
    "ages": lambda u: np.floor(18 + 60 * u**2),
    "years": lambda u: np.floor(1950 + 70 * u),
    "temperatures": lambda u: np.floor(36 * u) - 1,
    "yes or no": lambda u: (u > 0.7).astype(float),
    "one or two": lambda u: 1.0 + (u > 0.9),
    "two numbers": lambda u: np.where(u > 0.9, -999.0, 3.0),
    "signs": lambda u: np.sign(u - 0.5),
    "powers of ten": lambda u: 10.0 ** np.floor(6 * u),
    "doses": lambda u: np.array([0.0, 1.0, 10.0, 100.0])[np.floor(4 * u).astype(int)],
    "answers": lambda u: np.floor(5 * u) + 1,
    "counts": lambda u: np.floor(-2 * np.log1p(-0.999 * u)),
    "many zeros": lambda u: np.where(u < 0.8, 0.0, 100.0 * u),
    "amounts or none": lambda u: np.where(u < 0.3, 0.0, 1000.0 + 300.0 * u),
    "losses or none": lambda u: np.where(u < 0.3, 0.0, -1000.0 - 300.0 * u),
    "capped": lambda u: np.minimum(np.exp(norm.ppf(u)), 5.0),
    "constant": lambda u: 0.0 * u + 7.0,
    "standardised zeros": lambda u: (np.where(u < 0.6, 0.0, u) - 0.3) / 0.4,
}


@settings(max_examples=60)
@given(st.sampled_from(sorted(ORDINARY)), st.integers(0, 10**6), st.integers(20, 500), st.sampled_from([0.01, 0.3, 1.0, 10.0]))
def test_ordinary_columns_have_none(kind, seed, n, times):
    assert missing_codes(ORDINARY[kind](np.random.default_rng(seed).random(n)) * times) == []


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(30, 60), st.sampled_from([-999.0, 9999.0, -200.0]), st.integers(5, 200))
def test_a_frequent_value_far_away_is_found_in_any_order_and_no_other(seed, n, code, times):
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.5, 100, n)
    (found,) = missing_codes(rng.permutation([*values, *[code] * times]))
    assert (found.value, found.n_rows) == (code, times)
    assert missing_codes(np.array([*values, *[code] * 4])) == []  # it is not frequent
    assert missing_codes(np.array([*values, *[code] * times, *np.linspace(-2e4, 2e4, 50)])) == []  # nor far


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes", "linnerud"])
def test_none_in_the_sets_of_scikit_learn(name):
    for scaled in [True, False] if name == "diabetes" else [True]:
        found = getattr(datasets, f"load_{name}")(**({} if scaled else {"scaled": False}))
        for column in np.column_stack([found.data, found.target]).T:
            assert missing_codes(column) == []


FORMS = {
    "array": lambda column: np.column_stack([X, column]),
    "frame": lambda column: pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "x2": column}),
    "texts": lambda column: pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "x2": [str(cell) for cell in column]}),
    "with gaps": lambda column: pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "x2": np.where(X[:, 0] > 1, np.nan, column)}),
    "integers": lambda column: pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "x2": column.astype(int)}).convert_dtypes(),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_column_is_told_once_and_kept(form):
    table = FORMS[form](with_code(RNG.normal(20, 8, N).round(2), -999.0, 0.15))
    fits = {
        "encoder": lambda: TableEncoder().fit(table),
        "classes": lambda: TunedSVC(**QUICK).fit(table, Y > 0),
        "numbers": lambda: TunedSVR(**QUICK).fit(table, Y),
    }
    for fit in fits.values():
        said = r"^column 'x2' is -999 in \d+ rows \(1\d %\), far from its other values, .* replace it by NaN if it stands for"
        with pytest.warns(DataWarning, match=said) as told:
            fit()
        (warning,) = told
        (notice,) = warning.message.notices
        assert (notice.code, notice.column) == ("missing code", "x2")
        assert notice.share == pytest.approx(0.15, abs=0.03)
    with pytest.warns(DataWarning):
        encoded = TableEncoder().fit_transform(table)
    assert (encoded == -999).sum() == round(notice.share * N)


@pytest.mark.parametrize(
    ("code", "first"), [("1900-01-01", "2001-02-03"), ("2099-12-31", "1950-01-01"), ("1900-01-01", "1962-01-01")]
)
def test_a_date(code, first):
    days = pd.Series(pd.Timestamp(first) + pd.to_timedelta(RNG.integers(0, 4000, N), unit="D"))
    days[:: N // 20] = pd.Timestamp(code)
    others = days[days != pd.Timestamp(code)].dt.strftime("%Y-%m-%d")
    for column in (days, days.dt.strftime("%Y-%m-%d")):
        said = rf"^column 'day' is {code} in 20 rows \(10 %\), far .* from {others.min()} to {others.max()}: replace it by NaN"
        with pytest.warns(DataWarning, match=said):
            TableEncoder().fit(pd.DataFrame({"day": column, "b": X[:, 1]}))
    early = days.where(days != pd.Timestamp(code), pd.Timestamp(first) - pd.Timedelta(days=900))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TableEncoder().fit(pd.DataFrame({"day": early}))


def test_many_columns_share_a_notice():
    table = np.column_stack([with_code(RNG.normal(20, 8, N), -999.0, 0.15, seed) for seed in range(30)])
    with pytest.warns(DataWarning) as told:
        TableEncoder().fit(table)
    notices = told[0].message.notices
    assert [notice.column for notice in notices] == [*(f"x{k}" for k in range(7)), None]
    assert notices[-1].sentence.startswith("23 further columns have such frequent values far from all others: 'x7', 'x8'")
    assert notices[-1].sentence.endswith("'x14' and 15 more")


def test_a_target():
    y = with_code(np.exp(Y), -200.0, 0.17)
    with pytest.warns(
        DataWarning,
        match=r"^the target is -200 in 34 rows \(17 %: row \d+, row \d+, row \d+ and 31 more\), far from .* leave these rows out",
    ) as told:
        TunedSVR(**QUICK).fit(X, y)
    assert len(told) == 1
    few = with_code(np.exp(Y), -9999.0, 0.04)
    with pytest.warns(DataWarning, match=r"missing values; scale, settings and limits of predictions follow the others$") as told:
        TunedSVR(**QUICK).fit(X, few)
    assert [notice.code for notice in told[0].message.notices] == ["missing code"]


def test_a_class():
    y = with_code(np.where(Y > 0, 1, 0), -999, 0.1).astype(int)
    with pytest.warns(
        DataWarning,
        match=r"^the target is -999 in 20 rows \(10 %: row \d+, .* and 17 more\), far from its other values, .* from 0 to 1",
    ):
        TunedSVC(**QUICK).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TunedSVC(**QUICK).fit(X, np.where(Y > 0, 1, -999))  # two classes may have any names
        TunedSVC(**QUICK).fit(X, y.astype(str))


@pytest.mark.parametrize("kind", ["numbers", "classes", "dates"])
def test_the_remedy_of_the_command_works(kind, tmp_path):
    code, days = -999.0, pd.Series(pd.Timestamp("2001-02-03") + pd.to_timedelta(RNG.integers(0, 4000, N), unit="D"))
    days[:: N // 20] = pd.Timestamp("1900-01-01")
    a = days.dt.strftime("%Y-%m-%d") if kind == "dates" else with_code(X[:, 0], code, 0.15)
    y = with_code(Y + 20, code, 0.2) if kind == "numbers" else with_code(RNG.integers(0, 3, N), code, 0.2, seed=1)
    file = tmp_path / "table.csv"
    pd.DataFrame({"a": a, "b": X[:, 1], "y": y}).to_csv(file, index=False)
    table = read_table(file, "y")
    told = [notice for notice in suspicions(table) if notice.code == "missing code"]
    assert [notice.column for notice in told] == ["a", None]
    assert [notice.sentence.partition(" in ")[0].partition(" is ")[0] for notice in told] == ["column 'a'", "the target"]
    words = [re.search(r": use --missing (\S+) if it stands for missing values$", notice.sentence)[1] for notice in told]
    mended = read_table(file, "y", choices=Choices(missing=words))
    assert not [notice for notice in suspicions(mended) if notice.code == "missing code"]
    assert mended.X["a"].isna().sum() == round(told[0].share * N) - mended_away(table, mended)
    assert len(mended.y) == N - round(told[1].share * N)


def mended_away(table, mended):
    """Return the number of codes of the column in rows whose target is left out."""
    codes = table.X["a"] == table.X["a"].min()
    return int(codes.sum() - codes.loc[mended.X.index].sum())
