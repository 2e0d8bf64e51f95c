import numpy as np

from spotsvm.searches import Domain, Suggestion
from spotsvm.solvers.search.contract.planned_search import PlannedSearch


class Ladder(PlannedSearch):
    """Climbs by tenths; counts how often it has gone on."""

    height = 0

    def _plan(self, rng):
        return Suggestion(np.array([self.height / 10]), "rung")

    def _proceed(self, planned):
        self.height += 1


def test_what_is_known_of_a_point():
    ladder = Ladder(Domain.continuous(1))
    point, other = np.array([0.0]), np.array([0.4])
    assert ladder.best_told() is None
    assert ladder.response(point) is None
    ladder.ask()
    assert ladder.is_pending(point)
    ladder.tell(point, np.nan)
    assert np.isnan(ladder.response(point))
    assert ladder.best_told() is None
    for value in (1.0, np.inf, 3.0):
        ladder.tell(point, value)
    ladder.tell(other, 1.5)
    assert ladder.response(point) == 2.0
    assert ladder.best_told().tolist() == [0.0]
    assert [p.tolist() for p in ladder.strangers()] == [[0.4]]
    assert ladder.strangers(5) == []
    assert not ladder.is_pending(point)
    for _ in range(2):
        ladder.tell([0.2], 1.7e308)
    assert ladder.response(np.array([0.2])) == 1.7e308
