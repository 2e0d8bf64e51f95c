"""JSON text and checksums of the cells of a record."""

import json
import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.common.json_values import MOST_LEVELS, read_json
from spotsvm.study.record.rows import checksum

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**299), 10**299) | st.floats(allow_nan=False) | st.text(),
    lambda parts: st.lists(parts) | st.dictionaries(st.text(), parts),
)


@given(VALUES)
def test_what_json_can_hold_comes_back(value):
    assert read_json(json.dumps(value)) == value


@given(st.text())
def test_any_text_is_read_or_refused(text):
    with suppress(ValueError):
        read_json(text)


@pytest.mark.parametrize("levels", [100_000, 2000, MOST_LEVELS + 1])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a": ', "}")])
def test_too_many_levels(opening, closing, levels):
    with pytest.raises(ValueError, match="nested too deep"):
        read_json(opening * levels + "1" + closing * levels)


def test_as_many_levels_as_may_be():
    text = "[" * MOST_LEVELS + "]" * MOST_LEVELS
    assert json.dumps(read_json(text)) == text
    assert len(read_json("[" + "[]," * 1000 + "[]]")) == 1001


@pytest.mark.parametrize("digits", [301, 4300, 5000])
def test_a_number_that_is_no_float(digits):
    with pytest.raises(ValueError, match="more than 300 digits"):
        read_json("9" * digits)


def test_nan_and_infinity_as_json_dumps_writes_them():
    nan, infinite = read_json(json.dumps([math.nan, -math.inf]))
    assert math.isnan(nan)
    assert infinite == -math.inf


def test_a_checksum_is_of_values_and_of_each_of_them():
    """CRC-32 of the ASCII text of a list, as any program can compute it."""
    assert checksum(1, 2.5, "a", None, b"\x00") == 0x2B160E1F - 2**31
    different = [(1, "a"), (1.5, "a"), (1, "b"), ("1", "a"), (1, b"a"), (1, None), (1, "a", None), ("a", 1)]
    different += [(1, "ä"), (1, "\\xe4")]
    assert len({checksum(*cells) for cells in different}) == len(different)
