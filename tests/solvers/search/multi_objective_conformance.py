"""What every search of several objectives must do: all that one of one objective must, told two values, and more."""

from __future__ import annotations

import numpy as np
import pytest
from conformance import COPIES, MIXED, N, SearchConformance, drive, drive_points

from spotsvm.errors import SolverError
from spotsvm.solvers.search.checks import DOMAINS
from spotsvm.solvers.search.multi_objective.multi_objective_search import MultiObjectiveSearch


class ToldTwo:
    """A search of two objectives that is told one value, and shows the first one: the second follows from value and point."""

    def __init__(self, search):
        self.search = search

    def ask(self):
        return self.search.ask()

    def tell(self, point, value):
        self.search.tell(point, [value, value * np.cos(4 * np.ravel(point)[0])])

    @property
    def values(self):
        return self.search.values[:, 0]

    def __getattr__(self, name):
        return getattr(self.search, name)


def two_bowls(u):
    return [float(((u - 0.3) ** 2).sum()), float(((u - 0.7) ** 2).sum())]


class MultiObjectiveConformance(SearchConformance):
    """Inherit, and define `make_several`."""

    #: evaluations in which a search goes through all of what it does
    LONG = 70

    def make_several(self, domain, seed=0, n_objectives=2):
        """Return a fresh search."""
        raise NotImplementedError

    def make(self, domain, seed=0):
        search = self.make_several(domain, seed)
        assert isinstance(search, MultiObjectiveSearch)
        assert search.n_objectives == 2
        return ToldTwo(search)

    @pytest.mark.parametrize("n_objectives", [2, 3, 4])
    @pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
    def test_any_number_of_objectives(self, domain, n_objectives):
        search = self.make_several(domain, n_objectives=n_objectives)
        assert search.values.shape == (0, n_objectives)
        drive(search, lambda u: np.cos(np.arange(n_objectives) + 3 * u.sum()), N)
        assert search.values.shape == (N, n_objectives)
        assert np.array_equal(search.values[-1], np.cos(np.arange(n_objectives) + 3 * search.points[-1].sum()))

    @pytest.mark.parametrize("value", [1.0, [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], []])
    def test_another_number_of_values_is_refused(self, value):
        search = self.make_several(DOMAINS["three"])
        point = search.ask().point
        with pytest.raises(SolverError, match="is not 2 numbers, one an objective"):
            search.tell(point, value)
        assert len(search.pending) == 1
        assert search.values.shape == (0, 2)

    @pytest.mark.parametrize("value", [np.nan, [np.nan, np.nan], [1.0, np.inf], (np.nan, 2.0)])
    def test_a_failure_has_no_values(self, value):
        search = self.make_several(DOMAINS["three"])
        search.tell(search.ask().point, value)
        search.tell(search.ask().point, [1.0, 2.0])
        assert np.array_equal(search.values, [[np.nan, np.nan], [1.0, 2.0]], equal_nan=True)

    def test_no_objectives_are_refused(self):
        for wrong in (1, 0, 2.0, "2", True):
            with pytest.raises(SolverError, match=f"n_objectives={wrong!r} is not a number of objectives"):
                self.make_several(DOMAINS["three"], n_objectives=wrong)

    def test_a_resumed_search_goes_on_through_many_selections(self):
        """To the bit, with failures, with points of others before and in between, and with a batch cut off in the middle."""

        def act(search, points):
            for k in range(self.LONG):
                if k in (0, 1, self.LONG // 2):
                    point = np.full(4, 0.1 + 0.01 * k)
                    search.assume(point)
                else:
                    point = points(search)
                if k != self.LONG - 5:
                    search.tell(point, [np.nan, 1.0] if k % 7 == 3 else two_bowls(search.domain.snap_one(point)))
            return search

        asked = []

        def ask(search):
            asked.append(search.ask().point)
            return asked[-1]

        def replay(search):
            search.assume(asked[0])
            return asked.pop(0)

        undisturbed, resumed = (act(self.make_several(DOMAINS["conditional"], seed=5), points) for points in (ask, replay))
        resumed.restore(undisturbed.state())
        assert np.array_equal(*(drive_points(s, two_bowls, self.LONG // 3) for s in (undisturbed, resumed)))

    @COPIES
    def test_a_copy_goes_on_by_itself(self, copied):
        search = self.make_several(MIXED, seed=2)
        drive(search, two_bowls, self.LONG // 3)
        other = copied(search)
        assert np.array_equal(*(drive_points(s, two_bowls, self.LONG // 3) for s in (search, other)))
