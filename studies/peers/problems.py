"""What the optimizers are run on: a function of parameters to minimise, with its minimum if that is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
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

    def middle(self) -> Any:
        """Return a valid value."""
        return self.values[0] if self.kind == "category" else self.cleaned((self.low + self.high) / 2)

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
    """A function to minimise."""

    name: str
    #: the unit of the intervals: its instances are averaged
    function: str
    #: the rows of the table to which it belongs
    group: str
    parameters: tuple[Parameter, ...]
    #: takes parameters and the seed of the noise; a list for several objectives
    evaluate: Callable[[Params, int], Any]
    #: the true value, if there is noise
    truth: Callable[[Params], float] | None = None
    #: the least value, if it is known
    optimum: float | None = None
    #: numbers that must not be positive
    constraints: Callable[[Params], list[float]] | None = None
    #: an allowed value that is known before the first evaluation
    feasible: float | None = None
    n_objectives: int = 1
    #: makes a function that keeps evaluations in a folder, in the suite's own format, under the name of the optimizer
    recorded: Callable[[Path, str], AbstractContextManager[Callable[[Params], None]]] | None = None

    @property
    def noisy(self) -> bool:
        """Whether a value has noise."""
        return self.truth is not None

    @cached_property
    def n_constraints(self) -> int:
        """The number of constraints."""
        return 0 if self.constraints is None else len(self.constraints({one.name: one.middle() for one in self.parameters}))

    def space(self) -> dict[str, Any]:
        """Return the space as a `Study` takes it."""
        return {one.name: one.described() for one in self.parameters}

    def described(self, seed: int, budget: int) -> dict[str, Any]:
        """Return the space in JSON types, as the optimizers of other libraries take it."""
        about = {
            "seed": seed,
            "budget": budget,
            "noisy": self.noisy,
            "constraints": self.n_constraints,
            "objectives": self.n_objectives,
        }
        return {"parameters": [asdict(one) for one in self.parameters], **about}

    def cleaned(self, params: Params) -> dict[str, Any]:
        """Return the nearest valid parameters, in the order of the space."""
        return {one.name: one.cleaned(params[one.name]) for one in self.parameters}
