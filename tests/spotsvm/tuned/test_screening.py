"""A grid that some of the rows screen before all of them score what is promising."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1
from sklearn.model_selection import GroupKFold, PredefinedSplit

from spotsvm import TunedSVC, TunedSVR
from spotsvm.tuned import base, scored_sweeps
from spotsvm.tuned.screening import promising
from spotsvm.tuned.sweeps import Setting, Sweep, sweep_of

X, Y = make_classification(260, 6, n_informative=4, flip_y=0.1, random_state=0)
FAMILIES = ["squared_rbf", "squared_laplacian", "rbf"]


@pytest.fixture(autouse=True)
def _few_rows(monkeypatch):
    monkeypatch.setattr(base, "SCREENED_FROM", 150)
    monkeypatch.setattr(scored_sweeps, "SCREENING_ROWS", 100)


def model(kind=TunedSVC, **given):
    return kind(**{"families": FAMILIES, "random_state": 0, **given})


def sweeps(fitted):
    return set(map(tuple, fitted.settings_[["family", "width"]].to_numpy().tolist()))


def test_what_is_promising():
    costs = [1.0, 2.0, 4.0, 8.0]
    settings = [Setting(family, g, C=C) for family, g in (("rbf", 0.0), ("rbf", 1.0), ("linear", 0.0)) for C in costs]
    means = np.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.1, 0.1, 0.2, 0.0, 0.0, -0.1, -0.2])
    weights = np.zeros(12)
    weights[[0, 2]] = 0.5
    found = promising(settings, means, weights, lambda sweep: costs)
    assert found == {Sweep("rbf", 0.0): [1.0, 4.0, 8.0], Sweep("linear", 0.0): [1.0, 2.0]}
    assert sweep_of(settings[4]) not in found


def test_the_screened_grid_is_smaller_as_good_and_told(monkeypatch, tmp_path):
    fitted = model().fit(X, Y)
    told = f"promising among the {3 * len(FAMILIES)} of a grid, which were compared by the same folds on 100 of the rows"
    assert told in " ".join(fitted.methods_section().paragraphs)
    assert fitted.complete_
    again = model(n_jobs=2, path=tmp_path / "record.db").fit(X, Y)
    resumed = model(path=tmp_path / "record.db").fit(X, Y)
    for other in (again, resumed):
        assert other.settings_.equals(fitted.settings_)
    monkeypatch.setattr(base, "SCREENED_FROM", 1000)
    whole = model().fit(X, Y)
    assert sweeps(fitted) < sweeps(whole)
    assert len(fitted.settings_) < 0.7 * len(whole.settings_)
    assert fitted.expected_score_.value == pytest.approx(whole.expected_score_.value, abs=0.015)
    assert "promising" not in " ".join(whole.methods_section().paragraphs)


def test_regression_groups_weights_and_folds_of_the_user():
    X, y = make_friedman1(240, random_state=0)
    fitted = model(TunedSVR).fit(X, np.exp(y / 5), sample_weight=np.arange(240) + 1.0)
    assert fitted.score(X, np.exp(y / 5)) > 0.8
    groups = np.arange(240) // 4
    for cv in (5, GroupKFold(4)):
        grouped = model(TunedSVR, cv=cv).fit(X, y, groups=groups)
        assert np.isfinite(grouped.average_oof_).all()
        assert f"folds on {grouped.fit_facts_.screening[1]} of the rows" in " ".join(grouped.methods_section().paragraphs)
    test = np.where(np.arange(240) < 20, 0, -1)  # one fold, of which a sample may have few rows to test on
    assert np.isfinite(model(TunedSVR, cv=PredefinedSplit(test)).fit(X, y).expected_score_.value)


def test_a_screening_that_a_timeout_ends_is_told(monkeypatch):
    """All sweeps that were compared are scored on all rows in time, but others were never compared."""
    monkeypatch.setattr(base, "_SCREENING_SHARE", 0.0)
    fitted = model(timeout=600.0).fit(X, Y)
    assert not fitted.complete_
    assert fitted.fit_facts_.screening[0] == 1
    assert "A limit of time ended the fit before all configurations were scored or fitted." in str(fitted.methods_section())


def test_a_timeout_leaves_a_model():
    fitted = model(timeout=1e-6).fit(X, Y)
    assert not fitted.complete_
    assert len(fitted.settings_) == 1
