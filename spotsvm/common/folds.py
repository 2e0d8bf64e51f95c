"""Folds that are drawn at random: from a given seed, and the same at each call where a record needs this."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np

from spotsvm.common.notices import Notice
from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError


def fewer_folds(n: int, asked: int, why: str) -> Notice:
    """Return the notice that there are fewer folds than asked for, as the rows allow no more."""
    return Notice("folds", f"{n} folds in place of {asked}, as {why}")


def too_few_groups(n: int, rows: str = "the training rows") -> str:
    """Return the reason for fewer folds that a number of groups is."""
    return f"{rows} have only {n} groups"


def seeded(splitter: Any, seed: int | None) -> Any:
    """Return a splitter that draws from this seed if it has no seed of its own; splits, and what has no seed, as they are."""
    if seed is None or getattr(splitter, "random_state", 0) is not None:
        return splitter
    own = deepcopy(splitter)
    own.random_state = seed % 2**32
    return own


def check_repeatable(splitter: Any, X: Any, y: Any, groups: Any = None, **further: Any) -> None:
    """Raise ArgumentError if a splitter draws other folds at each call: a search on them could never be resumed."""
    passed = further if groups is None else {"groups": groups, **further}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are given once more as the folds are drawn
        first, second = (list(deepcopy(splitter).split(X, y, **passed)) for _ in range(2))
    same = len(first) == len(second) and all(
        np.array_equal(one, other)
        for split, again in zip(first, second, strict=True)
        for one, other in zip(split, again, strict=True)
    )
    if not same:
        raise ArgumentError(
            f"cv={shown_value(splitter, 200)} draws other folds at each call, so a search with a record (path) could never be "
            "resumed; give it a fixed seed, or pass the folds as a list of (train, test)"
        )
