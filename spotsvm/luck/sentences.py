"""The sentences about luck that the terminal, pages and notebooks print: optimism, differences and fresh values in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import floor, isfinite, log10
from typing import Literal

from spotsvm.common.text import counted
from spotsvm.luck.drawn import KINDS, Kind
from spotsvm.luck.estimate import Estimate, score_text
from spotsvm.luck.intervals import score_range
from spotsvm.trials.metrics import ScoreUnit

Decision = Literal["helped", "did not help", "no difference seen"]
DECISIONS: dict[int, Decision] = {1: "helped", -1: "did not help", 0: "no difference seen"}

_DONE = {
    "nested": (
        "Method: nested resampling. In each of {rows} outer folds the whole search of {trials} was repeated without the "
        "fold's rows, and its winner was scored on them."
    ),
    "folds": (
        "Method: fold scores (Tibshirani and Tibshirani 2009). In each of {rows} folds the score of the best of {tried} "
        "in that fold is compared with the winner's score. Nothing was fitted."
    ),
}
_RULES = {
    "jackknife": "The interval of the optimism is a jackknife over the outer folds.",
    "nadeau-bengio": "The interval of the optimism is that of Nadeau and Bengio, corrected for rows that resamples share.",
}
_LIMITS = {
    "nested": (
        "This covers the whole search, for slightly fewer rows than there are in total. It does not cover new data that differ "
        "from these rows."
    ),
    "folds": (
        "This is a rough estimate, and never below 0. It does not account for what the search would have found with other rows, "
        "and can be far off with few rows per fold or many candidates. Nested resampling is more reliable."
    ),
}


def optimism_sentences(
    optimism: Estimate, expected: Estimate, tuned_score: float, *, n_trials: int, n_rows: int, variance: str,
    notes: Sequence[str], expect: bool,
) -> Iterator[str]:  # fmt: skip
    """Yield the answer, whether the optimism is clear, the method, and the uncertainty that it does not cover.

    With `expect` the answer includes the score to expect on new data. Numbers are rounded to two digits of half the optimism's
    interval. A negative score, such as neg_root_mean_squared_error, is shown as a positive error.
    """
    yield _answer(optimism, expected, tuned_score, expect)
    yield from _clear(optimism)
    yield _DONE[optimism.how].format(rows=n_rows, trials=counted(n_trials, "trial"), tried=counted(n_trials, "candidate"))
    if optimism.known and not any("Nadeau" in note for note in notes):  # unless a note names the rule
        yield _RULES.get(variance, f"The interval of the optimism is that of {variance}.")
    yield from notes
    yield _LIMITS[optimism.how]


def _answer(optimism: Estimate, expected: Estimate, tuned_score: float, expect: bool) -> str:
    decimals = _decimals(optimism, expected)
    unit = ScoreUnit(optimism.metric)
    if optimism.too_few:
        tuned = number(unit.value(tuned_score), decimals)
        return f"The optimism of the tuned {unit.title} of {tuned} is {optimism.text()}."
    tuned, new = (number(unit.value(value), decimals) for value in (tuned_score, expected.value))
    luck = number(abs(optimism.value), decimals)
    ends = " to ".join(number(end, decimals) for end in optimism.interval)
    interval = f"{100 * optimism.confidence:g} % interval {ends}" if optimism.known else ""
    if not round(optimism.value, decimals) > 0:
        head = f"shows no optimism ({number(optimism.value, decimals)}{interval and ', ' + interval})"
    else:
        head = f"is probably {luck}{interval and f' ({interval})'} too {'low' if unit.is_error else 'high'}"
    new_data = f"; on new data expect about {new}{_between(expected, decimals)}" if expect else ""
    if expect and expected.too_few:
        new_data = f"; what to expect on new data is {expected.text()}"
    return f"The tuned {unit.title} of {tuned} {head}{new_data}."


def _clear(optimism: Estimate) -> Iterator[str]:
    if optimism.how == "folds":  # this estimate is never below 0
        return
    if optimism.too_few:
        return
    if not optimism.known:
        yield "The uncertainty of this estimate is unknown."
    elif optimism.side < 0:
        yield (
            "The tuned score is not too optimistic: the scores on new data are better. This can happen if the search's folds "
            "follow an order of the rows."
        )
    else:
        yield "The tuned score is too optimistic." if optimism.side else "This difference can be explained by chance."


def _between(expected: Estimate, decimals: int) -> str:
    """Return the interval of the expected score, marking an end at the minimum or maximum of the score."""
    if not expected.known:
        return ""
    unit, limits = ScoreUnit(expected.metric), score_range(expected.metric)
    least, most = (-limits[1] if limits[1] == 0 else None, None) if unit.is_error else limits
    low, high = unit.interval(expected.interval)
    ends = [f"{low:g}, the minimum," if low == least else number(low, decimals)]
    ends.append(f"{high:g}, the maximum" if high == most else number(high, decimals))
    return f" ({' to '.join(ends)})"


def _decimals(optimism: Estimate, expected: Estimate) -> int:
    """Return the decimals for two digits of half the interval of the optimism or of the score; else for three of the score."""
    interval = next((one.interval for one in (optimism, expected) if one.known), None)
    digits, size = (3, abs(expected.value)) if interval is None else (2, (interval[1] - interval[0]) / 2)
    return max(0, digits - 1 - floor(log10(size))) if isfinite(size) and size > 0 else 3


def number(value: float, decimals: int) -> str:
    """Return a number with this many decimals, and without a minus sign if it is rounded to 0."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def decided(decision: Decision) -> str:
    """Return the result of the comparison of the tuned with the default model, as the beginning of a sentence."""
    heads = {"helped": "Tuning helped", "did not help": "Tuning did not help"}
    return heads.get(decision, "No difference can be seen between the tuned and the default model")


def rows_words(rows: Mapping[Kind, int]) -> str:
    """Return the rows that scores rest on, such as "331 training rows out of fold and 111 held-out rows"."""
    found = ((rows.get(kind, 0), words) for kind, words in KINDS.items())
    return " and ".join(f"{n} {words if n > 1 else words.replace('rows', 'row')}" for n, words in found if n)


def gain_words(gain: Estimate, rows: Mapping[Kind, int]) -> str:
    """Return whether tuning has helped, and by how much, as a sentence without its full stop."""
    title, over = ScoreUnit(gain.metric).title, rows_words(rows)
    if gain.too_few:
        return f"{decided(DECISIONS[gain.side])}: {over or 'the rows'} are too few for {title}"
    if not isfinite(gain.value):
        return f"{decided(DECISIONS[gain.side])}: their {title} is undefined on {over or 'these rows'}"
    by = f"{title} of the tuned model less that of the default is {gain.text(signed=True)}"
    return f"{decided(DECISIONS[gain.side])}: {over and f'over {over}, '}{by}"


def gain_sentence(gain: Estimate, over_constant: Estimate, rows: Mapping[Kind, int]) -> str:
    """Return whether tuning has helped, by how much, and whether a constant is as good; a nan over the constant is unknown."""
    as_good = isfinite(gain.value) and isfinite(over_constant.value) and not over_constant.side > 0
    return f"{gain_words(gain, rows)}.{' The tuned model cannot be distinguished from a constant.' if as_good else ''}"


def expectation(expected: Estimate, of: str = "") -> str:
    """Return the expected score in words, such as "expect accuracy 0.83 of the tuned SVM (95 % interval 0.79 to 0.87)"."""
    unit = ScoreUnit(expected.metric)
    if expected.too_few:
        return f"the {unit.title}{of and f' of {of}'} is {expected.text()}"
    interval = f" ({expected.interval_text()})" if expected.known else ""
    return f"expect {unit.title} {score_text(unit.value(expected.value))}{of and f' of {of}'}{interval}"
