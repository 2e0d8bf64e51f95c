"""The arguments of a comparison: searches by label, and the seeds that all of them share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, TypeGuard, cast

import numpy as np

from solvers.errors import SolverError
from solvers.search import AskTell, needs_several_objectives
from solvers.search.base import Noise
from solvers.search.registry import SearchFactory
from spotsvm.errors import ArgumentError, BudgetError
from spotsvm.run_settings import check_budget
from spotsvm.space import Space
from spotsvm.start import Start, start_points
from spotsvm.study_search import initial_trials

Entrant = str | SearchFactory
Searches = Sequence[Entrant | tuple[str, Entrant]] | Mapping[str, Entrant]


def labelled_searches(searches: Searches, names: Sequence[str] | None = None) -> dict[str, Entrant]:
    """Return the searches by label: that of `names` or of a pair, or the name of the search or callable.

    Parameters
    ----------
    searches : sequence or dict
        Names, callables `(domain, seed)`, or (label, search) pairs; or a dict of label to search.
    names : sequence of str, optional
        A label for each search, in place of all others.

    Raises
    ------
    ArgumentError
        If there are none, two have the same label, or one cannot be created again for each seed.

    Examples
    --------
    >>> from functools import partial
    >>> from solvers.search import LatinHypercubeSearch
    >>> list(labelled_searches(["random", partial(LatinHypercubeSearch, size=10), ("once more", "random")]))
    ['random', 'LatinHypercubeSearch(size=10)', 'once more']
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
        labelled[label] = _checked(search, label)
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


def _checked(search: Any, label: str) -> Entrant:
    if needs_several_objectives(search):  # it has no best value
        raise ArgumentError(f"search {label!r} is for several objectives, whose values cannot be ranked; leave it out")
    if isinstance(search, AskTell) and not isinstance(search, type):
        raise ArgumentError(
            f"search {label!r} is a single object, but each seed needs a new one; use a callable (domain, seed) that creates it"
        )
    if not (isinstance(search, str) or callable(search)):
        raise ArgumentError(f"search {label!r} is {search!r}; use a name, or a callable (domain, seed) that creates a search")
    return cast("Entrant", search)


def checked_seeds(seeds: int | Sequence[int]) -> list[int]:
    """Return the seeds: 0 to k - 1 for a number k, else the given ones.

    Raises
    ------
    ArgumentError
        If there are none, one is repeated, or one is not an integer of at least 0.

    Examples
    --------
    >>> checked_seeds(3), checked_seeds([7, 5])
    ([0, 1, 2], [7, 5])
    """
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
    return isinstance(value, Integral | np.integer) and not isinstance(value, bool | np.bool_)


def check_direction_and_jobs(direction: object, n_jobs: object) -> None:
    """Raise ArgumentError unless `direction` is that of one objective and `n_jobs` a number of processes or None."""
    if direction not in ("minimize", "maximize"):
        raise ArgumentError(f"direction={direction!r} is not a direction; use 'minimize' or 'maximize'")
    if n_jobs is not None and (not _is_integer(n_jobs) or n_jobs == 0):
        raise ArgumentError(f"n_jobs={n_jobs!r} is not a number of processes; use 1 or more, -1 for all, or None")


def check_entrants(
    searches: Mapping[str, Entrant],
    space: Space,
    n_trials: int,
    *,
    noise: Noise,
    start: Start | None = None,
) -> None:
    """Create each search once, with its start, to find errors before the first evaluation.

    Raises
    ------
    BudgetError
        If `n_trials` is not a budget, or is smaller than a search's initial design; the message names the search.
    ArgumentError
        If a search cannot be created for this space.
    """
    if not _is_integer(n_trials) or n_trials < 1:
        raise BudgetError(f"n_trials={n_trials!r} is not a number of evaluations; use 1 or more")
    n_starts = 0 if start is None else len(start_points(start, space))
    for label, search in searches.items():
        try:
            check_budget(n_trials, "n_trials", initial_trials(search, space.domain, n_starts, noise=noise), space.domain)
        except BudgetError as error:
            raise BudgetError(f"search {label!r}: {error}") from error
        except SolverError as error:
            raise ArgumentError(f"search {label!r} cannot be created: {error}") from error
