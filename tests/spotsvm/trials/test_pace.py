import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.trials.timing import trials_per_minute
from spotsvm.trials.trial import Trial


def told(asked, at, seconds=None, ask=0.0):
    return Trial(
        0, {}, (), "ok", 1.0, ask_seconds=ask, seconds=at - asked if seconds is None else seconds, asked_at=asked, told_at=at
    )


@pytest.mark.parametrize(
    ("trials", "pace"),
    [
        ([told(k, k + 1.0) for k in range(10)], 60),
        ([told(2.0 * k, 2.0 * k + 1, ask=1.0) for k in range(10)], 30),
        ([told(k // 2, k // 2 + 1.0) for k in range(10)], 120),
        ([told(4 * batch, 4 * batch + k + 1.0, seconds=1.0) for batch in range(3) for k in range(4)], 60),
    ],
    ids=["one by one", "time of asking", "two at once", "batches evaluated one by one"],
)
def test_the_pace(trials, pace):
    assert trials_per_minute(trials) == pytest.approx(pace)


def test_breaks_are_left_out():
    first, later = [told(k, k + 1.0) for k in range(5)], [told(9e5 + k, 9e5 + k + 1.0) for k in range(5)]
    unfinished = told(5.0, 9e5, seconds=1.0)  # asked for before the break, told after
    assert trials_per_minute([*first, unfinished, *later]) == pytest.approx(60)


def test_only_the_latest_count():
    slow = [told(100.0 * k, 100.0 * k + 100) for k in range(100)]
    fast = [told(10000.0 + k, 10001.0 + k) for k in range(50)]
    assert trials_per_minute(slow + fast) == pytest.approx(60)


def test_nothing_is_known():
    assert trials_per_minute([]) is None
    assert trials_per_minute([Trial(0, {}, (), "ok", 1.0, seconds=3.0), Trial(1, {}, (), asked_at=1.0)]) is None
    assert trials_per_minute([told(1.0, 1.0)]) is None


NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS), max_size=5))
def test_numbers_of_a_damaged_record_are_a_pace_or_none(rows):
    found = trials_per_minute([told(*row) for row in rows])
    assert found is None or 0 < found < float("inf")
