"""A search that varies some parameters first, and then all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import ArgumentError
from spotsvm.solvers.search import NestedSearch, Stage
from spotsvm.solvers.search.registry import SearchFactory, SearchName
from spotsvm.space.space import Space
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]


def opening(
    space: Mapping[str, Any], first: Sequence[str], n_trials: int = 40, search: SearchName | SearchFactory = "kriging"
) -> SearchFactory:
    """Make a search that first varies some parameters, with the others in the middle of their ranges, and then all of them.

    Pass the result as `search=`, with the same space. The middle of a range is the median of its distribution. If the medians are
    good default values, many parameters can be tuned with few trials. The later trials use the results of the first ones.

    Parameters
    ----------
    space : dict
        The search space: names to distributions or lists of values.
    first : sequence of str
        The parameters that are varied from the beginning.
    n_trials : int, default=40
        Number of trials that vary only these parameters; starting points do not count.
    search : str or callable, default="kriging"
        The search of both parts.

    Returns
    -------
    callable
        Makes the search from a domain and a seed.

    Raises
    ------
    ArgumentError
        If the space is no dictionary, `first` is empty, unknown or all parameters that vary, or `n_trials` or `search` is
        invalid; a ValueError.

    See Also
    --------
    register_search : Gives such a search a name.
    spotsvm.SpotSearchCV : Takes it as `search`.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from spotsvm import Study
    >>> space = {
    ...     name: loguniform(2**-5, 2**5)
    ...     for name in ("C", "gamma", "weight__a", "weight__b")
    ... }
    >>> study = Study(space, opening(space, ["C", "gamma"], 8), seed=0)
    >>> _ = study.run(
    ...     lambda p: sum(np.log2(value) ** 2 for value in p.values()), n_trials=16
    ... )
    >>> [round(t.params["weight__a"], 6) == 1 for t in study.trials].count(True)
    8
    """
    if not isinstance(space, Mapping):
        raise ArgumentError(f"space={space!r}; use one dictionary of parameters")
    if isinstance(first, str) or not isinstance(first, Sequence):
        raise ArgumentError(f"first={first!r}; use a list of parameter names")
    if not isinstance(n_trials, Integral) or isinstance(n_trials, bool) or n_trials < 1:
        raise ArgumentError(f"n_trials={n_trials!r} is not a number of trials; use 1 or more")
    if not (isinstance(search, str) or callable(search)):
        raise ArgumentError(f"search={search!r}; use a name, such as 'kriging', or a callable that makes a search")
    whole = Space(space)
    names = [axis.name for axis in whole.axes]
    unknown = [name for name in first if name not in names]
    if unknown or not first or set(names) == set(first):
        wrong = f"{unknown[0]!r} is not a parameter that varies" if unknown else "use some of the parameters, but not all"
        raise ArgumentError(f"first={list(first)!r}: {wrong}; the parameters that vary are {', '.join(names)}")
    open_ = np.flatnonzero([name in first for name in names])
    middle = whole.domain.snap_one(np.full(whole.domain.dimension, 0.5))
    few = Domain(tuple(whole.domain.coordinates[k] for k in open_))
    stages = (
        Stage(few, int(n_trials), partial(_embed, middle, open_), partial(_restrict, open_), name=", ".join(sorted(first))),
        Stage(whole.domain, 1, name="all parameters"),
    )
    return partial(NestedSearch, stages=stages, inner=search, whole=False)


def _embed(middle: Floats, open_: NDArray[np.intp], point: Floats) -> Floats:
    whole = middle.copy()
    whole[open_] = point
    return whole


def _restrict(open_: NDArray[np.intp], point: Floats) -> Floats:
    return point[open_]
