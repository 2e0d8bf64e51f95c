"""What every search must do; a search's own test subclasses this, and names the search."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.solvers.search import checks
from spotsvm.solvers.search.checks import DOMAINS, RESPONSES, run


def branin(u):
    x, y = 15 * u[0] - 5, 15 * u[1]
    return (y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


def bowl(u):
    return float(((u - 0.3) ** 2).sum())


def zdt1(u):
    g = 1 + 9 * u[1:].mean()
    return np.array([u[0], g * (1 - np.sqrt(u[0] / g))])


MIXED = DOMAINS["mixed"]
COPIES = pytest.mark.parametrize("copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))], ids=["deepcopy", "pickle"])
N = 14


def drive(search, f, n):
    """Do so with a function of the point alone."""
    return run(search, lambda u, k: f(u), n)


def drive_points(search, f, n):
    return np.array([s.point for s in drive(search, f, n)])


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
                checks.check_points(self.make, domain, response, self.n)
            except Exception as error:
                error.add_note(f"the response: {name}")
                raise

    @pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
    def test_same_seed_same_points(self, domain):
        checks.check_seed(self.make, domain, self.n)

    def test_failures_are_noted_where_they_matter(self):
        search = self.make(DOMAINS["three"])
        run(search, RESPONSES["half fails"], self.n)
        assert np.isnan(search.values).sum() == self.n // 2

    @pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
    def test_pending_points_are_not_proposed_again(self, domain):
        checks.check_pending(self.make, domain)

    def test_what_is_foreseen_can_be_asked_for_before_anything_is_told(self):
        checks.check_foreseen(self.make)

    def test_points_that_were_never_asked_for_can_be_told(self):
        checks.check_strangers(self.make, self.n)

    def test_a_search_goes_on_as_if_nothing_had_happened(self):
        for name in ("mixed", "three"):
            checks.check_resumption(self.make, DOMAINS[name], self.n)

    def test_a_small_space_is_exhausted_and_says_so(self):
        assert "all 6 configurations" in str(checks.check_exhaustion(self.make, self.n))

    def test_a_point_that_is_none_is_refused(self):
        checks.check_refusals(self.make)
        with pytest.raises(SolverError, match="is not a point of the unit cube of dimension 3"):
            self.make(DOMAINS["three"]).tell([0.1], 1.0)
