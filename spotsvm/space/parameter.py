"""Parameters of a search space: values for numbers in [0, 1], and ranges as other libraries write them."""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.common.json_values import MOST_DIGITS
from spotsvm.common.text import shown_value
from spotsvm.errors import SpaceError
from spotsvm.surrogates.domain import LARGEST, LogIntegers

Floats = NDArray[np.float64]
#: the share of an unbounded distribution that is searched; the rest is cut off in equal parts at both ends
CENTRAL = 0.999
#: bounds of a range, so that its width is a number as well
_FARTHEST = 1e307
#: the relative error of a number that was written with six digits, or as a float of 32 bits
_ROUNDED = 1e-5
#: what is left of a zero that was computed, as a share of the range
_ZERO = 1e-12
#: the distance of two points of the unit interval that stand for one integer, of more of them than there are floats
_NEAR = 2.0**-51
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

    It is a range if it has two numbers, alone or followed by a text, or if it has a prior; SpaceError if that is invalid.
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
    """Return a distribution of Optuna, or a dimension of scikit-optimize, as a range or list of values; anything else unchanged.

    Both are recognised by their attributes, so that neither library is needed.
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
    """Return whether the values begin with a number and end with a prior, or with a prior and a base as in scikit-optimize."""
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


#: the probabilities whose quantiles describe a distribution
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
#: maximum number of integers of a parameter, which are counted in 64 bits
MOST_INTEGERS = 2**62
#: maximum number of values of a list, which a record stores in full
MOST_VALUES = 1_000_000
#: values drawn from a distribution with `rvs` alone, and how many different values make the parameter continuous
_N_DRAWS, _CONTINUOUS = 1000, 100
#: integers beyond the first bound are not numbers in a record; beyond the second, Python does not convert them to text
_NO_JSON: int = 10**MOST_DIGITS
_NO_TEXT: int = 10**4000


class ParameterKind:
    """What a parameter has unless its kind says otherwise: no bounds, no list of values, no whole numbers."""

    #: word of the kind in a description
    kind: ClassVar[str]
    #: whether all values are whole numbers
    whole: ClassVar[bool] = False
    central: float | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The ends of a range; None for a list of values."""
        return None

    @property
    def listed(self) -> tuple[Any, ...]:
        """The values of a list; empty for a range."""
        return ()

    @property
    def numbers(self) -> LogIntegers | None:
        """The integers of a logarithmic scale, with their positions; None for another scale."""
        return None

    @property
    def known_by_text(self) -> tuple[str, ...]:
        """The values of a list of which a record has the text only."""
        return ()


@dataclass(frozen=True)
class ContinuousParameter(ParameterKind):
    """A continuous distribution with bounds; the unit interval is its quantiles.

    `central` is the share of an unbounded distribution that is searched, in the middle of its probability; None if it has bounds.
    """

    name: str
    distribution: Any
    low: float
    high: float
    levels: int = 0
    categorical: bool = False
    central: float | None = None
    kind: ClassVar[str] = "continuous"

    @property
    def bounds(self) -> tuple[float, float]:
        """The ends of the range."""
        return self.low, self.high

    def decode(self, u: float) -> float:
        """Return the quantile at `u`, inside the bounds."""
        value = float(self.distribution.ppf(min(max(float(u), 0.0), 1.0)))
        return min(max(value, self.low), self.high)

    def encode(self, value: Any) -> float:
        """Return the probability up to `value`; a value that was rounded at a bound is that bound."""
        width = self.high - self.low
        below, above = (_ROUNDED * min(abs(end), width) if end else _ZERO * width for end in (self.low, self.high))
        if not is_number(value) or not self.low - below <= value <= self.high + above:
            raise SpaceError(f"{self.name}={shown_value(value)} is not a number in [{self.low:g}, {self.high:g}]")
        return float(self.distribution.cdf(min(max(float(value), self.low), self.high)))

    def known(self, value: Any, u: float) -> float:
        """Return the value that `u` stands for, without the rounding of quantiles if it is known."""
        inside = is_number(value) and self.low <= value <= self.high
        return float(value) if inside else self.decode(u)

    def read(self, cell: Any) -> Any:
        """Return a cell of a table as a value, if it is a number."""
        return float(cell) if is_number(cell) else cell

    def nearest(self, value: Any) -> Any:
        """Return the value nearest to a number."""
        return min(max(value, self.low), self.high)

    def density(self, belief: Any, u: Floats) -> Floats:
        """Return the density of a distribution of the values, at evenly spaced points of the unit interval, up to a factor."""
        halves = np.linspace(0.0, 1.0, 2 * len(u) - 1)
        ends = np.array([self.decode(at) for at in halves])
        edges = np.concatenate([ends[:1], ends[1::2], ends[-1:]])
        return np.asarray(np.diff(belief.cdf(edges)) / np.diff(np.concatenate([[0.0], halves[1::2], [1.0]])))

    def without_ends(self, ends: Sequence[float]) -> ContinuousParameter:
        """Return the central part of the distribution, without the ends of its range; itself if it is such a part."""
        if self.central is not None:
            return self
        part = CentralLaw(self.distribution)
        low, high = part.support()
        return replace(self, distribution=part, low=low, high=high, central=CENTRAL)

    def describe(self) -> dict[str, Any]:
        """Return the description by quantiles."""
        described = {"kind": self.kind, "quantiles": [float(self.distribution.ppf(q)) for q in QUANTILES]}
        return described if self.central is None else described | {"central": self.central}


@dataclass(frozen=True)
class IntegerParameter(ParameterKind):
    """A discrete distribution over consecutive integers.

    Each integer has an equal share of the unit interval, whatever its probability: a search needs only the bounds.
    """

    name: str
    low: int
    high: int
    categorical: bool = False
    kind: ClassVar[str] = "integer"
    whole: ClassVar[bool] = True

    @property
    def bounds(self) -> tuple[int, int]:
        """The ends of the range."""
        return self.low, self.high

    @property
    def levels(self) -> int:
        """Number of integers."""
        return self.high - self.low + 1

    def decode(self, u: float) -> int:
        """Return the integer whose share contains `u`."""
        return self.low + min(math.floor(min(max(float(u), 0.0), 1.0) * self.levels), self.levels - 1)

    def encode(self, value: Any) -> float:
        """Return the middle of the integer's share."""
        if not is_number(value) or not self.low <= value <= self.high or value != int(value):
            raise SpaceError(f"{self.name}={shown_value(value)} is not an integer in [{self.low}, {self.high}]")
        return (int(value) - self.low + 0.5) / self.levels

    def known(self, value: Any, u: float) -> int:
        """Return the value that `u` stands for: the known one, if the unit interval has too few floats to tell it."""
        if is_number(value) and self.low <= value <= self.high and value == int(value):
            return int(value) if abs(self.encode(value) - u) <= _NEAR else self.decode(u)
        return self.decode(u)

    def read(self, cell: Any) -> Any:
        """Return a cell of a table as a value, if it is a whole number."""
        return int(cell) if isinstance(cell, float) and cell.is_integer() else cell

    def nearest(self, value: Any) -> Any:
        """Return the number, or the end of the range beyond which it is."""
        return min(max(value, self.low), self.high)

    def density(self, belief: Any, u: Floats) -> Floats:
        """Return the probability that a distribution gives the integer at each point of the unit interval."""
        integers = np.array([self.decode(at) for at in u], dtype=float)
        return np.asarray(belief.cdf(integers + 0.5) - belief.cdf(integers - 0.5))

    def without_ends(self, ends: Sequence[float]) -> IntegerParameter:
        """Return the integers without these ends of their range."""
        return replace(self, low=self.low + (self.low in ends), high=self.high - (self.high in ends))

    def describe(self) -> dict[str, Any]:
        """Return the description by bounds."""
        return {"kind": self.kind, "low": self.low, "high": self.high}


class LogIntegerParameter(IntegerParameter):
    """Consecutive integers on a logarithmic scale.

    A search treats it as continuous, so its `levels` are 0; its canonical points are those of the integers.
    """

    @property
    def numbers(self) -> LogIntegers:
        """The integers and their positions in [0, 1]."""
        return LogIntegers(self.low, self.high)

    @property
    def levels(self) -> int:
        """0, as for a continuous parameter."""
        return 0

    def decode(self, u: float) -> int:
        """Return the integer whose share contains `u`."""
        return int(self.numbers.number_at(u))

    def encode(self, value: Any) -> float:
        """Return the position of an integer on the scale."""
        if not is_number(value) or not self.low <= value <= self.high or value != int(value):
            raise SpaceError(f"{self.name}={shown_value(value)} is not an integer in [{self.low}, {self.high}]")
        return float(self.numbers.place_of(int(value)))

    def density(self, belief: Any, u: Floats) -> Floats:
        """Return the probability of each integer times the integer, as it has less of the unit interval the larger it is."""
        return np.asarray(super().density(belief, u) * np.array([self.decode(at) for at in u], dtype=float))

    def describe(self) -> dict[str, Any]:
        """Return the description by bounds, and the scale."""
        return super().describe() | {"scale": "log"}


@dataclass(frozen=True)
class ChoiceParameter(ParameterKind):
    """A list of values; ordered if they are rising or falling numbers, else categorical.

    `contents` are the hashes of values without a JSON type, None for others; they are computed if not given.
    """

    name: str
    values: tuple[Any, ...]
    contents: tuple[str | None, ...] | None = None
    kind: ClassVar[str] = "choice"

    @property
    def listed(self) -> tuple[Any, ...]:
        """The values."""
        return self.values

    @property
    def known_by_text(self) -> tuple[str, ...]:
        """The values of which a record has the text only."""
        return tuple(str(value) for value, content in zip(self.values, self.contents or (), strict=False) if content)

    @cached_property
    def hashes(self) -> tuple[str | None, ...]:
        """The hashes of the contents of values without a JSON type, None for others."""
        if self.contents is not None:
            return self.contents
        return tuple(None if _is_plain(value) else _fingerprint().content_hash(value) for value in self.values)

    @property
    def levels(self) -> int:
        """Number of values."""
        return len(self.values)

    @property
    def categorical(self) -> bool:
        """Whether the values have no order (two values need none)."""
        if len(self.values) < 3 or not all(is_number(v) for v in self.values):
            return True
        steps = list(pairwise(self.values))
        return not (all(a < b for a, b in steps) or all(a > b for a, b in steps))

    def decode(self, u: float) -> Any:
        """Return the value whose share contains `u`."""
        return self.values[min(math.floor(min(max(float(u), 0.0), 1.0) * self.levels), self.levels - 1)]

    def encode(self, value: Any) -> float:
        """Return the middle of the value's share."""
        value = value.item() if isinstance(value, np.generic) else value
        if _is_plain(value):
            place = self._places.get((type(value), value))
        else:
            among = enumerate(self.values)
            place = next((k for k, one in among if one is value or (type(one) is type(value) and _equal(one, value))), None)
        if place is None:
            raise SpaceError(f"{self.name}={shown_value(value)} is not one of {shown_value(list(self.values))}")
        return (place + 0.5) / self.levels

    def known(self, value: Any, u: float) -> Any:
        """Return the value that `u` stands for."""
        return self.decode(u)

    def read(self, cell: Any) -> Any:
        """Return a cell of a table as one of the values: equal to it, or its text; else the cell."""
        if self.levels == 1 and cell is None:
            return self.values[0]
        for mine, text in zip(self.values, self.describe()["values"], strict=True):
            if mine is cell or (type(mine) is type(cell) and isinstance(mine, bool | int | float | str) and mine == cell):
                return mine
            if (is_number(mine) and is_number(cell) and mine == cell) or (isinstance(cell, str) and text == cell):
                return mine
        return cell

    def nearest(self, value: Any) -> Any:
        """Return the value nearest to a number."""
        return min(self.values, key=lambda one: abs(one - value))

    def density(self, belief: Any, u: Floats) -> Floats:
        """Return the probability that a distribution gives the ordered value at each point of the unit interval."""
        values = np.array(self.values, dtype=float)
        middles = belief.cdf((values[1:] + values[:-1]) / 2)
        ends = ([[1.0], middles, [0.0]]) if values[0] > values[-1] else ([[belief.cdf(-np.inf)], middles, [1.0]])
        shares = np.abs(np.diff(np.concatenate(ends)))
        return np.asarray(shares[[self.values.index(self.decode(at)) for at in u]])

    def without_ends(self, ends: Sequence[float]) -> ChoiceParameter:
        """Return the list itself, which has no ends."""
        return self

    @cached_property
    def _places(self) -> dict[tuple[type, Any], int]:
        """The positions of values with a JSON type; of equal values the first."""
        return {(type(value), value): k for k, value in reversed([*enumerate(self.values)]) if _is_plain(value)}

    def __getstate__(self) -> dict[str, Any]:
        """Leave the positions out, which are computed again: skops writes no dictionary whose keys are tuples."""
        return {name: value for name, value in self.__dict__.items() if name != "_places"}

    def describe(self) -> dict[str, Any]:
        """Return the description by the texts of values, and a hash of the contents of those without a JSON type."""
        described: dict[str, Any] = {"kind": self.kind, "values": [_storable(v) for v in self.values]}
        return described | {"contents": list(self.hashes)} if any(self.hashes) else described


Parameter = ContinuousParameter | IntegerParameter | ChoiceParameter


_WANTED = (
    "is not a list of values, a scipy.stats distribution or a range; use a list (of one value for a fixed parameter), or a "
    'tuple (low, high) or (low, high, "log-uniform")'
)


def make_parameter(name: str, definition: Any) -> Parameter:
    """Create a parameter from a distribution, a tuple (low, high[, prior]) or a list of values; else SpaceError.

    A distribution is one of scipy.stats, of Optuna or of scikit-optimize, or has `rvs` as RandomizedSearchCV calls it.
    """
    definition = of_another_library(definition)
    # a set would have another order in the next process, and so its points another meaning
    if isinstance(definition, str | bytes | dict | Set) or definition is None:
        raise SpaceError(f"{name}={definition!r} {_WANTED}")
    if hasattr(definition, "rvs"):
        return _from_distribution(name, definition)
    if isinstance(definition, tuple) and (found := as_range(name, definition)) is not None:
        return _from_range(name, definition, found)
    try:
        values = tuple(v.item() if isinstance(v, np.generic) else v for v in definition)
    except TypeError:
        raise SpaceError(f"{name}={definition!r} {_WANTED}") from None
    if not values:
        raise SpaceError(f"{name} has an empty list of values; use at least one")
    if len(values) > MOST_VALUES:
        raise SpaceError(f"{name} has {len(values):,} values; use at most {MOST_VALUES:,}, or a distribution such as randint")
    for v in values:
        if isinstance(v, float) and math.isnan(v):
            raise SpaceError(f"{name} has nan among its values; leave it out")
        if isinstance(v, int) and abs(v) >= _NO_TEXT:
            raise SpaceError(f"{name} has a whole number of more than 4000 digits among its values; use text instead")
    warn_of_listed_range(name, values)
    return ChoiceParameter(name, values)


def _from_range(name: str, given: tuple[Any, ...], found: Range) -> Parameter:
    low, high = found.low, found.high
    if found.whole:
        if high - low >= MOST_INTEGERS or max(-low, high) > MOST_INTEGERS or (found.log and high > LARGEST):
            most = "bounds up to 10**12 on a log scale" if found.log else "at most 2**62 whole numbers"
            raise SpaceError(f"{name}={shown_value(given)} has too wide a range; use {most}")
        return (LogIntegerParameter if found.log and low < high else IntegerParameter)(name, int(low), int(high))
    from scipy.stats import loguniform, uniform  # on use: it takes a while

    if low == high:
        return ChoiceParameter(name, (float(low),))
    return _from_distribution(name, loguniform(low, high) if found.log else uniform(low, high - low))


def _from_distribution(name: str, law: Any) -> Parameter:
    def refusal(why: str) -> SpaceError:
        return SpaceError(f"{name}={_law_text(law)} {why}")

    if not (hasattr(law, "ppf") and hasattr(law, "cdf") and hasattr(law, "support")):
        rng = np.random.RandomState(0)
        try:
            drawn = [law.rvs(random_state=rng) for _ in range(_N_DRAWS)]
        except Exception as error:  # a user's object can raise anything
            raise refusal(f"has no ppf, cdf and support, and rvs(random_state=...) raises {error!r}; use scipy.stats") from error
        return _from_sample(name, drawn)
    try:
        with np.errstate(all="ignore"):
            ends = law.support()
        low, high = (float(v) for v in ends)
    except (TypeError, OverflowError) as error:  # arguments that are missing, arrays or text; or too large for a float
        raise refusal(f"cannot be used as a distribution: {error}") from error
    kind = getattr(getattr(law, "dist", None), "name", "")
    first = law.args[0] if getattr(law, "args", ()) else getattr(law, "kwds", {}).get("a", 1.0)
    if kind in ("loguniform", "reciprocal") and float(first) <= 0:
        raise refusal("takes the logarithm of a bound that is not positive; use bounds above 0")
    if math.isnan(low) or math.isnan(high) or low > high or (low == high and not hasattr(law, "pmf")):
        raise refusal("has an empty or reversed range; the lower bound comes first")
    central = math.isinf(low) or math.isinf(high)
    if central:
        part = CentralLaw(law)
        ends = low, high = part.support()
        if not (math.isfinite(low) and math.isfinite(high)):
            raise refusal("has no quantiles that are numbers; use another distribution")
    if 1.25 * max(high - low, abs(low), abs(high)) > sys.float_info.max:  # there must be room for an axis around it
        raise refusal(f"has a range whose width overflows ([{low:g}, {high:g}]); use a narrower one, or the logarithm")
    if hasattr(law, "pmf"):
        listed = getattr(law, "xk", getattr(getattr(law, "dist", None), "xk", None))
        if listed is not None:
            return make_parameter(name, listed)
        whole = IntegerParameter(name, int(ends[0]), int(ends[1]))
        if whole.levels > MOST_INTEGERS:
            raise refusal(f"has a range whose width overflows ({whole.levels:.3g} whole numbers); use at most 2**62 of them")
        return whole
    parameter = ContinuousParameter(name, part if central else law, low, high, central=CENTRAL if central else None)
    if not are_quantiles(quantiles := parameter.describe()["quantiles"]):
        raise refusal(f"has quantiles that are not rising numbers, {quantiles}; use another distribution")
    return parameter


def _from_sample(name: str, drawn: Sequence[Any]) -> Parameter:
    """Create a parameter from values that were drawn: continuous if they are many different numbers that are not whole."""
    plain = [v.item() if isinstance(v, np.generic | np.ndarray) and np.ndim(v) == 0 else v for v in drawn]
    distinct = list({(type(v), v) if _is_plain(v) else _fingerprint().content_hash(v): v for v in plain}.values())
    if not all(is_number(v) and math.isfinite(v) for v in plain):
        return make_parameter(name, distinct)
    if len(distinct) > _CONTINUOUS and not all(v == int(v) for v in distinct):
        law = SampledLaw(tuple(sorted(map(float, plain))))
        return _from_distribution(name, law)
    return make_parameter(name, sorted(distinct))


def are_quantiles(given: Sequence[Any]) -> bool:
    """Return whether the numbers can be quantiles at `QUANTILES` of a bounded distribution: finite and not falling."""
    numeric = all(isinstance(q, int | float) and abs(q) <= sys.float_info.max for q in given)
    # a width beyond all numbers has no middle
    return (
        numeric
        and len(given) == len(QUANTILES)
        and math.isfinite(float(given[-1]) - float(given[0]))
        and all(a <= b for a, b in pairwise(given))
    )


def _law_text(law: Any) -> str:
    kind = getattr(getattr(law, "dist", None), "name", type(law).__name__)
    arguments = [shown_value(a) for a in getattr(law, "args", ())]
    arguments += [f"{k}={shown_value(v)}" for k, v in getattr(law, "kwds", {}).items()]
    return f"{kind}({', '.join(arguments)})"


def is_number(value: Any) -> bool:
    """Return whether a value is a real number, and neither a truth value nor a time difference."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.timedelta64)


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except (TypeError, ValueError):  # arrays, for example, whose comparison is an array
        return False


def _storable(value: Any) -> Any:
    return value if _is_plain(value) else _fingerprint().as_text(value)


def _is_plain(value: Any) -> bool:
    """Return whether a record stores the value itself, and not its text."""
    if isinstance(value, int):
        return -_NO_JSON < value < _NO_JSON
    return value is None or isinstance(value, float | str)


def _fingerprint() -> Any:
    import spotsvm.common.fingerprint  # on use: most values are numbers and texts

    return spotsvm.common.fingerprint
