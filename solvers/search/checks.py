"""Checks of the contract of a search, for the library's searches and for users' searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SearchExhaustedError, SolverError
from spotsvm.solvers.search.contract.base import AskTell, Suggestion
from spotsvm.surrogates.domain import Coordinate, Domain, LogIntegers

Floats = NDArray[np.float64]
#: makes a search of a domain with a seed
Make = Callable[[Domain, int], Any]
#: the value at a point in the k-th evaluation
Response = Callable[[Floats, int], float]


def _bowl(u: Floats) -> float:
    return float(((u - 0.3) ** 2).sum())


#: domains with every kind of coordinate, alone and together
DOMAINS: dict[str, Domain] = {
    "one": Domain.continuous(1),
    "three": Domain.continuous(3),
    "mixed": Domain((Coordinate(), Coordinate(levels=7), Coordinate(levels=3, categorical=True))),
    "discrete": Domain((Coordinate(levels=9), Coordinate(levels=8), Coordinate(levels=2, categorical=True))),
    "log integers": Domain((Coordinate(), Coordinate(numbers=LogIntegers(1, 500)))),
    "few log integers": Domain((Coordinate(numbers=LogIntegers(2, 10)), Coordinate(levels=2, categorical=True))),
    "conditional": Domain(
        (
            Coordinate(levels=2, categorical=True),
            Coordinate(),
            Coordinate(parent=0, parent_levels=frozenset({0})),
            Coordinate(levels=4, parent=0, parent_levels=frozenset({1})),
        )
    ),
}

#: responses, well-behaved and not
RESPONSES: dict[str, Response] = {
    "bowl": lambda u, k: _bowl(u),
    "constant": lambda u, k: 1.0,
    "plateau": lambda u, k: float(np.floor(4 * ((u - 0.3) ** 2).sum())),
    "outliers": lambda u, k: _bowl(u) + 1e6 * (k % 4 == 1),
    "noisy": lambda u, k: _bowl(u) + 0.3 * np.random.default_rng([k, 5]).normal(),
    "huge": lambda u, k: 1e300 * _bowl(u),
    "offset": lambda u, k: 1e12 + _bowl(u),
    "tiny": lambda u, k: 1e-200 * _bowl(u),
    "half fails": lambda u, k: np.nan if k % 2 else _bowl(u),
    "a region fails": lambda u, k: np.inf if u[0] > 0.5 else _bowl(u),
    "all fail": lambda u, k: np.nan,
}

_MOST = 100  # evaluations within which all points of a space of six configurations must be suggested
_SMALL = Domain((Coordinate(levels=3), Coordinate(levels=2, categorical=True)))


def check_search(make: Make, n: int = 14) -> None:
    """Check that a search keeps the contract of `Search`: canonical and new points, determinism, resumption, refusals.

    Parameters
    ----------
    make : callable
        Takes a domain and a seed and makes a new search, such as its class.
    n : int, default=14
        Evaluations of a run, at least 12: more than the initial design of the search, so that its method is checked too.

    Raises
    ------
    AssertionError
        If the search breaks the contract; the message says where.

    Examples
    --------
    >>> from spotsvm.searches import Search, Suggestion
    >>> class Around(Search):
    ...     def suggest(self, rng):
    ...         centre = (
    ...             self.points[-1]
    ...             if len(self.points)
    ...             else np.full(self.domain.dimension, 0.5)
    ...         )
    ...         point = self.domain.snap_one(
    ...             np.clip(rng.normal(centre, 0.1), 0, 1)
    ...         )
    ...         return Suggestion(
    ...             point if self.is_new(point) else self.new_point(rng), "around"
    ...         )
    >>> check_search(Around)
    """
    for domain_name, domain in DOMAINS.items():
        for response_name, response in RESPONSES.items():
            try:
                check_points(make, domain, response, n)
            except Exception as error:
                error.add_note(f"on the domain {domain_name!r}, with the response {response_name!r}")
                raise
        check_seed(make, domain, n)
        check_pending(make, domain)
    for name in ("mixed", "three"):
        check_resumption(make, DOMAINS[name], n)
    check_foreseen(make)
    check_strangers(make, n)
    check_exhaustion(make, n)
    check_refusals(make)


def run(search: Any, response: Response, n: int, start: int = 0) -> list[Suggestion]:
    """Call ask and tell n times; return the suggestions."""
    suggestions = []
    for k in range(start, start + n):
        suggestions.append(search.ask())
        search.tell(suggestions[-1].point, response(suggestions[-1].point, k))
    return suggestions


def replayed(search: Any, points: Any, values: Any, state: dict[str, Any] | None = None) -> Any:
    """Return a new search after the replay of a record, each point reported at once, and the restoration of the state."""
    for point, value in zip(points, values, strict=True):
        search.assume(point)
        search.tell(point, value)
    if state is not None:
        search.restore(state)
    return search


def check_points(make: Make, domain: Domain, response: Response, n: int) -> None:
    """Check that the points of a run are canonical, and that no point comes twice except as a "replicate"."""
    search = make(domain, 0)
    _require(isinstance(search, AskTell), f"{search!r} has no ask and tell")
    suggestions = run(search, response, n)
    _require(all(isinstance(s, Suggestion) for s in suggestions), "ask must return a Suggestion")
    points = np.array([s.point for s in suggestions])
    _require(points.dtype == np.float64, f"points have the type {points.dtype}; use floats")
    _require(bool(((points >= 0) & (points <= 1)).all()), "a point is outside the unit cube")
    _require(np.array_equal(points, domain.snap(points)), "a point is not canonical; use Domain.snap_one")
    new = {tuple(s.point) for s in suggestions if s.origin != "replicate"}
    n_again = sum(s.origin == "replicate" for s in suggestions)
    _require(len(new) + n_again == n, 'a point is suggested twice, and its origin is not "replicate"')
    _require(all(tuple(s.point) in new for s in suggestions), 'a "replicate" is at a point that was not evaluated before')


def check_seed(make: Make, domain: Domain, n: int) -> None:
    """Check that the same seed gives the same points, and another seed other points."""
    a, b = (run(make(domain, 3), RESPONSES["bowl"], n) for _ in range(2))
    _require(_same(a, b), "the same seed gives other points; use only the generator passed to suggest")
    _require(not _same(a[:8], run(make(domain, 4), RESPONSES["bowl"], 8)), "another seed gives the same points")


def check_pending(make: Make, domain: Domain) -> None:
    """Check that pending points are not suggested again, and that their values may be reported in any order."""
    search = make(domain, 0)
    run(search, RESPONSES["noisy"], 8)
    batch = [search.ask() for _ in range(6)]
    new = [tuple(s.point) for s in batch if s.origin != "replicate"]
    _require(len(set(new)) == len(new), "a pending point is suggested again")
    _require(len(search.pending) == 6, "pending lacks a point that was asked for")
    for k, s in enumerate(reversed(batch)):
        search.tell(s.point, float(k))
    _require(search.pending == [], "pending contains a reported point")


def check_foreseen(make: Make) -> None:
    """Check that the points within `n_foreseen` do not depend on values reported between the calls of `ask`."""
    together, alone = (make(DOMAINS["three"], 0) for _ in range(2))
    for k in range(4):
        _require(together.n_foreseen >= 1, f"n_foreseen is {together.n_foreseen}; it must be at least 1")
        batch = [together.ask() for _ in range(min(together.n_foreseen, 8))]
        for s in batch:
            t = alone.ask()
            _require(np.array_equal(s.point, t.point), "a point within n_foreseen depends on a value")
            alone.tell(t.point, RESPONSES["noisy"](t.point, k))
        for s in batch:
            together.tell(s.point, RESPONSES["noisy"](s.point, k))


def check_strangers(make: Make, n: int) -> None:
    """Check that points never asked for can be reported, and are not suggested afterwards."""
    search = make(DOMAINS["mixed"], 0)
    for k in range(9):
        search.tell([k / 9, 0.4, 0.9], float(k))
    told = {tuple(p) for p in search.points}
    suggestions = run(search, RESPONSES["bowl"], n)
    _require(all(tuple(s.point) not in told for s in suggestions if s.origin != "replicate"), "a reported point is suggested")


def check_resumption(make: Make, domain: Domain, n: int) -> None:
    """Check that `assume` and `tell` in the order of a record, and the state, restore a search bit by bit."""
    undisturbed = make(domain, 0)
    first = run(undisturbed, RESPONSES["noisy"], 10)
    state = undisturbed.state()
    rest = run(undisturbed, RESPONSES["noisy"], n - 10, start=10)
    values = [RESPONSES["noisy"](s.point, k) for k, s in enumerate(first)]
    resumed = replayed(make(domain, 0), [s.point for s in first], values, state)
    again = run(resumed, RESPONSES["noisy"], n - 10, start=10)
    _require(_same(rest, again), "a resumed search suggests other points; state must return all that the history lacks")


def check_exhaustion(make: Make, n: int) -> SearchExhaustedError:
    """Check that SearchExhaustedError is raised after each configuration of a finite space, and not before; return it."""
    search = make(_SMALL, 0)
    seen: set[tuple[float, ...]] = set()
    for _ in range(_MOST):
        if len(seen) == 6:
            break
        suggestion = search.ask()
        seen.add(tuple(suggestion.point))
        search.tell(suggestion.point, RESPONSES["bowl"](suggestion.point, 0))
    _require(len(seen) == 6, f"of 6 configurations only {len(seen)} came in {_MOST} evaluations")
    try:
        run(search, RESPONSES["bowl"], n)
    except SearchExhaustedError as error:
        return error
    raise AssertionError(
        "suggestions continue after all configurations were reported; raise SearchExhaustedError, as new_point does"
    )


def check_refusals(make: Make) -> None:
    """Check that `tell` refuses arguments that are not points of the unit cube."""
    for point in ([0.1], [0.1, np.nan, 0.2], [[0.1, 0.2]]):
        try:
            make(DOMAINS["three"], 0).tell(point, 1.0)
        except SolverError:
            continue
        raise AssertionError(f"tell takes point={point!r} in three dimensions; raise SolverError")


def _same(some: list[Suggestion], others: list[Suggestion]) -> bool:
    return all(np.array_equal(s.point, t.point) for s, t in zip(some, others, strict=True))


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)
