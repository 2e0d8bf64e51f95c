"""Further random partitions of the rows into folds, of the same kind as those of a given splitter."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from spotsvm.cross_validation.fold_data import Split
from spotsvm.errors import ArgumentError


def further_partitions(
    cv: Any, X: Any, y: Any, groups: Any, *, classifier: bool, n_partitions: int, seed: Sequence[int], instead: str
) -> list[list[Split]]:
    """Return splits of the same kind as those of `cv`, from other seeds: a list for each of `n_partitions`.

    If `cv` is a number, None or a splitter that can shuffle, the rows are shuffled. ArgumentError, with the advice `instead`, is
    raised if the splits are not random, such as those by time, or need groups.

    Examples
    --------
    >>> X, y = np.zeros((6, 1)), np.array([0, 1, 0, 1, 0, 1])
    >>> options = {
    ...     "classifier": True,
    ...     "n_partitions": 2,
    ...     "seed": [0],
    ...     "instead": "use one partition",
    ... }
    >>> [
    ...     [test.tolist() for _, test in splits]
    ...     for splits in further_partitions(3, X, y, None, **options)
    ... ]
    [[[1, 2], [4, 5], [0, 3]], [[1, 2], [0, 3], [4, 5]]]
    """
    drawn: Any
    if cv is None or isinstance(cv, int | np.integer):
        kind = type(check_cv(cv, y, classifier=classifier))
        drawn = kind(int(cv or 5), shuffle=True)
    elif not hasattr(cv, "split"):
        raise ArgumentError(
            f"search has cv={type(cv).__name__}, splits that are given, so that new ones cannot be drawn; {instead}"
        )
    else:
        drawn = deepcopy(cv)
        if hasattr(drawn, "shuffle"):
            drawn.shuffle = True

    def draw(state: int) -> list[Split]:
        drawn.random_state = state
        try:
            return [(np.asarray(train), np.asarray(test)) for train, test in drawn.split(X, y, groups)]
        except ValueError as error:
            raise ArgumentError(
                f"search has cv={cv!r}, whose splits cannot be drawn again: {error} Alternatively, {instead}."
            ) from error

    first, *others = (int(state) for state in np.random.SeedSequence(list(seed)).generate_state(max(n_partitions, 2)) >> 1)
    # many splitters ignore their seed, such as splitters by time
    if not hasattr(drawn, "random_state") or all(
        np.array_equal(one[1], other[1]) for one, other in zip(draw(first), draw(others[0]), strict=True)
    ):
        raise ArgumentError(f"search has cv={cv!r}, whose splits are not random, so that new ones cannot be drawn; {instead}")
    return [draw(state) for state in [first, *others][:n_partitions]]
