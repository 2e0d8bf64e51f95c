"""The entrants of the study `equal_time`: ways to tune a machine, each of which says what it would return at several times."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingRandomSearchCV, ParameterSampler

from spotsvm.cross_validation.cross_val_scores import cross_val_scores
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.studies.equal_time.tasks import TASKS, Job, Params
from spotsvm.study.callbacks import StopRun
from spotsvm.surrogates.one_thread import one_blas_thread


class Choice(NamedTuple):
    """What an entrant would return if it was stopped at a budget.

    Attributes
    ----------
    params : dict
        The setting; an empty one is the estimator's defaults.
    seconds : float
        Processor time after which the setting was known.
    looks : int
        Settings that had been scored by then.
    """

    params: Params
    seconds: float
    looks: int


class Entrant(Protocol):
    """A way to tune: a function of a job and of rising budgets, in seconds of processor time, that returns a choice for each."""

    def __call__(self, job: Job, budgets: Sequence[float]) -> list[Choice]:
        """Tune, and return what would be returned at each budget."""
        ...


class Trail:
    """What an entrant would return, noted whenever that may have changed, with the processor time since the beginning.

    Examples
    --------
    >>> trail = Trail([0.0, 60.0])
    >>> trail.note({"C": 2.0}, looks=1)
    >>> [choice.params for choice in trail.choices()], trail.is_over
    ([{}, {'C': 2.0}], False)
    """

    def __init__(self, budgets: Sequence[float]):
        self._budgets = list(budgets)
        self._notes = [Choice({}, 0.0, 0)]
        self._best = -np.inf
        self._began = time.process_time()

    @property
    def seconds(self) -> float:
        """Processor time since the beginning."""
        return time.process_time() - self._began

    @property
    def is_over(self) -> bool:
        """Whether the last budget is spent."""
        return self.seconds >= self._budgets[-1]

    def note(self, params: Params, looks: int) -> None:
        """Note what would be returned now."""
        self._notes.append(Choice(dict(params), self.seconds, looks))

    def look(self, params: Params, score: float) -> None:
        """Note one more setting that was scored: it is returned if it is the best so far, else the one before."""
        better = bool(score > self._best)
        self._best = score if better else self._best
        self.note(params if better else self._notes[-1].params, self._notes[-1].looks + 1)

    def choices(self) -> list[Choice]:
        """Return what was noted last within each budget; the estimator's defaults if nothing was."""
        return [[note for note in self._notes if note.seconds <= budget][-1] for budget in self._budgets]


def defaults(job: Job, budgets: Sequence[float]) -> list[Choice]:
    """Return the estimator's own setting."""
    return Trail(budgets).choices()


def spot_search(job: Job, budgets: Sequence[float], **options: Any) -> list[Choice]:
    """Run SpotSearchCV, as it is or with options, until a callback stops it."""
    trail = Trail(budgets)

    def told(study: Any, trial: Any) -> None:
        trail.look(trial.params, -np.inf if trial.value is None else trial.value)
        if trail.is_over:
            raise StopRun

    settings = {"n_iter": _ENDLESS, "cv": job.folds, "refit": False, "random_state": job.seed} | options
    SpotSearchCV(job.own, job.space, callback=told, **settings).fit(job.X, job.y)
    return trail.choices()


_ENDLESS = 100_000


def random_search(job: Job, budgets: Sequence[float], partitions: int = 1) -> list[Choice]:
    """Score RandomizedSearchCV's candidates in its order, until the time is over.

    The first n candidates and their scores are those of RandomizedSearchCV(n_iter=n) with the same seed, so that one run serves
    all budgets. Each is scored by `cross_val_score`, as the unit is; what RandomizedSearchCV spends on its table is not counted.
    """
    trail = Trail(budgets)
    cv = job.folds if partitions == 1 else job.repeated(partitions)
    rng = np.random.RandomState(job.seed)
    while not trail.is_over:
        (params,) = ParameterSampler(job.space, 1, random_state=rng)
        trail.look(params, job.score(params, cv))
    return trail.choices()


def repeated_random_search(job: Job, budgets: Sequence[float]) -> list[Choice]:
    """Score fewer candidates of RandomizedSearchCV, each on four random partitions."""
    return random_search(job, budgets, partitions=4)


def halving_search(job: Job, budgets: Sequence[float]) -> list[Choice]:
    """Run HalvingRandomSearchCV once for each budget, with as many candidates as it has time for.

    Its plan depends on their number, so that a run cannot be stopped early and be another run. The number is found by trying,
    which is not counted: it goes up or down by the time that the run before took, and the longest run within the budget counts.
    """
    seconds_each = 0.0
    choices = []
    for budget in budgets:
        best: Choice | None = None
        n = 12 if not seconds_each else _candidates(0.95 * budget / seconds_each)
        for _ in range(_TRIES):
            choice = _halving(job, n)
            seconds_each = choice.seconds / n
            if choice.seconds <= budget and (best is None or choice.looks > best.looks):
                best = choice
            further = _candidates(0.95 * budget / seconds_each)
            if best is not None and further <= 1.15 * best.looks:
                break
            n = min(further, n - 1) if choice.seconds > budget else further
            if n < _FEWEST:
                break
        choices.append(best or Choice({}, 0.0, 0))
    return choices


_TRIES, _FEWEST = 4, 3


def _candidates(n: float) -> int:
    return max(_FEWEST, int(n))


def _halving(job: Job, n: int) -> Choice:
    began = time.process_time()
    search = HalvingRandomSearchCV(
        clone(job.estimator), job.space, n_candidates=n, cv=job.folds, refit=False, random_state=job.seed
    )
    search.fit(job.X, job.y)
    return Choice(search.best_params_, time.process_time() - began, n)


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


def optuna_gp(job: Job, budgets: Sequence[float]) -> list[Choice]:
    """Run Optuna's Gaussian process."""
    return optuna_search(job, budgets, "GPSampler")


DEFAULTS, RANDOM, SPOT = "defaults", "random search", "SpotSearchCV"
#: the entrants by name; a further one is a line here, or an entry of the study's argument `entrants`
ENTRANTS: dict[str, Entrant] = {
    DEFAULTS: defaults,
    RANDOM: random_search,
    "random, 4 partitions": repeated_random_search,
    "halving": halving_search,
    SPOT: spot_search,
    "grid of paths": grid_of_paths,
    "Optuna TPE": optuna_search,
    "Optuna GP": optuna_gp,
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
