import numpy as np
import pytest

from spotsvm.preprocessing.cells.dates import date_format
from spotsvm.preprocessing.cells.levels import Levels
from spotsvm.preprocessing.cells.numbers import are_codes, clock_numbers, is_ambiguous, plain_numbers
from spotsvm.preprocessing.cells.words import clean


def test_signs_and_blanks_are_plain():
    assert clean(" \u22125 ") == "-5"


def test_plain_numbers_are_those_of_python():
    assert plain_numbers(["1.5", " 1e3", "1_000", "12 mg"]) == pytest.approx([1.5, 1000.0, np.nan, np.nan], nan_ok=True)


def test_times_and_durations_are_seconds():
    texts = ["12:30", "1:00 pm", "2 days 00:00:01", "PT1H", "12:75"]
    assert clock_numbers(texts) == pytest.approx([45000, 46800, 172801, 3600, np.nan], nan_ok=True)


def test_a_comma_is_ambiguous_unless_a_number_shows_what_it_means():
    assert is_ambiguous(["1,234", "7"])
    assert not is_ambiguous(["1,234", "7,5"])


def test_codes_begin_with_zeros_and_have_equal_lengths():
    assert are_codes(["01067", "80331"], np.array([1, 1]))
    assert not are_codes([*map(str, range(50)), "007"], np.ones(51, int))


def test_levels_of_one_form_match_equal_texts_alone():
    assert Levels(("yes", "no"), False).match(" YES ") == "yes"
    assert Levels(("yes", "Yes"), False).match("YES") is None


def test_the_format_of_dates():
    assert date_format(["Apr 1 2000", "May 1 2000"]) == "%b %d %Y"
    assert date_format(["31/1/2024", "1/2/2024"]) == "%d/%m/%Y"
