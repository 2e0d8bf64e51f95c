"""The suite of COCO's 24 noiseless functions, from the package coco-experiment (Hansen et al. 2021)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spotsvm.errors import ArgumentError, DataError
from spotsvm.studies.peers.problems import Parameter, Params, Problem

FUNCTIONS = range(1, 25)
#: the dimensions that COCO has, and the ends of each range
DIMENSIONS = (2, 3, 5, 10, 20, 40)
LOW, HIGH = -5.0, 5.0
_NAME = re.compile(r"bbob f(\d+) d(\d+) i(\d+)")


def names(dimensions: Sequence[int], instances: Sequence[int]) -> list[str]:
    """Return the names of the functions in these dimensions, each with these instances."""
    if unknown := [d for d in dimensions if d not in DIMENSIONS]:
        raise ArgumentError(f"dimensions: {unknown[0]} is unknown to COCO; use some of {', '.join(map(str, DIMENSIONS))}")
    return [f"bbob f{f} d{d} i{i}" for d in dimensions for f in FUNCTIONS for i in instances]


def make(name: str) -> Problem:
    """Return a function; DataError if coco-experiment is not installed."""
    try:
        from cocoex import BareProblem
    except ImportError as error:
        raise DataError("COCO's functions need the package coco-experiment; pip install coco-experiment") from error
    match = _NAME.fullmatch(name)
    assert match is not None
    function, dimension, instance = map(int, match.groups())
    given = BareProblem("bbob", function, dimension, instance)
    parameters = tuple(Parameter(f"x{k}", low=LOW, high=HIGH) for k in range(dimension))

    def evaluate(params: Params, seed: int) -> float:
        return float(given([params[one.name] for one in parameters]))

    return Problem(name, f"f{function}", f"coco, d = {dimension}", parameters, evaluate, optimum=float(given.best_value()))
