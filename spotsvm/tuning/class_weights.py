"""Weights of classes as a user of the command names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spotsvm.errors import ArgumentError
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.tuning.tables.table import Table, has_label

BALANCED = "balanced"


def read_class_weight(given: Sequence[str]) -> str | dict[str, float] | None:
    """Return the class weights of the values of `--class-weight`: "balanced", a factor for each named class, or None."""
    if not given or list(given) == [BALANCED]:
        return BALANCED if given else None
    weights: dict[str, float] = {}
    for text in given:
        label, sign, factor = text.rpartition("=")
        try:
            weights[label] = float(factor)
        except ValueError:
            sign = ""
        if not sign or not 0.0 < weights[label] < float("inf"):
            raise ArgumentError(
                f"--class-weight {text!r}; use balanced alone, or LABEL=FACTOR with a positive factor, such as yes=10"
            )
    return weights


def weights_of(given: str | Mapping[Any, float] | None, table: Table) -> str | dict[Any, float] | None:
    """Return class weights by the labels of a table; classes that are not named have the weight 1."""
    if given is None:
        return None
    if table.task != "classification":
        raise ArgumentError("--class-weight is for classes, and the task is regression; leave it out")
    if isinstance(given, str):
        if given != BALANCED:
            raise ArgumentError(f"class_weight={given!r}; use 'balanced', a dict from classes to factors, or None")
        return given
    found: dict[Any, float] = {}
    for name, factor in given.items():
        if not 0.0 < as_float(factor) < float("inf"):
            raise ArgumentError(f"--class-weight {name}={factor!r}; use a positive, finite factor")
        label = table.y[has_label("--class-weight", table.y, str(name))].iloc[0]
        found[label.item() if isinstance(label, np.generic) else label] = float(factor)
    return found


def checked_threshold(threshold: float | None, table: Table) -> float | None:
    """Return a threshold, or raise ArgumentError if the table has other than two classes."""
    if threshold is None:
        return None
    if table.task != "classification" or table.y.nunique() != 2:
        what = "the task is regression" if table.task != "classification" else f"the target has {table.y.nunique()} classes"
        remedy = "leave it out" if table.task != "classification" else "separate one class from all others by --positive LABEL"
        raise ArgumentError(f"--threshold {threshold!r} is for two classes, and {what}; {remedy}")
    if not 0.0 < as_float(threshold) < 1.0:
        raise ArgumentError(f"--threshold {threshold!r}; use a probability between 0 and 1, such as 0.2")
    return float(threshold)
