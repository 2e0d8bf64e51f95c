"""Searches by name, and what a record needs to know of one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from solvers.errors import SolverError
from solvers.search.base import AskTell, Search
from solvers.search.kriging_search import KrigingSearch, Noise
from solvers.search.latin_hypercube import LatinHypercubeSearch
from solvers.search.random_search import RandomSearch
from surrogates.domain import Domain

SearchFactory = Callable[[Domain, int], AskTell]

#: Koch et al. 2011: Gaussian correlation, maximum likelihood by CMA-ES, ten design points, and Forrester's reinterpolation
#: in place of repeats (section 2.1.2)
koch2011 = partial(
    KrigingSearch,
    correlation="gaussian",
    inference="mle-cmaes",
    criterion="reinterpolation",
    repeat_below=0.0,
    warped=False,
    n_initial=10,
    centre=False,
)

SEARCHES: dict[str, Callable[..., Search]] = {
    "kriging": KrigingSearch,
    "koch2011": koch2011,
    "random": RandomSearch,
    "lhs": LatinHypercubeSearch,
}


def make_search(search: str | SearchFactory | AskTell, domain: Domain, seed: int, *, noise: Noise = "auto") -> AskTell:
    """Make a search from its name, from something that makes one, or take it as it is.

    Parameters
    ----------
    search : str, callable or object
        A name of `SEARCHES`; or a callable that takes the domain and the seed, such as a class or a functools.partial
        of one; or an object with `ask` and `tell`.
    domain : Domain
        The unit cube to search.
    seed : int
        Seed of every random choice.
    noise : "auto" or bool, default="auto"
        What is known of the objective's noise; for the searches that can use it.

    Raises
    ------
    SolverError
        If the name is unknown, or what the callable makes lacks `ask` or `tell`.
    """
    if isinstance(search, str):
        if search not in SEARCHES:
            raise SolverError(f"search={search!r} is unknown; use one of {', '.join(SEARCHES)}, or an object with ask and tell")
        factory = SEARCHES[search]
        kind = factory.func if isinstance(factory, partial) else factory
        return factory(domain, seed, noise=noise) if kind is KrigingSearch else factory(domain, seed)
    if isinstance(search, AskTell) and not isinstance(search, type):
        return search
    if not callable(search):
        raise SolverError(f"search={search!r} has no ask and tell; use a name, an object that has, or a callable that makes one")
    made = search(domain, seed)
    if not isinstance(made, AskTell):
        raise SolverError(f"search={search!r} made {made!r}, which has no ask and tell")
    return made


def describe_search(search: Any) -> str:
    """Give a text by which two studies can be told to use the same search."""
    if isinstance(search, str):
        return search
    if isinstance(search, partial):
        arguments = ", ".join(f"{key}={value!r}" for key, value in sorted(search.keywords.items()))
        return f"{describe_search(search.func)}({arguments})"
    kind = search if isinstance(search, type) or hasattr(search, "__qualname__") else type(search)
    return f"{kind.__module__}.{kind.__qualname__}"
