"""The suites of COCO's functions, from the package coco-experiment: noiseless, with our noise, constrained, and with integers."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spotsvm.errors import ArgumentError, DataError
from spotsvm.studies.common.data import Floats
from spotsvm.studies.peers.problems import Parameter, Params, Problem

_NAME = re.compile(r"([\w-]+) f(\d+) d(\d+) i(\d+)")
#: points whose values give the scale of a function, and the standard deviation of the noise in units of their quartiles' distance
_POINTS, NOISE = 1000, 0.1
_FOLDER = threading.Lock()


@dataclass(frozen=True)
class CocoSuite:
    """A suite of COCO by its own name; `title` stands in names and tables."""

    title: str
    suite: str
    n_functions: int
    dimensions: tuple[int, ...]
    noisy: bool = False

    def names(self, dimensions: Sequence[int], instances: Sequence[int]) -> list[str]:
        """Return the names of the functions in those of the dimensions that the suite has, each with these instances."""
        known = [d for d in dimensions if d in self.dimensions]
        if not known:
            valid = ", ".join(map(str, self.dimensions))
            raise ArgumentError(f"dimensions={tuple(dimensions)}: the suite {self.title} has none of these; use some of {valid}")
        return [f"{self.title} f{f} d{d} i{i}" for d in known for f in range(1, self.n_functions + 1) for i in instances]

    def make(self, name: str) -> Problem:
        """Return a function; DataError if coco-experiment is not installed."""
        match = _NAME.fullmatch(name)
        assert match is not None
        function, dimension, instance = map(int, match.groups()[1:])
        _, given = _given(self.suite, function, dimension, instance)
        integers = given.number_of_integer_variables
        ends = zip(given.lower_bounds, given.upper_bounds, strict=True)
        parameters = tuple(
            Parameter(f"x{k}", "int", round(low), round(high))
            if k < integers
            else Parameter(f"x{k}", low=float(low), high=float(high))
            for k, (low, high) in enumerate(ends)
        )
        best = float(given(_best(given)))

        def point(params: Params) -> list[float]:
            return [float(params[one.name]) for one in parameters]

        def truth(params: Params) -> float:
            return float(given(point(params)))

        def constraints(params: Params) -> list[float]:
            return [float(one) for one in given.constraint(point(params))]

        @contextlib.contextmanager
        def recorded(folder: Path, optimizer: str) -> Iterator[Callable[[Params], None]]:
            with _observed(self.suite, (function, dimension, instance), folder, optimizer) as see:
                yield lambda params: see(point(params))

        sd = NOISE * _spread(truth, parameters) if self.noisy else 0.0

        def noisy(params: Params, seed: int) -> float:
            return truth(params) + sd * float(np.random.default_rng([seed, 78]).standard_normal())

        return Problem(
            name,
            f"f{function}",
            f"{self.title}, d = {dimension}",
            parameters,
            noisy if self.noisy else lambda params, seed: truth(params),
            truth if self.noisy else None,
            optimum=best,
            constraints=constraints if given.number_of_constraints else None,
            feasible=float(given(given.initial_solution)) if given.number_of_constraints else None,
            recorded=None if self.noisy else recorded,
        )


def _given(suite: str, function: int, dimension: int, instance: int) -> tuple[Any, Any]:
    try:
        import cocoex
    except ImportError as error:
        raise DataError("COCO's functions need the package coco-experiment; pip install coco-experiment") from error
    chosen = cocoex.Suite(suite, "", f"dimensions: {dimension} function_indices: {function} instance_indices: {instance}")
    return chosen, chosen.get_problem(0)


def _best(given: Any) -> Floats:
    """Return the best point of a function, which COCO writes into a file of the working folder."""
    with _FOLDER, tempfile.TemporaryDirectory(prefix="peers-coco-") as folder, contextlib.chdir(folder):
        given._best_parameter("print")
        return np.loadtxt("._bbob_problem_best_parameter.txt", dtype=np.float64)


def _spread(truth: Callable[[Params], float], parameters: Sequence[Parameter]) -> float:
    """Return the distance of the quartiles of the values at random points."""
    points = np.random.default_rng(0).uniform(
        [one.low for one in parameters], [one.high for one in parameters], (_POINTS, len(parameters))
    )
    values = [truth({one.name: x for one, x in zip(parameters, point, strict=True)}) for point in points]
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low)


@contextlib.contextmanager
def _observed(suite: str, number: tuple[int, int, int], folder: Path, optimizer: str) -> Iterator[Callable[[list[float]], None]]:
    """Write evaluations into a folder as COCO does, which cocopp reads; what a run before it left there goes."""
    import cocoex

    cocoex.log_level("warning")
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    observer = cocoex.Observer(
        "bbob", f'outer_folder: "{folder.parent}" result_folder: "{folder.name}" algorithm_name: "{optimizer}"'
    )
    chosen, given = _given(suite, *number)
    given.observe_with(observer)

    def see(point: list[float]) -> None:
        if given.number_of_constraints:
            given.constraint(point)
        given(point)

    try:
        yield see
    finally:
        given.free()
        chosen.free()


_USUAL = (2, 3, 5, 10, 20, 40)
PLAIN = CocoSuite("coco", "bbob", 24, _USUAL)
NOISY = CocoSuite("coco-noisy", "bbob", 24, _USUAL, noisy=True)
CONSTRAINED = CocoSuite("coco-constrained", "bbob-constrained", 54, _USUAL)
MIXED = CocoSuite("coco-mixint", "bbob-mixint", 24, (5, 10, 20, 40))
