"""Searches by name, and their descriptions for a record."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal, NewType, cast

from spotsvm.errors import SolverError
from spotsvm.solvers.search.cmaes_search import CmaesSearch
from spotsvm.solvers.search.contract.base import (
    AskTell,
    Capabilities,
    LatinHypercubeSearch,
    Noise,
    RandomSearch,
    Search,
    SearchSpace,
)
from spotsvm.solvers.search.keerthi_lin_search import KeerthiLinSearch
from spotsvm.solvers.search.kriging.koch_search import KochSearch
from spotsvm.solvers.search.kriging.kriging_search import KrigingSearch
from spotsvm.solvers.search.lbfgsb_search import LbfgsbSearch
from spotsvm.solvers.search.multi_objective.multi_objective_search import (
    MultiObjectiveLatinHypercubeSearch,
    MultiObjectiveRandomSearch,
    MultiObjectiveSearch,
)
from spotsvm.solvers.search.multi_objective.nsga2_search import Nsga2Search
from spotsvm.solvers.search.multi_objective.parego_search import ParegoSearch
from spotsvm.solvers.search.vns_search import VnsSearch
from spotsvm.surrogates.domain import Domain

SearchFactory = Callable[[Domain, int], AskTell]

#: a name returned by `register_search`
RegisteredSearch = NewType("RegisteredSearch", str)

#: names of searches for type checkers; a test compares them with `SEARCHES`
LibrarySearch = Literal[
    "kriging", "kriging_per_second", "koch2011", "vns", "carrizosa2014", "keerthi_lin", "cmaes", "lbfgsb", "random", "lhs",
    "nsga2", "parego",
]  # fmt: skip
SearchName = LibrarySearch | RegisteredSearch

#: expected improvement per predicted second
kriging_per_second = partial(KrigingSearch, per_second=True)

#: Koch et al. 2011: Gaussian correlation, maximum likelihood by CMA-ES, ten design points, reinterpolation (section 2.1.2), and
#: the repeats of Algorithm 1 from k_0 = 2 on
koch2011 = partial(
    KochSearch,
    correlation="gaussian",
    inference="mle-cmaes",
    criterion="reinterpolation",
    warped=False,
    n_initial=10,
    centre=False,
)

#: Carrizosa et al. 2014, section 3: r_kappa = kappa in binary logarithms, kappa_max = 25, a random start (Algorithm 2)
carrizosa2014 = partial(
    VnsSearch, start="random", step=1.0, unit="axis", radii="linear", kappa_max=25, plateau="stay", opening="narrowest"
)

_SEARCHES: dict[str, Callable[..., AskTell]] = {
    "kriging": KrigingSearch,
    "koch2011": koch2011,
    "vns": VnsSearch,
    "carrizosa2014": carrizosa2014,
    "keerthi_lin": KeerthiLinSearch,
    "cmaes": CmaesSearch,
    "lbfgsb": LbfgsbSearch,
    "random": RandomSearch,
    "lhs": LatinHypercubeSearch,
    "nsga2": Nsga2Search,
    "parego": ParegoSearch,
    "kriging_per_second": kriging_per_second,
}

#: the searches by name; `register_search` adds to them
SEARCHES: Mapping[str, Callable[..., AskTell]] = MappingProxyType(_SEARCHES)

#: counterparts for several objectives of the searches that use no values, under the same names
_FOR_SEVERAL: dict[Any, type[MultiObjectiveSearch]] = {
    RandomSearch: MultiObjectiveRandomSearch,
    LatinHypercubeSearch: MultiObjectiveLatinHypercubeSearch,
}


def register_search(name: str, factory: SearchFactory) -> RegisteredSearch:
    """Register a search under a name for `search=`, in this process.

    A record stores only the name: register the search again before you resume the record.

    Parameters
    ----------
    name : str
        The name: letters, digits, "_" and "-".
    factory : callable
        Makes the search from a domain and a seed: a subclass of `Search`, a functools.partial of one, or a function.

    Returns
    -------
    str
        The name, for `search=`: type checkers accept it like the library's names.

    Raises
    ------
    SolverError
        If the name is invalid or already used by another search, or if the factory is not callable.

    See Also
    --------
    Search : The base class of searches.

    Examples
    --------
    >>> (
    ...     register_search("random", RandomSearch),
    ...     SEARCHES["random"].__name__,
    ... )  # the same search again is no error
    ('random', 'RandomSearch')
    """
    if not isinstance(name, str) or not re.fullmatch(r"[\w-]+", name):
        raise SolverError(f"name={name!r} is no name of a search; use letters, digits, '_' and '-'")
    if not callable(factory):
        raise SolverError(f"factory={factory!r} cannot be called; use a class, or a function of a domain and a seed")
    if _SEARCHES.get(name, factory) is not factory:
        raise SolverError(f"name={name!r} is another search's already; use another name")
    _SEARCHES[name] = factory
    return RegisteredSearch(name)


def make_search(
    search: str | SearchFactory | AskTell,
    domain: Domain,
    seed: int,
    *,
    noise: Noise = "auto",
    n_objectives: int = 1,
    space: SearchSpace | None = None,
) -> AskTell:
    """Make a search from a name of `SEARCHES` or a callable of domain and seed; a search, with `ask` and `tell`, is returned.

    `noise` is passed to the library's searches that use it, by name, as a class, or as a partial that does not set it, and the
    space of the domain to a search that needs it.
    """
    if isinstance(search, str):
        if search not in SEARCHES:
            raise SolverError(f"search={search!r} is unknown; use one of {', '.join(SEARCHES)}, or an object with ask and tell")
        made = _call(SEARCHES[search], domain, seed, n_objectives, repr(search), noise=noise)
    elif isinstance(search, AskTell) and not isinstance(search, type):
        made = search
    elif not callable(search):
        raise SolverError(f"search={search!r} has no ask and tell; use a name, an object that has, or a callable that makes one")
    else:
        made = _call(search, domain, seed, n_objectives, describe_search(search), noise=noise)
    if not isinstance(made, AskTell):
        raise SolverError(f"search={search!r} made {made!r}, which has no ask and tell")
    _check_capabilities(made)
    if isinstance(made, Search):
        _check_number(made, n_objectives, repr(search) if isinstance(search, str) else describe_search(search))
    if capabilities_of(made).needs_space:
        if space is None:
            raise SolverError(
                f"search={describe_search(search)!r} needs the parameters behind the coordinates, and there is a domain alone; "
                "use it for a whole space, in SpotSearchCV or Study, and not as a part of another search"
            )
        cast("Search", made).take_space(space)
    return made


def _call(factory: Any, domain: Domain, seed: int, n_objectives: int, shown: str, **settings: Any) -> Any:
    """Call the factory of a search, in the variant for several objectives if needed.

    `settings` are arguments for those of the library's searches that take them, unless a partial sets them.
    """
    kind = _kind(factory)
    if n_objectives > 1 and isinstance(kind, type) and kind in _FOR_SEVERAL:
        kind = _FOR_SEVERAL[kind]
        factory = partial(kind, **getattr(factory, "keywords", {}))
    takes_several = isinstance(kind, type) and issubclass(kind, MultiObjectiveSearch)
    arguments = {}
    if isinstance(kind, type) and issubclass(kind, Search):
        _check_kind(takes_several, n_objectives, shown)
        free = inspect.signature(factory).parameters.keys() - getattr(factory, "keywords", {}).keys()
        arguments = {name: value for name, value in settings.items() if name in free}
    if takes_several:
        arguments["n_objectives"] = n_objectives
    return factory(domain, seed, **arguments)


def needs_several_objectives(search: Any) -> bool:
    """Return whether a search, given as for `make_search`, requires several objectives; False for a function (unknown)."""
    kind = _kind(SEARCHES.get(search) if isinstance(search, str) else search)
    return issubclass(kind if isinstance(kind, type) else type(kind), MultiObjectiveSearch)


def needs_space(search: Any) -> bool:
    """Return whether a search, given as for `make_search`, needs the space behind its domain; False for a function (unknown)."""
    kind = _kind(SEARCHES.get(search) if isinstance(search, str) else search)
    return isinstance(declared := getattr(kind, "capabilities", None), Capabilities) and declared.needs_space


def _kind(factory: Any) -> Any:
    while isinstance(factory, partial):
        factory = factory.func
    return factory


def capabilities_of(search: AskTell) -> Capabilities:
    """Return the declared capabilities of a search; the defaults for an object with only `ask` and `tell`."""
    declared = getattr(search, "capabilities", None)
    return Capabilities() if declared is None else declared


def _check_capabilities(search: AskTell) -> None:
    """Raise SolverError if a search's capabilities are invalid, or if it lacks the method of a capability."""
    name, declared = type(search).__name__, capabilities_of(search)
    if not isinstance(declared, Capabilities):
        raise SolverError(f"{name}.capabilities={declared!r} is invalid; use Capabilities(...)")
    for field, count in (("n_initial", declared.n_initial), ("max_given", declared.max_given)):
        if not isinstance(count, Real) or isinstance(count, bool) or not count >= 0:
            raise SolverError(f"{name}.capabilities has {field}={count!r}; use a number of points, 0 or more")
    methods = {
        "models_bounds": "take_margins",
        "models_seconds": "take_seconds",
        "follows_prior": "take_prior",
        "needs_space": "take_space",
    }
    for field, method in methods.items():
        own = getattr(type(search), method, None)
        if getattr(declared, field) and own in (None, getattr(Search, method)):
            raise SolverError(f"{name}.capabilities has {field}=True, and there is no {name}.{method}; write it, or use False")


def _check_number(made: Search, n_objectives: int, shown: str) -> None:
    takes_several = isinstance(made, MultiObjectiveSearch)
    _check_kind(takes_several, n_objectives, shown)
    if isinstance(made, MultiObjectiveSearch) and made.n_objectives != n_objectives:
        raise SolverError(
            f"search={shown} was made for {made.n_objectives} objectives, and there are {n_objectives}; "
            f"make it with n_objectives={n_objectives}"
        )


def _check_kind(takes_several: bool, n_objectives: int, shown: str) -> None:
    if takes_several and n_objectives == 1:
        raise SolverError(
            f"search={shown} is for two or more objectives, and there is one; "
            "name a direction for each, such as direction=('minimize', 'minimize'), or use a search of one objective"
        )
    if not takes_several and n_objectives > 1:
        able = [name for name, factory in SEARCHES.items() if needs_several_objectives(name) or factory in _FOR_SEVERAL]
        raise SolverError(f"search={shown} has one objective, and there are {n_objectives}; use one of {', '.join(able)}")


def describe_search(search: Any) -> str:
    """Return a text that identifies a search across studies; for the library's own searches without the module."""
    if isinstance(search, str):
        return search
    if isinstance(search, partial):
        arguments = ", ".join(f"{key}={_describe_value(value)}" for key, value in sorted(search.keywords.items()))
        return f"{describe_search(search.func)}({arguments})"
    kind = search if isinstance(search, type) or hasattr(search, "__qualname__") else type(search)
    return kind.__qualname__ if kind.__module__.startswith("spotsvm.") else f"{kind.__module__}.{kind.__qualname__}"


def _describe_value(value: Any) -> str:
    """Return the `repr` of an argument, but without memory addresses."""
    if isinstance(value, list | tuple):
        inside = ", ".join(_describe_value(v) for v in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(value) == 1 else ''})"
    if hasattr(value, "get_params") and not isinstance(value, type):
        usual = inspect.signature(type(value)).parameters
        described = {name: _describe_value(v) for name, v in sorted(value.get_params(deep=False).items())}
        changed = (f"{k}={v}" for k, v in described.items() if k not in usual or v != _describe_value(usual[k].default))
        return f"{describe_search(type(value))}({', '.join(changed)})"
    if callable(value) or repr(value) == object.__repr__(value):
        return describe_search(value)
    return repr(value)
