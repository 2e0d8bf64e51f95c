"""The comparison of outputs refuses what another processor cannot change, and a learned number that is far away."""

import re
from pathlib import Path

import pytest
from same_output import NUMBER, TOKEN, is_learned, same_output, same_token

ROOT = Path(__file__).parent.parent.parent
SHOWN = """accuracy                 out of fold         held-out rows        fit
always 1                      0.6265      0.6294 +- 0.0425  0.00058 s
svc__C = 24.5
svc__gamma = 0.01282
gain 0.032 [-0.002, 0.067]
folds minus new rows: +0.007
expected accuracy 0.9711 (95 % interval 0.9394 to 0.9865)
98.5% of 1,000 sets, 8 of 200 trials, best 4.2e-06
...
array([[ 1.   ,  0.25],
       [-0.5  , 10.1 ]])
"""


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("0.6265 ", "0.6464  "),
        ("0.00058 s", "12 s"),
        ("24.5", "25.7"),
        ("0.01282", "0.0134"),
        ("[-0.002,", "[-0.0201,"),
        ("+0.007", "+0.012"),
        ("0.9865", "1"),
        ("98.5%", "96.6%"),
        ("4.2e-06", "4.4e-06"),
        ("rows: ", "rows:\n    "),
        ("...\n", "and more\nof that 0.5\n"),
        ("1.   ,  0.25", "0.99, 0.251"),
        ("10.1 ", "10. "),
    ],
)
def test_learned_numbers_times_and_blanks_may_differ(told, found):
    assert told in SHOWN
    assert same_output(SHOWN, SHOWN.replace(told, found, 1))


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("always 1 ", "always 2 "),
        ("always 1 ", "always 1.0 "),
        ("always", "never"),
        ("svc__C", "svc__D"),
        ("0.6265", "0.6475"),
        ("24.5", "25.9"),
        ("24.5", "-24.5"),
        ("0.01282", "0.0137"),
        ("[-0.002,", "[0.002,"),
        ("+0.007", "-0.007"),
        ("+0.007", "0.007"),
        ("95 %", "96 %"),
        ("95 %", "95"),
        ("98.5%", "95.5%"),
        ("98.5%", "98.5 s"),
        ("1,000", "1,001"),
        ("8 of", "9 of"),
        ("4.2e-06", "4.5e-06"),
        ("4.2e-06", "4.2e-05"),
        ("0.9865", "nan"),
        ("0.9865", "more"),
        ("gain", "the gain"),
        (" to ", " "),
        ("...\n", "0.5\n"),
        ("10.1 ", "11. "),
        ("10.1 ]])", "10.1 ]]) 3"),
    ],
)
def test_names_counts_signs_and_far_numbers_may_not(told, found):
    assert told in SHOWN
    if told == "...\n":
        assert not same_output(SHOWN.replace(told, ""), SHOWN.replace(told, found))
    else:
        assert not same_output(SHOWN, SHOWN.replace(told, found, 1))


def test_a_dot_that_ends_a_sentence_makes_no_learned_number():
    assert not same_output("There are 16. Then 3 more.", "There are 17. Then 3 more.")
    assert TOKEN.findall("3.11.2, 2011-03-31; rain0.5") == ["3.11.2", ",", "2011", "-", "03", "-", "31", ";", "rain0", ".", "5"]


def test_what_is_learned_in_a_docstring():
    fitted = "machine = SVC().fit(X, y)\n"
    assert is_learned(fitted, "round(machine.score(X, y), 3)\n")
    assert is_learned(fitted, 'print(f"{machine.score(X, y):.2f}")\n')
    assert not is_learned(fitted, "machine.weights_\n")
    assert not is_learned("x = 0.5\n", "round(x, 3)\n")


def changed(token):
    """Return what no tolerance allows in the place of a token."""
    number = NUMBER.fullmatch(token)
    if number is None or number["unit"].endswith("s"):
        return [f"{token}x"]
    if number["decimals"] is None and number["exponent"] is None:
        return [str(int(number["digits"].replace(",", "")) + 1), f"{token}.5"]
    value = float(number["digits"].replace(",", "") + ("e" + number["exponent"] if number["exponent"] else ""))
    last_digit = 10.0 ** (int(number["exponent"] or 0) - len(number["decimals"] or ""))
    far = value + 1.1 * max(0.1 * value, last_digit, 0.02 if value <= 1 else 0.0, 2.2 if number["unit"] else 0.0)
    shown = f"{number['sign']}{far:.9f}{number['unit']}"
    turned = f"{'' if number['sign'] == '-' else '-'}{number['digits']}{number['unit']}"
    return [shown, turned] if value else [shown]


OUTPUTS = [SHOWN] + [
    shown
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for shown in re.findall(r"^```text\n(.*?)^```$", page.read_text(), flags=re.S | re.M)
]


def test_each_change_of_an_output_is_refused():
    assert len(OUTPUTS) > 90
    tokens = {token for shown in OUTPUTS for token in TOKEN.findall(shown)}
    assert [token for token in tokens if not same_token(token, token)] == []
    assert [(token, other) for token in tokens for other in changed(token) if same_token(token, other)] == []
