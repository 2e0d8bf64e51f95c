"""Fresh folds of the rows, of the same kind as those of a given splitter."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from spotsvm.cross_validation.fold_data import Split

#: stream of random numbers of a partition into folds
_PARTITION = 21


def fresh_folds(cv: Any, X: Any, y: Any, groups: Any, classifier: bool, seed: int, own: Sequence[Split]) -> Sequence[Split]:
    """Return folds of the same kind as `own` from another seed, not used in any choice; `own` if they are not random."""
    drawn: Any = deepcopy(check_cv(cv, y, classifier=classifier))
    if hasattr(drawn, "shuffle"):
        drawn.shuffle = True

    def draw(state: int) -> list[Split]:
        drawn.random_state = state
        return [(np.asarray(train), np.asarray(test)) for train, test in drawn.split(X, y, groups)]

    if hasattr(drawn, "random_state"):
        first, other = (draw(int(state)) for state in np.random.SeedSequence([seed, _PARTITION]).generate_state(2) >> 1)
        # many splitters ignore their seed, such as splitters by time
        if any(not np.array_equal(one[1], another[1]) for one, another in zip(first, other, strict=True)):
            return first
    return own
