"""A killed fit goes on where it was."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, uniform
from sklearn.datasets import load_diabetes, load_wine, make_moons

from spotsvm import TunedSVC, TunedSVR
from spotsvm.errors import DataWarning
from spotsvm.reports.report import model_page
from spotsvm.tuned.fitted import fitted_model
from spotsvm.tuned.search import SearchedSweeps

X, Y = make_moons(90, noise=0.25, random_state=0)
X_NEW, Y_NEW = make_moons(300, noise=0.25, random_state=1)
X3, Y3 = load_wine(return_X_y=True)
XR, YR = load_diabetes(return_X_y=True)


def svc(**parameters):
    return TunedSVC(**{"families": ["rbf", "laplacian"], "random_state": 0, **parameters})


def same(one, other):
    rows = X_NEW[:, : one.n_features_in_]
    outputs = [m.predict_proba(rows) if hasattr(m, "classes_") else m.predict(rows) for m in (one, other)]
    return (
        np.array_equal(*outputs)
        and one.expected_score_.interval == other.expected_score_.interval
        and one.settings_.equals(other.settings_)
        and np.array_equal(one.average_oof_, other.average_oof_)
    )


class Killed(BaseException):
    pass


def kill_after(monkeypatch, n):
    """End the process, as it were, when the n-th sweep is scored and not yet told."""
    told = []

    def tell(self, scored, before=SearchedSweeps.tell):
        if len(told) == n:
            raise Killed
        told.append(scored)
        before(self, scored)

    monkeypatch.setattr(SearchedSweeps, "tell", tell)
    return told


@pytest.mark.parametrize("after", [0, 3, 8])
def test_a_killed_fit_goes_on_where_it_was(tmp_path, monkeypatch, after):
    path = tmp_path / "fit.db"
    whole = svc(budget=10).fit(X, Y)
    with monkeypatch.context() as patch:
        kill_after(patch, after)
        with pytest.raises(Killed):
            svc(budget=10, path=path).fit(X, Y)
    with monkeypatch.context() as patch:
        told = kill_after(patch, 99)
        resumed = svc(budget=10, path=path).fit(X, Y)
        assert len(told) == 10 - after
        again = svc(budget=10, path=path).fit(X, Y)
        assert len(told) == 10 - after
    assert same(whole, resumed)
    assert same(whole, again)


def test_regressions_and_spaces_go_on_too(tmp_path, monkeypatch):
    space = {"scale__x1": loguniform(0.1, 10), "epsilon": [0.01, 0.1]}
    model = TunedSVR(families=["rbf", "linear"], space=space, budget=9, random_state=0, path=tmp_path / "fit.db")
    with monkeypatch.context() as patch:
        kill_after(patch, 7)
        with pytest.raises(Killed):
            model.fit(XR[:80, :2], YR[:80])
    resumed = model.fit(XR[:80, :2], YR[:80])
    assert same(TunedSVR(families=["rbf", "linear"], space=space, budget=9, random_state=0).fit(XR[:80, :2], YR[:80]), resumed)


def test_relevance_and_preprocessing_of_a_table():
    frame = pd.DataFrame({"a": X3[:, 0], "kind": np.where(X3[:, 6] > 2, "many", "few"), "b": X3[:, 9]})
    frame["c"] = pd.Categorical(np.round(X3[:, 10] * 4).astype(int).astype(str))
    space = {"relevance": uniform(0, 2), "scale__c": [0.5, 1, 2], "gamma": loguniform(0.01, 1)}
    model = svc(families=["rbf", "relevance_rbf"], space=space, budget=9).fit(frame[::2], Y3[::2])
    relevance = model.settings_.groupby("family")["relevance"]
    assert relevance.count()["rbf"] == 0
    assert relevance.nunique()["relevance_rbf"] > 1
    assert model.settings_["gamma"].between(0.01, 1).all()
    with pytest.warns(DataWarning, match="column 'c' has a level unknown to the training rows in 1 of 89 rows"):
        assert model.score(frame[1::2], Y3[1::2]) > 0.85
    page = model_page(fitted_model(model)).html()
    assert "loguniform(0.01, 1" in page
