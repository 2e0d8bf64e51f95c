import pytest

from spotsvm.optimism.score_range import bounded


def test_an_interval_ends_at_the_highest_score():
    assert bounded((0.9, 1.1), [0.95, 1.0], "accuracy") == (0.9, 1.0)
    assert bounded((-0.1, 0.4), [0.1, 0.2], "f1_macro") == (0.0, 0.4)
    assert bounded((-0.1, 1.4), [0.1, 0.2], "r2_score") == (-0.1, 1.0)
    assert bounded((-3.0, 1.0), [-1.0, -1.0], "neg_max_error") == (-3.0, 0.0)
    assert bounded((0.9, 1.1), [0.95, 1.0], "score") == (0.9, 1.0)


@pytest.mark.parametrize(
    ("scores", "metric"), [([50.0, 60.0], "score"), ([-2.0, -1.0], "score"), ([2.0], "accuracy"), ([0.5], "profit")]
)
def test_a_score_whose_range_is_another_is_not_cut(scores, metric):
    assert bounded((-9.0, 99.0), scores, metric) == (-9.0, 99.0)
