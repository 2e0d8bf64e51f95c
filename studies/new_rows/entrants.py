"""The entrants of the study `new_rows`: ways to fit a model to some rows, each within several budgets of processor time."""

from __future__ import annotations

import os
import time
import warnings
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

from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.studies.common.data import Floats, Params
from spotsvm.study.callbacks import StopRun
from spotsvm.tuned.tuned_svc import TunedSVC
from spotsvm.tuned.tuned_svr import TunedSVR

FOLDS, REFERENCE_LOOKS, REFERENCE_SEEDS = 5, 25, 3


class Job(NamedTuple):
    """Rows to tune on, the seed of the trial, and the time of an evaluation of the reference, in seconds of the processor."""

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
    """A fitted model, the processor time of the search and in total, in seconds, and the number of scored settings."""

    model: Any
    searched: float
    seconds: float
    looks: int


class Choice(NamedTuple):
    """A setting, the processor time until it was chosen, and the number of settings scored until then."""

    params: Params
    seconds: float
    looks: int


@dataclass(frozen=True)
class Entrant:
    """A way to make a model.

    Attributes
    ----------
    make : callable
        Takes a job and increasing budgets of processor time in seconds, and returns a model for each budget; an entrant without
        a budget gets `(inf,)`.
    has_budget : bool
        Whether the time of the search can be limited.
    seeds : int
        Number of trials on the same rows, each with its own seed; their mean counts.
    lacks : callable
        Returns the reason why the entrant cannot run here; an empty text if it can.
    """

    make: Callable[[Job, Sequence[float]], list[Made]]
    has_budget: bool = True
    seeds: int = 1
    lacks: Callable[[], str] = str


def processor_seconds() -> float:
    """Return the processor time of this process, all its threads and its ended children."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


class Trail:
    """The choices of an entrant over time: each new choice, with the processor time since the beginning.

    Examples
    --------
    >>> trail = Trail([0.0, 60.0])
    >>> trail.look({"C": 2.0}, 0.9)
    >>> trail.look({"C": 4.0}, 0.8)
    >>> (
    ...     [(choice.params, choice.looks) for choice in trail.choices()],
    ...     trail.is_over,
    ... )
    ([({}, 0), ({'C': 2.0}, 2)], False)
    """

    def __init__(self, budgets: Sequence[float]):
        self._budgets = list(budgets)
        self._notes = [Choice({}, 0.0, 0)]
        self._best = -np.inf
        self._began = processor_seconds()

    @property
    def seconds(self) -> float:
        """Processor time since the beginning."""
        return processor_seconds() - self._began

    @property
    def is_over(self) -> bool:
        """Whether the last budget is spent."""
        return self.seconds >= self._budgets[-1]

    def look(self, params: Params, score: float) -> None:
        """Note one more setting that was scored: it is returned if it is the best so far, else the one before."""
        better = bool(score > self._best)
        self._best = score if better else self._best
        chosen = dict(params) if better else self._notes[-1].params
        self._notes.append(Choice(chosen, self.seconds, self._notes[-1].looks + 1))

    def choices(self) -> list[Choice]:
        """Return what was noted last within each budget, with the time spent; the estimator's own setting if nothing was."""
        last = [[note for note in self._notes if note.seconds <= budget][-1] for budget in self._budgets]
        over = self._notes[-1].seconds
        return [note._replace(seconds=min(budget, over)) for note, budget in zip(last, self._budgets, strict=True)]


def _fitted(job: Job, estimator: Any, choices: Sequence[Choice]) -> list[Made]:
    """Fit the estimator with the setting of each choice; equal settings share a model and the time of its fit."""
    models: dict[str, tuple[Any, float]] = {}
    made = []
    for choice in choices:
        key = repr(sorted(choice.params.items()))
        if key not in models:
            began = processor_seconds()
            model = clone(estimator).set_params(**choice.params).fit(job.X, job.y)
            models[key] = model, processor_seconds() - began
        model, seconds = models[key]
        made.append(Made(model, choice.seconds, choice.seconds + seconds, choice.looks))
    return made


def _support_vectors(job: Job) -> Any:
    return make_pipeline(StandardScaler(), SVR() if job.regression else SVC())


def _space(job: Job) -> dict[str, Any]:
    """Return the space of the support vector machines; LIBSVM takes minutes for an SVR with a larger C."""
    prefix = "svr__" if job.regression else "svc__"
    space = {"C": loguniform(2.0**-5, 2.0 ** (10 if job.regression else 15)), "gamma": loguniform(2.0**-15, 2.0**3)}
    space |= {"epsilon": loguniform(2.0**-8, 1.0)} if job.regression else {}
    return {f"{prefix}{name}": entry for name, entry in space.items()}


def _forest(job: Job) -> Any:
    return (RandomForestRegressor if job.regression else RandomForestClassifier)(300, random_state=job.seed)


def _boosting(job: Job) -> Any:
    return (HistGradientBoostingRegressor if job.regression else HistGradientBoostingClassifier)(random_state=job.seed)


def _linear(job: Job) -> Any:
    if job.regression:
        return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 15)))
    # scikit-learn 1.8 and later warn about defaults; the arguments that they ask for are unknown to earlier versions
    return make_pipeline(StandardScaler(), LogisticRegressionCV(cv=job.folds, max_iter=2000))


def _constant(job: Job) -> Any:
    return DummyRegressor() if job.regression else DummyClassifier()


_FOREST_SPACE = {"max_features": uniform(0.05, 0.95), "min_samples_leaf": randint(1, 11)}
_BOOSTING_SPACE = {
    "learning_rate": loguniform(0.02, 0.3), "max_iter": randint(30, 301), "max_leaf_nodes": randint(3, 32),
    "min_samples_leaf": randint(2, 31), "l2_regularization": loguniform(1e-3, 10.0),
}  # fmt: skip


def own_time(job: Job, budgets: Sequence[float], estimator: Callable[[Job], Any]) -> list[Made]:
    """Fit an estimator as it is."""
    return _fitted(job, estimator(job), [Choice({}, 0.0, 0)])


def reference(job: Job, budgets: Sequence[float]) -> list[Made]:
    """Run RandomizedSearchCV(n_iter=25) and fit its choice."""
    began = processor_seconds()
    search = RandomizedSearchCV(
        _support_vectors(job), _space(job), n_iter=REFERENCE_LOOKS, cv=job.folds, refit=False, random_state=job.seed
    ).fit(job.X, job.y)
    choice = Choice(search.best_params_, processor_seconds() - began, REFERENCE_LOOKS)
    return _fitted(job, _support_vectors(job), [choice])


def random_search(
    job: Job, budgets: Sequence[float], estimator: Callable[[Job], Any], space: Callable[[Job], Mapping[str, Any]], **quick: Any
) -> list[Made]:
    """Score the estimator's own setting and then random ones, until the time is over; with `quick` while it is scored only."""
    trail, own = Trail(budgets), estimator(job)
    rng = np.random.RandomState(job.seed)
    params: Params = {}
    while True:
        trail.look(params, _score(job, own, {**params, **quick}))
        if trail.is_over:
            return _fitted(job, own, trail.choices())
        (params,) = ParameterSampler(space(job), 1, random_state=rng)


def _score(job: Job, estimator: Any, params: Params) -> float:
    return float(cross_val_score(clone(estimator).set_params(**params), job.X, job.y, cv=job.folds).mean())


def optuna_search(job: Job, budgets: Sequence[float]) -> list[Made]:
    """Run Optuna's TPE, by ask and tell."""
    trail = Trail(budgets)
    optuna = import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=job.seed))
    ranges = {
        name: optuna.distributions.FloatDistribution(*map(float, entry.support()), log=True)
        for name, entry in _space(job).items()
    }
    own = _support_vectors(job)
    while not trail.is_over:
        trial = study.ask(ranges)
        score = _score(job, own, trial.params)
        study.tell(trial, score)
        trail.look(trial.params, score)
    return _fitted(job, own, trail.choices())


def spot(job: Job, budgets: Sequence[float], **options: Any) -> list[Made]:
    """Run SpotSearchCV anew for each budget; a callback ends its suggestions early enough for the fits of an average.

    The share of the suggestions is made smaller as long as the search is longer than the budget; that this is found by trying is
    not counted. The estimator's own setting is returned if no share is short enough.
    """
    return [_spot_within(job, budget, options) for budget in budgets]


_SHARES = 0.95, 0.6, 0.3, 0.1
_ENDLESS = 100_000


def _spot_within(job: Job, budget: float, options: Mapping[str, Any]) -> Made:
    own = _support_vectors(job)
    for share in _SHARES:
        began = processor_seconds()

        def told(study: Any, trial: Any, until: float = began + share * budget) -> None:
            if processor_seconds() >= until:
                raise StopRun

        settings: dict[str, Any] = {"refit": False, "callback": told, "n_iter": _ENDLESS} | dict(options)
        search = SpotSearchCV(own, _space(job), cv=job.folds, random_state=job.seed, **settings).fit(job.X, job.y)
        seconds = processor_seconds() - began
        if seconds <= budget:
            looks = len(search.cv_results_["params"])
            if settings["refit"]:
                return Made(search, seconds, seconds, looks)
            return _fitted(job, own, [Choice(search.best_params_, seconds, looks)])[0]
    return _fitted(job, own, [Choice({}, 0.0, 0)])[0]


def tuned(job: Job, budgets: Sequence[float], **options: Any) -> list[Made]:
    """Fit TunedSVC or TunedSVR."""
    kind = TunedSVR if job.regression else TunedSVC
    return own_time(job, budgets, lambda job: kind(random_state=job.seed, **options))


def _lacks(package: str) -> str:
    return "" if find_spec(package) else f"{package} is not installed"


def _own(estimator: Callable[[Job], Any]) -> Entrant:
    return Entrant(partial(own_time, estimator=estimator), has_budget=False)


def _random(estimator: Callable[[Job], Any], space: Callable[[Job], Mapping[str, Any]], **quick: Any) -> Entrant:
    return Entrant(partial(random_search, estimator=estimator, space=space, **quick))


def _tuned(**options: Any) -> Entrant:
    return Entrant(partial(tuned, **options), has_budget=False)


DEFAULTS, REFERENCE, TUNED = "defaults", "RandomizedSearchCV(n_iter=25)", "TunedSVC, TunedSVR"
FOREST, BOOSTING, LINEAR = "random forest", "HistGradientBoosting", "linear"
#: the entrants by name; a variant of one is a line with its options, here or in the study's argument `entrants`
ENTRANTS: dict[str, Entrant] = {
    REFERENCE: Entrant(reference, has_budget=False, seeds=REFERENCE_SEEDS),
    DEFAULTS: _own(_support_vectors),
    "constant": _own(_constant),
    LINEAR: _own(_linear),
    FOREST: _own(_forest),
    BOOSTING: _own(_boosting),
    TUNED: _tuned(),
    f"{TUNED}, average=False": _tuned(average=False),
    # sweeps of C: the grid has 12, three widths of four families, and in regression 20; Kriging searches those beyond it
    **{f"{TUNED}, budget={n}": _tuned(budget=n) for n in (4, 24, 48)},
    "random search": _random(_support_vectors, _space),
    "Optuna TPE": Entrant(optuna_search, lacks=partial(_lacks, "optuna")),
    "random forest, tuned": _random(_forest, lambda job: _FOREST_SPACE, n_estimators=100),
    "HistGradientBoosting, tuned": _random(_boosting, lambda job: _BOOSTING_SPACE),
    "SpotSearchCV": Entrant(spot),
    'SpotSearchCV(refit="average")': Entrant(partial(spot, refit="average")),
}


@cache
def warm_up(make: Callable[..., list[Made]], regression: bool) -> None:
    """Run an entrant on a few rows, once in each process, so that no trial's time has that of compiling or loading in it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y = X[:, 0] + rng.standard_normal(120)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for target in [y] if regression else [y > 0, np.digitize(y, [-0.7, 0.7])]:
            make(Job(X, target if regression else target.astype(int), regression, 0, 0.02), (0.3,))
