import numpy as np
import pytest

from studies.alga_parts import Parts, scaled_folds, thirds
from studies.dot_sets import DOT_SETS, random_points


def rows(parts):
    return np.vstack([parts.X, parts.validation_X, parts.test_X])


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("2d-random-dots", [2, 8, 32, 128, 512]),
        ("2d-random-points", [2, 8, 32, 128]),
        ("2d-chessboard-dots 8x8", [2, 8, 32, 128, 512, 2048]),
    ],
)
def test_sizes_of_the_sets_in_the_plane(name, sizes):
    parts = thirds(DOT_SETS[name]())
    assert parts.sizes == sizes
    assert 2 * sizes[-1] <= len(parts.y) / 2 < 2 * 4 * sizes[-1]


def test_thirds_share_no_point_and_have_both_classes_alike():
    data = random_points(900)
    parts = thirds(data)
    assert [len(parts.y), len(parts.validation_y), len(parts.test_y)] == [300, 300, 300]
    assert len(np.unique(rows(parts), axis=0)) == 900
    shares = [np.mean(y > 0) for y in (parts.y, parts.validation_y, parts.test_y)]
    assert np.ptp(shares) < 0.01
    assert thirds(data).checksum == parts.checksum != thirds(data, seed=1).checksum


def test_folds_are_judged_by_once_and_scaled_by_their_training_rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(50, 10, 200), rng.exponential(size=200), np.ones(200)])
    y = np.where(rng.random(200) < 0.3, -1.0, 1.0)
    folds = list(scaled_folds("drawn", X, y))
    assert [parts.fold for parts in folds] == [0, 1, 2, 3, 4]
    assert sum(len(parts.test_y) for parts in folds) == 200
    for parts in folds:
        assert len(parts.validation_y) == 40
        assert len(parts.y) == 120
        assert parts.X[:, :2].min(axis=0) == pytest.approx(0)
        assert parts.X[:, :2].max(axis=0) == pytest.approx(1)
    outside = np.concatenate([parts.test_X[:, :2].ravel() for parts in folds])
    assert outside.max() > 1  # it had no say in the scale


def test_no_size_is_larger_than_a_class():
    X = np.zeros((100, 2))
    y = np.where(np.arange(100) < 7, 1.0, -1.0)
    assert Parts("few", 0, X, y, X, y, X, y).sizes == [2]
