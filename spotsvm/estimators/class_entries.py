"""Parameters with a value for each class, given as a dict, as a sequence, or entry by entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.checks import check_choice
from spotsvm.errors import ArgumentError
from spotsvm.solvers.checked_numbers import as_float

Floats = NDArray[np.float64]
#: the smallest cutoff for classes that share the rest of 1: the lower end of the paper's range
LEAST_CUTOFF = 0.01


def class_names(classes: Sequence[Any] | NDArray[Any]) -> list[str]:
    """Return the classes as text, as parameters are named after them."""
    return [str(c) for c in np.asarray(classes).tolist()]


def known_classes(y: NDArray[Any], declared: Any) -> NDArray[Any]:
    """Return all classes, sorted: those declared, or else those of the target; raise ArgumentError if they are not enough."""
    found = np.unique(y)
    if not len(found):
        raise ArgumentError("X and y have no rows; two classes or more are needed")
    if declared is None:
        if len(found) < 2:
            raise ArgumentError(f"y holds the one class {_plain_repr(found[0])}; two classes or more are needed")
        return found
    classes = np.unique(np.asarray(declared))
    if classes.ndim != 1 or len(classes) < 2:
        raise ArgumentError(f"classes={declared!r}; use a sequence of two classes or more")
    other = [c for c in found.tolist() if c not in classes.tolist()]
    if other:
        raise ArgumentError(f"y holds the class {other[0]!r}, which is not among classes={_few(classes)}")
    if len(found) < 2:
        raise ArgumentError(f"y holds the one class {_plain_repr(found[0])} of {_few(classes)}; two classes or more are needed")
    return classes


def with_entries(parameter: str, given: Any, entries: Mapping[str, Any], declared: Any) -> dict[Any, Any]:
    """Return a new dict of values for each class in which some, named by the classes' text, are replaced."""
    names = None if declared is None else class_names(np.unique(np.asarray(declared)))
    unknown = next((name for name in entries if names is not None and name not in names), None)
    if unknown is not None:
        there = ", ".join(f"{parameter}__{name}" for name in names or ())
        raise ArgumentError(f"{parameter}__{unknown} is not a parameter; there are {there}")
    if given is None:
        whole: dict[Any, Any] = {}
    elif isinstance(given, Mapping):
        whole = dict(given)
    elif not isinstance(given, str) and names is not None and np.ndim(given) == 1:
        whole = dict(zip(names, np.asarray(given).tolist(), strict=False))
    else:
        raise ArgumentError(
            f"{parameter}__{next(iter(entries))} cannot be set in {parameter}={_plain_repr(given)}; use a dict from classes to "
            "numbers"
        )
    for name, value in entries.items():
        whole[next((key for key in whole if str(key) == name), name)] = value
    return whole


def class_weights(given: Any, classes: NDArray[Any], may_lack: bool = True) -> Floats | None:
    """Return a weight for each class, 1 where a dict has none; None if none were given.

    `may_lack` is whether the estimator has an argument for classes that its training data may lack.
    """
    if given is None:
        return None
    values = _by_class("class_weight", given, classes, len(classes), may_lack)
    weights = np.array([1.0 if v is None else v for v in values])
    _check_positive("class_weight", weights, classes, "a positive, finite weight")
    return weights


def balanced_weights(codes: NDArray[np.intp], n_classes: int, sample_weight: Any = None) -> Floats:
    """Return n / (K count) for each class, where K classes occur in `codes`; 1 for the others. A row counts for its weight."""
    rows = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    counts = np.bincount(codes, rows, n_classes)
    there = counts > 0
    weights = np.ones(n_classes)
    weights[there] = counts.sum() / (there.sum() * counts[there])
    return weights


def class_factors(given: Any, classes: NDArray[Any], codes: NDArray[np.intp], sample_weight: Any = None) -> Floats:
    """Return the factor of C that a `class_weight` gives to each class: 1 for None, `balanced_weights` for "balanced"."""
    if isinstance(given, str):
        if given != "balanced":
            raise ArgumentError(f"class_weight={given!r}; use 'balanced', a dictionary of factors by class, or None")
        return balanced_weights(codes, len(classes), sample_weight)
    weights = class_weights(given, classes, may_lack=False)
    return np.ones(len(classes)) if weights is None else weights


def class_cutoffs(given: Any, classes: NDArray[Any], excess: Any = "raise") -> Floats:
    """Return a cutoff for each class, with a sum of at most 1; classes without one share what is left of 1.

    `excess` says whether cutoffs of more than 1 are scaled or refused.
    """
    check_choice("excess", excess, ("raise", "scale"))
    n = len(classes)
    values = _by_class("cutoff", {} if given is None else given, classes, n - 1)
    cutoffs = np.array([np.nan if v is None else v for v in values])
    left_out = np.array([v is None for v in values])
    _check_positive("cutoff", cutoffs[~left_out], classes[~left_out], "a cutoff above 0")
    total = float(cutoffs[~left_out].sum())
    left = 1.0 - total
    if excess == "raise" and (left < -1e-9 or (left_out.any() and left <= 1e-9)):
        rest = ", which leaves nothing to the other classes" if left_out.any() else ""
        right = "less than 1" if rest else "1 at most"
        raise ArgumentError(
            f"cutoff={_plain_repr(given)} sums to {total:.6g}{rest}; use cutoffs that sum to {right}, or excess='scale'"
        )
    if left_out.any():
        cutoffs[left_out] = (max(left, LEAST_CUTOFF) if excess == "scale" else left) / left_out.sum()
    return cutoffs / max(1.0, float(cutoffs.sum()))


_LACKING = ". Where the training data may lack a class, name all of them by classes=..."


def _by_class(name: str, given: Any, classes: NDArray[Any], fewest: int, may_lack: bool = True) -> list[float | None]:
    """Return a number for each class, None where there is none."""
    hint = _LACKING if may_lack else ""
    if isinstance(given, Mapping):
        return _by_name(name, given, classes, hint)
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise ArgumentError(f"{name}={given!r}; use a dict from classes to numbers, or a number for each of {_few(classes)}")
    if np.ndim(given) != 1 or not fewest <= len(given) <= len(classes):
        or_fewer = f"{fewest} or " if fewest < len(classes) else ""
        raise ArgumentError(
            f"{name} has shape {np.shape(given)}; use {or_fewer}{len(classes)} numbers, for the classes {_few(classes)}{hint}"
        )
    values = [as_float(value) for value in np.asarray(given).tolist()]
    return [*values, *[None] * (len(classes) - len(values))]


def _by_name(name: str, given: Mapping[Any, Any], classes: NDArray[Any], hint: str) -> list[float | None]:
    names = class_names(classes)
    values: list[float | None] = [None] * len(names)
    for key, value in given.items():
        label = str(key.item() if isinstance(key, np.generic) else key)
        if label not in names:
            raise ArgumentError(f"{name} names the class {label!r}, which is not among {_few(classes)}{hint}")
        if values[names.index(label)] is not None:
            raise ArgumentError(f"{name} has two entries for the class {label!r}; keep one")
        values[names.index(label)] = as_float(value)
    return values


def _check_positive(name: str, values: Floats, classes: NDArray[Any], what: str) -> None:
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(wrong):
        k = int(wrong[0])
        raise ArgumentError(f"{name} of the class {_plain_repr(classes[k])} is {values[k]}; use {what}")


def _few(classes: NDArray[Any]) -> str:
    names = [repr(c) for c in classes[:8].tolist()]
    return ", ".join(names) + (", ..." if len(classes) > 8 else "")


def _plain_repr(value: Any) -> str:
    return repr(value.tolist() if isinstance(value, np.ndarray | np.generic) else value)
