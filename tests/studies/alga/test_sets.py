import numpy as np
import pytest

from spotsvm.errors import ArgumentError
from spotsvm.studies.alga.sets import DOT_SETS, Parts, chessboard_dots, random_dots, random_points, thirds


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


def test_no_size_is_larger_than_a_class():
    X = np.zeros((100, 2))
    y = np.where(np.arange(100) < 7, 1.0, -1.0)
    assert Parts("few", 0, X, y, X, y, X, y).sizes == [2]


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


def test_the_dots_of_the_board_are_disks_of_one_class():
    data = chessboard_dots(6400, board=4)
    # back to squares of side 1, whose disks reach 0.05 over the edge
    places = data.X * 4.1 - 0.05
    centres = np.floor(places).clip(0, 3) + 0.5
    distances = np.linalg.norm(places - centres, axis=1)
    colours = np.where((centres - 0.5).sum(axis=1) % 2 == 0, 1.0, -1.0)
    inner = distances < 0.45  # where no neighbour's disk reaches
    assert (colours[inner] == data.y[inner]).all()
    # a strange class only within a neighbour's disk
    strange = np.flatnonzero(colours != data.y)
    assert 0.02 < len(strange) / len(data.y) < 0.08
    across = np.abs(places[strange] - centres[strange])
    neighbour = np.sqrt((1.0 - across.max(axis=1)) ** 2 + across.min(axis=1) ** 2)
    assert neighbour.max() <= 0.55 + 1e-9
    counts = np.unique(np.floor(places).clip(0, 3) @ [4, 1], return_counts=True)[1]
    assert counts.min() > 350


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
