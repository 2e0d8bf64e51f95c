"""Equal rows are found in every form of data."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm.common.copies import DistinctKFold, copies, distinct_rows, equal_rows, frequent, joined, with_copies
from spotsvm.tables import Choices, make_table, read_table
from spotsvm.tuning.tables.suspicions import suspicions

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + X[:, 1] > 0
FOUR = np.tile(np.arange(60), 4)  # each row four times
FORMS = {
    "array": lambda rows: rows,
    "float32": lambda rows: rows.astype(np.float32),
    "integers": lambda rows: (1000 * rows).astype(int),
    "sparse": csr_matrix,
    "frame": pd.DataFrame,
    "texts": lambda rows: pd.DataFrame(rows).astype(str),
    "gaps": lambda rows: np.where(rows > 2, np.nan, rows),
    "objects": lambda rows: rows.astype(object),
    "lists": lambda rows: rows.tolist(),
    "mixed lists": lambda rows: [[a, str(b), c] for a, b, c in rows.tolist()],
}


@given(st.lists(st.tuples(st.sampled_from([0.0, -0.0, 1.0, np.nan, 1e300]), st.integers(-2, 2)), min_size=1, max_size=40))
def test_equal_rows_are_those_that_pandas_finds(rows):
    frame = pd.DataFrame(rows, columns=["a", "b"])
    theirs = pd.factorize((frame + 0.0).groupby(["a", "b"], dropna=False, sort=False).ngroup())[0].tolist()
    assert equal_rows(frame).tolist() == equal_rows(frame.to_numpy(dtype=float)).tolist() == theirs
    assert equal_rows(csr_matrix(frame.fillna(7).to_numpy())).tolist() == theirs
    assert equal_rows(frame.astype(object).to_numpy()).tolist() == theirs


@pytest.mark.parametrize("form", FORMS)
def test_copies_of_every_form(form):
    assert copies(FORMS[form](X)) is None
    assert copies(FORMS[form](X[FOUR])).tolist() == FOUR.tolist()


def test_equal_rows_that_are_to_be_expected_are_no_copies():
    rng = np.random.default_rng(1)
    few = rng.choice(4, size=(300, 5), p=[0.5, 0.25, 0.15, 0.1])
    score = np.minimum(rng.geometric(0.5, size=(300, 1)) + rng.geometric(0.8, size=(300, 8)), 10)  # columns that depend
    for table in (score, few, few.astype(str), csr_matrix(few), X[FOUR, :1], X[FOUR] * 0, rng.poisson(0.25, size=(300, 6))):
        assert equal_rows(table).max() < table.shape[0] - 1
        assert copies(table) is None
    assert copies(["text"] * 30) is copies([[1.0], [1.0, 2.0]]) is None
    assert copies("text") is copies([[1.0], [1.0]]) is copies(np.zeros((30, 2, 2))) is copies(np.zeros((30, 0))) is None


def test_groups_of_the_user_are_joined_by_copies():
    unit = equal_rows(X[[0, 1, 2, 0, 3, 4, 5, 5]])
    found = joined([*"aabbccdd"], unit)  # row 0 is in a and b
    assert found.tolist() == [found[0]] * 4 + [found[4]] * 2 + [found[6]] * 2
    assert len(set(found.tolist())) == 3
    assert joined([*"abcdefgh"], np.zeros(8, dtype=int)) == [*"abcdefgh"]  # one group would remain of eight
    assert joined(None, unit) is unit
    assert joined("ab", None) == "ab"


@given(st.lists(st.integers(0, 30), min_size=60, max_size=120), st.integers(0, 60), st.integers(2, 5))
def test_folds_hold_each_row_once_or_never_and_keep_copies_together(rows, extra, n_splits):
    unit = pd.factorize(np.array([*rows, *range(20), *[7] * extra]))[0]
    splits = list(DistinctKFold(n_splits, shuffle=True, random_state=0).split(unit, unit, unit))
    tested = Counter(np.concatenate([test for _, test in splits]).tolist())
    often = frequent(unit, len(unit) / n_splits)
    assert set(tested) == set(np.flatnonzero(~often).tolist())
    assert max(tested.values()) == 1
    for train, test in splits:
        assert not set(unit[train]) & set(unit[test])
        assert len(train) + len(test) == len(unit)
    sizes = np.bincount(unit)
    assert (sizes[unit[~often]] <= max(0.1 * len(unit) / n_splits, 3 * np.median(sizes))).all()


def test_folds_without_copies_are_those_of_scikit_learn():
    ours = DistinctKFold(4, shuffle=True, random_state=3).split(X, Y, np.arange(60))
    for (train, test), (their_train, their_test) in zip(ours, KFold(4, shuffle=True, random_state=3).split(X), strict=True):
        assert train.tolist() == their_train.tolist()
        assert test.tolist() == their_test.tolist()


def test_copies_give_no_further_evidence_for_a_leak():
    rng = np.random.default_rng(3)
    for y in (rng.normal(size=60), rng.choice(["a", "b"], 60)):
        table = make_table(pd.DataFrame(rng.normal(size=(60, 5))[FOUR], columns=list("abcde")), pd.Series(y[FOUR], name="y"))
        assert [notice.code for notice in suspicions(table)] == ["copies"]
    leak = make_table(pd.DataFrame({"a": X[FOUR, 0], "b": X[FOUR, 1]}), pd.Series(2 * X[FOUR, 0], name="y"))
    assert "leak" in [notice.code for notice in suspicions(leak)]
    few = pd.DataFrame({"a": RNG.choice(2, 200), "b": RNG.choice(2, 200)})  # equal rows are to be expected
    assert "leak" in [notice.code for notice in suspicions(make_table(few, few["a"].rename("y")))]


def test_copies_in_order_of_time_are_told(tmp_path):
    rows = pd.DataFrame(X[FOUR], columns=list("abc")).assign(day=np.arange(240), y=Y[FOUR].astype(int))
    rows.to_csv(tmp_path / "rows.csv", index=False)
    table = read_table(tmp_path / "rows.csv", "y", choices=Choices(time_split="day", drop=("day",)))
    (said,) = suspicions(table)
    assert said.sentence.startswith("180 rows are equal to others in all columns: later rows that are judged may be equal to")


def test_why_rows_are_copies_whatever_their_target():
    """Three measurements of each object, the score on new objects: only folds of whole objects are near it."""
    machine, found = make_pipeline(StandardScaler(), SVC(C=10.0)), []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        A = rng.normal(size=(600, 4))
        f = np.sin(2 * A[:, 0]) + A[:, 1] + 0.5 * rng.normal(size=600)
        rows = np.repeat(np.arange(80), 3)
        y = f[rows] + 0.5 * rng.normal(size=240) > 0
        by_target = 2 * rows + y
        folds = [cross_val_score(machine, A[rows], y, cv=KFold(5, shuffle=True, random_state=0)).mean()]
        for unit in (by_target, copies(A[rows])):
            folds.append(cross_val_score(machine, A[rows], y, cv=DistinctKFold(5, shuffle=True), groups=unit).mean())
        found.append([*folds, machine.fit(A[rows], y).score(A[80:], f[80:] + 0.5 * rng.normal(size=520) > 0)])
    random, by_target, by_columns, new = np.mean(found, axis=0)
    assert random - new > 0.05
    assert by_target - new < -0.03
    assert abs(by_columns - new) < 0.03


def test_distinct_rows():
    unit = np.array([0, 1, 0, 2, 2, 2])
    assert distinct_rows(unit, 100).tolist() == [0, 1, 3]
    assert with_copies(unit, np.array([3])).tolist() == [3, 4, 5]
