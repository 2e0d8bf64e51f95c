import numpy as np
import pytest

from spotsvm.errors import ArgumentError
from spotsvm.studies.alga.sets import DOT_SETS, chessboard_dots, random_dots, random_points, thirds


def rows(parts):
    return np.vstack([parts.X, parts.validation_X, parts.test_X])


def test_thirds_share_no_point_and_have_both_classes_alike():
    data = random_points(900)
    parts = thirds(data)
    assert [len(parts.y), len(parts.validation_y), len(parts.test_y)] == [300, 300, 300]
    assert len(np.unique(rows(parts), axis=0)) == 900
    shares = [np.mean(y > 0) for y in (parts.y, parts.validation_y, parts.test_y)]
    assert np.ptp(shares) < 0.01
    assert thirds(data).checksum == parts.checksum != thirds(data, seed=1).checksum


@pytest.mark.parametrize(
    ("name", "size", "largest"),
    [
        ("2d-random-dots", 17_000, 512),
        ("2d-random-points", 1552, 128),
        ("2d-chessboard-dots 4x4", 27_000, 2048),
        ("2d-chessboard-dots 8x8", 27_000, 2048),
    ],
)
def test_the_papers_sizes_in_the_unit_square(name, size, largest):
    data = DOT_SETS[name]()
    assert data.name == name
    assert data.X.shape == (size, 2)
    assert data.X.min() >= 0
    assert data.X.max() <= 1
    assert set(data.y) == {-1.0, 1.0}
    assert 0.35 < np.mean(data.y > 0) < 0.65
    parts = thirds(data)
    assert parts.sizes == [size for size in (2, 8, 32, 128, 512, 2048) if size <= largest]
    assert 2 * largest <= len(parts.y) / 2 < 2 * 4 * largest
    one, again, other = (DOT_SETS[name](600, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.X, again.X)
    np.testing.assert_array_equal(one.y, again.y)
    assert not np.array_equal(one.X, other.X)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: random_dots(100), "n_samples=100 is too few"),
        (lambda: random_points(10), "n_samples=10 is too few"),
        (lambda: chessboard_dots(100), "use 128 or more"),
        (lambda: chessboard_dots(board=1), "board=1 has squares of one class only"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
