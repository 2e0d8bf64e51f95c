"""Ranges as scikit-optimize and Optuna write them, and laws made of others: the middle of a distribution, and a sample of one."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.common.text import shown_value
from spotsvm.errors import SpaceError

Floats = NDArray[np.float64]
#: the share of an unbounded distribution that is searched: what is left after as much is cut off at both ends
CENTRAL = 0.999
#: bounds of a range, so that its width is a number as well
_FARTHEST = 1e307
_UNIFORM, _LOG = ("uniform",), ("log-uniform", "loguniform", "log")


@dataclass(frozen=True)
class Range:
    """A range of numbers: `whole` if it has whole numbers only, `log` if it is uniform in the logarithm."""

    low: float
    high: float
    whole: bool
    log: bool


def as_range(name: str, given: tuple[Any, ...]) -> Range | None:
    """Return the range that a tuple (low, high) or (low, high, prior) stands for, None if it is a list of values.

    It is a range if it has two numbers, and nothing else but a text after them, or if a prior is in it. SpaceError is raised if
    such a tuple is not a valid range.

    Examples
    --------
    >>> as_range("C", (1e-6, 1e6, "log-uniform"))
    Range(low=1e-06, high=1000000.0, whole=False, log=True)
    >>> as_range("degree", (1, 10)).whole, as_range("kernel", ("rbf", "poly"))
    (True, None)
    """
    two = len(given) in (2, 3) and all(_is_number(value) for value in given[:2])
    if not _has_prior(given) and not (two and (len(given) == 2 or isinstance(given[2], str))):
        return None

    def refusal(why: str) -> SpaceError:
        return SpaceError(f"{name}={shown_value(given)} {why}")

    if not two:
        raise refusal("is not a range; use (low, high) or (low, high, prior) with two numbers, or a list for a choice")
    prior = given[2] if len(given) == 3 else _UNIFORM[0]
    if prior not in _UNIFORM + _LOG:
        raise refusal("has an unknown prior; use 'uniform' or 'log-uniform', or a list for a choice")
    low, high = given[:2]
    if not (abs(low) <= _FARTHEST and abs(high) <= _FARTHEST):
        raise refusal("has a bound that is not finite, or too large; use two numbers of at most 1e307")
    if low > high:
        raise refusal("has a reversed range; the lower bound comes first")
    if prior in _LOG and low <= 0:
        raise refusal("takes the logarithm of a bound that is not positive; use bounds above 0")
    whole = isinstance(low, numbers.Integral) and isinstance(high, numbers.Integral)
    return Range(low, high, whole, prior in _LOG)


def of_another_library(given: Any) -> Any:
    """Return a distribution of Optuna, or a dimension of scikit-optimize, as a range or a list of values; all else as it is.

    They are known by their attributes, so that neither library is needed.
    """
    for values in (getattr(given, "choices", None), getattr(given, "categories", None)):
        if isinstance(values, list | tuple):
            return list(values)
    if not (hasattr(given, "low") and hasattr(given, "high") and (hasattr(given, "log") or hasattr(given, "prior"))):
        return given
    low, high, step = given.low, given.high, getattr(given, "step", None)
    # a dimension of scikit-optimize has the type of its values, and may have bounds of another
    whole = np.issubdtype(given.dtype, np.integer) if hasattr(given, "dtype") else isinstance(low, numbers.Integral)
    if step is not None and not (whole and step == 1):
        return [low + k * step for k in range(round((high - low) / step) + 1)]
    kind = int if whole else float
    log = given.log if hasattr(given, "log") else given.prior in _LOG
    return kind(low), kind(high), (_LOG if log else _UNIFORM)[0]


def warn_of_listed_range(name: str, values: Sequence[Any]) -> None:
    """Warn of a list of values that looks like a range."""
    if len(values) in (2, 3) and _has_prior(values):
        warnings.warn(
            f"{name}={list(values)!r} is a list, so that {values[-1]!r} is one of its values; use a tuple for a range",
            UserWarning,
            stacklevel=2,
        )


def _has_prior(values: Sequence[Any]) -> bool:
    """Return whether these are a number and something, with a prior at the end, or before a base as scikit-optimize takes it."""
    if not 2 <= len(values) <= 4 or not _is_number(values[0]):
        return False
    return any(isinstance(value, str) and value in _UNIFORM + _LOG for value in (values[-1], values[min(2, len(values) - 1)]))


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


@dataclass(frozen=True)
class SampledLaw:
    """A distribution known by a sample, in ascending order: its quantiles, and linear between them."""

    sample: tuple[float, ...]

    @property
    def _shares(self) -> Floats:
        return np.linspace(0.0, 1.0, len(self.sample))

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantile at each probability."""
        return np.asarray(np.interp(np.asarray(q, dtype=float), self._shares, self.sample))

    def cdf(self, x: ArrayLike) -> Floats:
        """Return the probability up to x."""
        return np.asarray(np.interp(np.asarray(x, dtype=float), self.sample, self._shares))

    def support(self) -> tuple[float, float]:
        """Return the ends of the sample."""
        return self.sample[0], self.sample[-1]


@dataclass(frozen=True)
class CentralLaw:
    """The central part of a distribution, `CENTRAL` of its probability."""

    whole: Any

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantile at each probability."""
        return np.asarray(self.whole.ppf(0.5 * (1.0 - CENTRAL) + CENTRAL * np.asarray(q, dtype=float)))

    def cdf(self, x: ArrayLike) -> Floats:
        """Return the probability up to x, from 0 to 1 over the part."""
        inside = (np.asarray(self.whole.cdf(x)) - 0.5 * (1.0 - CENTRAL)) / CENTRAL
        return np.asarray(np.clip(inside, 0.0, 1.0))

    def support(self) -> tuple[float, float]:
        """Return the ends of the part."""
        return float(self.ppf(0.0)), float(self.ppf(1.0))
