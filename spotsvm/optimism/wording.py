"""The result of an oversearching analysis as text."""

from __future__ import annotations

from math import floor, isfinite, isnan, log10
from typing import TYPE_CHECKING

from spotsvm.class_accuracy import score_range

if TYPE_CHECKING:
    from spotsvm.optimism.result import Optimism

_DONE = {
    "nested": (
        "Method: nested resampling. In each of {rows} outer folds the whole search of {n_trials} trials was repeated without the "
        "fold's rows, and its winner was scored on them."
    ),
    "repeats": (
        "Method: fresh repeats. After one search of {n_trials} trials, the winner and the runners-up, {rows} candidates in "
        "total, were scored again on splits that the search has not used."
    ),
    "folds": (
        "Method: fold scores (Tibshirani and Tibshirani 2009). In each of {rows} folds the score of the best of {n_trials} "
        "candidates in that fold is compared with the winner's score. Nothing was fitted."
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
    "repeats": (
        "This covers the luck of the splits among the candidates that were scored again. It does not cover the luck of the rows, "
        "which the fresh splits share with the search, so that the optimism can be larger. Nested resampling covers both."
    ),
    "folds": (
        "This is a rough estimate, and never below 0. It does not account for what the search would have found with other rows, "
        "and can be far off with few rows per fold or many candidates. Nested resampling is more reliable."
    ),
}
_NEGATIVE = "neg_"


def summarise(found: Optimism) -> str:
    """Return a text with the score to expect on new data, the method, and what the method does not cover.

    Numbers are rounded to two digits of half the optimism's interval. A negative score, such as neg_root_mean_squared_error, is
    shown as an error without its minus.
    """
    done = _DONE[found.method].format(rows=len(found.rows), n_trials=found.n_trials)
    return " ".join(
        part for part in [_answer(found), _verdict(found), done, _rule(found), *found.notes, _LIMITS[found.method]] if part
    )


def _answer(found: Optimism) -> str:
    decimals = _decimals(found)
    error = found.metric.startswith(_NEGATIVE)
    name = found.metric.removeprefix(_NEGATIVE).replace("_", " ")
    tuned, new = (number(-value if error else value, decimals) for value in (found.tuned_score, found.outer_score))
    luck = number(abs(found.optimism), decimals)
    interval = _interval(found, decimals)
    if not round(found.optimism, decimals) > 0:
        head = f"shows no optimism ({number(found.optimism, decimals)}{interval and ', ' + interval})"
    else:
        head = f"is probably {luck}{interval and f' ({interval})'} too {'low' if error else 'high'}"
    return f"The tuned {name} of {tuned} {head}; on new data expect about {new}{_between(found, decimals, error)}."


def _rule(found: Optimism) -> str:
    """Return the rule for the interval, unless a note names it."""
    if _is_empty(found.interval) or any("Nadeau" in note for note in found.notes):
        return ""
    return _RULES.get(found.variance, f"The interval of the optimism is that of {found.variance}.")


def _verdict(found: Optimism) -> str:
    low, high = found.interval
    if found.method == "folds":
        return ""
    if _is_empty(found.interval):
        return "The uncertainty of this estimate is unknown."
    if low > 0:
        return "The tuned score is too optimistic."
    if high < 0:
        return (
            "The tuned score is not too optimistic: the scores on new data are better, as can happen if the search's folds "
            "follow an order of the rows."
        )
    return "This difference can be explained by chance."


def _interval(found: Optimism, decimals: int) -> str:
    if _is_empty(found.interval):
        return ""
    low, high = found.interval
    return f"{100 * found.confidence:g} % interval {number(low, decimals)} to {number(high, decimals)}"


def _between(found: Optimism, decimals: int, error: bool) -> str:
    """Return the interval of the expected score, marking an end at the minimum or maximum of the score."""
    if _is_empty(found.outer_interval):
        return ""
    least, most = score_range(found.metric)
    low, high = found.outer_interval
    cut = {"low": low == least, "high": high == most}
    if error:
        low, high = 0.0 - high, 0.0 - low
        cut = {"low": cut["high"], "high": cut["low"]}
    ends = [f"{low:g}, the minimum," if cut["low"] else number(low, decimals)]
    ends.append(f"{high:g}, the maximum" if cut["high"] else number(high, decimals))
    return f" ({' to '.join(ends)})"


def _is_empty(interval: tuple[float, float]) -> bool:
    """Return whether there is no interval."""
    return isnan(interval[0]) or isnan(interval[1])


def _decimals(found: Optimism) -> int:
    """Return the decimals for two digits of half the optimism's interval, or the score's; without both, three of the score."""
    interval = next((i for i in (found.interval, found.outer_interval) if not _is_empty(i)), None)
    digits, size = (3, abs(found.outer_score)) if interval is None else (2, (interval[1] - interval[0]) / 2)
    return max(0, digits - 1 - floor(log10(size))) if isfinite(size) and size > 0 else 3


def number(value: float, decimals: int) -> str:
    """Return a number with so many decimals, and without a minus if it is rounded to 0."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}"
