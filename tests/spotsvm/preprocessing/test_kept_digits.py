"""Numbers far from zero, tiny or huge: the encoder, the tuned models and the command see what rows differ in."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from spotsvm import TableEncoder, TunedSVC
from spotsvm.tables import make_table, read_table

X, Y = make_classification(160, 3, n_informative=3, n_redundant=0, flip_y=0.05, random_state=0)
X = np.round(X * 256).astype(int)  # whole, so that an offset is exact
STAMP = 1_700_000_000_000_000_000
TRAIN, NEW = slice(100), slice(100, None)

FORMS = {
    "1e13": 1e13 + X,
    "1e15": 1e15 + X / 8,
    "nanoseconds": STAMP + X * 10**6,
    "neighbouring nanoseconds": STAMP + X,
    "unsigned": np.uint64(2**63) + X.astype(np.int64).astype(np.uint64),
    "float32": (2**22 + X).astype(np.float32),
    "1e-300": X * 2.0**-997,
    "denormal": X * 2.0**-1040,
    "1e300": X * 2.0**997,
    "small and narrow": (2.0**43 + X) * 2.0**-1040,
    "mixed": np.column_stack([X[:, 0] + 1e14, X[:, 1], X[:, 2] * 2.0**-900]),
    "objects": (STAMP + X).astype(object),
    "frame": pd.DataFrame({"a": STAMP + X[:, 0], "b": [f"{STAMP + x}" for x in X[:, 1]], "c": X[:, 2] * 2.0**-900}),
    "nullable": pd.DataFrame(STAMP + X).astype("Int64"),
    "dates": pd.DataFrame(X * 10**4 + STAMP).apply(pd.to_datetime),
    "durations": pd.DataFrame(X * 10**9 + STAMP).apply(pd.to_timedelta),
}


def rows(table, part):
    return table.iloc[part] if isinstance(table, pd.DataFrame) else table[part]


@pytest.fixture(scope="module")
def plain():
    """The decisions of models of the plain numbers, dense and sparse."""
    return {
        families: TunedSVC(families=list(families), budget=1, random_state=0).fit(X[TRAIN], Y[TRAIN]).decision_function(X[NEW])
        for families in (("rbf",), ("relevance_laplacian",))
    }


@pytest.mark.parametrize(("form", "families"), [(form, ("relevance_laplacian", "rbf")[k % 2]) for k, form in enumerate(FORMS)])
def test_an_offset_or_a_unit_changes_no_decision(form, families, plain):
    table, decisions = FORMS[form], plain[families,]
    model = TunedSVC(families=[families], budget=1, random_state=0).fit(rows(table, TRAIN), Y[TRAIN])
    found = model.decision_function(rows(table, NEW))
    if form == "dates":  # which have other numbers too, of the calendar and the clock
        assert np.mean((found > 0) == (decisions > 0)) > 0.9
    else:
        np.testing.assert_allclose(found, decisions, atol=1e-3)


@pytest.mark.parametrize(
    ("offset", "unit", "families"),
    [(-(2.0**50), 1.0, ["rbf"]), (2.0**50, 1.0, ["linear"]), (2.0**20, 2.0**-990, ["rbf"]), (2.0**20, 2.0**990, ["linear"])],
)
def test_sparse_rows(offset, unit, families):
    table = X.astype(float)
    table[:, 2] *= np.abs(X[:, 1]) % 2  # with zeros
    moved = table * unit
    moved[:, :2] += offset * unit  # columns without zeros
    model = TunedSVC(families=families, budget=1, random_state=0)
    decisions = model.fit(csr_matrix(table[TRAIN]), Y[TRAIN]).decision_function(csr_matrix(table[NEW]))
    found = model.fit(csr_matrix(moved[TRAIN]), Y[TRAIN]).decision_function(csr_matrix(moved[NEW]))
    if families == ["linear"]:  # whose unit is the mean square norm, which the offset of the plain rows is a part of
        assert np.mean((found > 0) == (decisions > 0)) > 0.9
    else:
        np.testing.assert_allclose(found, decisions, atol=1e-3)


GAPS = np.random.default_rng(0).random(X.shape) < 0.1
WITH_GAPS = {
    "nullable": pd.DataFrame(STAMP + X).astype("Int64").mask(GAPS),
    "unsigned": pd.DataFrame(np.uint64(2**63) + X.astype(np.uint64)).astype("UInt64").mask(GAPS),
    "objects": pd.DataFrame((STAMP + X).astype(object)).mask(GAPS, None),
    "texts": pd.DataFrame((STAMP + X).astype(str)).mask(GAPS, None),
}


@pytest.mark.parametrize("form", WITH_GAPS)
def test_whole_numbers_with_gaps_keep_their_digits(form):
    table, gaps = WITH_GAPS[form], np.where(GAPS, np.nan, X)
    model = TunedSVC(families=["rbf"], budget=1, random_state=0)
    decisions = model.fit(gaps[TRAIN], Y[TRAIN]).decision_function(gaps[NEW])
    found = model.fit(table[TRAIN], Y[TRAIN]).decision_function(table[NEW])
    np.testing.assert_allclose(found, decisions, atol=1e-3)


def test_whole_numbers_with_gaps_in_a_file_keep_their_digits(tmp_path):
    table, file = WITH_GAPS["nullable"].set_axis(["a", "b", "c"], axis=1), tmp_path / "rows.csv"
    table.assign(y=Y).to_csv(file, index=False)
    found = read_table(file, "y").X
    assert ((found - STAMP).astype("Int64").fillna(0) == np.where(GAPS, 0, X)).to_numpy().all()
    assert found.isna().to_numpy().tolist() == GAPS.tolist()


@given(
    st.lists(st.integers(-1000, 1000), min_size=3, max_size=30).filter(lambda numbers: len(set(numbers)) > 1),
    st.integers(-(2**62), 2**62),
    st.integers(-900, 900),
)
@settings(max_examples=30)
def test_the_encoder_keeps_every_difference(numbers, offset, power):
    whole = np.array(numbers)[:, None]
    moved = TableEncoder().fit_transform(whole + offset)
    assert (moved - moved[0]).tolist() == (whole - whole[0]).tolist()
    scaled = TableEncoder().fit_transform(whole * 2.0**power)
    assert StandardScaler().fit_transform(scaled) == pytest.approx(StandardScaler().fit_transform(whole.astype(float)))


def test_the_report_names_origin_and_factor_and_new_rows_are_read_in_them():
    encoder = TableEncoder().fit(pd.DataFrame({"stamp": STAMP + X[:, 0], "tiny": X[:, 1] * 2.0**-990, "plain": X[:, 2]}))
    low = STAMP + X[:, 0].min()
    assert encoder.columns_["treatment"].tolist() == [f"kept, less {int(float(low))}", f"kept, times {2.0**980:.6g}", "kept"]
    later = encoder.transform(pd.DataFrame({"stamp": [float(STAMP), 0.0], "tiny": [0.0, 1e300], "plain": [0, 1]}))
    assert later[0, 0] == STAMP - int(float(low))
    assert np.isfinite(later).all()


def test_nothing_is_told_of_ordinary_numbers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table in FORMS.values():
            TableEncoder().fit(table)


def test_whole_numbers_of_a_table_stay_whole_where_floats_would_lose_digits():
    table = make_table(pd.DataFrame({"stamp": STAMP + X[:, 0], "x": X[:, 1]}), pd.Series(Y, name="y"))
    assert table.X["stamp"].tolist() == (STAMP + X[:, 0]).tolist()
    assert table.X["x"].dtype == float
