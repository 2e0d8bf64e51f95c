"""Settings of a reduction of the training set, checked against the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spotsvm.common.checks import check_choice, check_count, check_positive
from spotsvm.common.text import counted
from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.kernels import resolve_gamma
from spotsvm.solvers.kernels.functions.kernel import check_kernel_name
from spotsvm.solvers.search.alternating.model_genetics import HIGHEST, LOWEST

METHODS = ("alga", "gasvm", "ga-model", "grid", "nsga2", "random")
#: methods whose models evolve; the others take theirs from the grid
EVOLVES_MODEL = ("alga", "ga-model", "nsga2")
#: methods that train on all rows
WHOLE = ("ga-model", "grid")
# rows of each class of sets that grow, at first and at last, unless the caller says otherwise
_SMALLEST_START, _LARGEST_START, _LARGEST_SET = 4, 16, 500


@dataclass(frozen=True)
class Sizes:
    """Rows of each class at first, and at most; both are equal unless sets grow."""

    start: int
    most: int

    @property
    def grows(self) -> bool:
        """Whether sets may grow."""
        return self.most > self.start


def check_sizes(n_per_class: Any, max_per_class: Any, n_features: int, counts: dict[Any, int], held_out: bool) -> Sizes:
    """Return the sizes of the reduced sets, or raise ArgumentError; `counts` are the rows of each class of the training part."""
    smallest = min(counts, key=lambda name: counts[name])
    where = " that are left for training" if held_out else ""
    bound = f"class {smallest!r} has {counted(counts[smallest], 'row')}{where}; use at most as many"
    if max_per_class is not None:
        check_count("max_per_class", max_per_class, after=", or None")
    if isinstance(n_per_class, str) and n_per_class == "grow":
        if counts[smallest] < 2 and not held_out:
            raise ArgumentError(
                f"n_per_class='grow'; class {smallest!r} has a single row, and no set can grow: use 1, or give more rows"
            )
        start = min(max(_SMALLEST_START, n_features), _LARGEST_START, counts[smallest])
        if max_per_class is None:
            return Sizes(start, max(start, min(counts[smallest] // 2, _LARGEST_SET)))
        most = int(max_per_class)
        if most > counts[smallest]:
            raise ArgumentError(f"max_per_class={max_per_class!r}; {bound}")
        return Sizes(min(start, most), most)
    size = check_count("n_per_class", n_per_class, after=", or 'grow'")
    if size > counts[smallest]:
        raise ArgumentError(f"n_per_class={n_per_class!r}; {bound}")
    return Sizes(size, size)


def check_kernel(kernel: Any) -> bool:
    """Return whether a kernel has a gamma, or raise ArgumentError or SolverError."""
    check_kernel_name(kernel)
    if isinstance(kernel, str) and kernel == "precomputed":
        raise ArgumentError("kernel='precomputed' gives no rows to reduce; use another name, or a function of two arrays")
    return isinstance(kernel, str) and kernel != "linear"


def check_model(
    method: str, C: Any, gamma: Any, C_values: Any, gamma_values: Any, X: Floats, has_gamma: bool = True
) -> tuple[list[float], list[float]]:
    """Return the candidate values of C and of gamma; a single one is fixed, as is gamma where the kernel has none."""
    for name, value in (("C", C), ("gamma", gamma)):
        if isinstance(value, str) and value == "grid" and method in EVOLVES_MODEL:
            raise ArgumentError(f"{name}='grid' with method={method!r}, which evolves models; use None, or a number to fix it")
    of_C = _check_values("C_values", C_values) if _is_free(C) else [check_positive("C", C, ", 'grid' or None")]
    if _is_free(gamma) and not has_gamma:
        return of_C, [1.0]
    if _is_free(gamma):
        return of_C, _check_values("gamma_values", gamma_values)
    if isinstance(gamma, str) and gamma in ("scale", "auto"):
        return of_C, [resolve_gamma(gamma, X)]
    return of_C, [check_positive("gamma", gamma, ", 'scale', 'auto', 'grid' or None")]


def check_method(method: Any, n_per_class: Any) -> str:
    """Return the method, or raise ArgumentError."""
    check_choice("method", method, METHODS)
    grows = isinstance(n_per_class, str) and n_per_class == "grow"
    if method == "random" and isinstance(n_per_class, str):
        raise ArgumentError(f"n_per_class={n_per_class!r} with method='random', whose sets have one size; use a number")
    if method in WHOLE and not grows:  # it takes all rows, yet a wrong number is a mistake
        check_count("n_per_class", n_per_class, after=", or 'grow'")
    return str(method)


def check_share(name: str, value: Any, *, below_one: bool = False) -> float:
    """Return a number in [0, 1], or in [0, 1), or raise ArgumentError."""
    number = as_float(value)
    if not 0 <= number <= 1 or (below_one and number == 1):
        raise ArgumentError(f"{name}={value!r} is not in [0, 1{')' if below_one else ']'}")
    return number


def _is_free(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value == "grid")


def _check_values(name: str, values: Any) -> list[float]:
    if not isinstance(values, (Sequence, np.ndarray)) or isinstance(values, str) or not len(values):
        raise ArgumentError(f"{name}={values!r}; use one positive number or more, as (0.1, 1, 10)")
    numbers = [check_positive(f"{name}[{k}]", value) for k, value in enumerate(values)]
    for k, number in enumerate(numbers):
        if not LOWEST <= number <= HIGHEST:
            raise ArgumentError(f"{name}[{k}]={number!r} is not from {LOWEST:g} to {HIGHEST:g}; scale the data")
    return numbers
