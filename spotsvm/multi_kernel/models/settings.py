"""The kernel parameters of multiple-kernel machines, and the combined kernels that they define on given data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from spotsvm.errors import ArgumentError, SolverError
from spotsvm.estimators import Floats
from spotsvm.multi_kernel.models.column_groups import few, group_names, resolve_groups
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.kernels import Kernel, resolve_gamma
from spotsvm.solvers.kernels.functions.kernel import check_kernel_name
from spotsvm.solvers.kernels.functions.multi_kernel import BaseKernel, MultiKernel

#: the name of the single kernel of a product
PRODUCT = "product"


@dataclass(frozen=True)
class Entry:
    """One base kernel: its name, its group, what it is, and the factor of its sigma."""

    name: str
    group: str
    kernel: Any
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class KernelSettings:
    """The kernel parameters of MultiKernelSVC.

    Any method raises an ArgumentError or SolverError if a parameter is invalid.
    """

    groups: Any = None
    kernel: Any = "rbf"
    gamma: Any = "auto"
    scales: Any = (1.0,)
    weights: Any = None
    combine: Any = "sum"
    degree: Any = 3
    coef0: Any = 0.0
    gamma_left_out: str = "auto"  # of groups that a dict of gammas leaves out

    @property
    def product(self) -> bool:
        """Whether the kernels are multiplied."""
        if not (isinstance(self.combine, str) and self.combine in ("sum", "product")):
            raise ArgumentError(f"combine={self.combine!r}; use 'sum' or 'product'")
        return self.combine == "product"

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The base kernels, group after group."""
        scales = _checked_scales(self.scales)
        found = []
        for group, kernels in self._kernels().items():
            labels = _distinct([_label(kernel) for kernel in kernels])
            for kernel, label in zip(kernels, labels, strict=True):
                name = group if len(kernels) == 1 else f"{group}:{label}"
                if isinstance(kernel, str) and kernel == "rbf":
                    ends = [""] if len(scales) == 1 else [f"/{scale:g}" for scale in scales]
                    found += [Entry(name + end, group, kernel, scale) for end, scale in zip(ends, scales, strict=True)]
                else:
                    found.append(Entry(name, group, kernel))
        names = [entry.name for entry in found]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ArgumentError(f"groups and kernels: two kernels would be called {twice!r}; give their groups other names")
        if self.product and (len(scales) > 1 or any(e.kernel != "rbf" for e in found) or len(found) > len(self._kernels())):
            raise ArgumentError("combine='product' needs one kernel 'rbf' for each group; use kernel='rbf' and one scale")
        return tuple(found)

    @property
    def kernel_names(self) -> tuple[str, ...]:
        """The names of the kernels that have a weight."""
        names = tuple(entry.name for entry in self.entries)
        return (PRODUCT,) if self.product else names

    def named_weights(self) -> dict[str, Any]:
        """Return the weights by the names of their kernels."""
        return _named("weights", self.weights, self.kernel_names, 1.0, "kernels")

    def named_gamma(self) -> dict[str, Any]:
        """Return gamma by the names of the groups, as it was set."""
        if self.gamma is None:
            raise ArgumentError("gamma=None; use 'auto', 'scale', a number, or one of these for each group")
        return _named("gamma", self.gamma, group_names(self.groups), self.gamma_left_out, "groups")

    def weight_table(self, n_problems: int) -> Floats:
        """Return the weights as an array of shape (n_problems, n_kernels)."""
        names = self.kernel_names
        given = self.weights
        for_each = n_problems > 1
        if given is None or isinstance(given, Mapping | Real):
            given = list(self.named_weights().values())
        try:
            table = np.array(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"weights is not an array of numbers; {error}") from error
        wanted = (n_problems, len(names))
        if table.shape == wanted[1:]:
            for_each = False
            table = np.tile(table, (n_problems, 1))
        if table.shape != wanted:
            raise ArgumentError(
                f"weights has shape {table.shape}; use ({wanted[1]},) for the kernels {few(names)}, or {wanted} for each problem"
            )
        wrong = ~(np.isfinite(table) & (table >= 0))
        if wrong.any():
            problem, k = np.argwhere(wrong)[0]
            raise ArgumentError(
                f"weights: the weight of the kernel {names[k]!r} is {table[problem, k]}; use a finite number, 0 or more"
            )
        if not table.any(axis=1).all():
            where = f" for problem {int((~table.any(axis=1)).argmax())}" if for_each else ""
            raise ArgumentError(f"weights are all 0{where}; at least one must be positive")
        return table

    def columns(self, n_features: int, feature_names: Sequence[str] | None) -> dict[str, tuple[int, ...]]:
        """Return the columns of each group."""
        return resolve_groups(self.groups, n_features, feature_names)

    def gammas(self, X: Floats, columns: Mapping[str, tuple[int, ...]]) -> dict[str, float]:
        """Return gamma as a number for each group."""
        found = {}
        for group, gamma in self.named_gamma().items():
            if not isinstance(gamma, str) and not np.isfinite(as_float(gamma)):
                raise ArgumentError(f"gamma={gamma!r} for the group {group!r}; use 'auto', 'scale' or a finite number")
            by_rows = isinstance(gamma, str) and gamma == "scale"
            own = X[:, columns[group]] if by_rows else np.zeros((1, len(columns[group])))
            try:
                found[group] = resolve_gamma(gamma, own)
            except SolverError as error:
                raise ArgumentError(f"gamma for the group {group!r}: {error}") from error
        return found

    def bases(self, columns: Mapping[str, tuple[int, ...]], gammas: Mapping[str, float]) -> tuple[BaseKernel, ...]:
        """Return the base kernels, their gammas being numbers."""
        return tuple(BaseKernel(self._made(entry, gammas[entry.group]), columns[entry.group]) for entry in self.entries)

    def combined(self, bases: tuple[BaseKernel, ...], weights: Floats) -> MultiKernel:
        """Return the combined kernel with some weights, (n_kernels,)."""
        return MultiKernel(bases, tuple(weights.tolist()), self.product)

    def _made(self, entry: Entry, gamma: float) -> Kernel:
        if isinstance(entry.kernel, Kernel):
            return entry.kernel
        try:
            return Kernel(entry.kernel, gamma / entry.scale, self.coef0, self.degree)
        except SolverError as error:
            raise ArgumentError(f"the kernel {entry.name!r}: {error}") from error

    def _kernels(self) -> dict[str, list[Any]]:
        """Return the kernels of each group."""
        groups = group_names(self.groups)
        if isinstance(self.kernel, Mapping):
            _check_names("kernel", self.kernel, groups, "groups")
            missing = next((group for group in groups if group not in self.kernel), None)
            if missing is not None:
                raise ArgumentError(f"kernel has no entry for the group {missing!r}; give one for each of {few(groups)}")
            return {group: _checked_kernels(self.kernel[group]) for group in groups}
        kernels = _checked_kernels(self.kernel)
        return dict.fromkeys(groups, kernels)


def _checked_kernels(given: Any) -> list[Any]:
    kernels = list(given) if isinstance(given, list | tuple) else [given]
    if not kernels:
        raise ArgumentError("kernel is an empty list; give one kernel or more")
    for kernel in kernels:
        name = kernel.name if isinstance(kernel, Kernel) else kernel
        check_kernel_name(name)
        if isinstance(name, str) and name == "precomputed":
            raise ArgumentError("kernel='precomputed' has no columns to be grouped; use ExactSVC or SVC with the summed matrix")
    return kernels


def _checked_scales(given: Any) -> list[float]:
    try:
        scales = [as_float(scale) for scale in ([given] if isinstance(given, Real) else given)]
    except TypeError:
        scales = []
    if not scales or not all(0 < scale < np.inf for scale in scales) or len(set(scales)) < len(scales):
        raise ArgumentError(f"scales={given!r}; use positive factors of sigma, each once, as (0.25, 1, 4)")
    return scales


def _label(kernel: Any) -> str:
    name = kernel.name if isinstance(kernel, Kernel) else kernel
    return name if isinstance(name, str) else getattr(name, "__name__", type(name).__name__)


def _distinct(labels: list[str]) -> list[str]:
    """Return labels; the second and later of equal labels get a number."""
    return [label + (f".{labels[:k].count(label) + 1}" if label in labels[:k] else "") for k, label in enumerate(labels)]


def _named(parameter: str, given: Any, names: Sequence[str], default: Any, what: str) -> dict[str, Any]:
    """Return a value for each name: of a dict, with a default for what is absent, a sequence, or one for all."""
    if given is None:
        return dict.fromkeys(names, default)
    if isinstance(given, Mapping):
        _check_names(parameter, given, names, what)
        return {name: given.get(name, default) for name in names}
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        return dict.fromkeys(names, given)
    if np.ndim(given) != 1 or len(given) != len(names):
        raise ArgumentError(f"{parameter} has shape {np.shape(given)}; there are {len(names)} {what}: {few(names)}")
    return dict(zip(names, given, strict=True))


def _check_names(parameter: str, given: Mapping[str, Any], names: Sequence[str], what: str) -> None:
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        raise ArgumentError(f"{parameter} names {unknown!r}, which is not among the {what} {few(names)}")
