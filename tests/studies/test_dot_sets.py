import numpy as np
import pytest

from spotsvm.errors import ArgumentError
from studies.dot_sets import DOT_SETS, chessboard_dots, random_dots, random_points


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("2d-random-dots", 17_000),
        ("2d-random-points", 1552),
        ("2d-chessboard-dots 4x4", 27_000),
        ("2d-chessboard-dots 8x8", 27_000),
    ],
)
def test_the_papers_sizes_in_the_unit_square(name, size):
    data = DOT_SETS[name]()
    assert data.name == name
    assert data.X.shape == (size, 2)
    assert data.X.min() >= 0
    assert data.X.max() <= 1
    assert set(data.y) == {-1.0, 1.0}
    assert 0.35 < np.mean(data.y > 0) < 0.65


@pytest.mark.parametrize("make", DOT_SETS.values(), ids=list(DOT_SETS))
def test_a_seed_gives_the_same_points(make):
    one, again, other = make(600, seed=3), make(600, seed=3), make(600, seed=4)
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


def test_the_dots_at_random_places_are_clusters_and_the_points_are_not():
    def empty_share(X):
        return np.mean(np.histogram2d(*X.T, bins=20, range=[[0, 1], [0, 1]])[0] == 0)

    assert empty_share(random_dots(8000).X) > 0.2
    assert empty_share(random_points(8000).X) == 0


def test_the_points_have_regions_with_blurred_borders():
    data = random_points(1552)
    distances = np.linalg.norm(data.X[:, None] - data.X, axis=2)
    np.fill_diagonal(distances, np.inf)
    alike = np.mean(data.y[distances.argmin(axis=1)] == data.y)
    assert 0.8 < alike < 0.97


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
