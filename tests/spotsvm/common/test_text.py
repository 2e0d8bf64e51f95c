import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.common.text import printable, printable_line

ANY = st.text(st.characters(exclude_categories=()))


@given(ANY)
def test_nothing_steers_a_terminal_and_utf_8_can_hold_it(text):
    shown = printable(text)
    shown.encode("utf-8")
    assert not any(c in shown for c in "\x1b\x07\x00\r\x9b\u202e\u2066")
    assert shown.count("\n") == text.count("\n")
    assert printable(shown) == shown


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_letters_and_signs_stay(text):
    assert printable(text) == text


@given(ANY, st.integers(2, 50))
def test_a_line_is_one_and_no_longer(text, longest):
    line = printable_line(text, longest)
    assert len(line) <= longest
    assert len(line.splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;t\x07", "\\x1b]0;t\\x07"),
        ("\u202eabc", "\\u202eabc"),
        ("\ud800", "\\ud800"),
        ("\xa0ü漢", "\xa0ü漢"),
    ],
)
def test_what_is_shown_in_place(text, shown):
    assert printable(text) == shown
