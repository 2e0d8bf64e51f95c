"""The suites of problems by name: each has names without data, and makes a problem by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from spotsvm.studies.peers import bayesmark, tuning_tasks, two_objectives
from spotsvm.studies.peers.coco import CONSTRAINED, MIXED, NOISY, PLAIN
from spotsvm.studies.peers.problems import Problem

Made = TypeVar("Made")


class Suite(NamedTuple):
    """`names` takes dimensions and instances, and `make` one of the names; it raises DataError if something is missing."""

    names: Callable[[Sequence[int], Sequence[int]], list[str]]
    make: Callable[[str], Problem]


SUITES = {
    "tasks": Suite(tuning_tasks.names, tuning_tasks.make),
    **{one.title: Suite(one.names, one.make) for one in (PLAIN, NOISY, CONSTRAINED, MIXED)},
    "bayesmark": Suite(bayesmark.names, bayesmark.make),
    two_objectives.SUITE: Suite(two_objectives.names, two_objectives.make),
}
