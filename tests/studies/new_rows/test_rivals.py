"""Rivals get the table in the form that their documentation asks for; the libraries are replaced by stand-ins that note it."""

import gc
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from spotsvm.studies.new_rows import rivals
from spotsvm.studies.new_rows.rivals import CATBOOST, LIGHTGBM, RIVALS, XRFM


def table(n=30):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.normal(5, 3, n), "level": rng.choice(["u", "v"], n), "day": pd.date_range("2024-01-01", periods=n)}
    )
    X.loc[2, ["a", "level"]] = [np.nan, None]
    return X


def stand_in(seen):
    """Return a class that notes what it is made and fitted with, and predicts the first class, or the mean."""

    class StandIn:
        def __init__(self, **settings):
            seen["settings"] = settings

        def fit(self, X, y, *more, **options):
            seen.update(X=X, y=y, more=more, options=options)
            return self

        def predict(self, X):
            y = seen["y"]
            return np.full((len(X), 1), y.mean() if y.dtype.kind == "f" else y.min())  # CatBoost's classes are a column

        def predict_proba(self, X):
            return np.tile([0.75, 0.25], (len(X), 1))

    return StandIn


def fitted(monkeypatch, name, module, kind, regression=False, **others):
    seen = {}
    for other, contents in {module: SimpleNamespace(**{kind: stand_in(seen)}), **others}.items():
        monkeypatch.setitem(sys.modules, other, contents)
    X = table()
    y = 1e3 + np.arange(30.0) if regression else np.arange(30) % 2
    model = clone(RIVALS[name].make(regression, 7)).fit(X, y)
    assert model.predict(X).shape == (30,)
    if not regression:
        assert model.predict_proba(X).shape == (30, 2)
        assert model.classes_.tolist() == [0, 1]
    return seen


def test_catboost_gets_texts_by_name_and_gaps_of_numbers(monkeypatch):
    seen = fitted(monkeypatch, CATBOOST, "catboost", "CatBoostClassifier")
    assert seen["settings"]["cat_features"] == ["x7"]
    assert (seen["settings"]["random_seed"], seen["settings"]["thread_count"]) == (7, 1)
    assert seen["X"]["x7"].tolist() == table()["level"].fillna("missing").tolist()
    assert seen["X"]["x0"].isna().sum() == 1


def test_lightgbm_gets_categories_by_their_type_and_the_target_in_its_unit(monkeypatch):
    seen = fitted(monkeypatch, LIGHTGBM, "lightgbm", "LGBMRegressor", regression=True)
    assert isinstance(seen["X"]["x7"].dtype, pd.CategoricalDtype)
    assert seen["X"]["x7"].isna().sum() == seen["X"]["x0"].isna().sum() == 1
    assert seen["y"].tolist() == (1e3 + np.arange(30.0)).tolist()
    assert (seen["settings"]["random_state"], seen["settings"]["n_jobs"]) == (7, 1)


def test_realmlp_gets_no_gaps(monkeypatch):
    seen = fitted(monkeypatch, "RealMLP", "pytabkit", "RealMLP_TD_Classifier")
    assert not seen["X"].isna().any(axis=None)
    assert seen["options"] == {"cat_col_names": ["x7"]}
    assert seen["settings"] == {"device": "cpu", "n_threads": 1, "random_state": 7}


@pytest.mark.parametrize(("name", "module", "kind"), [("TabPFN", "tabpfn", "TabPFN{}"), ("TabICL", "tabicl", "TabICL{}")])
@pytest.mark.parametrize("regression", [False, True])
def test_models_with_weights_get_typed_columns(monkeypatch, name, module, kind, regression):
    seen = fitted(monkeypatch, name, module, kind.format("Regressor" if regression else "Classifier"), regression)
    assert isinstance(seen["X"]["x7"].dtype, pd.CategoricalDtype)
    assert seen["settings"]["random_state"] == 7
    assert seen["settings"].get("categorical_features_indices", [7]) == [7]


def test_autogluon_gets_the_raw_table_in_a_folder_of_its_own(monkeypatch):
    seen = {}

    class Predictor(stand_in(seen)):
        def fit(self, data, **options):
            return super().fit(data, data["the target"], **options)

        def predict_proba(self, X):
            return pd.DataFrame({1: np.full(len(X), 0.25), 0: 0.75})  # in another order

    monkeypatch.setitem(sys.modules, "autogluon", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "autogluon.tabular", SimpleNamespace(TabularPredictor=Predictor))
    X, y = table(), np.arange(30) % 2
    model = RIVALS["AutoGluon, medium"].make(False, 7).fit(X, y)
    pd.testing.assert_frame_equal(seen["X"].drop(columns="the target"), X)
    assert seen["options"]["presets"] == "medium_quality"
    assert seen["settings"]["problem_type"] == "binary"
    np.testing.assert_array_equal(model.predict_proba(X), np.tile([0.75, 0.25], (30, 1)))
    folder = Path(seen["settings"]["path"])
    assert folder.is_dir()
    del model
    gc.collect()
    assert not folder.exists()


@pytest.mark.parametrize("regression", [False, True])
def test_xrfm_is_bagged_with_levels_named_as_such(monkeypatch, regression):
    made = []

    class StandIn:
        def __init__(self, **settings):
            self.settings = settings
            made.append(self)

        def fit(self, X, y, X_held_out, y_held_out):
            self.given = X, y, X_held_out, y_held_out

        def predict(self, X):
            return np.full((len(X), 1), float(len(made)))

        def predict_proba(self, X):
            return np.tile([0.4, 0.6], (len(X), 1))

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(arange=np.arange, eye=np.eye))
    monkeypatch.setitem(sys.modules, "xrfm", SimpleNamespace(xRFM=StandIn))
    X, y = table(), 1e3 + np.arange(30.0) if regression else np.arange(30) % 2 + 5
    model = RIVALS[XRFM].make(regression, 7).fit(X, y)
    assert len(made) == 5
    for one in made:
        columns, targets, held_out, _ = one.given
        assert (len(columns), len(held_out)) == (24, 6)
        info = one.settings["categorical_info"]
        (levels,) = info["categorical_indices"]
        assert levels.tolist() == list(range(columns.shape[1] - len(levels), columns.shape[1]))
        assert info["categorical_vectors"][0].shape == (len(levels), len(levels))
        np.testing.assert_array_equal(columns[:, levels].sum(axis=1), 1)
        numbers = columns[:, info["numerical_indices"]]
        np.testing.assert_allclose(numbers.mean(axis=0), 0, atol=1e-4)
        if regression:  # standardised by the rows that are trained on
            assert (targets.mean(), targets.std()) == (pytest.approx(0, abs=1e-5), pytest.approx(1, abs=1e-5))
        else:
            assert set(targets) == {0, 1}
    if regression:
        assert (model.predict(X) > 1e3).all()  # back in the unit of the target
    else:
        assert set(model.predict(X)) == {6}
        np.testing.assert_allclose(model.predict_proba(X), np.tile([0.4, 0.6], (30, 1)))


def test_what_is_missing(monkeypatch):
    monkeypatch.setattr(rivals, "find_spec", lambda package: None if package in ("xrfm", "torch") else object())
    assert RIVALS[XRFM].lacks() == "xrfm and torch are not installed"
    assert RIVALS["RealMLP"].lacks() == "torch is not installed"
    assert RIVALS[CATBOOST].lacks() == ""
