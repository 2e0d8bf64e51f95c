"""The entrants of the study `equal_time`: ways to tune a machine, each of which says what it would return at several times."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from itertools import count, islice
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingRandomSearchCV, ParameterSampler

from spotsvm.cross_validation.cross_val_scores import cross_val_scores
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.studies.common.plain_search import PLAIN
from spotsvm.studies.equal_time.budgets import Choice, Entrant, Trail, once_for_each
from spotsvm.studies.equal_time.tasks import TASKS, Job, Params
from spotsvm.study.callbacks import StopRun
from spotsvm.surrogates.one_thread import one_blas_thread


def defaults(job: Job, budgets: Sequence[float]) -> list[Choice]:
    """Return the estimator's own setting."""
    return Trail(budgets).choices()


def spot_search(job: Job, budgets: Sequence[float], **options: Any) -> list[Choice]:
    """Run SpotSearchCV until a callback stops it, with options without further partitions: it recommends after each trial."""
    trail = Trail(budgets)

    def told(study: Any, trial: Any) -> None:
        if any(t.value is not None for t in study.trials):
            trail.note(study.recommend().params, study.n_finished)
        if trail.is_over:
            raise StopRun

    _spot(job, _ENDLESS, callback=told, **options)
    return trail.choices()


_ENDLESS = 100_000


def _spot(job: Job, n_iter: int, **options: Any) -> SpotSearchCV:
    settings = {"n_iter": n_iter, "cv": job.folds, "refit": False, "random_state": job.seed} | options
    return SpotSearchCV(job.own, job.space, **settings).fit(job.X, job.y)


def spot_in_time(job: Job, budgets: Sequence[float], **options: Any) -> list[Choice]:
    """Run SpotSearchCV once for each budget; a callback ends its suggestions early enough for the further partitions.

    Their share of the budget is halved as long as the whole run is longer; that this is found by trying is not counted. The
    defaults are returned if no share is short enough.
    """
    return [_within(job, budget, options) for budget in budgets]


_SHARES = 0.6, 0.3, 0.1


def _within(job: Job, budget: float, options: Mapping[str, Any]) -> Choice:
    for share in _SHARES:
        began = time.process_time()

        def told(study: Any, trial: Any, until: float = began + share * budget) -> None:
            if time.process_time() >= until:
                raise StopRun

        settings: dict[str, Any] = {"n_iter": _ENDLESS, "callback": told} | dict(options)
        search = _spot(job, **settings)
        choice = Choice(dict(search.best_params_), time.process_time() - began, search.study_.n_finished)
        if choice.seconds <= budget:
            return choice
    return Choice({}, 0.0, 0)


def halving_search(job: Job, budgets: Sequence[float]) -> list[Choice]:
    """Run HalvingRandomSearchCV once for each budget, with as many candidates as it has time for.

    Its plan depends on their number, so that a run cannot be stopped early and be another run.
    """

    def run(n: int) -> Choice:
        began = time.process_time()
        search = HalvingRandomSearchCV(
            clone(job.estimator), job.space, n_candidates=n, cv=job.folds, refit=False, random_state=job.seed
        )
        search.fit(job.X, job.y)
        return Choice(search.best_params_, time.process_time() - began, n)

    return once_for_each(budgets, run, lambda budget: 0.6 * budget / job.unit, least=3, tries=4)


def random_search(job: Job, budgets: Sequence[float], partitions: int = 1) -> list[Choice]:
    """Score RandomizedSearchCV's candidates in its order, until the time is over.

    The first n candidates and their scores are those of RandomizedSearchCV(n_iter=n) with the same seed, so that one run serves
    all budgets. Each is scored by `cross_val_score`, as the unit is; what RandomizedSearchCV spends on its table is not counted.
    """
    trail = Trail(budgets)
    cv = job.folds if partitions == 1 else job.repeated(partitions)
    for params in _random_candidates(job):
        trail.look(params, job.score(params, cv))
        if trail.is_over:
            break
    return trail.choices()


def fixed_random_search(job: Job, budgets: Sequence[float], n_iter: int = 25) -> list[Choice]:
    """Return what RandomizedSearchCV returns after a number of candidates, whatever time they take, at every budget."""
    trail = Trail([np.inf])
    for params in islice(_random_candidates(job), n_iter):
        trail.look(params, job.score(params))
    return trail.choices() * len(budgets)


def _random_candidates(job: Job) -> Iterator[Params]:
    rng = np.random.RandomState(job.seed)
    while True:
        yield from ParameterSampler(job.space, 1, random_state=rng)


def grid_of_paths(job: Job, budgets: Sequence[float]) -> list[Choice]:
    """Score a coarse grid of whole paths of C on one random partition after the other, with shared work.

    The best mean over the partitions that are complete is returned; the first partition is the one of the other entrants.
    """
    trail = Trail(budgets)
    columns = job.X.shape[1]
    machine = (job.task.on_grid or job.task.estimator)(columns)
    grid = job.task.grid(*job.X.shape)
    total = np.zeros(len(grid))
    for number in count():
        total += cross_val_scores(machine, job.X, job.y, grid, cv=job.partition(number)).mean(axis=1)
        best = grid[int(np.argmax(np.nan_to_num(total, nan=-np.inf)))]
        trail.note(job.task.embed(columns, best) if job.task.embed else best, (number + 1) * len(grid))
        if trail.is_over:
            return trail.choices()
    raise AssertionError  # the loop has no end


def optuna_search(job: Job, budgets: Sequence[float], sampler: str = "TPESampler") -> list[Choice]:
    """Run a sampler of Optuna, by ask and tell."""
    trail = Trail(budgets)
    optuna = import_module("optuna")
    if sampler == "GPSampler":
        import_module("torch").set_num_threads(1)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=getattr(optuna.samplers, sampler)(seed=job.seed))
    distributions = {name: _optuna_distribution(optuna, entry) for name, entry in job.space.items()}
    while not trail.is_over:
        trial = study.ask(distributions)
        score = job.score(trial.params)
        study.tell(trial, score)
        trail.look(trial.params, score)
    return trail.choices()


def _optuna_distribution(optuna: Any, entry: Any) -> Any:
    low, high = entry.support()
    if entry.dist.name == "randint":
        return optuna.distributions.IntDistribution(int(low), int(high))
    return optuna.distributions.FloatDistribution(float(low), float(high), log=entry.dist.name in ("loguniform", "reciprocal"))


DEFAULTS, REFERENCE, RANDOM, SPOT = "defaults", "RandomizedSearchCV(n_iter=25)", "random search", "SpotSearchCV"
#: the entrants by name; a variant of one is a line with its options, here or in the study's argument `entrants`
ENTRANTS: dict[str, Entrant] = {
    DEFAULTS: defaults,
    REFERENCE: fixed_random_search,
    RANDOM: random_search,
    "random, 4 partitions": partial(random_search, partitions=4),
    "halving": halving_search,
    SPOT: spot_in_time,
    "SpotSearchCV, plain": partial(spot_search, **PLAIN),
    "SpotSearchCV, paths": partial(spot_search, **PLAIN | {"profile": "auto"}),
    "SpotSearchCV, paths and log loss": partial(spot_search, confirm=None, start=[]),
    "grid of paths": grid_of_paths,
    "Optuna TPE": optuna_search,
    "Optuna GP": partial(optuna_search, sampler="GPSampler"),
}
_NEEDS = {"Optuna TPE": ("optuna",), "Optuna GP": ("optuna", "torch")}


def missing_packages(entrant: str) -> list[str]:
    """Return the packages that an entrant needs and that are not installed."""
    return [package for package in _NEEDS.get(entrant, ()) if find_spec(package) is None]


@contextmanager
def measured_calmly() -> Iterator[None]:
    """Use one thread, and let failed fits and small classes pass without a warning."""
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_WARM_LOOKS, _WARM_SECONDS, _WARM_RUNS = 15, 0.5, 3


@cache
def warm_up(task: str, entrant: Callable[..., list[Choice]]) -> None:
    """Run an entrant on a few rows, once in each process, so that no run's time has that of compiling or loading in it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = X[:, 0] + 0.3 * rng.standard_normal(60)
    job = Job(TASKS[task], X, y if TASKS[task].regression else (y > 0).astype(int), seed=0)
    for _ in range(_WARM_RUNS):
        if entrant(job, [_WARM_SECONDS])[0].looks >= _WARM_LOOKS:
            break
