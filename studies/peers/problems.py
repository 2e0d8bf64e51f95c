"""What the optimizers are run on: a function of parameters to minimise, with its minimum if that is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from spotsvm.space.description import scale_of
from spotsvm.space.space import Space

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """A number of a range, or one of some values, in the terms that all optimizers share."""

    name: str
    kind: Literal["float", "int", "category"] = "float"
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    values: tuple[Any, ...] = ()

    def described(self) -> Any:
        """Return the parameter as a `Study` takes it."""
        if self.kind == "category":
            return list(self.values)
        return (self.low, self.high, "log-uniform") if self.log else (self.low, self.high)

    def cleaned(self, value: Any) -> Any:
        """Return the nearest valid value: some optimizers go beyond an end by rounding."""
        if self.kind == "category":
            return value
        value = min(max(value, self.low), self.high)
        return round(value) if self.kind == "int" else float(value)


def parameters_of(space: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Return the parameters of a space of uniform and log-uniform numbers, integers and lists."""
    (branch,) = Space(space).branches
    return tuple(_parameter(name, one) for name, one in branch.items())


def _parameter(name: str, one: Any) -> Parameter:
    if one.bounds is None:
        return Parameter(name, "category", values=tuple(one.listed))
    low, high = one.bounds
    return Parameter(name, "int" if one.whole else "float", low, high, scale_of(one) == "log")


@dataclass(frozen=True)
class Problem:
    """A function to minimise.

    `function` is the unit of the intervals: its instances are averaged. `group` has what stands in one row of the table.
    `evaluate` takes parameters and the seed of its noise; with noise `truth` gives the true value. `optimum` is the least value.
    """

    name: str
    function: str
    group: str
    parameters: tuple[Parameter, ...]
    evaluate: Callable[[Params, int], float]
    truth: Callable[[Params], float] | None = None
    optimum: float | None = None

    @property
    def noisy(self) -> bool:
        """Whether a value has noise."""
        return self.truth is not None

    def space(self) -> dict[str, Any]:
        """Return the space as a `Study` takes it."""
        return {one.name: one.described() for one in self.parameters}

    def described(self, seed: int, budget: int) -> dict[str, Any]:
        """Return the space in JSON types, as the optimizers of other libraries take it."""
        return {"parameters": [asdict(one) for one in self.parameters], "seed": seed, "budget": budget, "noisy": self.noisy}

    def cleaned(self, params: Params) -> dict[str, Any]:
        """Return the nearest valid parameters, in the order of the space."""
        return {one.name: one.cleaned(params[one.name]) for one in self.parameters}
