"""What an analysis of oversearching found, in words."""

from __future__ import annotations

from math import floor, isfinite, isnan, log10
from typing import TYPE_CHECKING

from spotsvm.class_accuracy import score_range

if TYPE_CHECKING:
    from spotsvm.optimism.result import Optimism

_DONE = {
    "nested": (
        "This is from nested resampling: in each of {rows} outer folds the whole search of {n_trials} trials was repeated "
        "without the fold's rows, and its winner was scored on them."
    ),
    "repeats": (
        "This is from fresh repeats: after one search of {n_trials} trials, the winner and the runners-up, {rows} candidates in "
        "all, were scored again on splits that the search has not seen."
    ),
    "folds": (
        "This is from the folds' own scores (Tibshirani and Tibshirani 2009): for the {n_trials} candidates of one search, how "
        "much better each of {rows} folds' own best candidate looks there than the winner. Nothing was fitted."
    ),
}
_RULES = {
    "jackknife": "The interval of the optimism is that of the jackknife over the outer folds.",
    "nadeau-bengio": "The interval of the optimism is that of Nadeau and Bengio, corrected for the rows that resamples share.",
}
_LIMITS = {
    "nested": (
        "This covers the whole search, and holds for searches with a little fewer rows than there are in all. It says nothing of "
        "new data that differ from these rows."
    ),
    "repeats": (
        "This covers the luck of the splits among the candidates that were scored again. It does not cover the luck of the rows, "
        "which the fresh splits share with the search: the optimism can be larger. Nested resampling covers both."
    ),
    "folds": (
        "This is a rough estimate, and 0 or more by construction. It does not see what the search would have found with other "
        "rows, and with few rows in a fold or many candidates it can be well off. Nested resampling is the sound measure."
    ),
}
_NEGATIVE = "neg_"


def summarise(found: Optimism) -> str:
    """Say what is to be expected on new data, how that was found, and what the method does not cover; the answer first.

    Numbers have as many decimals as leave two digits of half the optimism's interval. What a scorer gives with a minus, such as
    neg_root_mean_squared_error, is told as the error that it is.
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
        head = f"The tuned {name}, {tuned}, shows no optimism ({number(found.optimism, decimals)}{interval and ', ' + interval})"
    elif error:
        head = f"The tuned {name}, {tuned}, is likely {luck}{interval and f' ({interval})'} too low by optimism"
    else:
        head = f"Of the tuned {name} {tuned}, {luck}{interval and f' ({interval})'} is likely optimism"
    return f"{head}; on new data expect about {new}{_between(found, decimals, error)}."


def _rule(found: Optimism) -> str:
    """Say by what rule the interval was made, where no note says it."""
    if _is_empty(found.interval) or any("Nadeau" in note for note in found.notes):
        return ""
    return _RULES.get(found.variance, f"The interval of the optimism is that of {found.variance}.")


def _verdict(found: Optimism) -> str:
    low, high = found.interval
    if found.method == "folds":
        return ""
    if _is_empty(found.interval):
        return "How sure that is cannot be told."
    if low > 0:
        return "The tuned score flatters."
    if high < 0:
        return (
            "The tuned score does not flatter: new data did better, as they can where the search's folds follow an order of "
            "the rows."
        )
    return "That is within what chance alone gives."


def _interval(found: Optimism, decimals: int) -> str:
    if _is_empty(found.interval):
        return ""
    low, high = found.interval
    return f"{100 * found.confidence:g} % interval {number(low, decimals)} to {number(high, decimals)}"


def _between(found: Optimism, decimals: int, error: bool) -> str:
    """Give the interval of the score to be expected, and say where it was cut since no score lies beyond."""
    if _is_empty(found.outer_interval):
        return ""
    least, most = score_range(found.metric)
    low, high = found.outer_interval
    cut = {"low": low == least, "high": high == most}
    if error:
        low, high = 0.0 - high, 0.0 - low
        cut = {"low": cut["high"], "high": cut["low"]}
    ends = [f"{low:g}, the least possible," if cut["low"] else number(low, decimals)]
    ends.append(f"{high:g}, the most possible" if cut["high"] else number(high, decimals))
    return f" ({' to '.join(ends)})"


def _is_empty(interval: tuple[float, float]) -> bool:
    """Tell whether there is no interval."""
    return isnan(interval[0]) or isnan(interval[1])


def _decimals(found: Optimism) -> int:
    """Give the decimals for two digits of half the optimism's interval, or the score's; with neither, three of the score."""
    interval = next((i for i in (found.interval, found.outer_interval) if not _is_empty(i)), None)
    digits, size = (3, abs(found.outer_score)) if interval is None else (2, (interval[1] - interval[0]) / 2)
    return max(0, digits - 1 - floor(log10(size))) if isfinite(size) and size > 0 else 3


def number(value: float, decimals: int) -> str:
    """Give a number with so many decimals, and without a minus where it is rounded to 0."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}"
