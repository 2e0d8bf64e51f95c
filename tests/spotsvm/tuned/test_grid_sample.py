"""The grid has a sample of many rows, its members have all."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.model_selection import StratifiedKFold

from spotsvm import TunedSVC, TunedSVR
from spotsvm.tuned import base

X2, Y2 = make_moons(120, noise=0.25, random_state=0)
X2_NEW, Y2_NEW = make_moons(2000, noise=0.25, random_state=1)


def quick(**parameters):
    return TunedSVC(**{"budget": 2, "random_state": 0, **parameters})


def test_the_grid_has_a_sample_and_the_members_have_all_rows(monkeypatch):
    y = Y2 * (np.arange(120) % 9 == 0)
    model = quick(rows=60).fit(X2, y)
    judged = np.isfinite(model.oof_predict_proba_[:, 0])
    assert judged.sum() == 60
    assert y[judged].mean() == pytest.approx(y.mean(), abs=0.01)
    assert model.n_rows_ == 120
    groups = np.arange(120) // 10
    whole = np.isfinite(quick(rows=55).fit(X2, Y2, groups=groups).oof_predict_proba_[:, 0]).reshape(12, 10)
    assert (whole.all(axis=1) == whole.any(axis=1)).all()
    assert whole.sum() == 60
    splits = list(StratifiedKFold(3).split(X2, Y2))
    assert np.isfinite(quick(rows=60, cv=splits).fit(X2, Y2).predict_proba(X2)).all()
    for name, value in {"_MANY_ROWS": 90, "_GRID_ROWS": 70, "_MOST_ROWS": 100}.items():
        monkeypatch.setattr(base, name, value)
    model = quick(budget=4).fit(X2, Y2)
    assert (np.isfinite(model.oof_predict_proba_[:, 0]).sum(), model.n_rows_) == (70, 100)
    assert len(model.members_) <= 5
    assert model.members_["weight"].sum() == pytest.approx(1)
    assert model.score(X2_NEW, Y2_NEW) > 0.85
    regression = TunedSVR(budget=1, random_state=0).fit(X2, X2[:, 0])
    assert regression.n_rows_ == 100
