"""The search of a study and its past."""

import numpy as np

from spotsvm.searches import Domain, RandomSearch
from spotsvm.study.bookkeeper import StudySearch
from spotsvm.trials.events import Described
from spotsvm.trials.ledger import Ledger
from spotsvm.trials.objectives import Objectives

LINE = Domain.continuous(1)


class Counting:
    """A search of a user's: 0.1, 0.2, and so on."""

    def __init__(self):
        self.asked = 0

    def ask(self):
        self.asked += 1
        return [self.asked / 10]

    def tell(self, point, value):
        pass


def make(given, starts=()):
    ledger = Ledger([Described({"seed": 3})])
    return StudySearch(given, LINE, Objectives.of("minimize"), ledger, "auto", [np.array([u]) for u in starts])


def test_the_starts_come_first_and_the_search_knows_of_them():
    own = RandomSearch(LINE, 3)
    search = make(own, [0.2, 0.7])
    for u in (0.2, 0.7):
        suggestion = search.suggest()
        assert (suggestion.point, suggestion.origin) == (np.array([u]), "start")
        search.keep(suggestion, search.state())
    assert [p.tolist() for p in own.pending] == [[0.2], [0.7]]
    assert search.suggest().origin == "random"


def test_what_was_forgotten_is_suggested_again():
    made, given = make("random"), make(Counting(), [0.5])
    first = made.suggest()
    made.forget(first, [], [])
    assert np.array_equal(made.suggest().point, first.point)
    start = given.suggest()
    given.forget(start, [], [])
    assert given.suggest() is start
    given.keep(start, {})
    own = given.suggest()
    assert np.array_equal(own.point, [0.1])
    given.forget(own, [], [])
    assert given.suggest() is own
    given.keep(own, {})
    assert np.array_equal(given.suggest().point, [0.2])
    assert (given.initial_trials(0), given.n_foreseen, given.state()) == ((1, "initial design"), 1, {})
    assert given.name.endswith("Counting")
