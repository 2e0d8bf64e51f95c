import pytest

from spotsvm.studies.equal_time import budgets
from spotsvm.studies.equal_time.budgets import Choice, Trail, once_for_each


class Clock:
    """Processor time that goes on by a second at each look."""

    def __init__(self):
        self.now = 0.0

    def process_time(self):
        self.now += 1.0
        return self.now


def test_a_trail_returns_what_was_known_within_each_budget(monkeypatch):
    monkeypatch.setattr(budgets, "time", Clock())
    trail = Trail([0.5, 1.5, 3.5])
    for C, score in ((1.0, 0.8), (2.0, 0.7), (3.0, 0.9), (4.0, 1.0)):
        trail.look({"C": C}, score)
    assert trail.is_over
    assert trail.choices() == [({}, 0.0, 0), ({"C": 1.0}, 1.0, 1), ({"C": 3.0}, 3.0, 3)]


def run(n):
    """Return a choice that takes a second a look, and ten more."""
    return Choice({"C": float(n)}, 10.0 + n, n)


@pytest.mark.parametrize(
    ("first", "tries", "looks"),
    [
        (50, 1, 50),
        (91, 1, 0),  # over the budget: the defaults
        (50, 2, 79),  # 0.95 * 100 * 50 / 60
        (91, 2, 85),  # 0.95 * 100 * 91 / 101
        (1, 9, 76),  # 1, 8, 42, 76, and 83 are too few more for another try
        (2000, 2, 0),  # 94, still over
        (2000, 3, 85),
    ],
)
def test_whole_runs_with_a_number_of_looks_found_by_trying(first, tries, looks):
    (choice,) = once_for_each([100.0], run, lambda budget: first, least=1, tries=tries)
    assert choice == (run(looks) if looks else Choice({}, 0.0, 0))


def test_there_is_no_run_with_too_few_looks():
    tried = []
    choices = once_for_each([11.0, 40.0], lambda n: tried.append(n) or run(n), lambda budget: budget / 2, least=3, tries=4)
    assert tried == [5, 3, 20, 25]
    assert choices == [Choice({}, 0.0, 0), run(25)]
