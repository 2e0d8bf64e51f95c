"""The default model on tables with categories and gaps: the same in the grid, on many rows, as an estimator and in a search."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm import TunedSVC, TunedSVR
from spotsvm.tables import make_table, named_pipeline
from spotsvm.tuned import base, training_rows

KINDS = pytest.mark.parametrize("kind", [TunedSVC, TunedSVR])


def mixed(kind, n=120):
    """A table in which a rare level of variance 1 would be far from all others."""
    rng = np.random.default_rng(0)
    town = rng.choice([f"town {k}" for k in range(9)], n, p=[0.3, 0.3, *[0.4 / 7] * 7])
    size = rng.normal(50, 20, n)
    z = (size - 50) / 20 + 0.7 * (town == "town 0") + 0.3 * rng.normal(size=n)
    table = pd.DataFrame({"town": town, "size": size, "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))})
    return table, pd.Series(np.where(z > 0.2, "yes", "no") if kind is TunedSVC else 100 * z, name="y")


def answers(estimator, table):
    return estimator.decision_function(table) if hasattr(estimator, "decision_function") else estimator.predict(table)


def in_units(model):
    """The answers of the default out of fold."""
    rows = model.out_of_fold_.judged_rows
    return rows.location + rows.scale * model.out_of_fold_.default.values[0, :, 0].astype(float)


def test_numbers_are_standardised_and_levels_are_not():
    table, y = mixed(TunedSVC)
    table = table[["town", "size"]]
    columns = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["town"]))
    plain = make_pipeline(columns, SVC()).fit(table, y)
    assert answers(TunedSVC().default_estimator().fit(table, y), table) == pytest.approx(answers(plain, table), abs=1e-6)
    table, y = mixed(TunedSVR)
    table = table[["town", "size"]]
    plain = make_pipeline(columns, SVR()).fit(table, (y - y.mean()) / y.std(ddof=0))
    found = TunedSVR().default_estimator().fit(table, y).predict(table)
    assert found == pytest.approx(y.mean() + y.std(ddof=0) * plain.predict(table), abs=1e-3)


@pytest.mark.parametrize(("kind", "far"), [(TunedSVC, False), (TunedSVR, False), (TunedSVR, True)])
@pytest.mark.filterwarnings("ignore:1 target is far")
def test_out_of_fold_it_is_the_estimator_on_each_fold(kind, far):
    table, y = mixed(kind)
    if far:
        y[7] = 1e6  # does not decide the scale of the target
    splits = list(KFold(3).split(table))
    model = kind(cv=splits, budget=1, random_state=0).fit(table, y)
    found = in_units(model)
    for train, test in splits:
        estimator = model.default_estimator().fit(table.iloc[train], y.iloc[train])
        theirs = answers(estimator, table.iloc[test])
        assert found[test] == pytest.approx(theirs, abs=0.03 * theirs.std())


@KINDS
def test_on_many_rows_it_is_the_estimator_on_the_rows_fitted(kind, monkeypatch):
    for name, value in {"_MANY_ROWS": 100, "_HELD_FROM": 120, "_FIRST_ROWS": 60, "_GRID_ROWS": 60, "_HELD_SHARE": 0.3}.items():
        monkeypatch.setattr(training_rows, name, value)
    monkeypatch.setattr(base, "_MOST_ROWS", 400)
    table, y = mixed(kind, 300)
    model = kind(budget=1, random_state=0).fit(table, y)
    held = np.isfinite(model.average_oof_)
    assert held.sum() == 90
    estimator = model.default_estimator().fit(table[~held], y[~held])
    theirs = answers(estimator, table[held])
    assert in_units(model) == pytest.approx(theirs, abs=0.03 * theirs.std())


@KINDS
def test_sparse_rows_have_the_default_of_dense_ones(kind):
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((90, 4)) < 0.6, 0.0, rng.normal(2.0, 1.0, (90, 4)))
    y = rows[:, 0] + 0.3 * rng.normal(size=90)
    y = np.where(y > 0.5, "yes", "no") if kind is TunedSVC else y
    dense, sparse = kind(budget=1, random_state=0).fit(rows, y), kind(budget=1, random_state=0).fit(csr_matrix(rows), y)
    assert sparse.default_score_.value == pytest.approx(dense.default_score_.value, abs=0.02)
    model = sparse.default_estimator().fit(csr_matrix(rows), y)
    assert answers(model, csr_matrix(rows)) == pytest.approx(answers(dense.default_estimator().fit(rows, y), rows), abs=0.01)
    dense.add_held_out(rows, y, dense.default_estimator().fit(rows, y))
    sparse.add_held_out(csr_matrix(rows), y, model)
    assert sparse.default_score_.held_out == pytest.approx(dense.default_score_.held_out, abs=0.02)


@KINDS
def test_the_command_searches_around_the_same_model(kind):
    table, y = mixed(kind)
    searched = named_pipeline("svm", make_table(table, y)).estimator.fit(table, y)
    assert answers(searched, table) == pytest.approx(answers(kind().default_estimator().fit(table, y), table), abs=1e-9)
