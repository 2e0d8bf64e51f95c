import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.common.code import literal, mapping_code, params_code, value_code
from spotsvm.common.drawing import plain, variable_of
from spotsvm.common.text import (
    aligned,
    counted,
    did_you_mean,
    different_texts,
    duration,
    names_arguments,
    per_cent,
    printable,
    printable_line,
    short,
    short_names,
    shown_value,
    value_text,
)
from spotsvm.reports.axes import cut_name
from spotsvm.reports.html.cells import cell_of

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (printable_line("a\n b\x07"), "a b\\x07"),
        (printable_line("abcdef", 4), "abc…"),
        (shown_value("a"), "'a'"),
        (shown_value(10**400, 12), "10000000000…"),
        (shown_value(10**5000), "a value of type int"),
        (did_you_mean("C", ["svc__C", "svc__gamma"]), "; did you mean 'svc__C'?"),
        (did_you_mean("gama", ["gamma", "C"]), "; did you mean 'gamma'?"),
        (did_you_mean("x", ["gamma"]), ""),
        (aligned([("state", "file"), ("running", "a.db")]), ["state    file", "running  a.db"]),
        (counted(1, "trial"), "1 trial"),
        (counted(3, "trial"), "3 trials"),
        ([per_cent(share) for share in (0.125, 0.999, 0.00123)], ["12 %", "100 %", "0.12 %"]),
        ([short(x) for x in (0.30000000000000004, 2.0, np.nan, -2.5e-5, 13241.7)], ["0.3", "2", "–", "-2.5e-05", "13242"]),
        (short(999.9999, 3), "1000"),
        (different_texts([0.5, 1 / 3]), ["0.5", "0.333333"]),
        (different_texts([1e9, 1e9 + 47]), ["1e+09", "1.00000005e+09"]),
        ([value_text(value) for value in (0.12345, "rbf", None, True)], ["0.1235", "rbf", "None", "True"]),
        ([duration(s) for s in (0.031, 75, 7325, 200000)], ["0.031 s", "1 min 15 s", "2 h 2 min", "2 d 7 h"]),
        (list(short_names(["svc__C", "a__b__c", "d__b__c", "v__cutoff__3"]).values()), ["C", "a__b__c", "d__b__c", "cutoff__3"]),
        (plain("a$b$"), r"a\$b\$"),
        ([variable_of(c) for c in ("#0072B2", "#808080", "#123456")], ["var(--series-0)", "var(--grey-10)", "#123456"]),
        (cut_name("preprocessing__scaler__with_mean", 20), "prepro…er__with_mean"),
        ([cell_of(x)[0] for x in (0.123456, 1234567.0, None, 3e-9)], ["0.1235", "1234567", "–", "3e-09"]),
    ],
)
def test_values_as_text(text, expected):
    assert text == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (value_code([1, "a"]), "[1, 'a']"),
        (value_code((0.5, None)), "(0.5, None)"),
        (value_code([True]), "[True]"),
        (value_code(range(3)), ""),
        (value_code(float("nan")), ""),
        (mapping_code({"C": "loguniform(0.1, 10.0)"}), "{'C': loguniform(0.1, 10.0)}"),
        (params_code({"C": np.float64(0.5), "kernel": "rbf"}), "{'C': 0.5, 'kernel': 'rbf'}"),
        (literal("[1, 'a']"), [1, "a"]),
        (literal("print()"), ...),
    ],
)
def test_values_as_code(code, expected):
    assert code == expected


def test_an_unknown_argument_has_the_right_one_beside_it():
    run = names_arguments(n_iter="n_trials")(lambda n_trials=100, progress=False: n_trials)
    with pytest.raises(TypeError, match="has no argument 'n_iter'; did you mean 'n_trials'\\?"):
        run(n_iter=3)
