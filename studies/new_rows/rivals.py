"""Learners of other libraries in the study `new_rows`: defaults, and the table in the form that the documentation asks for."""

from __future__ import annotations

import logging
import shutil
import tempfile
import weakref
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, StratifiedKFold

from spotsvm.studies.new_rows.frames import Typed, standard_numbers_first

_FOLDS = 5


class Rival(NamedTuple):
    """A learner of another library: `make` takes whether it is regression, and a seed, and returns an unfitted estimator."""

    make: Callable[[bool, int], Any]
    packages: tuple[str, ...]

    def lacks(self) -> str:
        """Return which packages are missing, or ""."""
        missing = [package for package in self.packages if find_spec(package) is None]
        return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed" if missing else ""


class Behind(BaseEstimator):
    """A model of another library behind a `Typed` table.

    `fit_model` takes table, targets, the names of the columns of categories, whether it is regression, and a seed, and returns a
    fitted model.
    """

    def __init__(self, form: Typed, fit_model: Callable[..., Any], regression: bool, seed: int):
        self.form = form
        self.fit_model = fit_model
        self.regression = regression
        self.seed = seed

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Self:
        """Fit form and model."""
        self.form_ = clone(self.form).fit(X)
        self.model_ = self.fit_model(self.form_.transform(X), y, self.form_.categories_, self.regression, self.seed)
        self.classes_ = None if self.regression else np.unique(y)
        return self

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the predictions of the model."""
        return np.asarray(self.model_.predict(self.form_.transform(X))).reshape(len(X))

    def predict_proba(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the probabilities of the model, whose classes are in order."""
        return np.asarray(self.model_.predict_proba(self.form_.transform(X)))


def _kind(module: str, regression: bool, name: str) -> Any:
    return getattr(import_module(module), name.format("Regressor" if regression else "Classifier"))


def _catboost(X: pd.DataFrame, y: NDArray[Any], categories: list[str], regression: bool, seed: int) -> Any:
    settings = {"verbose": False, "allow_writing_files": False, "thread_count": 1, "random_seed": seed}
    return _kind("catboost", regression, "CatBoost{}")(cat_features=categories, **settings).fit(X, y)


def _lightgbm(X: pd.DataFrame, y: NDArray[Any], categories: list[str], regression: bool, seed: int) -> Any:
    return _kind("lightgbm", regression, "LGBM{}")(random_state=seed, n_jobs=1, verbose=-1).fit(X, y)


def _realmlp(X: pd.DataFrame, y: NDArray[Any], categories: list[str], regression: bool, seed: int) -> Any:
    settings = {"device": "cpu", "n_threads": 1, "random_state": seed}
    for talker in ("pytorch_lightning", "lightning.pytorch"):  # they say what hardware there is, at each fit
        logging.getLogger(talker).setLevel(logging.ERROR)
    return _kind("pytabkit", regression, "RealMLP_TD_{}")(**settings).fit(X, y, cat_col_names=categories)


def _tabpfn(X: pd.DataFrame, y: NDArray[Any], categories: list[str], regression: bool, seed: int) -> Any:
    places = [list(X.columns).index(name) for name in categories]
    return _kind("tabpfn", regression, "TabPFN{}")(categorical_features_indices=places, device="cpu", random_state=seed).fit(X, y)


def _tabicl(X: pd.DataFrame, y: NDArray[Any], categories: list[str], regression: bool, seed: int) -> Any:
    return _kind("tabicl", regression, "TabICL{}")(device="cpu", n_jobs=1, random_state=seed).fit(X, y)


class BaggedXRFM(BaseEstimator):
    """The mean of five xRFMs: each is fitted to four folds, and its settings are tuned on the fifth.

    Numbers and targets of regression are standardised, and levels are 0/1 columns, which `categorical_info` names.
    """

    def __init__(self, regression: bool, seed: int):
        self.regression = regression
        self.seed = seed

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Self:
        """Fit the five models."""
        folds = (KFold if self.regression else StratifiedKFold)(_FOLDS, shuffle=True, random_state=self.seed)
        self.classes_ = None if self.regression else np.unique(y)
        self.parts_ = [self._fitted(X, y, train, held_out) for train, held_out in folds.split(X, y)]
        return self

    def _fitted(self, X: pd.DataFrame, y: NDArray[Any], train: NDArray[np.intp], held_out: NDArray[np.intp]) -> Any:
        torch = import_module("torch")
        transformer, sizes = standard_numbers_first(X.iloc[train])
        columns = [np.asarray(transformer.transform(X.iloc[part]), dtype=np.float32) for part in (train, held_out)]
        ends = np.cumsum([columns[0].shape[1] - sum(sizes), *sizes])
        info = {
            "numerical_indices": torch.arange(0, int(ends[0])),
            "categorical_indices": [torch.arange(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True)],
            "categorical_vectors": [torch.eye(size) for size in sizes],
        }
        mean, scale = (float(y[train].mean()), float(y[train].std()) or 1.0) if self.regression else (0.0, 1.0)
        target = ((y - mean) / scale).astype(np.float32) if self.regression else np.unique(y, return_inverse=True)[1]
        options = {"device": "cpu", "n_threads": 1, "random_state": self.seed, "verbose": False}
        model = import_module("xrfm").xRFM(categorical_info=info if sizes else None, **options)
        model.fit(columns[0], target[train], columns[1], target[held_out])
        return transformer, model, mean, scale

    def _means(self, X: pd.DataFrame) -> NDArray[np.float64]:
        found = []
        for transformer, model, mean, scale in self.parts_:
            columns = np.asarray(transformer.transform(X), dtype=np.float32)
            given = model.predict(columns) if self.regression else model.predict_proba(columns)
            found.append(mean + scale * np.asarray(given, dtype=np.float64).reshape(len(X), -1))
        return np.asarray(np.mean(found, axis=0))

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the mean, or the class with the largest mean probability."""
        means = self._means(X)
        return means[:, 0] if self.regression else np.asarray(self.classes_)[means.argmax(axis=1)]

    def predict_proba(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the mean probabilities."""
        return self._means(X)


class AutoGluon(BaseEstimator):
    """AutoGluon with its preset "medium", which takes the raw table with dates and gaps."""

    def __init__(self, regression: bool, seed: int):
        self.regression = regression
        self.seed = seed

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Self:
        """Fit in a folder that is removed with the estimator."""
        self.classes_ = None if self.regression else np.unique(y)
        problem = "regression" if self.regression else "binary" if len(np.unique(y)) == 2 else "multiclass"
        folder = tempfile.mkdtemp(prefix="spotsvm-autogluon-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.label_ = "the target"
        predictor = import_module("autogluon.tabular").TabularPredictor
        self.model_ = predictor(label=self.label_, problem_type=problem, path=folder, verbosity=0)
        self.model_.fit(X.assign(**{self.label_: y}), presets="medium_quality", num_cpus=1, num_gpus=0)
        return self

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """Return the predictions."""
        return np.asarray(self.model_.predict(X))

    def predict_proba(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the probabilities in the order of the classes."""
        return np.asarray(self.model_.predict_proba(X)[list(np.asarray(self.classes_))])


def _behind(form: Typed, fit_model: Callable[..., Any], regression: bool, seed: int) -> Behind:
    return Behind(form, fit_model, regression, seed)


CATBOOST, LIGHTGBM, XRFM = "CatBoost", "LightGBM", "xRFM, bagged over five folds"
RIVALS: dict[str, Rival] = {
    # "CatBoost takes categories as texts by name, and gaps of numbers as they are"
    CATBOOST: Rival(partial(_behind, Typed(texts=True), _catboost), ("catboost",)),
    # LightGBM and the models with weights take categories by pandas' type, and gaps
    LIGHTGBM: Rival(partial(_behind, Typed(), _lightgbm), ("lightgbm",)),
    XRFM: Rival(BaggedXRFM, ("xrfm", "torch")),
    # pytabkit: "missing numerical values are not allowed and need to be imputed beforehand"
    "RealMLP": Rival(partial(_behind, Typed(filled=True), _realmlp), ("pytabkit", "torch")),
    "AutoGluon, medium": Rival(AutoGluon, ("autogluon",)),
    "TabPFN": Rival(partial(_behind, Typed(), _tabpfn), ("tabpfn",)),
    "TabICL": Rival(partial(_behind, Typed(), _tabicl), ("tabicl",)),
}
