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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import KFold, ParameterSampler, RandomizedSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.studies.common.data import Floats, Params
from spotsvm.studies.new_rows.sets import REGRESSION, Split
from spotsvm.study.callbacks import StopRun
from spotsvm.tuned.tuned_svc import TunedSVC
from spotsvm.tuned.tuned_svr import TunedSVR

FOLDS, REFERENCE_CANDIDATES, REFERENCE_SEEDS = 5, 25, 3


class TuningRows(NamedTuple):
    """Rows for tuning, the seed of the trial, and the unit: the processor time of one reference candidate in seconds."""

    X: Floats
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


def _support_vectors(rows: TuningRows) -> Any:
    return make_pipeline(StandardScaler(), SVR() if rows.regression else SVC())


def _space(rows: TuningRows) -> dict[str, Any]:
    """Return the search space of the support vector machines; LIBSVM takes minutes for an SVR with a larger C."""
    prefix = "svr__" if rows.regression else "svc__"
    space = {"C": loguniform(2.0**-5, 2.0 ** (10 if rows.regression else 15)), "gamma": loguniform(2.0**-15, 2.0**3)}
    space |= {"epsilon": loguniform(2.0**-8, 1.0)} if rows.regression else {}
    return {f"{prefix}{name}": entry for name, entry in space.items()}


def _forest(rows: TuningRows) -> Any:
    return (RandomForestRegressor if rows.regression else RandomForestClassifier)(300, random_state=rows.seed)


def _boosting(rows: TuningRows) -> Any:
    return (HistGradientBoostingRegressor if rows.regression else HistGradientBoostingClassifier)(random_state=rows.seed)


def _linear(rows: TuningRows) -> Any:
    if rows.regression:
        return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 15)))
    # scikit-learn 1.8 and later warn about defaults whose arguments are unknown to earlier versions
    return make_pipeline(StandardScaler(), LogisticRegressionCV(cv=rows.folds, max_iter=2000))


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


def _own(estimator: Callable[[TuningRows], Any]) -> Entrant:
    return Entrant(partial(own_time, estimator=estimator), has_budget=False)


def _random(estimator: Callable[[TuningRows], Any], space: Callable[[TuningRows], Mapping[str, Any]], **quick: Any) -> Entrant:
    return Entrant(partial(random_search, estimator=estimator, space=space, **quick))


def _tuned(**options: Any) -> Entrant:
    return Entrant(partial(tuned, **options), has_budget=False)


DEFAULTS, REFERENCE, TUNED = "defaults", "RandomizedSearchCV(n_iter=25)", "TunedSVC, TunedSVR"
FOREST, BOOSTING, LINEAR = "random forest", "HistGradientBoosting", "linear"
#: the entrants by name; add a variant as a line with its options, here or in the argument `entrants` of the study
ENTRANTS: dict[str, Entrant] = {
    REFERENCE: Entrant(reference, has_budget=False, seeds=REFERENCE_SEEDS),
    DEFAULTS: _own(_support_vectors),
    "constant": _own(lambda rows: DummyRegressor() if rows.regression else DummyClassifier()),
    LINEAR: _own(_linear),
    FOREST: _own(_forest),
    BOOSTING: _own(_boosting),
    TUNED: _tuned(),
    f"{TUNED}, average=False": _tuned(average=False),
    # `budget` counts sweeps of C: the grid has 12 (three widths of four families) or 20 in regression; Kriging adds the others
    **{f"{TUNED}, budget={n}": _tuned(budget=n) for n in (4, 24, 48)},
    "random search": _random(_support_vectors, _space),
    "Optuna TPE": Entrant(optuna_search, lacks=lambda: "" if find_spec("optuna") else "optuna is not installed"),
    "random forest, tuned": _random(_forest, lambda rows: _FOREST_SPACE, n_estimators=100),
    "HistGradientBoosting, tuned": _random(_boosting, lambda rows: _BOOSTING_SPACE),
    "SpotSearchCV": Entrant(spot),
    'SpotSearchCV(refit="average")': Entrant(partial(spot, refit="average")),
}


@cache
def warm_up(make: Callable[..., list[Made]], regression: bool) -> None:
    """Run an entrant on a few rows, once in each process, so that trials do not include the time of compiling and loading."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y = X[:, 0] + rng.standard_normal(120)
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

    If an entrant raises an exception, its errors and times are nan, and the column `failure` has the message. Exceptions of the
    reference are not caught.
    """
    budgets = units if entrant.has_budget else (OWN_TIME,)
    about = {"columns": data.X.shape[1], "new_rows": len(data.new_y)}
    rows = TuningRows(data.X, data.y, task == REGRESSION, key.random_state, unit)
    nothing = float("nan")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            warm_up(entrant.make, rows.regression)
            made = entrant.make(rows, [unit * n for n in budgets] if entrant.has_budget else (np.inf,))
            judged = [(model.looks, model.searched, model.seconds, error(model, rows, data), "") for model in made]
        except Exception as failure:  # an error of one entrant must not end a study of hours
            if key.entrant == REFERENCE:  # without its time there is no unit
                raise
            judged = [(0, nothing, nothing, nothing, f"{type(failure).__name__}: {failure}".replace("\n", " "))] * len(budgets)
    names = ("looks", "searched", "seconds", "error", "failure")
    return [about | {"budget": budget} | dict(zip(names, row, strict=True)) for budget, row in zip(budgets, judged, strict=True)]


def error(made: Made, rows: TuningRows, data: Split) -> float:
    """Return the percentage of misclassified new rows, or the mean squared error in percent of the target's variance."""
    predicted = made.model.predict(data.new_X)
    if not rows.regression:
        return 100.0 * float(np.mean(predicted != data.new_y))
    return 100.0 * float(np.mean((predicted - data.new_y) ** 2) / np.var(data.new_y))
