"""Distributions of Optuna as a space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from scipy.stats import loguniform, randint, uniform

from spotsvm.errors import ArgumentError
from spotsvm.space.space import Space
from spotsvm.surrogates.domain import LARGEST

Floats = NDArray[np.float64]


class Coding:
    """Distributions of Optuna as a space: steps and choices are counted, so that their values are exact."""

    def __init__(self, distributions: Mapping[str, BaseDistribution]):
        self._distributions = dict(distributions)
        self.space = Space({name: _counted(one) for name, one in distributions.items()})

    def point(self, params: Mapping[str, Any]) -> Floats:
        """Return the point for the values of a trial; further values of the trial are ignored."""
        return self.space.encode({name: _code(one, params[name]) for name, one in self._distributions.items()})

    def params(self, point: Floats) -> dict[str, Any]:
        """Return the values at a point."""
        codes = self.space.decode(point)
        return {name: value_of(one, codes[name]) for name, one in self._distributions.items()}


def _counted(one: BaseDistribution) -> Any:
    match one:
        case CategoricalDistribution():
            return [str(k) for k in range(len(one.choices))]
        case IntDistribution(log=True):
            return integers_on_log_scale(one.low, one.high)
        case FloatDistribution(step=None):
            return loguniform(one.low, one.high) if one.log else uniform(one.low, one.high - one.low)
        case FloatDistribution() | IntDistribution():
            step: Any = one.step
            return randint(0, round((one.high - one.low) / step) + 1)
    raise ArgumentError(f"{one!r} is not a supported distribution; use a float, an int or a categorical one")


def integers_on_log_scale(low: int, high: int) -> Any:
    """Return the definition of a parameter; a continuous one if the integers are too large for an integer parameter."""
    return (low, high, "log-uniform") if high <= LARGEST else loguniform(max(low - 0.5, 0.5), high + 0.5)


def _code(one: BaseDistribution, value: Any) -> Any:
    match one:
        case CategoricalDistribution():
            return str(int(one.to_internal_repr(value)))
        case IntDistribution(log=True) | FloatDistribution(step=None):
            return float(value)
        case FloatDistribution() | IntDistribution():
            step: Any = one.step
            return round((value - one.low) / step)
    raise ArgumentError(f"{one!r} is not a distribution that spotsvm knows")


def value_of(one: BaseDistribution, code: Any) -> Any:
    """Return the value of a distribution that a code stands for."""
    match one:
        case CategoricalDistribution():
            return one.choices[int(code)]
        case IntDistribution(log=True):
            return min(max(round(code), one.low), one.high)
        case IntDistribution():
            return one.low + code * one.step
        case FloatDistribution(step=None):
            return min(max(code, one.low), one.high)
        case FloatDistribution():
            step: Any = one.step
            return min(one.low + code * step, one.high)
    raise ArgumentError(f"{one!r} is not a distribution that spotsvm knows")
