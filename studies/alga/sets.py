"""The sets of the study `alga`, in the plane and of UCI, split into training (T), validation (V) and test rows (Psi)."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import MinMaxScaler

from spotsvm.errors import ArgumentError
from spotsvm.studies.common.data import DataSet, Floats

_SITES = 24  # of the regions, half of each class
_DOTS = 120
_DOT_RADII = 0.025, 0.05
_BLUR = 0.02  # standard deviation of what a single point is moved by, which blurs the borders
_OVER = 0.55  # radius of the board's disks in squares; beyond 0.5 neighbours overlap


def random_dots(n_samples: int = 17_000, seed: int = 0) -> DataSet:
    """Draw points in disks at random places; a disk has the class of the region in which its centre lies.

    A set of a kind that Kawulok et al. 2017, section 4, describe: 120 disks, radii 0.025 to 0.05; regions of the nearest of 24
    sites.
    """
    _check_size(n_samples, 2 * _DOTS)
    rng = np.random.default_rng([1, seed])
    sites = rng.random((_SITES, 2))
    radii = rng.uniform(*_DOT_RADII, _DOTS)
    centres = radii[:, None] + (1.0 - 2.0 * radii[:, None]) * rng.random((_DOTS, 2))
    dot = rng.choice(_DOTS, n_samples, p=radii**2 / np.sum(radii**2))
    X = centres[dot] + radii[dot, None] * _in_disk(rng, n_samples)
    return DataSet("2d-random-dots", X, _class_of_region(centres, sites)[dot])


def random_points(n_samples: int = 1552, seed: int = 0) -> DataSet:
    """Draw single points, evenly over the square, of the classes of regions as in `random_dots`.

    A point is moved a little after it has got its class (normal, standard deviation 0.02), which blurs the borders.
    """
    _check_size(n_samples, 2 * _SITES)
    rng = np.random.default_rng([2, seed])
    sites = rng.random((_SITES, 2))
    places = rng.random((n_samples, 2))
    y = _class_of_region(places, sites)
    return DataSet("2d-random-points", np.clip(places + rng.normal(0.0, _BLUR, places.shape), 0.0, 1.0), y)


def chessboard_dots(n_samples: int = 27_000, seed: int = 0, board: int = 8) -> DataSet:
    """Draw points in disks on the squares of a chessboard (`board` squares a side), whose colours are the classes.

    With a radius of 0.55 squares about 6 % of the points lie nearer to the centre of an interior square of the other class.
    """
    if board < 2:
        raise ArgumentError(f"board={board} has squares of one class only; use 2 or more squares along a side")
    _check_size(n_samples, 2 * board**2)
    rng = np.random.default_rng([3, seed])
    column, row = np.divmod(rng.permutation(np.arange(n_samples) % board**2), board)
    centres = np.column_stack([column, row]) + 0.5
    X = (centres + _OVER * _in_disk(rng, n_samples)) / board
    # the disks at the edge reach over it: the board shrinks to be in the unit square
    over = (_OVER - 0.5) / board
    return DataSet(
        f"2d-chessboard-dots {board}x{board}", (X + over) / (1.0 + 2.0 * over), np.where((column + row) % 2 == 0, 1.0, -1.0)
    )


#: the sets by their names in the paper; it does not say how many squares the board has
DOT_SETS: dict[str, Callable[..., DataSet]] = {
    "2d-random-dots": random_dots,
    "2d-random-points": random_points,
    "2d-chessboard-dots 4x4": partial(chessboard_dots, board=4),
    "2d-chessboard-dots 8x8": chessboard_dots,
}


def _check_size(n_samples: int, least: int) -> None:
    if n_samples < least:
        raise ArgumentError(f"n_samples={n_samples} is too few for both classes to be everywhere; use {least} or more")


def _in_disk(rng: np.random.Generator, n: int) -> Floats:
    """Draw points evenly from the disk of radius 1."""
    angle, radius = 2.0 * np.pi * rng.random(n), np.sqrt(rng.random(n))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _class_of_region(places: Floats, sites: Floats) -> Floats:
    nearest = np.argmin(np.sum((places[:, None, :] - sites[None, :, :]) ** 2, axis=2), axis=1)
    return np.where(nearest % 2 == 0, 1.0, -1.0)


N_FOLDS = 5


class Parts(NamedTuple):
    """One split of a set: T (X, y), V (validation_X, validation_y) and Psi (test_X, test_y) of the paper.

    T has the rows from which the training set is chosen, V the rows whose accuracy is the fitness, and Psi the rows that no
    method uses. `fold` is the number of the test part; 0 if there is only one split.
    """

    name: str
    fold: int
    X: Floats
    y: Floats
    validation_X: Floats
    validation_y: Floats
    test_X: Floats
    test_y: Floats

    @property
    def checksum(self) -> str:
        """A checksum of all rows, to recognise the split in a record."""
        crc = 0
        for values in self[2:]:
            crc = zlib.crc32(np.ascontiguousarray(values, dtype="<f8").tobytes(), crc)
        return f"{crc:08x}"

    @property
    def sizes(self) -> list[int]:
        """Vectors of each class (K): d, 4 d, 16 d, ... for d columns, while 2 K is at most half of T and no class is smaller."""
        smallest = int(min(np.unique(self.y, return_counts=True)[1]))
        sizes, size = [], self.X.shape[1]
        while 4 * size <= len(self.y) and size <= smallest:
            sizes.append(size)
            size *= 4
        return sizes


def thirds(data: DataSet, seed: int = 0) -> Parts:
    """Split a set of points at random into T, V and Psi, a third of each class to each."""
    rows = np.arange(len(data.y))
    train, rest = train_test_split(rows, train_size=1 / 3, stratify=data.y, random_state=seed)
    validation, test = train_test_split(rest, train_size=0.5, stratify=data.y[rest], random_state=seed)
    return Parts(data.name, 0, *(values[part] for part in (train, validation, test) for values in (data.X, data.y)))


def scaled_folds(name: str, X: Floats, y: Floats, seed: int = 0) -> Iterator[Parts]:
    """Cut a set into five folds by class; each is Psi once, and a quarter of the other four is V, the rest T.

    So T has 60 % of the rows, V and Psi have 20 % each. Columns are scaled to [0, 1] by T; rows of V and Psi may be outside.
    """
    for fold, (others, test) in enumerate(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y)):
        train, validation = train_test_split(others, test_size=0.25, stratify=y[others], random_state=seed)
        scaler = MinMaxScaler().fit(X[train])
        parts = [values for part in (train, validation, test) for values in (scaler.transform(X[part]), y[part])]
        yield Parts(name, fold, *parts)


#: the paper's benchmark sets
UCI = {"German": "german_numeric", "Ionosphere": "ionosphere", "Wisconsin": "wisconsin"}
#: sets of the IDA collection with more rows, not in the paper
LARGER = {"Banana": "ida_banana", "Twonorm": "ida_twonorm", "Waveform": "ida_waveform", "Titanic": "ida_titanic"}
