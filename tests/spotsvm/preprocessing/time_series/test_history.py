import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.preprocessing.time_series.history import KnownRows, tape_in_time
from spotsvm.preprocessing.time_series.time_grid import TimeGrid

GRID = TimeGrid("integers", 0, 1)


def known_rows(places, offset=0.0):
    places = np.asarray(places, dtype=np.int64)
    return KnownRows(GRID, places, places[:, None] + offset)


PLACES = st.lists(st.integers(0, 60), unique=True, max_size=40)


@settings(max_examples=50)
@given(PLACES, PLACES.filter(len), st.integers(0, 12))
def test_each_row_has_its_own_past_behind_it(seen, places, reach):
    """What is at each place is its number, plus a half where the data have it."""
    known = known_rows(sorted(seen))
    places = np.array(places)
    tape = tape_in_time(places, places[:, None] + 0.5, known, reach)
    series = pd.Series(np.nan, index=range(-reach, 61))
    series[sorted(seen)] = sorted(seen)
    series[places] = places + 0.5
    carried = series.ffill()
    steps = np.arange(len(tape.values))[tape.rows]
    assert tape.n_rows == len(places)
    first = min([*seen, *places])
    for step, place in zip(steps, places, strict=True):
        reached = range(place - reach, place + 1)
        np.testing.assert_array_equal(tape.values[step - reach : step + 1, 0], series[reached])
        np.testing.assert_array_equal(tape.carried_forward()[step - reach : step + 1, 0], carried[reached])
        np.testing.assert_array_equal(tape.before[step - reach : step + 1], np.array(reached) < first)
        np.testing.assert_array_equal(tape.absent[step - reach : step + 1], series[reached].isna())
        assert tape.label(step) == f"row {place}"


def test_rows_far_apart_take_no_room_between_them():
    places = np.array([0, 1, 10**9, 10**9 + 2])
    tape = tape_in_time(places, places[:, None] * 1.0, known_rows([]), 3)
    assert len(tape.values) == 2 * 3 + 2 + 3
    assert tape.unseen == 3
    assert [tape.label(step) for step in (3, 4, 5, 8)] == [f"row {place}" for place in (0, 1, 10**9 - 3, 10**9)]


def test_a_later_part_overrides_an_earlier_one():
    parts = [(np.array([5, 3]), np.array([[5.0], [3.0]])), (np.array([4, 5]), np.array([[40.0], [50.0]]))]
    rows = KnownRows.merged(GRID, parts)
    np.testing.assert_array_equal(rows.positions, [3, 4, 5])
    np.testing.assert_array_equal(rows.values.ravel(), [3.0, 40.0, 50.0])
