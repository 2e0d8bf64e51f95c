import pytest

from spotsvm.evaluation import Outcome
from spotsvm.workers.protocol import in_order


class Backwards:
    """Ends what was handed over last first, two at a time."""

    def __init__(self):
        self.waiting, self.n_waits = [], 0

    def submit(self, key, params):
        self.waiting.append((key, Outcome("ok", params["x"])))

    def wait(self, timeout=None):
        self.n_waits += 1
        ended, self.waiting = self.waiting[-2:][::-1], self.waiting[:-2]
        return ended


@pytest.mark.parametrize("n", [0, 1, 5])
def test_outcomes_come_in_the_order_of_the_batch(n):
    outcomes = in_order(Backwards(), [{"x": float(x)} for x in range(n)])
    assert [outcome.value for outcome in outcomes] == list(range(n))


def test_each_comes_as_soon_as_it_and_those_before_it_are_there():
    workers = Backwards()
    outcomes = in_order(workers, [{"x": float(x)} for x in range(4)])
    next(outcomes)
    assert workers.n_waits == 2
    assert [outcome.value for outcome in outcomes] == [1, 2, 3]
    assert workers.n_waits == 2
