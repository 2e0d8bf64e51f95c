import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from spotsvm.cross_validation.machines import NotSharedError
from spotsvm.studies.equal_time.estimates import tables
from spotsvm.studies.equal_time.estimates.tables import Judge, at, drawn, turned
from spotsvm.studies.equal_time.sets import Rows


def rows_of(classes, n=90):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((n, 3))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.4 * rng.standard_normal(n), np.linspace(0, 1, classes - 1))
    return Rows("noise", "noise", X, y)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_table_has_scikit_learns_scores(classes, monkeypatch):
    small = {"LOG_C": np.array([-1, 4]), "LOG_GAMMA": np.array([-6, -2, 1]), "DRAWS": 3, "PARTITIONS": 6}
    for name, value in small.items():
        monkeypatch.setattr(tables, name, value)
    rows = rows_of(classes)
    table = tables.measure(rows, 1)
    assert table.errors.shape == table.losses.shape == (1 + 6 + 2 * 3, 6)
    X, y, new_X, new_y = rows.split(1, regression=False)
    for row, params in ((0, {}), (at(1, 0)[0], {"C": 0.5, "gamma": 0.25}), (at(2, 1)[0], {"C": 16.0, "gamma": 2.0})):
        machine = SVC(**params)
        for k in (0, 4):
            errors = 100 * (1 - cross_val_score(machine, X, y, cv=StratifiedKFold(5, shuffle=True, random_state=1000 + k)))
            assert table.errors[row, k] == pytest.approx(errors.mean())
            assert table.deviations[row, k] == pytest.approx(errors.std(ddof=1) / 5**0.5)
        assert table.new[row] == pytest.approx(100 * (1 - machine.fit(X, y).score(new_X, new_y)))
    assert (table.units[:7] > 0).all()
    assert (table.losses[:7] > 0).all()
    for search, first in ((0, 0), (1, 3)):  # each search has draws of its own, on four partitions from its first
        known = np.isfinite(table.errors[drawn(search, 3)])
        assert (known == np.isin(np.arange(6), (first + np.arange(4)) % 6)).all()


def test_places_in_the_table():
    assert at([0, 2], [0, 1, 10]).tolist() == [1, 2, 11, 23, 24, 33]
    assert drawn(1, 2).tolist() == [1 + 11 * 19 + 50, 1 + 11 * 19 + 51]
    assert turned(1).tolist() == [4, 5, 6, 7, 0, 1, 2, 3]


def test_the_same_without_shared_work(monkeypatch):
    rows = rows_of(3)
    judge = Judge(rows.X, rows.y, list(StratifiedKFold(3, shuffle=True, random_state=0).split(rows.X, rows.y)))
    shared = judge.judge({"C": 2.0, "gamma": 0.3})

    def refused(params):
        raise NotSharedError("no")

    monkeypatch.setattr(judge._folds, "answers", refused)
    wrong, margins = judge.judge({"C": 2.0, "gamma": 0.3})
    assert (np.concatenate(wrong) == np.concatenate(shared[0])).all()
    assert (np.concatenate(margins) < 0).mean() == pytest.approx(np.concatenate(wrong).mean(), abs=0.05)
    assert np.concatenate(margins) == pytest.approx(np.concatenate(shared[1]), abs=5e-3)
