"""A start outside a conditional space."""

import pytest
from scipy.stats import loguniform, randint

from spotsvm import Space
from spotsvm.errors import SpaceError
from spotsvm.study.given import starts

MIXED = [{"kernel": ["rbf"], "C": loguniform(1e-3, 1e3)}, {"kernel": ["poly"], "degree": randint(2, 6)}]


def test_a_start_outside_a_conditional_space():
    with pytest.raises(SpaceError, match=r"start is not in the space: degree=9 is not an integer in \[2, 5\]"):
        starts({"kernel": "poly", "degree": 9}, Space(MIXED))
