"""The early end of a sweep, by hand."""

import numpy as np
import pytest

from spotsvm.cross_validation.climb import Climb


def n_scored(scores, slack=0.1, **options):
    climb = Climb(**options)
    return next((k for k, score in enumerate(scores, 1) if climb.is_over(score, lambda: slack)), len(scores))


@pytest.mark.parametrize(
    ("scores", "options", "n"),
    [
        ([0.5, 0.6, 0.7, 0.8], {}, 4),
        ([0.5, 0.8, 0.6, 0.9], {}, 3),  # worse than the last, and clearly behind the best
        ([0.5, 0.8, 0.71, 0.9], {}, 4),  # within the slack
        ([0.9, 0.5, 0.6, 0.6, 0.9], {"least": 3}, 4),  # 0.6 is better than 0.5; no better is enough
        ([0.1, 0.2, 0.2, 0.9], {"best": 0.8}, 3),  # another sweep has the best
        ([0.1], {"best": 0.8}, 1),
        ([0.9, np.nan, 0.1, 0.0], {}, 4),  # a score that is not finite
        ([0.9, 0.8, 0.2], {"slack": np.inf}, 3),
        ([0.9, 0.8, 0.2], {"slack": np.nan}, 3),
    ],
)
def test_a_sweep_ends_where_a_score_is_no_better_and_clearly_behind(scores, options, n):
    assert n_scored(scores, **options) == n


def test_the_best_goes_on_to_the_next_sweep():
    climb = Climb(best=0.3)
    for score in (0.2, np.nan, 0.7):
        climb.is_over(score, lambda: 0.0)
    assert climb.best == 0.7
