"""The entrants of the study `new_rows`: methods that make a model from some rows within budgets of processor time."""

from __future__ import annotations

import os
import time
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import KFold, ParameterSampler, RandomizedSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.studies.common.data import Floats, Params
from spotsvm.studies.new_rows.frames import Typed, numbers_alone
from spotsvm.studies.new_rows.rivals import RIVALS, Rival
from spotsvm.studies.new_rows.scores import SCORES, scores
from spotsvm.studies.new_rows.sets import Split
from spotsvm.studies.new_rows.sources import REGRESSION
from spotsvm.study.callbacks import StopRun
from spotsvm.tuned.tuned_svc import TunedSVC
from spotsvm.tuned.tuned_svr import TunedSVR

FOLDS, REFERENCE_CANDIDATES, REFERENCE_SEEDS = 5, 25, 3


class TuningRows(NamedTuple):
    """Raw rows for tuning, the seed of the trial, and the unit: the processor time of one reference candidate in seconds."""

    X: pd.DataFrame
    y: NDArray[Any]
    regression: bool
    seed: int
    unit: float

    @property
    def folds(self) -> Any:
        """The splitter of the cross-validation."""
        return (KFold if self.regression else StratifiedKFold)(FOLDS, shuffle=True, random_state=self.seed)


class Made(NamedTuple):
    """A fitted model, the processor times of its search and in total in seconds, and the number of scored settings."""

    model: Any
    searched: float
    seconds: float
    looks: int


class Choice(NamedTuple):
    """A chosen setting, the processor time of the choice, and the number of settings scored until then."""

    params: Params
    seconds: float
    looks: int


@dataclass(frozen=True)
class Entrant:
    """A method that makes a model.

    `make` takes `TuningRows` and increasing budgets (seconds of processor time; `(inf,)` without) and returns a model for each.
    The mean error of `seeds` trials on the same rows counts. `lacks` says why it cannot run here, or "".
    """

    make: Callable[[TuningRows, Sequence[float]], list[Made]]
    has_budget: bool = True
    seeds: int = 1
    lacks: Callable[[], str] = str


def processor_seconds() -> float:
    """Return the processor time of this process with all threads and ended child processes."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


class Trail:
    """The choices of a search over time, with the processor time of each."""

    def __init__(self, budgets: Sequence[float]):
        self._budgets = list(budgets)
        self._notes = [Choice({}, 0.0, 0)]
        self._best = -np.inf
        self._began = processor_seconds()

    @property
    def seconds(self) -> float:
        """Processor time since the start."""
        return processor_seconds() - self._began

    @property
    def is_over(self) -> bool:
        """Whether the last budget is spent."""
        return self.seconds >= self._budgets[-1]

    def look(self, params: Params, score: float) -> None:
        """Note a scored setting; it becomes the choice if it is the best so far."""
        better = bool(score > self._best)
        self._best = score if better else self._best
        chosen = dict(params) if better else self._notes[-1].params
        self._notes.append(Choice(chosen, self.seconds, self._notes[-1].looks + 1))

    def choices(self) -> list[Choice]:
        """Return the last choice within each budget with the time spent; without a choice, the default parameters."""
        last = [[note for note in self._notes if note.seconds <= budget][-1] for budget in self._budgets]
        over = self._notes[-1].seconds
        return [note._replace(seconds=min(budget, over)) for note, budget in zip(last, self._budgets, strict=True)]


def _fitted(rows: TuningRows, estimator: Any, choices: Sequence[Choice]) -> list[Made]:
    """Fit the estimator with the setting of each choice; equal settings share a model and its time."""
    models: dict[str, tuple[Any, float]] = {}
    made = []
    for choice in choices:
        key = repr(sorted(choice.params.items()))
        if key not in models:
            began = processor_seconds()
            model = clone(estimator).set_params(**choice.params).fit(rows.X, rows.y)
            models[key] = model, processor_seconds() - began
        model, seconds = models[key]
        made.append(Made(model, choice.seconds, choice.seconds + seconds, choice.looks))
    return made


class InUnit(BaseEstimator):
    """A fitted regressor whose targets had mean 0 and variance 1, in the unit of the targets."""

    def __init__(self, model: Any, mean: float, scale: float):
        self.model = model
        self.mean = mean
        self.scale = scale

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> Self:
        """Return itself: the model is fitted."""
        return self

    def predict(self, X: Any) -> Floats:
        """Return the predictions in the unit of the targets."""
        return np.asarray(self.mean + self.scale * self.model.predict(X))


def in_form(
    rows: TuningRows,
    budgets: Sequence[float],
    make: Callable[..., list[Made]],
    form: Any,
    scales_target: bool = False,
    **options: Any,
) -> list[Made]:
    """Make models of the table in a form, which is fitted once; with `scales_target`, of a target of mean 0 and variance 1."""
    began = processor_seconds()
    form = clone(form).fit(rows.X)
    scales_target = scales_target and rows.regression
    mean, scale = (float(rows.y.mean()), float(rows.y.std()) or 1.0) if scales_target else (0.0, 1.0)
    own = rows._replace(X=form.transform(rows.X), y=(rows.y - mean) / scale if scales_target else rows.y)
    spent = processor_seconds() - began

    def whole(made: Made) -> Made:
        model = InUnit(made.model, mean, scale) if scales_target else made.model
        return made._replace(model=Pipeline([("form", form), ("model", model)]), seconds=made.seconds + spent)

    return [whole(made) for made in make(own, budgets, **options)]


def _support_vectors(rows: TuningRows) -> Any:
    return SVR() if rows.regression else SVC()


def _space(rows: TuningRows) -> dict[str, Any]:
    """Return the search space of the support vector machines; LIBSVM takes minutes for an SVR with a larger C."""
    space = {"C": loguniform(2.0**-5, 2.0 ** (10 if rows.regression else 15)), "gamma": loguniform(2.0**-15, 2.0**3)}
    return space | ({"epsilon": loguniform(2.0**-8, 1.0)} if rows.regression else {})


def _forest(rows: TuningRows) -> Any:
    return (RandomForestRegressor if rows.regression else RandomForestClassifier)(300, random_state=rows.seed)


def _boosting(rows: TuningRows) -> Any:
    """Return HistGradientBoosting, which takes gaps and categories of pandas' type as they are."""
    kind = HistGradientBoostingRegressor if rows.regression else HistGradientBoostingClassifier
    return kind(categorical_features="from_dtype", random_state=rows.seed)


def _constant(rows: TuningRows) -> Any:
    return DummyRegressor() if rows.regression else DummyClassifier(strategy="prior")


def _linear(rows: TuningRows) -> Any:
    if rows.regression:
        return RidgeCV(np.logspace(-3, 4, 15))
    # scikit-learn 1.8 and later warn about defaults whose arguments are unknown to earlier versions
    return LogisticRegressionCV(cv=rows.folds, max_iter=2000)


_FOREST_SPACE = {"max_features": uniform(0.05, 0.95), "min_samples_leaf": randint(1, 11)}
_BOOSTING_SPACE = {
    "learning_rate": loguniform(0.02, 0.3), "max_iter": randint(30, 301), "max_leaf_nodes": randint(3, 32),
    "min_samples_leaf": randint(2, 31), "l2_regularization": loguniform(1e-3, 10.0),
}  # fmt: skip


def own_time(rows: TuningRows, budgets: Sequence[float], estimator: Callable[[TuningRows], Any]) -> list[Made]:
    """Fit an estimator with its default parameters."""
    return _fitted(rows, estimator(rows), [Choice({}, 0.0, 0)])


def reference(rows: TuningRows, budgets: Sequence[float]) -> list[Made]:
    """Run RandomizedSearchCV(n_iter=25) and fit its best setting."""
    began = processor_seconds()
    search = RandomizedSearchCV(
        _support_vectors(rows), _space(rows), n_iter=REFERENCE_CANDIDATES, cv=rows.folds, refit=False, random_state=rows.seed
    ).fit(rows.X, rows.y)
    choice = Choice(search.best_params_, processor_seconds() - began, REFERENCE_CANDIDATES)
    return _fitted(rows, _support_vectors(rows), [choice])


def random_search(
    rows: TuningRows,
    budgets: Sequence[float],
    estimator: Callable[[TuningRows], Any],
    space: Callable[[TuningRows], Mapping[str, Any]],
    **quick: Any,
) -> list[Made]:
    """Score the default parameters and then random settings until the last budget is spent.

    `quick` are parameters for scoring only, not for the final fit.
    """
    trail, own = Trail(budgets), estimator(rows)
    rng = np.random.RandomState(rows.seed)
    params: Params = {}
    while True:
        trail.look(params, _score(rows, own, {**params, **quick}))
        if trail.is_over:
            return _fitted(rows, own, trail.choices())
        (params,) = ParameterSampler(space(rows), 1, random_state=rng)


def _score(rows: TuningRows, estimator: Any, params: Params) -> float:
    return float(cross_val_score(clone(estimator).set_params(**params), rows.X, rows.y, cv=rows.folds).mean())


def optuna_search(rows: TuningRows, budgets: Sequence[float]) -> list[Made]:
    """Run Optuna's TPE by ask and tell."""
    trail = Trail(budgets)
    optuna = import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=rows.seed))
    ranges = {
        name: optuna.distributions.FloatDistribution(*map(float, entry.support()), log=True)
        for name, entry in _space(rows).items()
    }
    own = _support_vectors(rows)
    while not trail.is_over:
        trial = study.ask(ranges)
        score = _score(rows, own, trial.params)
        study.tell(trial, score)
        trail.look(trial.params, score)
    return _fitted(rows, own, trail.choices())


def spot(rows: TuningRows, budgets: Sequence[float], **options: Any) -> list[Made]:
    """Run SpotSearchCV anew for each budget; if no share of it is small enough, the model has the default parameters.

    A callback ends the suggestions after a share, to leave time for an average's fits; a run that takes longer is repeated with a
    smaller share, and only the last counts.
    """
    return [_spot_within(rows, budget, options) for budget in budgets]


_SHARES = 0.95, 0.6, 0.3, 0.1
_ENDLESS = 100_000


def _spot_within(rows: TuningRows, budget: float, options: Mapping[str, Any]) -> Made:
    own = _support_vectors(rows)
    for share in _SHARES:
        began = processor_seconds()

        def stop(study: Any, trial: Any, until: float = began + share * budget) -> None:
            if processor_seconds() >= until:
                raise StopRun

        settings: dict[str, Any] = {"refit": False, "callback": stop, "n_iter": _ENDLESS} | dict(options)
        search = SpotSearchCV(own, _space(rows), cv=rows.folds, random_state=rows.seed, **settings).fit(rows.X, rows.y)
        seconds = processor_seconds() - began
        if seconds <= budget:
            looks = len(search.cv_results_["params"])
            if settings["refit"]:
                return Made(search, seconds, seconds, looks)
            return _fitted(rows, own, [Choice(search.best_params_, seconds, looks)])[0]
    return _fitted(rows, own, [Choice({}, 0.0, 0)])[0]


def tuned(rows: TuningRows, budgets: Sequence[float], **options: Any) -> list[Made]:
    """Fit TunedSVC or TunedSVR."""
    kind = TunedSVR if rows.regression else TunedSVC
    return own_time(rows, budgets, lambda rows: kind(random_state=rows.seed, **options))


def _tuned(**options: Any) -> Entrant:
    return Entrant(partial(tuned, **options), has_budget=False)


def _rival(rival: Rival) -> Entrant:
    return Entrant(
        partial(own_time, estimator=lambda rows: rival.make(rows.regression, rows.seed)), has_budget=False, lacks=rival.lacks
    )


#: numbers of variance 1 and 0/1 columns, and in regression a target of variance 1
_scaled = partial(partial, in_form, form=numbers_alone(scaled=True), scales_target=True)
_plain = partial(partial, in_form, form=numbers_alone(scaled=False))
_typed = partial(partial, in_form, form=Typed())
DEFAULTS, REFERENCE, TUNED = "defaults", "RandomizedSearchCV(n_iter=25)", "TunedSVC, TunedSVR"
FOREST, BOOSTING, LINEAR, CONSTANT = "random forest", "HistGradientBoosting", "linear", "constant"
#: the entrants by name; add a variant as a line with its options, here or in the argument `entrants` of the study
ENTRANTS: dict[str, Entrant] = {
    REFERENCE: Entrant(_scaled(make=reference), has_budget=False, seeds=REFERENCE_SEEDS),
    DEFAULTS: Entrant(_scaled(make=own_time, estimator=_support_vectors), has_budget=False),
    CONSTANT: Entrant(partial(own_time, estimator=_constant), has_budget=False),
    LINEAR: Entrant(_scaled(make=own_time, estimator=_linear), has_budget=False),
    FOREST: Entrant(_plain(make=own_time, estimator=_forest), has_budget=False),
    BOOSTING: Entrant(_typed(make=own_time, estimator=_boosting), has_budget=False),
    TUNED: _tuned(),
    **{name: _rival(rival) for name, rival in RIVALS.items()},
    f"{TUNED}, average=False": _tuned(average=False),
    f"{TUNED}, support vectors alone": _tuned(families=["rbf", "laplacian", "relevance_rbf", "relevance_laplacian"]),
    # `budget` counts sweeps of C: the grid has 17, or 25 in regression, and more for further encodings; Kriging adds the others
    **{f"{TUNED}, budget={n}": _tuned(budget=n) for n in (4, 24, 48)},
    "random search": Entrant(_scaled(make=random_search, estimator=_support_vectors, space=_space)),
    "Optuna TPE": Entrant(_scaled(make=optuna_search), lacks=lambda: "" if find_spec("optuna") else "optuna is not installed"),
    "random forest, tuned": Entrant(
        _plain(make=random_search, estimator=_forest, space=lambda rows: _FOREST_SPACE, n_estimators=100)
    ),
    "HistGradientBoosting, tuned": Entrant(_typed(make=random_search, estimator=_boosting, space=lambda rows: _BOOSTING_SPACE)),
    "SpotSearchCV": Entrant(_scaled(make=spot)),
    'SpotSearchCV(refit="average")': Entrant(_scaled(make=spot, refit="average")),
}


@cache
def warm_up(make: Callable[..., list[Made]], regression: bool) -> None:
    """Run an entrant on a few rows, once in each process, so that trials do not include the time of compiling and loading."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((120, 2)), columns=["a", "b"]).assign(c=rng.choice(["u", "v", "w"], 120))
    y = X["a"].to_numpy() + rng.standard_normal(120)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for target in [y] if regression else [y > 0, np.digitize(y, [-0.7, 0.7])]:
            make(TuningRows(X, target if regression else target.astype(int), regression, 0, 0.02), (0.3,))


#: the budget of an entrant without one
OWN_TIME = 0


class Key(NamedTuple):
    """The identity of a trial."""

    set: str
    rows: int
    split: int
    entrant: str
    seed: int

    @property
    def random_state(self) -> int:
        """The seed of its random numbers."""
        return zlib.crc32(repr(tuple(self)).encode()) % 2**31


def run_trial(key: Key, entrant: Entrant, task: str, data: Split, unit: float, units: Sequence[int]) -> list[dict[str, Any]]:
    """Run an entrant on a split; return a row for each budget, or one row if the entrant has no budget.

    If an entrant raises an exception, its scores and times are nan, and the column `failure` has the message. Exceptions of the
    reference are not caught.
    """
    budgets = units if entrant.has_budget else (OWN_TIME,)
    about = {"columns": data.X.shape[1], "new_rows": len(data.new_y)}
    rows = TuningRows(data.X, data.y, task == REGRESSION, key.random_state, unit)
    judged: list[dict[str, Any]]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            warm_up(entrant.make, rows.regression)
            made = entrant.make(rows, [unit * n for n in budgets] if entrant.has_budget else (np.inf,))
            judged = [
                {"looks": model.looks, "searched": model.searched, "seconds": model.seconds} | scores(model.model, task, data)
                for model in made
            ]
        except Exception as failure:  # an error of one entrant must not end a study of hours
            if key.entrant == REFERENCE:  # without its time there is no unit
                raise
            nothing = dict.fromkeys(("searched", "seconds", *SCORES), float("nan"))
            message = f"{type(failure).__name__}: {failure}".replace("\n", " ")
            judged = [{"looks": 0, "failure": message, **nothing}] * len(budgets)
    return [about | {"budget": budget, "failure": ""} | row for budget, row in zip(budgets, judged, strict=True)]
