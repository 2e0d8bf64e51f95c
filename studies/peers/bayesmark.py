"""The suite of bayesmark (Turner et al. 2021): nine models of scikit-learn on six sets, built anew from the published spaces."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn import datasets
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from spotsvm.studies.common.data import Floats
from spotsvm.studies.new_rows.sources import R, of_r
from spotsvm.studies.peers.problems import Parameter, Params, Problem

FOLDS = 5
CLASSES = ("breast", "digits", "iris", "wine")
TARGETS = ("boston", "diabetes")
#: scorers of scikit-learn by the names of the suite
SCORES = {"acc": "accuracy", "nll": "neg_log_loss", "mae": "neg_mean_absolute_error", "mse": "neg_mean_squared_error"}


def _int(name: str, low: int, high: int, log: bool = False) -> Parameter:
    return Parameter(name, "int", low, high, log)


def _log(name: str, low: float, high: float) -> Parameter:
    return Parameter(name, low=low, high=high, log=True)


def _logit(name: str, low: float, high: float) -> Parameter:
    """Return a share that is uniform in its logit; optimizers see the logit."""
    return Parameter(f"{_LOGIT}{name}", low=math.log(low / (1 - low)), high=math.log(high / (1 - high)))


def _switch(name: str) -> Parameter:
    return Parameter(name, "category", values=("yes", "no"))


_LOGIT = "logit_"
_TREE = (
    _int("max_depth", 1, 15),
    _logit("min_samples_split", 0.01, 0.99),
    _logit("min_samples_leaf", 0.01, 0.49),
    _logit("min_weight_fraction_leaf", 0.01, 0.49),
    _logit("max_features", 0.01, 0.99),
    Parameter("min_impurity_decrease", high=0.5),
)
_NET = (
    _int("hidden_layer_sizes", 50, 200),
    _log("alpha", 1e-5, 10.0),
    _int("batch_size", 10, 250),
    _log("learning_rate_init", 1e-5, 0.1),
    _log("tol", 1e-5, 0.1),
    _logit("validation_fraction", 0.1, 0.9),
)
_BOOST = (_int("n_estimators", 10, 100), _log("learning_rate", 1e-4, 10.0))
_LOGISTIC = (_log("C", 0.01, 100.0), _log("intercept_scaling", 0.01, 100.0))
_LINEAR = (_log("alpha", 0.01, 100.0), _switch("fit_intercept"), _switch("normalize"), _int("max_iter", 10, 5000, log=True))
_ADAM = {"solver": "adam", "early_stopping": True, "random_state": 0}
_SGD = _ADAM | {"solver": "sgd", "learning_rate": "invscaling"}
_FOREST = {"n_estimators": 10, "random_state": 0}


class UnitColumns(TransformerMixin, BaseEstimator):
    """Centres columns and divides them by their Euclidean norms: what `normalize=True` of older linear models did."""

    def fit(self, X: Floats, y: Any = None) -> Self:
        """Learn means and norms."""
        self.mean_ = X.mean(axis=0)
        norms = np.linalg.norm(X - self.mean_, axis=0)
        self.norms_ = np.where(norms > 0, norms, 1.0)
        return self

    def transform(self, X: Floats) -> Floats:
        """Return the columns in these units."""
        return np.asarray((X - self.mean_) / self.norms_)


def _probable_svc(**params: Any) -> Any:
    return CalibratedClassifierCV(SVC(**params), ensemble=False)


def _one_vs_rest(penalty: str) -> Callable[..., Any]:
    return lambda **params: OneVsRestClassifier(LogisticRegression(penalty=penalty, solver="liblinear", random_state=0, **params))


def _linear(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(fit_intercept: str, normalize: str, positive: str = "no", **params: Any) -> Any:
        intercept = fit_intercept == "yes"
        model = make(fit_intercept=intercept, positive=positive == "yes", **params)
        # without an intercept the older models ignored the norms
        return make_pipeline(UnitColumns(), model) if intercept and normalize == "yes" else model

    return made


class Model(NamedTuple):
    """A model of the suite: its space, and what makes it from parameters."""

    parameters: tuple[Parameter, ...]
    make: Callable[..., Any]


def _with(kind: Callable[..., Any], **fixed: Any) -> Callable[..., Any]:
    return lambda **params: kind(**fixed, **params)


_NEIGHBOURS = (_int("n_neighbors", 1, 25), _int("p", 1, 4))
_SVM = (_log("C", 1.0, 1000.0), _log("gamma", 1e-4, 1e-3), _log("tol", 1e-5, 0.1))
_NET_ADAM = (*_NET, _logit("beta_1", 0.5, 0.99), _logit("beta_2", 0.9, 1 - 1e-6), _log("epsilon", 1e-9, 1e-6))
_NET_SGD = (*_NET, _logit("power_t", 0.1, 0.9), _logit("momentum", 0.001, 0.999))
CLASSIFIERS = {
    "kNN": Model(_NEIGHBOURS, KNeighborsClassifier),
    "SVM": Model(_SVM, _probable_svc),
    "DT": Model(_TREE, _with(DecisionTreeClassifier, random_state=0)),
    "RF": Model(_TREE, _with(RandomForestClassifier, **_FOREST)),
    "MLP-adam": Model(_NET_ADAM, _with(MLPClassifier, **_ADAM)),
    "MLP-sgd": Model(_NET_SGD, _with(MLPClassifier, **_SGD)),
    "ada": Model(_BOOST, _with(AdaBoostClassifier, random_state=0)),
    "lasso": Model(_LOGISTIC, _one_vs_rest("l1")),
    "linear": Model(_LOGISTIC, _one_vs_rest("l2")),
}
REGRESSORS = {
    "kNN": Model(_NEIGHBOURS, KNeighborsRegressor),
    "SVM": Model(_SVM, SVR),
    "DT": Model(_TREE, _with(DecisionTreeRegressor, random_state=0)),
    "RF": Model(_TREE, _with(RandomForestRegressor, **_FOREST)),
    "MLP-adam": Model(_NET_ADAM, _with(MLPRegressor, **_ADAM)),
    "MLP-sgd": Model(_NET_SGD, _with(MLPRegressor, activation="tanh", **_SGD)),
    "ada": Model(_BOOST, _with(AdaBoostRegressor, random_state=0)),
    "lasso": Model((*_LINEAR, _log("tol", 1e-5, 0.1), _switch("positive")), _linear(Lasso)),
    "linear": Model((*_LINEAR, _log("tol", 1e-4, 0.1)), _linear(Ridge)),
}


def names(dimensions: Sequence[int], instances: Sequence[int]) -> list[str]:
    """Return the names: model, data set and score."""
    scored = [(data, score) for data in CLASSES for score in ("acc", "nll")] + [
        (data, s) for data in TARGETS for s in ("mae", "mse")
    ]
    return [f"{model} {data} {score}" for data, score in scored for model in CLASSIFIERS]


def make(name: str) -> Problem:
    """Return a problem; DataError if its data are missing.

    The value is the loss in five folds of 80 % of the rows. Models draw from one seed, so that it has no noise.
    """
    model_name, data, score = name.split(" ")
    model = (CLASSIFIERS if data in CLASSES else REGRESSORS)[model_name]
    if (model_name, score) == ("SVM", "acc"):  # its classes are those of the decision values, not of the probabilities
        model = model._replace(make=SVC)
    X, y = _training_rows(data)
    constant = _loss(DummyClassifier() if data in CLASSES else DummyRegressor(), X, y, score)

    def evaluate(params: Params, seed: int) -> float:
        loss = _loss(model.make(**_arguments(params)), X, y, score)
        return loss if math.isfinite(loss) else constant  # a net that diverges

    return Problem(name, name, "bayesmark", model.parameters, evaluate)


def _arguments(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a model: shares are those of the logits."""
    return {
        name.removeprefix(_LOGIT): 1 / (1 + math.exp(-value)) if name.startswith(_LOGIT) else value
        for name, value in params.items()
    }


def _loss(model: Any, X: Floats, y: Any, score: str) -> float:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # optimizers try settings at which a model does not converge
        return -float(np.mean(cross_val_score(model, X, y, scoring=SCORES[score], cv=FOLDS, error_score=np.nan)))


@cache
def _training_rows(data: str) -> tuple[Floats, Any]:
    X, y = _READERS[data]()
    X, _, y, _ = train_test_split(X, y, test_size=0.2, random_state=0, shuffle=True)
    return np.asarray(X, dtype=np.float64), y


def _boston() -> tuple[Any, Any]:
    table, target = of_r(f"{R}MASS/Boston.csv", "medv")
    return table.drop(columns=target).to_numpy(dtype=np.float64), table[target].to_numpy(dtype=np.float64)


_READERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "breast": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
    "iris": lambda: datasets.load_iris(return_X_y=True),
    "wine": lambda: datasets.load_wine(return_X_y=True),
    "boston": _boston,
    "diabetes": lambda: datasets.load_diabetes(return_X_y=True),
}
