"""Copies: rows with equal columns never stand on both sides of a split, and many copies of one row judge nothing."""

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, TunedSVC, TunedSVR
from spotsvm.common.copies import DistinctKFold, copies, distinct_rows, equal_rows, frequent, joined, with_copies
from spotsvm.errors import DataError, DataWarning
from spotsvm.tables import Choices, held_out, make_table, named_pipeline, read_table
from spotsvm.tuning.tables.suspicions import suspicions

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + X[:, 1] > 0
FOUR = np.tile(np.arange(60), 4)  # each row four times
MANY = RNG.permutation(np.r_[np.arange(60), np.full(40, 7)])  # one row 41 times
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


@pytest.mark.parametrize("kind", [TunedSVC, TunedSVR])
@pytest.mark.parametrize("form", ["array", "sparse", "frame"])
def test_a_fit_keeps_copies_of_noise_apart(kind, form, tmp_path):
    """In random folds the models would know the target of each row: noise would be predicted."""
    y = np.random.default_rng(2).normal(size=60)[FOUR]
    model = kind(families=["rbf"], budget=3, random_state=0).fit(FORMS[form](X[FOUR]), y > 0 if kind is TunedSVC else y)
    assert model.expected_score_.value < (0.75 if kind is TunedSVC else 0.2)
    assert model.verdict_.interval[0] < model.verdict_.interval[1]
    low, high = model.expected_score_.interval
    assert high - low > 0.15  # 60 rows, and not 240
    assert "240 training rows out of fold (60 of them different)" in model.report(tmp_path / "page.html").read_text()
    assert "on 240 rows (60 of them different)" in str(model.methods_section().paragraphs)


def test_many_copies_of_a_row_stay_in_training_and_are_told():
    with pytest.warns(DataWarning, match=r"^row \d+ is there 41 times: these 41 rows \(41 %\) stay in training") as told:
        model = TunedSVC(families=["rbf"], budget=2, random_state=0).fit(X[MANY], Y[MANY])
    (notice,) = told[0].message.notices
    assert (notice.code, notice.share) == ("copies", 0.41)
    judged = np.isfinite(model.average_oof_)
    assert judged.tolist() == (MANY != 7).tolist()
    row = int(notice.sentence.split()[1])
    assert MANY[row] == 7


def test_groups_and_weights_and_given_folds():
    y, quick = Y[FOUR], {"families": ["rbf"], "budget": 1, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TunedSVC(**quick).fit(X[FOUR], y, groups=2 * FOUR + (np.arange(240) < 120))  # joined
        TunedSVC(**quick, cv=GroupKFold(3)).fit(X[FOUR], y, groups=FOUR)
        TunedSVC(**quick, cv=KFold(3, shuffle=True)).fit(X[FOUR], y, sample_weight=np.arange(240) < 60)
    for cv in (KFold(3, shuffle=True, random_state=0), TimeSeriesSplit(3)):
        with pytest.warns(DataWarning, match=r"% of the test rows of cv are equal to training rows of the same fold"):
            TunedSVC(**quick, cv=cv).fit(X[FOUR], y)


@pytest.mark.parametrize("form", ["array", "sparse", "frame", "lists"])
def test_a_search_tells_what_its_folds_hide_and_the_remedy_works(form):
    search = SpotSearchCV(SVC(), {"C": [0.1, 1.0, 10.0]}, n_iter=3, search="random", cv=4, random_state=0)
    table = FORMS[form](X[FOUR])
    with pytest.warns(DataWarning, match=r"^\d+ % of the test rows of cv .* with groups=pd\.DataFrame") as told:
        search.fit(table, Y[FOUR])
    (warning,) = told
    code = warning.message.notices[0].sentence.partition("groups=")[2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        groups = eval(code, {"pd": pd, "X": table})
        search.set_params(cv=GroupKFold(5)).fit(table, Y[FOUR], groups=groups)
        search.set_params(cv=4).fit(X, Y)
        few = np.r_[np.arange(60), 3]  # one copy matters little
        search.fit(X[few], Y[few])


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_held_out_rows_and_folds_of_the_command(task):
    y = Y.astype(int) if task == "classification" else X[:, 0] + RNG.normal(size=60)
    for rows in (FOUR, MANY):
        table = make_table(pd.DataFrame(X[rows], columns=list("abc")), pd.Series(y[rows], name="y"), task)
        train, test = held_out(table, 3, 0)
        assert not set(train.groups) & set(test.groups)
        assert len(train.y) + len(test.y) == len(rows)
        assert len(test.y) == pytest.approx(0.25 * (len(rows) - (rows is MANY) * 41), abs=4)
        splitter = named_pipeline("svm", train, cv=3).splitter
        tested = [set(train.groups.iloc[test]) for _, test in splitter.split(train.X, train.y, train.groups)]
        assert not tested[0] & tested[1]
        assert set.union(*tested) == set(train.groups) - ({table.groups.iloc[list(rows).index(7)]} if rows is MANY else set())


def test_a_class_of_copies_alone_cannot_be_held_out():
    y = pd.Series(np.where(MANY == 7, "x", np.where(X[MANY, 0] > 0, "a", "b")), name="y")
    table = make_table(pd.DataFrame(X[MANY], columns=list("abc")), y)
    with pytest.raises(DataError, match="class 'x' has fewer than 2 different rows that may be held out; leave its rows out by"):
        held_out(table, 3, 0)


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


def test_distinct_rows():
    unit = np.array([0, 1, 0, 2, 2, 2])
    assert distinct_rows(unit, 100).tolist() == [0, 1, 3]
    assert with_copies(unit, np.array([3])).tolist() == [3, 4, 5]
