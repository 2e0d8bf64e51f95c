"""The search space: named parameters on one side, points of the unit cube on the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.common.facts import Facts, ShowsFacts
from spotsvm.common.text import counted, printable_line
from spotsvm.errors import SpaceError
from spotsvm.space.description import described_parameter, octaves, scale_of
from spotsvm.space.parameter import (
    Parameter,
    make_parameter,
)
from spotsvm.surrogates.domain import Coordinate, Domain

#: parameters of a space, in all its dictionaries, and the length of their names
MOST_PARAMETERS = 1000
LONGEST_NAME = 1000


@dataclass(frozen=True)
class Axis:
    """A coordinate of the cube: a parameter, and the numbers of the branches (dictionaries) in which it is active."""

    parameter: Parameter
    name: str
    branches: frozenset[int]


class Space(ShowsFacts):
    """A search space from the dictionaries that RandomizedSearchCV takes.

    Parameters
    ----------
    definition : dict or list of dict
        Each dictionary maps a parameter's name to a frozen scipy.stats distribution, to a range, or to a list of values. A
        distribution without bounds is searched on its central 99.9 %, by quantiles. A range is a tuple (low, high) or (low, high,
        prior) with the prior "uniform" or "log-uniform": two integers give the integers from low to high, other bounds all
        numbers between them. In a list of dictionaries, a parameter exists only in the dictionaries that name it, so `degree` can
        be searched for the polynomial kernel alone. A list of one value fixes its parameter; a space with fixed parameters only,
        or an empty dictionary, has one configuration. Optuna's distributions, and scikit-optimize's `Real`, `Integer` and
        `Categorical`, are accepted as well. From a distribution with `rvs` alone, 1,000 values are drawn: continuous numbers
        follow the quantiles of this sample, and any other values become a list.

    Attributes
    ----------
    domain : Domain
        The unit cube that a search sees.
    names : tuple of str
        All parameters, in the order in which they appear.

    Raises
    ------
    SpaceError
        If a parameter cannot be searched.

    See Also
    --------
    Study : Searches a space.
    default_space : A space for an estimator.

    Examples
    --------
    >>> from scipy.stats import loguniform, randint
    >>> space = Space(
    ...     [
    ...         {"kernel": ["rbf"], "gamma": loguniform(1e-3, 1e1)},
    ...         {"kernel": ["poly"], "degree": randint(2, 6)},
    ...     ]
    ... )
    >>> space.decode(space.encode({"kernel": "poly", "degree": 3}))
    {'kernel': 'poly', 'degree': 3}
    >>> space = Space(
    ...     {
    ...         "C": (1e-6, 1e6, "log-uniform"),
    ...         "n": (1, 1000, "log-uniform"),
    ...         "kernel": ["rbf"],
    ...     }
    ... )
    >>> space.decode([0.5, 0.5])
    {'C': 1.0, 'n': 22, 'kernel': 'rbf'}
    >>> space
    <Space of C: 1e-06 to 1e+06, log; n: 1 to 1000, integers, log; kernel: 'rbf'>
    """

    def __init__(self, definition: Mapping[str, Any] | Sequence[Mapping[str, Any]]):
        dictionaries = [definition] if isinstance(definition, Mapping) else _as_list(definition)
        for k, dictionary in enumerate(dictionaries):
            if not isinstance(dictionary, Mapping):
                raise SpaceError(f"space[{k}]={dictionary!r} is not a dictionary of parameters")
        if (count := sum(map(len, dictionaries))) > MOST_PARAMETERS:
            raise SpaceError(f"space has {count:,} parameters; use at most {MOST_PARAMETERS:,}")
        self._branches: list[dict[str, Parameter]] = [
            {_checked_name(name): _parameter(name, what) for name, what in dictionary.items()} for dictionary in dictionaries
        ]
        self._settle()

    def _facts(self) -> Facts:
        one = len(self._branches) == 1
        rows = [
            (*(() if one else (f"dictionary {k}",)), name, _words(parameter))
            for k, branch in enumerate(self._branches)
            for name, parameter in branch.items()
        ]
        return f"Space of {counted(len(self.names), 'parameter')}", rows

    def __repr__(self) -> str:
        branches = ["; ".join(f"{name}: {_words(one)}" for name, one in branch.items()) for branch in self._branches]
        return f"<Space of {printable_line(' | '.join(branches), 1000) or 'no parameters'}>"

    @classmethod
    def described(cls, description: Any) -> Space:
        """Create a space from its description, which a record stores.

        A distribution is created from its quantiles: exact for uniform and log-uniform ones, interpolated for others.

        Parameters
        ----------
        description : list of dict
            As `describe` returns it.

        Returns
        -------
        Space
            The space.

        Raises
        ------
        SpaceError
            If it is not the description of a space.

        See Also
        --------
        describe : Returns the description.

        Examples
        --------
        >>> space = Space(
        ...     [{"kernel": ["rbf"]}, {"kernel": ["poly"], "degree": [2, 3, 4]}]
        ... )
        >>> Space.described(space.describe()).describe() == space.describe()
        True
        """
        if not isinstance(description, list) or not all(isinstance(branch, Mapping) for branch in description):
            raise SpaceError(f"{printable_line(repr(description), 200)} is not the description of a space")
        return cls([{name: _Described(name, what) for name, what in branch.items()} for branch in description])

    def centres(self) -> list[NDArray[np.float64]]:
        """Return the centre of each dictionary's part of the cube.

        Returns
        -------
        list of ndarray of shape (n_coordinates,)
            One centre for each dictionary of the space.

        See Also
        --------
        encode : The point of any configuration.
        """
        points = np.full((len(self._branches), self.domain.dimension), 0.5)
        if self._branched:
            points[:, 0] = (np.arange(len(points)) + 0.5) / len(points)
        return list(self.domain.snap(points))

    def without(self, name: str) -> Space:
        """Return the space without a parameter.

        Parameters
        ----------
        name : str
            A parameter that all dictionaries have.

        Returns
        -------
        Space
            The space of the other parameters.

        See Also
        --------
        Study : Searches without the parameter that it sweeps.

        Examples
        --------
        >>> Space({"x": [1, 2], "y": [3, 4]}).without("y").names
        ('x',)
        """
        left = copy(self)
        left._branches = [{key: parameter for key, parameter in branch.items() if key != name} for branch in self._branches]
        left._settle()
        return left

    def in_order_of(self, description: Any) -> Space:
        """Return the space with the parameters of each dictionary in another order.

        Parameters
        ----------
        description : list of dict
            The description of a space, as `describe` returns it.

        Returns
        -------
        Space
            With the order of the description if its dictionaries have the same parameters; else the space itself.

        See Also
        --------
        describe : Returns a description.

        Examples
        --------
        >>> space = Space({"x": [1, 2], "y": [3, 4]})
        >>> space.in_order_of(Space({"y": [3, 4], "x": [1, 2]}).describe()).names
        ('y', 'x')
        """
        branches = description if isinstance(description, list) else []
        if [set(one) if isinstance(one, Mapping) else None for one in branches] != [set(branch) for branch in self._branches]:
            return self
        ordered = copy(self)
        ordered._branches = [{name: branch[name] for name in one} for one, branch in zip(branches, self._branches, strict=True)]
        ordered._settle()
        return ordered

    def _settle(self) -> None:
        """Derive axes, names and domain from the branches."""
        self._axes = _share_axes(self._branches)
        # a cube has at least one coordinate; if no parameter varies, it has one level, for the only dictionary
        self._branched = len(self._branches) > 1 or not self._axes
        self.names: tuple[str, ...] = tuple(dict.fromkeys(name for branch in self._branches for name in branch))
        self.domain = self._make_domain()

    def _make_domain(self) -> Domain:
        everywhere = frozenset(range(len(self._branches)))
        coordinates = [Coordinate(levels=len(self._branches), categorical=True)] if self._branched else []
        for axis in self._axes:
            parameter = axis.parameter
            coordinate = Coordinate(
                levels=parameter.levels,
                categorical=parameter.categorical,
                width=octaves(parameter),
                numbers=parameter.numbers,
            )
            if axis.branches != everywhere:
                coordinate = replace(coordinate, parent=0, parent_levels=axis.branches)
            coordinates.append(coordinate)
        return Domain(tuple(coordinates))

    def decode(self, point: ArrayLike, known: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        """Return the parameters that a point of the cube stands for, without those that do not exist there.

        Parameters
        ----------
        point : array-like of shape (d,)
            A point of the unit cube.
        known : mapping, optional
            Parameters that the point stands for. Numbers inside a continuous parameter's bounds are returned unchanged, without
            the rounding of quantiles, and so are whole numbers of a range with more of them than the unit interval has floats.

        Returns
        -------
        dict
            The active parameters by name.

        See Also
        --------
        encode : The inverse.
        """
        u = np.asarray(point, dtype=float).ravel().tolist()
        branch = int(self.domain.level_of(u)[0, 0]) if self._branched else 0
        offset = int(self._branched)
        found = {
            axis.name: axis.parameter.known(known.get(axis.name), place)
            for axis, place in zip(self._axes, u[offset:], strict=True)
            if branch in axis.branches
        }
        return {
            name: found[name] if name in found else parameter.decode(0.5) for name, parameter in self._branches[branch].items()
        }

    def encode(self, params: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return the canonical point of the cube that decodes to these parameters.

        Returns
        -------
        ndarray of shape (n_coordinates,)
            The point, in [0, 1].

        Raises
        ------
        SpaceError
            If no dictionary of the space has exactly these names, or a value is outside.

        See Also
        --------
        decode : The inverse.
        """
        names = " or ".join(str(sorted(b)) for b in self._branches)
        problem = SpaceError(f"params has the names {sorted(map(str, params))}; the space has {names}")
        for k, branch in enumerate(self._branches):
            if set(branch) != set(params):
                continue
            try:
                shares = {name: parameter.encode(params[name]) for name, parameter in branch.items()}
            except SpaceError as error:
                problem = error
                continue
            point = np.full(self.domain.dimension, 0.5)
            if self._branched:
                point[0] = (k + 0.5) / len(self._branches)
            for j, axis in enumerate(self._axes, start=int(self._branched)):
                if k in axis.branches:
                    point[j] = shares[axis.name]
            return self.domain.snap_one(point)
        raise problem

    @property
    def branches(self) -> tuple[Mapping[str, Parameter], ...]:
        """The parameters of each dictionary, by name.

        See Also
        --------
        axes : The parameters that vary.
        """
        return tuple(MappingProxyType(branch) for branch in self._branches)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The parameters that vary, one for each coordinate of the cube; with several dictionaries, preceded by their choice.

        See Also
        --------
        branches : All parameters, by dictionary.
        """
        return tuple(self._axes)

    def describe(self) -> list[dict[str, Any]]:
        """Describe the space in JSON types; two equal spaces have the same description.

        Returns
        -------
        list of dict
            One dictionary for each dictionary of the space.

        See Also
        --------
        described : Creates a space from its description.
        """
        return [{name: parameter.describe() for name, parameter in branch.items()} for branch in self._branches]


@dataclass(frozen=True)
class _Described:
    """Marks a parameter of which only the description is known."""

    name: str
    description: Any


def _words(parameter: Parameter) -> str:
    """Return the possible values of a parameter in a few words."""
    described = parameter.describe()
    if described["kind"] == "choice":
        return printable_line(", ".join(map(repr, described["values"])), 200)
    whole, scale = described["kind"] == "integer", scale_of(parameter)
    low, high = (described["low"], described["high"]) if whole else (described["quantiles"][0], described["quantiles"][-1])
    if low == high:
        return f"{low:.6g}"
    notes = ["integers"] * whole + {"log": ["log"], "quantiles": ["by quantiles"]}.get(scale, [])
    central = "the central 99.9 %, " if "central" in described else ""
    return ", ".join([f"{central}{low:.6g} to {high:.6g}", *notes])


def _parameter(name: str, what: Any) -> Parameter:
    if isinstance(what, Parameter):
        return what
    return described_parameter(name, what.description) if isinstance(what, _Described) else make_parameter(name, what)


def _as_list(definition: Any) -> list[Any]:
    if isinstance(definition, str | bytes) or not isinstance(definition, Sequence) or not definition:
        raise SpaceError(f"space={definition!r} is not a dictionary of parameters, nor a list of such dictionaries")
    return list(definition)


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise SpaceError(f"a parameter has the name {name!r}; use a non-empty string")
    if len(name) > LONGEST_NAME:
        raise SpaceError(f"a parameter has the name {name[:40]!r}... ({len(name):,} characters); use at most {LONGEST_NAME:,}")
    return name


def _share_axes(branches: list[dict[str, Parameter]]) -> list[Axis]:
    """Create one axis per parameter that can vary; branches that describe it in the same way share it."""
    axes: dict[tuple[str, str], Axis] = {}
    for k, branch in enumerate(branches):
        for name, parameter in branch.items():
            if parameter.levels == 1:
                continue
            key = (name, repr(parameter.describe()))
            known = axes.get(key)
            axes[key] = Axis(parameter, name, (known.branches if known else frozenset()) | {k})
    return list(axes.values())
