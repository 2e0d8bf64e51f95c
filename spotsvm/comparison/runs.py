"""The runs of a comparison: one search from one seed each, and the checks of the arguments."""

from __future__ import annotations

import inspect
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, TypeGuard, TypeVar, cast

from spotsvm.common.worker_interrupts import interrupts_kept_from_workers
from spotsvm.errors import ArgumentError, BudgetError, NoCompletedTrialError, SolverError
from spotsvm.solvers.search import AskTell, needs_several_objectives
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.solvers.search.registry import SearchFactory, SearchName
from spotsvm.space.space import Space
from spotsvm.study.bookkeeper import initial_trials
from spotsvm.study.given import Start, equal_start, starts
from spotsvm.study.loop import check_budget
from spotsvm.study.study import Study
from spotsvm.trials.objectives import Direction
from spotsvm.trials.recommendation import recommend
from spotsvm.trials.trial import FINISHED, Trial

Result = TypeVar("Result")


@dataclass(frozen=True)
class Task:
    """The settings that all runs of a comparison share; the fields are arguments of `compare`."""

    objective: Callable[..., float | Mapping[str, float]]
    space: Space
    n_trials: int
    direction: Direction = "minimize"
    noise: Noise = "auto"
    measure: str | None = None
    folder: Path | None = None
    start: Start | None = None

    @property
    def sign(self) -> float:
        """1 if a smaller value is better, -1 if a larger value is better."""
        return 1.0 if self.direction == "minimize" else -1.0


@dataclass(frozen=True)
class Run:
    """The trials of one search from one seed, by number; `recommended` is the number that `Study.recommend` returns."""

    search: str
    seed: int
    trials: tuple[Trial, ...]
    recommended: int | None


def run_search(task: Task, label: str, search: Entrant, seed: int) -> Run:
    """Run a search from the shared start, or resume its record; return its trials and the final recommendation."""
    path = None if task.folder is None else task.folder / record_name(label, seed)
    start = equal_start(task.space, task.start)
    with Study(
        cast("Any", task.space), cast("Any", search), seed, direction=task.direction, path=path, noise=task.noise, start=start
    ) as study:
        study.run(_with_seed(task.objective, study), task.n_trials, callback=_measure_check(task.measure), max_failures=None)
        trials = tuple(t for t in study.trials if t.state in FINISHED)[: task.n_trials]
    return Run(label, seed, trials, recommended_number(trials, task, seed))


def run_jobs(function: Callable[..., Result], jobs: Sequence[tuple[Any, ...]], n_jobs: int | None) -> Iterable[Result]:
    """Yield the results of a function for several tuples of arguments, in their order, as they become ready.

    `n_jobs` is the number of processes for joblib; None and 1 mean this process.
    """
    if n_jobs in (None, 1):
        return (function(*job) for job in jobs)
    import joblib

    with interrupts_kept_from_workers():
        parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator")
    results: Iterable[Result] = parallel(joblib.delayed(function)(*job) for job in jobs)
    return results


def recommended_number(trials: tuple[Trial, ...], task: Task, seed: int) -> int | None:
    """Return the number of the recommended trial; None if no trial has succeeded."""
    try:
        return recommend(trials, task.space.domain, sign=task.sign, noise=task.noise, seed=seed).number
    except NoCompletedTrialError:
        return None


#: maximum number of characters of a label in a file name; file systems allow 255 bytes in total
_LONGEST = 100


def record_name(label: str, seed: int) -> str:
    """Return the file name of a run: the label, with a checksum if it has characters that do not fit in a file name."""
    plain = re.sub(r"[^A-Za-z0-9.-]+", "_", label)[:_LONGEST]
    # lower case: for some file systems A.db and a.db are the same file
    mark = "" if plain == label == label.lower() else f"_{zlib.crc32(label.encode('utf-8', 'surrogatepass')):08x}"
    return f"{plain}{mark}_seed{seed}.db"


def _with_seed(objective: Callable[..., Any], study: Study) -> Callable[[dict[str, Any]], Any]:
    """Return an objective of the parameters alone: a parameter `seed` gets the seed of the running trial."""
    if not takes_seed(objective):
        return objective

    def seeded(params: dict[str, Any]) -> Any:
        return objective(params, seed=next(t.seed for t in study.trials if t.state == "running"))

    return seeded


def takes_seed(objective: Callable[..., Any]) -> bool:
    """Return whether an objective has a second parameter named `seed` that no functools.partial has set."""
    if isinstance(objective, partial) and "seed" in objective.keywords:
        return False
    try:
        parameters = list(inspect.signature(objective).parameters.values())
    except (TypeError, ValueError):  # some callables of compiled code have no signature
        return False
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return any(p.name == "seed" and p.kind in named for p in parameters[1:])


def _measure_check(measure: str | None) -> Callable[[Study, Trial], None] | None:
    """Return a callback that checks the measure, so that a misspelt name costs only one evaluation."""
    if measure is None:
        return None

    def check(study: Study, trial: Trial) -> None:
        if trial.state == "ok":
            measured(trial, measure)

    return check


def measured(trial: Trial, measure: str) -> float:
    """Return the measure of a trial; raise ArgumentError if the objective did not return it."""
    if measure not in trial.extra:
        known = ", ".join(map(repr, trial.extra)) or "none"
        raise ArgumentError(
            f"measure={measure!r} was not returned by the objective at {dict(trial.params)}; besides 'value' it returned {known}"
        )
    return trial.extra[measure]


Entrant = SearchName | SearchFactory
Searches = Sequence[Entrant | tuple[str, Entrant]] | Mapping[str, Entrant]


def labelled_searches(searches: Searches, names: Sequence[str] | None = None, *, several: bool = False) -> dict[str, Entrant]:
    """Return the searches by label: the label in `names` or in a pair, or the name of the search or callable.

    ArgumentError if there are none, two have the same label, or one cannot be created anew for each seed; also if one has several
    objectives, unless `several`.
    """
    if isinstance(searches, str) or not isinstance(searches, Iterable):
        raise ArgumentError(f"searches={searches!r} is not a list of searches; use for example ['kriging', 'random']")
    given: list[Any] = list(searches.items()) if isinstance(searches, Mapping) else list(searches)
    if not given:
        raise ArgumentError("searches is empty; use at least one search, such as 'kriging'")
    pairs = [_as_pair(item) for item in given]
    if names is not None:
        if isinstance(names, str) or len(names) != len(pairs):
            raise ArgumentError(f"names={names!r} does not fit {len(pairs)} searches; use one label for each")
        pairs = [(name, search) for name, (_, search) in zip(names, pairs, strict=True)]
    labelled: dict[str, Entrant] = {}
    for label, search in pairs:
        if not isinstance(label, str) or not label:
            raise ArgumentError(f"label={label!r} of a search is not a name; use a non-empty string")
        if label in labelled:
            raise ArgumentError(f"two searches have the label {label!r}; use (label, search) pairs with different labels")
        labelled[label] = _checked(search, label, several)
    return labelled


def _as_pair(item: Any) -> tuple[Any, Any]:
    return item if isinstance(item, tuple) and len(item) == 2 else (_label_of(item), item)


def _label_of(search: Any) -> str:
    if isinstance(search, str):
        return search
    if isinstance(search, partial):
        given = ", ".join([*map(repr, search.args), *(f"{key}={value!r}" for key, value in search.keywords.items())])
        return f"{_label_of(search.func)}({given})"
    return str(getattr(search, "__name__", type(search).__name__))


def _checked(search: Any, label: str, several: bool) -> Entrant:
    if not several and needs_several_objectives(search):  # it has no best value
        raise ArgumentError(f"search {label!r} is for several objectives, whose values cannot be ranked; leave it out")
    if isinstance(search, AskTell) and not isinstance(search, type):
        raise ArgumentError(
            f"search {label!r} is a single object, but each seed needs a new one; use a callable (domain, seed) that creates it"
        )
    if not (isinstance(search, str) or callable(search)):
        raise ArgumentError(f"search {label!r} is {search!r}; use a name, or a callable (domain, seed) that creates a search")
    return cast("Entrant", search)


def checked_seeds(seeds: int | Sequence[int]) -> list[int]:
    """Return the seeds: 0 to k - 1 for a number k, else the given seeds; ArgumentError if they are invalid or repeated."""
    if _is_integer(seeds):
        if int(seeds) < 1:
            raise ArgumentError(f"seeds={seeds!r} is not a number of runs; use 1 or more, or a list of seeds")
        return list(range(int(seeds)))
    if isinstance(seeds, str | bytes) or not isinstance(seeds, Iterable):
        raise ArgumentError(f"seeds={seeds!r} is neither a number of runs nor a list of seeds; use for example 5 or [0, 1, 2]")
    given = list(seeds)
    if not given:
        raise ArgumentError("seeds is empty; use at least one")
    for seed in given:
        if not _is_integer(seed) or seed < 0:
            raise ArgumentError(f"seeds: {seed!r} is not a seed; use integers of at least 0")
    if twice := [seed for seed in dict.fromkeys(given) if given.count(seed) > 1]:
        raise ArgumentError(f"seeds has {twice[0]!r} more than once; use each seed once")
    return [int(seed) for seed in given]


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_direction_and_jobs(direction: object, n_jobs: object) -> None:
    """Raise ArgumentError unless `direction` is valid for one objective and `n_jobs` is a number of processes or None."""
    if direction not in ("minimize", "maximize"):
        raise ArgumentError(f"direction={direction!r} is not a direction; use 'minimize' or 'maximize'")
    check_jobs(n_jobs)


def check_jobs(n_jobs: object) -> None:
    """Raise ArgumentError unless `n_jobs` is a number of processes or None."""
    if n_jobs is not None and (not _is_integer(n_jobs) or n_jobs == 0):
        raise ArgumentError(f"n_jobs={n_jobs!r} is not a number of processes; use 1 or more, -1 for all, or None")


def check_entrants(
    searches: Mapping[str, Entrant], space: Space, n_trials: int, *, noise: Noise, start: Start | None = None
) -> None:
    """Create each search once, with its start, to find errors before the first evaluation.

    BudgetError is raised if `n_trials` is invalid or smaller than a search's initial design, ArgumentError if a search cannot be
    created for this space.
    """
    if not _is_integer(n_trials) or n_trials < 1:
        raise BudgetError(f"n_trials={n_trials!r} is not a number of evaluations; use 1 or more")
    n_starts = 0 if start is None else len(starts(start, space))
    for label, search in searches.items():
        try:
            check_budget(n_trials, "n_trials", initial_trials(search, space, n_starts, noise=noise), space.domain)
        except BudgetError as error:
            raise BudgetError(f"search {label!r}: {error}") from error
        except SolverError as error:
            raise ArgumentError(f"search {label!r} cannot be created: {error}") from error
