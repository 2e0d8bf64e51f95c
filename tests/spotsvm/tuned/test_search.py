"""Sweeps beyond the grid, further parameters, and the record of a fit."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import loguniform, uniform
from sklearn.datasets import load_diabetes, load_wine, make_moons
from sklearn.model_selection import KFold

from spotsvm import TunedSVC, TunedSVR, load_study
from spotsvm.errors import ArgumentError, DataWarning, StudyMismatchError
from spotsvm.reports.report import model_page
from spotsvm.tuned.fitted import fitted_model
from spotsvm.tuned.search import SearchedSweeps

X, Y = make_moons(90, noise=0.25, random_state=0)
X_NEW, Y_NEW = make_moons(300, noise=0.25, random_state=1)
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


def test_the_grid_alone_is_the_same_with_a_record_and_threads(tmp_path):
    grid = svc().fit(X, Y)
    assert same(grid, svc(path=tmp_path / "fit.db").fit(X, Y))
    assert same(grid, svc(budget=6).fit(X, Y))
    more = svc(budget=9, path=tmp_path / "fit.db").fit(X, Y)
    assert same(more, svc(budget=9, n_jobs=2).fit(X, Y))
    assert more.settings_[: len(grid.settings_)][["family", "C"]].equals(grid.settings_[["family", "C"]])
    study = load_study(tmp_path / "fit.db")
    assert study.n_finished == 9
    assert len(study.trials) == len(more.settings_)


def test_a_record_keeps_the_seed(tmp_path):
    first = svc(random_state=None, budget=4, path=tmp_path / "fit.db").fit(X, Y)
    second = svc(random_state=None, budget=4, path=tmp_path / "fit.db").fit(X, Y)
    assert first.seed_ == second.seed_
    assert same(first, second)


@pytest.mark.parametrize("random_state", [0, None])
def test_folds_without_a_seed_are_drawn_from_that_of_the_fit(random_state, tmp_path):
    options = {"cv": KFold(4, shuffle=True), "random_state": random_state, "budget": 3, "path": tmp_path / "fit.db"}
    first, second = (svc(**options).fit(X, Y) for _ in range(2))
    assert same(first, second)
    assert random_state is None or same(first, svc(**options | {"path": None}).fit(X, Y))


def test_what_holds_the_data_and_the_order_of_parameters_are_no_other_fit(tmp_path):
    space = {"epsilon": [0.01, 0.1], "scale__x1": loguniform(0.1, 10)}
    options = {"families": ["rbf"], "budget": 8, "random_state": 0, "path": tmp_path / "fit.db"}
    first = TunedSVR(space=space, **options).fit(XR[:60, :2], YR[:60])
    backwards = TunedSVR(space=dict(reversed(space.items())), **options)
    again = backwards.fit(np.asfortranarray(XR[:60, :2]), pd.Series(YR[:60], index=np.arange(60)[::-1]))
    assert load_study(tmp_path / "fit.db").n_finished == 8
    # the rows are summed in another order
    np.testing.assert_allclose(again.predict(XR[60:90, :2]), first.predict(XR[60:90, :2]), rtol=1e-3)


@pytest.mark.parametrize(
    ("parameters", "fit", "message"),
    [
        ({}, {"X": X[::-1]}, "belongs to other data; use the same data, or another file"),
        ({}, {"sample_weight": np.arange(1, 91)}, "belongs to other data"),
        ({"scoring": "neg_log_loss"}, {}, "another scoring: it has 'None', this one \"'neg_log_loss'\""),
        ({"class_weight": "balanced"}, {}, "another class_weight"),
        ({"cv": 4}, {}, "another cv: it has '5', this one '4'"),
        ({"random_state": 1}, {}, "another seed|another folds"),
        ({"space": {"gamma": (0.1, 1.0)}, "budget": 7}, {}, "gamma="),
    ],
)
def test_a_record_of_something_else_is_refused(tmp_path, parameters, fit, message):
    path = tmp_path / "fit.db"
    svc(budget=2, path=path).fit(X, Y)
    with pytest.raises(StudyMismatchError, match=message):
        svc(**{"budget": 2, "path": path, **parameters}).fit(**{"X": X, "y": Y, **fit})


def test_a_record_keeps_no_part_of_a_sweep_that_a_timeout_ended(tmp_path):
    parameters = {"budget": 3, "timeout": 1000.0}
    late = svc(**parameters | {"timeout": 1e-6}, path=tmp_path / "fit.db").fit(X, Y)
    assert len(late.settings_) == 1
    assert not late.complete_
    again, whole = svc(**parameters, path=tmp_path / "fit.db").fit(X, Y), svc(**parameters).fit(X, Y)
    pd.testing.assert_frame_equal(again.settings_, whole.settings_)


def test_a_search_tries_widths_that_the_grid_lacks():
    model = svc(budget=10).fit(X, Y)
    widths = model.settings_.groupby("family")["width"].nunique()
    assert widths.sum() == 10
    assert widths.min() >= 3
    assert model.score(X_NEW, Y_NEW) > 0.85
    assert len(svc(families=["linear"], budget=5).fit(X, Y).settings_["width"].unique()) == 1
    late = svc(budget=10, timeout=1e-6).fit(X, Y)
    assert not late.complete_
    one = svc(budget=8, average=False).fit(X, Y)
    assert len(one.members_) == 1


def test_a_column_without_a_part_in_the_target_is_scaled_down():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(120, 5)), columns=["signal", *(f"noise_{j}" for j in range(4))])
    y = np.sin(3 * rows["signal"])
    model = TunedSVR(families=["rbf"], space={"scale__noise_*": loguniform(0.01, 10)}, random_state=0, average=False).fit(rows, y)
    assert model.best_params_["scale__noise_*"] < 0.3
    assert list(model.settings_) == ["family", "width", "C", "scale__noise_*", "epsilon", "weight", "score"]
    assert set(model.settings_["scale__noise_*"][:10]) == {1.0}
    plain = TunedSVR(families=["rbf"], random_state=0, average=False).fit(rows, y)
    assert model.expected_score_.value > plain.expected_score_.value + 0.1
    assert np.isfinite(model.predict(rows)).all()


def test_class_weights_move_the_threshold():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(240) % 8 == 0, "rare", "usual")
    rows = rng.normal(size=(240, 2)) + 1.2 * (y == "rare")[:, None]
    plain = svc(families=["rbf"], scoring="balanced_accuracy").fit(rows, y)
    space = {"class_weight__rare": loguniform(0.5, 20)}
    model = svc(families=["rbf"], scoring="balanced_accuracy", space=space).fit(rows, y)
    assert model.expected_score_.value > plain.expected_score_.value + 0.05
    assert (model.predict(rows) == "rare").mean() > 1.5 * (plain.predict(rows) == "rare").mean()
    assert ((model.oof_decision_function_ > 0) == (model.average_oof_ > 0)).all()
    by_likelihood = svc(families=["rbf"], scoring="neg_log_loss", space=space, budget=6).fit(rows, y)
    assert by_likelihood.predict_proba(rows)[:, 0].mean() == pytest.approx(1 / 8, abs=0.03)


def test_sparse_rows_have_scales():
    rows = np.where(np.abs(X) < 0.3, 0.0, X)
    model = svc(families="auto", space={"scale__x0": loguniform(0.1, 10)}, budget=7)
    dense = svc(families=["rbf", "linear"], space={"scale__x0": loguniform(0.1, 10)}, budget=7).fit(rows, Y)
    found = model.fit(sparse.csr_matrix(rows), Y)
    assert (found.predict(rows) == dense.predict(rows)).mean() > 0.95


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"space": {"scal__x1": (0.1, 1.0)}}, r"space has 'scal__x1', .* or scale__<column>; did you mean 'scale__x1'"),
        ({"space": {"scale__x7": (0.1, 1.0)}}, r"space has 'scale__x7'"),
        ({"space": {"C": (0.1, 1.0)}}, r"space has 'C', which is no parameter here; use gamma, class_weight__0"),
        ({"space": {"epsilon": (0.1, 1.0)}}, r"space has 'epsilon'"),
        ({"space": {"relevance": (0.1, 1.0)}}, r"space has 'relevance'"),
        ({"space": {"class_weight__0": uniform(-1, 2)}}, r"space\['class_weight__0'\] has the value -1.0; use positive, finite"),
        ({"space": [{"gamma": (0.1, 1.0)}]}, r"space=\[.*\]; use a dictionary of names and distributions, or None"),
        ({"space": {"gamma": (0.1, 1.0)}, "budget": 6}, r"budget=6 is the grid alone, .* use more than 6, or None"),
        ({"path": 3}, "path=3 is not the path of a file"),
    ],
)
def test_arguments(parameters, message):
    with pytest.raises(ArgumentError, match=message):
        svc(**parameters).fit(X, Y)


def test_a_record_of_a_part_of_the_grid_goes_on_with_the_same_budget_alone(tmp_path):
    X, y = load_wine(return_X_y=True)
    given = {"families": ["rbf", "laplacian"], "random_state": 0, "path": tmp_path / "a.db"}
    TunedSVC(budget=3, **given).fit(X, y)
    with pytest.raises(StudyMismatchError, match="budget"):
        TunedSVC(budget=2, **given).fit(X, y)
    whole = given | {"path": tmp_path / "b.db"}
    TunedSVC(budget=6, **whole).fit(X, y)
    assert len(TunedSVC(budget=7, **whole).fit(X, y).settings_.groupby(["family", "width"])) == 7
    assert len(TunedSVC(budget=6, **whole).fit(X, y).settings_.groupby(["family", "width"])) == 6


X3, Y3 = load_wine(return_X_y=True)


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
