"""The space that an estimator can be searched in: names that it has, and ranges without ends that it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from spotsvm.common.text import did_you_mean, printable_line
from spotsvm.errors import SpaceError
from spotsvm.space.parameter import ContinuousParameter, IntegerParameter, Parameter, without_ends
from spotsvm.space.space import Space

#: of a choice, values that are looked at
_MOST_LEVELS = 20


def samples(space: Space) -> list[dict[str, Any]]:
    """Return configurations with each value of each choice of the space at least once; of long lists the first values alone."""
    found = []
    for centre in space.centres():
        for j, coordinate in enumerate(space.domain.coordinates):
            for level in range(min(coordinate.levels, _MOST_LEVELS) if coordinate.categorical else 1):
                point = centre.copy()
                if coordinate.categorical:
                    point[j] = (level + 0.5) / coordinate.levels
                found.append(space.decode(space.domain.snap_one(point)))
    return list({repr(sorted(params.items())): params for params in found}.values())


def grid(space: Space) -> list[dict[str, Any]]:
    """Return all configurations of a space without ranges, in the order in which scikit-learn's searches have them."""

    def values(parameter: Any) -> list[Any]:
        return list(range(parameter.low, parameter.high + 1) if isinstance(parameter, IntegerParameter) else parameter.values)

    return list(ParameterGrid([{name: values(one) for name, one in branch.items()} for branch in space.branches]))


def with_params(estimator: Any, params: Mapping[str, Any]) -> Any:
    """Return a copy of an estimator with other parameters."""
    return clone(estimator).set_params(**clone(dict(params), safe=False))


def accepted_space(estimator: Any, space: Space) -> Space:
    """Return a space whose ranges begin and end at values that an estimator accepts, as far as it declares them.

    Of a continuous range with an end that it refuses, as SVC refuses C=0, the middle 99.9 % are left. SpaceError is raised for
    a parameter that the estimator has in no configuration.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sklearn.svm import SVC
    >>> accepted_space(SVC(), Space({"C": uniform(0, 4), "coef0": uniform(0, 4)}))
    <Space of C: the central 99.9 %, 0.002 to 3.998; coef0: 0 to 4>
    """
    configurations = samples(space)
    for branch in space.branches:
        _check_names(estimator, branch, [params for params in configurations if params.keys() == branch.keys()])
    branches = []
    for branch, centre in zip(space.branches, space.centres(), strict=True):
        middle = space.decode(centre)
        branches.append({name: _accepted(estimator, middle, parameter) for name, parameter in branch.items()})
    changed = any(new[name] is not old[name] for new, old in zip(branches, space.branches, strict=True) for name in new)
    return Space(branches) if changed else space


def _check_names(estimator: Any, branch: Mapping[str, Parameter], configurations: list[dict[str, Any]]) -> None:
    known = estimator.get_params(deep=True)
    unknown = [name for name in branch if name not in known]
    if not unknown:
        return
    failure = ""
    for params in configurations:  # a step that is searched, or an estimator with names of its own kind, may have it
        try:
            with_params(estimator, params)
        except Exception as error:  # an estimator of the user's can raise anything
            failure = printable_line(str(error), 300)
        else:
            return
    of_no_step = (name for name in unknown if not any(name.startswith(f"{other}__") for other in branch))
    name = next(of_no_step, unknown[0])
    what = f"space has {name!r}, which is not a parameter of {type(estimator).__name__}"
    raise SpaceError(f"{what}{did_you_mean(name, known)} ({failure})")


def _accepted(estimator: Any, params: Mapping[str, Any], parameter: Parameter) -> Parameter:
    """Return a parameter without the ends of its range that an estimator refuses; itself if that does not help."""
    if not isinstance(parameter, ContinuousParameter | IntegerParameter) or parameter.low == parameter.high:
        return parameter
    name = parameter.name

    def refused(one: ContinuousParameter | IntegerParameter) -> list[float]:
        return [end for end in (one.low, one.high) if not _accepts(estimator, {**params, name: end}, name)]

    ends = refused(parameter)
    if not ends or not _accepts(estimator, params, name):
        return parameter
    found = without_ends(parameter, ends)
    return found if not refused(found) else parameter


def _accepts(estimator: Any, params: Mapping[str, Any], name: str) -> bool:
    """Return whether the owner of a parameter accepts its value, as far as it can be asked without data.

    Scikit-learn's estimators have a method for it, which compares parameters with the constraints that they declare.
    """
    owner, _, own = name.rpartition("__")
    try:
        candidate = with_params(estimator, params)
        (candidate.get_params(deep=True)[owner] if owner else candidate)._validate_params()
    except Exception:
        return False
    return True
