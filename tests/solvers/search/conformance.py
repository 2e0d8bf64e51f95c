"""What every search must do; a search's own test subclasses this, and names the search."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.solvers.errors import SearchExhaustedError, SolverError
from spotsvm.solvers.search.contract.base import AskTell, Suggestion
from spotsvm.surrogates.domain import Coordinate, Domain, LogIntegers


def branin(u):
    x, y = 15 * u[0] - 5, 15 * u[1]
    return (y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


def bowl(u):
    return float(((u - 0.3) ** 2).sum())


def zdt1(u):
    g = 1 + 9 * u[1:].mean()
    return np.array([u[0], g * (1 - np.sqrt(u[0] / g))])


DOMAINS = {
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

RESPONSES = {
    "bowl": lambda u, k: bowl(u),
    "constant": lambda u, k: 1.0,
    "plateau": lambda u, k: float(np.floor(4 * ((u - 0.3) ** 2).sum())),
    "outliers": lambda u, k: bowl(u) + 1e6 * (k % 4 == 1),
    "noisy": lambda u, k: bowl(u) + 0.3 * np.random.default_rng([k, 5]).normal(),
    "huge": lambda u, k: 1e300 * bowl(u),
    "offset": lambda u, k: 1e12 + bowl(u),
    "tiny": lambda u, k: 1e-200 * bowl(u),
    "half fails": lambda u, k: np.nan if k % 2 else bowl(u),
    "a region fails": lambda u, k: np.inf if u[0] > 0.5 else bowl(u),
    "all fail": lambda u, k: np.nan,
}

MIXED = DOMAINS["mixed"]
COPIES = pytest.mark.parametrize("copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))], ids=["deepcopy", "pickle"])
N = 14


def run(search, response, n, start=0):
    """Ask and tell n times; return the suggestions. A response is of a point and of the number of its evaluation."""
    suggestions = []
    for k in range(start, start + n):
        suggestions.append(search.ask())
        search.tell(suggestions[-1].point, response(suggestions[-1].point, k))
    return suggestions


def drive(search, f, n):
    """Do so with a function of the point alone."""
    return run(search, lambda u, k: f(u), n)


def drive_points(search, f, n):
    return np.array([s.point for s in drive(search, f, n)])


def replayed(search, points, values, state=None):
    """Return a fresh search after a record: of what was asked for, and told at once, and of the state."""
    for point, value in zip(points, values, strict=True):
        search.assume(point)
        search.tell(point, value)
    if state is not None:
        search.restore(state)
    return search


def record_test(*makes, max_examples=25):
    """Return a test: whatever was asked, told, told late, or told and assumed without being asked, its record brings it back."""

    @settings(max_examples=max_examples, deadline=None)
    @given(
        st.sampled_from(makes),
        st.lists(st.sampled_from(["ask", "tell", "late", "stranger", "assume"]), min_size=20, max_size=60),
        st.integers(0, 99),
    )
    def test(make, events, seed):
        search, rng, record = make(seed=seed), np.random.default_rng(seed), []
        for event in events:
            if event == "ask":
                record.append(("assume", search.ask().point, 0.0))
            elif event in ("tell", "late") and search.pending:
                point = search.pending[0 if event == "tell" else -1]
                record.append(("tell", point, rng.choice([round(bowl(point), 1), np.nan], p=[0.9, 0.1])))
                search.tell(*record[-1][1:])
            elif event in ("stranger", "assume"):
                point = search.domain.snap_one(rng.random(search.domain.dimension))
                record.append(("tell" if event == "stranger" else "assume", point, rng.random()))
                search.tell(*record[-1][1:]) if event == "stranger" else search.assume(point)
        again = make(seed=seed)
        for what, point, value in record:
            again.tell(point, value) if what == "tell" else again.assume(point)
        again.restore(search.state())
        assert again.n_foreseen == search.n_foreseen
        assert all(np.array_equal(search.ask().point, again.ask().point) for _ in range(5))

    return test


class SearchConformance:
    """Inherit, and define `make`; `n` is how many points a run has, some beyond the initial design.

    A slow search meets on each domain every second or third response only (`every`), other ones on other domains.
    """

    n = N
    every = 1

    def make(self, domain, seed=0):
        """Return a fresh search."""
        raise NotImplementedError

    @pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
    def test_points_are_canonical_and_new(self, domain):
        first = list(DOMAINS.values()).index(domain) % self.every
        for name, response in list(RESPONSES.items())[first :: self.every]:
            try:
                self.check_points(domain, response)
            except Exception as error:
                error.add_note(f"the response: {name}")
                raise

    def check_points(self, domain, response):
        """Check that a run's points are of the domain, and that none comes twice unless that is meant."""
        search = self.make(domain)
        assert isinstance(search, AskTell)
        suggestions = run(search, response, self.n)
        points = np.array([s.point for s in suggestions])
        assert all(isinstance(s, Suggestion) for s in suggestions)
        assert points.dtype == np.float64
        assert ((points >= 0) & (points <= 1)).all()
        assert np.array_equal(points, domain.snap(points))
        meant = [s.origin == "replicate" for s in suggestions]
        once = [tuple(p) for p, again in zip(points, meant, strict=True) if not again]
        assert len(set(once)) == len(once)
        assert all(tuple(p) in set(once) for p, again in zip(points, meant, strict=True) if again)

    @pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
    def test_same_seed_same_points(self, domain):
        a, b = (run(self.make(domain, seed=3), RESPONSES["bowl"], self.n) for _ in range(2))
        assert all(np.array_equal(x.point, y.point) for x, y in zip(a, b, strict=True))
        c = run(self.make(domain, seed=4), RESPONSES["bowl"], n=8)
        assert not all(np.array_equal(x.point, y.point) for x, y in zip(a[:8], c, strict=True))

    def test_failures_are_noted_where_they_matter(self):
        search = self.make(DOMAINS["three"])
        run(search, RESPONSES["half fails"], self.n)
        assert np.isnan(search.values).sum() == self.n // 2

    @pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
    def test_pending_points_are_not_proposed_again(self, domain):
        search = self.make(domain)
        run(search, RESPONSES["noisy"], n=8)
        batch = [search.ask() for _ in range(6)]
        new = [tuple(s.point) for s in batch if s.origin != "replicate"]
        assert len(set(new)) == len(new)
        assert len(search.pending) == 6
        for k, s in enumerate(reversed(batch)):
            search.tell(s.point, float(k))
        assert search.pending == []

    def test_what_is_ready_can_be_asked_for_before_anything_is_told(self):
        """And is what a search suggests that is told after each point."""
        together, alone = (self.make(DOMAINS["three"]) for _ in range(2))
        for k in range(4):
            batch = [together.ask() for _ in range(min(together.n_foreseen, 8))]
            assert batch
            for s in batch:
                t = alone.ask()
                assert np.array_equal(s.point, t.point)
                alone.tell(t.point, RESPONSES["noisy"](t.point, k))
            for s in batch:
                together.tell(s.point, RESPONSES["noisy"](s.point, k))

    def test_points_that_were_never_asked_for_can_be_told(self):
        search = self.make(DOMAINS["mixed"])
        for k in range(9):
            search.tell([k / 9, 0.4, 0.9], float(k))
        told = {tuple(p) for p in search.points}
        assert all(tuple(s.point) not in told for s in run(search, RESPONSES["bowl"], self.n) if s.origin != "replicate")

    def test_a_search_goes_on_as_if_nothing_had_happened(self):
        """`assume` and `tell` in the order of a record, and the state: the rest is the same to the bit."""
        for name in ("mixed", "three"):
            undisturbed = self.make(DOMAINS[name])
            first = run(undisturbed, RESPONSES["noisy"], n=10)
            state = undisturbed.state()
            rest = run(undisturbed, RESPONSES["noisy"], n=self.n - 10, start=10)
            values = [RESPONSES["noisy"](s.point, k) for k, s in enumerate(first)]
            resumed = replayed(self.make(DOMAINS[name]), [s.point for s in first], values, state)
            again = run(resumed, RESPONSES["noisy"], n=self.n - 10, start=10)
            assert all(np.array_equal(x.point, y.point) for x, y in zip(rest, again, strict=True))

    def test_a_small_space_is_exhausted_and_says_so(self):
        domain = Domain((Coordinate(levels=3), Coordinate(levels=2, categorical=True)))
        search, seen = self.make(domain), set()
        while len(seen) < 6:
            suggestion = search.ask()
            seen.add(tuple(suggestion.point))
            search.tell(suggestion.point, RESPONSES["bowl"](suggestion.point, 0))
        with pytest.raises(SearchExhaustedError, match="all 6 configurations"):
            run(search, RESPONSES["bowl"], self.n)

    @pytest.mark.parametrize("point", [[0.1], [0.1, np.nan, 0.2], [[0.1, 0.2]]])
    def test_a_point_that_is_none_is_refused(self, point):
        with pytest.raises(SolverError, match="is not a point of the unit cube of dimension 3"):
            self.make(DOMAINS["three"]).tell(point, 1.0)
