"""The conformance suite of searches: named checks of the contract, for the library's searches and for users' searches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SearchExhaustedError, SolverError
from spotsvm.solvers.checked_numbers import is_count
from spotsvm.solvers.search.contract.base import AskTell, Search, SearchSpace, Suggestion
from spotsvm.solvers.search.registry import SearchFactory, make_search
from spotsvm.surrogates.domain import Coordinate, Domain, LogIntegers

Floats = NDArray[np.float64]
#: the value at a point in the k-th evaluation; a vector for several objectives
Response = Callable[[Floats, int], Any]


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
_EVERY = 4  # a domain meets every fourth response, the next domain the responses after those


def search_checks(
    make: str | SearchFactory, n: int = 14, *, n_objectives: int = 1, space: SearchSpace | None = None
) -> dict[str, Callable[[], None]]:
    """Return the checks of the contract of a search by name, for a test of each.

    Parameters
    ----------
    make : str or callable
        Makes a new search, like `search` in `Study`: a callable that takes a domain and a seed, such as the class; or a name.
    n : int, default=14
        Evaluations of a run, at least 12: more than the initial design of the search, so that its method is checked too.
    n_objectives : int, default=1
        Number of values of each point.
    space : Space or None, default=None
        The space to check on, for a search that declares `needs_space`; None is domains with every kind of parameter.

    Returns
    -------
    dict
        Callables without arguments that raise AssertionError, by the name of the check. For an object with only `ask` and
        `tell` there are fewer checks than for a subclass of `Search`.

    See Also
    --------
    check_search : Runs all checks.

    Examples
    --------
    In a file of tests for pytest, each check becomes one test:

    >>> from spotsvm.searches import RandomSearch, search_checks
    >>> CHECKS = search_checks(RandomSearch)
    >>> # @pytest.mark.parametrize("name", CHECKS)
    >>> def test_my_search(name):
    ...     CHECKS[name]()
    >>> list(CHECKS)[:4]
    ['points', 'same seed', 'failures', 'own arrays']
    """
    suite = _Suite(make, n, n_objectives, space)
    checks = _OF_ALL | (_OF_SEARCHES if isinstance(suite.new(suite.domain("three")), Search) else {})
    if space is not None:
        checks = {name: check for name, check in checks.items() if check is not _exhaustion}  # it needs a finite domain
    if n_objectives > 1:
        checks = checks | {"several values": _several_values}
    return {name: partial(check, suite) for name, check in checks.items()}


def check_search(make: str | SearchFactory, n: int = 14, *, n_objectives: int = 1, space: SearchSpace | None = None) -> None:
    """Check that a search keeps the contract of `Search`: valid points, determinism, failures, pending points, resumption.

    Parameters
    ----------
    make : str or callable
        Makes a new search, like `search` in `Study`: a callable that takes a domain and a seed, such as the class; or a name.
    n : int, default=14
        Evaluations of a run, at least 12: more than the initial design of the search, so that its method is checked too.
    n_objectives : int, default=1
        Number of values of each point.
    space : Space or None, default=None
        The space to check on, for a search that declares `needs_space`; None is domains with every kind of parameter.

    Raises
    ------
    AssertionError
        If the search breaks the contract; the message says how, and what would be right.

    See Also
    --------
    search_checks : The checks by name.

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
    for name, check in search_checks(make, n, n_objectives=n_objectives, space=space).items():
        try:
            check()
        except Exception as error:
            error.add_note(f"in the check {name!r}")
            raise


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


class _Suite:
    """What all checks of a search share."""

    def __init__(self, make: str | SearchFactory, n: int, n_objectives: int, space: SearchSpace | None = None):
        if isinstance(make, AskTell) and not isinstance(make, type):
            raise SolverError(f"make={make!r} is one search, and each check needs new ones; use its class, or a function")
        if not is_count(n, 12):
            raise SolverError(f"n={n!r} is too few evaluations, or no number of them; use 12 or more")
        if not is_count(n_objectives):
            raise SolverError(f"n_objectives={n_objectives!r} is not a number of values; use 1 or more")
        self.make, self.n, self.n_objectives, self.space = make, n, n_objectives, space

    def domain(self, name: str) -> Domain:
        """Return one of `DOMAINS`, or the only one that the search is checked on."""
        return DOMAINS[name] if self.space is None else self.space.domain

    def new(self, domain: Domain, seed: int = 0) -> Any:
        """Return a new search; its declared capabilities are checked."""
        return make_search(self.make, domain, seed, n_objectives=self.n_objectives, space=self.space)

    def response(self, name: str) -> Response:
        """Return a response, with one value for each objective."""
        one = RESPONSES[name]
        if self.n_objectives == 1:
            return one
        return lambda u, k: one(u, k) * np.cos(4 * u[0] * np.arange(self.n_objectives))

    def failed(self, search: Any) -> NDArray[np.bool_]:
        """Return which of the reported evaluations the search holds for failures."""
        return np.asarray(np.isnan(search.values).reshape(len(search.values), -1).all(axis=1))


def _points_of(search: Any, response: Response, n: int) -> Floats:
    """Call ask and tell n times, of a plain object too; return the points."""
    points = []
    for k in range(n):
        points.append(np.array(getattr(answer := search.ask(), "point", answer), dtype=float))
        search.tell(points[-1].copy(), response(points[-1], k))
    return np.array(points)


def _points(suite: _Suite) -> None:
    """Check that points are in the domain; those of a `Search` also canonical, and new except for a "replicate"."""
    search = suite.new(suite.domain("three"))
    if isinstance(search, Search):
        answer: Any = search.ask()
        _require(isinstance(answer, Suggestion), f"ask returned {answer!r}; return Suggestion(point, origin)")
    domains = DOMAINS if suite.space is None else {"given": suite.space.domain}
    for i, (domain_name, domain) in enumerate(domains.items()):
        for response in list(RESPONSES)[i % _EVERY :: _EVERY]:
            search = suite.new(domain)
            try:
                if isinstance(search, Search):
                    _check_suggestions(run(search, suite.response(response), suite.n), domain)
                else:
                    _check_in_cube(_points_of(search, suite.response(response), suite.n), domain)
            except Exception as error:
                error.add_note(f"on the domain {domain_name!r}, with the response {response!r}")
                raise


def _check_suggestions(suggestions: list[Suggestion], domain: Domain) -> None:
    dtypes = {str(np.asarray(s.point).dtype) for s in suggestions} - {"float64"}
    _require(not dtypes, f"points have the type {', '.join(dtypes)}; use float64")
    _check_in_cube([s.point for s in suggestions], domain)
    for s in suggestions:
        snapped = domain.snap_one(s.point)
        _require(np.array_equal(s.point, snapped), f"{s.point} is not canonical, {snapped} is; use Domain.snap_one")
    _check_new(suggestions)
    new = {tuple(s.point) for s in suggestions if s.origin != "replicate"}
    strange = [s.point for s in suggestions if s.origin == "replicate" and tuple(s.point) not in new]
    _require(not strange, f"{strange} has the origin 'replicate' and was not evaluated before; use another origin")


def _check_in_cube(points: Iterable[Any], domain: Domain) -> None:
    for point in points:
        inside = np.shape(point) == (domain.dimension,) and bool(np.all((np.asarray(point) >= 0) & (np.asarray(point) <= 1)))
        _require(
            inside, f"ask suggested {point}, which is outside the unit cube of dimension {domain.dimension}; clip it to [0, 1]"
        )


def _check_new(suggestions: list[Suggestion]) -> None:
    points = [tuple(s.point) for s in suggestions if s.origin != "replicate"]
    twice = [point for k, point in enumerate(points) if point in points[:k]]
    _require(not twice, f"{twice[:1]} is suggested twice; suggest what is_new, or give it the origin 'replicate'")


def _same_seed(suite: _Suite) -> None:
    """Check that a seed and the reported values determine the points, and that numpy's global numbers are not used."""
    kept = np.random.get_state()  # noqa: NPY002
    try:
        for domain in (suite.domain("mixed"), suite.domain("conditional")):
            runs = []
            for k in range(2):
                np.random.seed(k)  # noqa: NPY002
                before = np.random.get_state()[1]  # type: ignore[index]  # noqa: NPY002
                runs.append(_points_of(suite.new(domain, 3), suite.response("noisy"), suite.n))
                after = np.random.get_state()[1]  # type: ignore[index]  # noqa: NPY002
                _require(np.array_equal(before, after), "numpy's global random numbers change; use the generator of suggest")
            _require(
                np.array_equal(runs[0], runs[1]),
                "the same seed gives other points; draw from the generator passed to suggest alone",
            )
    finally:
        np.random.set_state(kept)  # noqa: NPY002


def _other_seed(suite: _Suite) -> None:
    """Check that another seed gives other points."""
    for domain in (suite.domain("mixed"), suite.domain("conditional")):
        one, other = (_points_of(suite.new(domain, seed), suite.response("bowl"), 8) for seed in (3, 4))
        _require(not np.array_equal(one, other), "another seed gives the same points; pass the seed to Search.__init__")


def _failures(suite: _Suite) -> None:
    """Check that a search accepts nan and infinite values for failures, and goes on."""
    domain, failing = suite.domain("mixed"), (np.nan, np.inf, -np.inf)
    search = suite.new(domain)
    for k in range(suite.n):
        point = np.array(getattr(answer := search.ask(), "point", answer), dtype=float)
        value = failing[k % 3] if k % 2 else suite.response("bowl")(point, k)
        if suite.n_objectives > 1 and k % 2:
            value = np.full(suite.n_objectives, value)
        try:
            search.tell(point, value)
        except Exception as error:
            error.add_note(f"tell({point}, {value}) must accept a failed evaluation: a value that is nan or infinite")
            raise AssertionError(f"tell does not accept the value {value} of a failed evaluation") from error
    if isinstance(search, Search):
        _require(
            np.array_equal(suite.failed(search), np.arange(suite.n) % 2 == 1),
            f"values is {search.values} after every second evaluation failed; it must be nan there, and there alone",
        )


def _own_arrays(suite: _Suite) -> None:
    """Check that a search changes no array that it is given, and keeps none that the caller may change."""
    domain = suite.domain("mixed")
    left, changed = suite.new(domain), suite.new(domain)
    response = suite.response("bowl")
    for k in range(suite.n):
        expected, answer = (np.array(getattr(a := s.ask(), "point", a), dtype=float) for s in (left, changed))
        _require(
            np.array_equal(expected, answer), "the suggestions depend on arrays that the caller changed after tell; copy them"
        )
        point, value = answer.copy(), np.asarray(response(answer, k), dtype=float)
        kept = value.copy()
        changed.tell(point, value if suite.n_objectives > 1 else float(value))
        same = np.array_equal(point, answer) and np.array_equal(value, kept)
        _require(same, f"tell changed the array {answer} that it was given to {point}; work on a copy")
        point[:] = 0.123
        left.tell(expected, response(expected, k))
        if isinstance(changed, Search):
            for array in (changed.points, changed.values):
                array[:] = 0.123
            for name in ("points", "values"):
                same = np.array_equal(getattr(changed, name), getattr(left, name))
                _require(same, f"{name} is no copy, so that a caller can change the history")


def _pending(suite: _Suite) -> None:
    """Check that pending points are not suggested again, and that their values may be reported in any order."""
    for name in ("three", "mixed", "few log integers", "conditional"):
        search = suite.new(suite.domain(name))
        run(search, suite.response("noisy"), 8)
        batch = []
        for k in range(6):
            batch.append(search.ask())
            waiting = sorted(tuple(s.point) for s in batch)
            _require(
                sorted(map(tuple, search.pending)) == waiting,
                f"pending has {len(search.pending)} points after {k + 1} calls of ask; ask must call assume, as Search.ask does",
            )
        try:
            _check_new(batch)
        except AssertionError as error:
            error.add_note("points that are pending count as suggested, although they have no value yet")
            raise
        for k, s in enumerate(reversed(batch)):
            search.tell(s.point, suite.response("bowl")(s.point, k))
        _require(search.pending == [], f"pending has {len(search.pending)} reported points; tell must remove them")


def _foreseen(suite: _Suite) -> None:
    """Check that the next `n_foreseen` points do not depend on values reported between the calls of `ask`."""
    together, alone = (suite.new(suite.domain("three")) for _ in range(2))
    response = suite.response("noisy")
    for k in range(4):
        _require(together.n_foreseen >= 1, f"n_foreseen is {together.n_foreseen}; it must be at least 1")
        n = min(together.n_foreseen, 8)
        batch = [together.ask() for _ in range(n)]
        for s in batch:
            t = alone.ask()
            _require(
                np.array_equal(s.point, t.point),
                f"n_foreseen is {n}, and a point among the next {n} depends on values reported meanwhile; return fewer",
            )
            alone.tell(t.point, response(t.point, k))
        for s in batch:
            together.tell(s.point, response(s.point, k))


def _strangers(suite: _Suite) -> None:
    """Check that points never asked for can be reported, and are not suggested afterwards."""
    domain = suite.domain("mixed")
    search = suite.new(domain)
    strangers = [np.resize([k / 9, 0.4, 0.9], domain.dimension) for k in range(9)]
    for k, point in enumerate(strangers):
        search.tell(point, suite.response("bowl")(point, k))
    told = {tuple(p) for p in search.points}
    _require(len(search.points) == 9, f"points has {len(search.points)} of 9 reported points; tell must call Search.tell")
    suggestions = run(search, suite.response("bowl"), suite.n)
    again = [s.point for s in suggestions if tuple(s.point) in told and s.origin != "replicate"]
    _require(not again, f"{again} is suggested and was reported before, without being asked for; suggest what is_new")


def _resumption(suite: _Suite) -> None:
    """Check that `assume` and `tell` in the order of a record, and the state as JSON, restore a search bit by bit."""
    for name, seed in (("three", 0), ("mixed", 1), ("mixed", 2), ("conditional", 3)):
        domain, response = suite.domain(name), suite.response("noisy" if seed else "half fails")
        search, rng = suite.new(domain, seed), np.random.default_rng(seed)
        record: list[tuple[str, Floats, Any]] = []
        # asks and tells in turn, as in a run with one worker; then in any order, with points that were never asked for
        events = ["ask", "tell"] * 10 if seed == 0 else rng.choice(["ask", "tell", "late", "stranger", "given"], 24).tolist()
        for k, event in enumerate(events):
            if event == "ask":
                record.append(("assume", search.ask().point.copy(), None))
            elif event in ("tell", "late") and search.pending:
                point = search.pending[0 if event == "tell" else -1].copy()
                record.append(("tell", point, response(point, k)))
                search.tell(*record[-1][1:])
            elif event in ("stranger", "given"):
                point = domain.snap_one(rng.random(domain.dimension))
                record.append(("tell", point, response(point, k)) if event == "stranger" else ("given", point, None))
                _apply(search, *record[-1])
        state = search.state()
        try:
            read = json.loads(json.dumps(state))
        except (TypeError, ValueError) as error:
            raise AssertionError(f"state returns {state}, which JSON cannot hold; use numbers, texts, lists, dicts") from error
        again = suite.new(domain, seed)
        for entry in record:
            _apply(again, *entry)
        again.restore(read)
        _require(
            again.n_foreseen == search.n_foreseen, f"n_foreseen is {again.n_foreseen} after a resume, and was {search.n_foreseen}"
        )
        for k in range(4):
            points = [s.ask().point for s in (search, again)]
            _require(
                np.array_equal(points[0], points[1]),
                f"a resumed search suggests {points[1]} in place of {points[0]}; compute it from points, values and pending, "
                "or have state return what these lack",
            )
            if k == 1:
                for s in (search, again):
                    s.tell(points[0], response(points[0], k))


def _apply(search: Any, event: str, point: Floats, value: Any) -> None:
    if event == "tell":
        search.tell(point, value)
    else:
        search.assume(point, given=event == "given")


def _exhaustion(suite: _Suite) -> None:
    """Check that all of a finite space is suggested, and then SearchExhaustedError raised or points replicated."""
    search, response = suite.new(_SMALL), suite.response("bowl")
    seen: set[tuple[float, ...]] = set()
    for k in range(_MOST):
        if len(seen) == 6:
            break
        try:
            suggestion = search.ask()
        except SearchExhaustedError as error:
            raise AssertionError(f"SearchExhaustedError is raised after {len(seen)} of 6 configurations") from error
        seen.add(tuple(suggestion.point))
        search.tell(suggestion.point, response(suggestion.point, k))
    _require(len(seen) == 6, f"of 6 configurations only {len(seen)} came in {_MOST} evaluations")
    try:
        further = run(search, response, suite.n)
    except SearchExhaustedError:
        return
    _require(
        all(s.origin == "replicate" for s in further),
        "suggestions continue after all configurations were reported; raise SearchExhaustedError, as new_point does",
    )


def _refusals(suite: _Suite) -> None:
    """Check that `tell` refuses invalid points and values, and remembers nothing of them."""
    search = suite.new(suite.domain("three"))
    point = search.ask().point
    one = suite.response("bowl")(np.full(len(point), 0.5), 0)
    outside: list[Any] = [[0.1], [0.1, np.nan, 0.2], [[0.1, 0.2]]]
    wrong: list[tuple[Any, Any]] = [(u, one) for u in outside if np.size(u) != len(point) or np.isnan(u).any()]
    wrong.append((point, "good"))
    wrong += [(point, [1.0] * k) for k in {0, 1, 2, 3} - {suite.n_objectives}]
    for given, value in wrong:
        try:
            search.tell(given, value)
        except (SolverError, ValueError):
            continue
        raise AssertionError(f"tell takes point={given!r}, value={value!r} on {len(point)} coordinates; raise SolverError")
    kept = len(search.pending) == 1 and len(search.values) == len(search.points) == 0
    _require(kept, "a refused point or value is remembered; check the arguments of tell before anything is changed")


def _declared(suite: _Suite) -> None:
    """Check the declared capabilities: that constraints are respected, and margins, seconds and a prior taken."""
    domain, response = suite.domain("mixed"), suite.response("bowl")
    search = suite.new(domain)
    able = search.capabilities

    def allows(u: Floats) -> bool:
        return bool(u[0] <= 0.6)

    search.allows = allows
    if able.follows_prior:
        search.take_prior(_Prior(domain))
    suggestions = []
    for k in range(suite.n):
        suggestions.append(s := search.ask())
        allowed = allows(s.point)
        _require(
            allowed or not able.respects_constraints,
            f"respects_constraints is declared, and {s.point} does not satisfy allows; suggest what is_new, or new_point",
        )
        search.tell(s.point, response(s.point, k) if allowed else np.full(suite.n_objectives, np.nan).squeeze()[()])
        if able.models_bounds:
            search.take_margins([0.4 - s.point[0], np.nan if k % 3 == 1 else 0.5])
        if able.models_seconds:
            search.take_seconds(10.0 ** (2 * s.point[0] - 1))
    _check_suggestions(suggestions, domain)


class _Prior:
    """A prior at one point."""

    def __init__(self, domain: Domain):
        self._mode = domain.snap_one(np.full(domain.dimension, 0.4))

    def log_density(self, points: Floats) -> Floats:
        return np.asarray(-10.0 * ((points - self._mode) ** 2).sum(axis=1))

    def modes(self) -> list[Floats]:
        return [self._mode]


def _several_values(suite: _Suite) -> None:
    """Check that `values` has a row for each point, which is nan if one of its values is."""
    m = suite.n_objectives
    search = suite.new(suite.domain("three"))
    _require(search.values.shape == (0, m), f"values has the shape {search.values.shape} at first; use (0, {m})")
    vectors = [np.arange(m, dtype=float), np.r_[np.nan, np.ones(m - 1)], np.nan, np.r_[np.ones(m - 1), np.inf], np.ones(m)]
    for vector in vectors:
        search.tell(search.ask().point, vector)
    failure = np.full(m, np.nan)
    expected = np.array([vectors[0], failure, failure, failure, vectors[-1]])
    _require(np.array_equal(search.values, expected, equal_nan=True), f"values is {search.values} after {vectors} were reported")


_OF_ALL: dict[str, Callable[[_Suite], None]] = {
    "points": _points,
    "same seed": _same_seed,
    "failures": _failures,
    "own arrays": _own_arrays,
}
_OF_SEARCHES: dict[str, Callable[[_Suite], None]] = {
    "other seed": _other_seed,
    "pending": _pending,
    "foreseen": _foreseen,
    "strangers": _strangers,
    "resumption": _resumption,
    "exhaustion": _exhaustion,
    "refusals": _refusals,
    "declared": _declared,
}


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise AssertionError(message)
