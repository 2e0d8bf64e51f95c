"""Whether what code printed is what a page or a docstring shows: words and whole numbers exactly, learned numbers nearly."""

import re

#: a version; a number with its sign, exponent and unit, where a dot may end the numbers of an array and not a sentence; a word;
#: or any other sign. Blanks and ends of lines are no tokens
TOKEN = re.compile(
    r"""\d+(?:\.\d+){2,}
      | (?<![\w.)\]])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+|\.(?=\s*[-+\d,\])]))?(?:e[-+]?\d+)?(?!\w)(?:[ ]?%|[ ]m?s\b)?
      | \w+
      | \S""",
    re.VERBOSE,
)
NUMBER = re.compile(
    r"(?P<sign>[-+]?)(?P<digits>\d[\d,]*(?:\.(?P<decimals>\d*))?)(?:e(?P<exponent>[-+]?\d+))?(?P<unit>(?: ?%| m?s)?)"
)
#: by how much a score may differ; a score is a percentage, or at most 1 and printed with at most four decimals
SCORE, SCORE_DECIMALS = 0.02, 4
#: by which part any other number may differ
SHARE = 0.05
#: calls that learn, and calls that round
LEARNS, ROUNDS = re.compile(r"\b(fit\w*|run|cross_val\w*|oversearching\w*)\("), re.compile(r"\bround\(|:[+,]*\.\d[feg%]")


def is_learned(session: str, example: str) -> bool:
    """Tell whether an example of a docstring shows what was learned: it rounds, and a call in the docstring up to it learns."""
    return bool(LEARNS.search(session) and ROUNDS.search(example))


def same_token(shown: str, printed: str) -> bool:
    """Tell whether tokens are equal, or a learned number and another that differs by no more than it may."""
    told, found = NUMBER.fullmatch(shown), NUMBER.fullmatch(printed)
    if not told or not found:
        return shown == printed
    if told["unit"] != found["unit"]:
        return False
    if told["unit"].endswith("s"):
        return True
    if told["decimals"] is None and told["exponent"] is None:
        return shown == printed
    value, other = (float(f"{part['sign']}{part['digits'].replace(',', '')}e{part['exponent'] or 0}") for part in (told, found))
    # a plus that is printed is compared too
    if told["sign"] != found["sign"] and value and other:
        return False
    decimals = len(told["decimals"] or "")
    if told["unit"]:
        allowed = 100 * SCORE
    elif abs(value) <= 1 and decimals <= SCORE_DECIMALS and told["exponent"] is None:
        allowed = SCORE
    else:
        allowed = SHARE * abs(value)
    last_digit = 10.0 ** (int(told["exponent"] or 0) - decimals)
    return abs(value - other) <= max(allowed, last_digit) * (1 + 1e-9)


def same_output(shown: str, printed: str) -> bool:
    """Tell whether an output is the one that is shown, where a line of three dots stands for any number of words."""
    tokens = TOKEN.findall(printed)
    *first, last = [TOKEN.findall(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    begin = 0
    for k, part in enumerate(first):
        starts = range(begin, len(tokens) - len(part) + 1) if k else [0]
        begin = next((start + len(part) for start in starts if _are_same(part, tokens[start : start + len(part)])), -1)
        if begin < 0:
            return False
    rest = tokens[begin:]
    return _are_same(last, rest[len(rest) - len(last) :] if first and len(last) <= len(rest) else rest)


def _are_same(shown: list[str], printed: list[str]) -> bool:
    return len(shown) == len(printed) and all(map(same_token, shown, printed))
