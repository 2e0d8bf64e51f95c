"""The data of the acid study: simulated spectra, or real spectra of meat with five classes of fat content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from spotsvm.errors import ArgumentError, DataError
from spotsvm.studies.common.data import Floats, read_table

#: records of each class in the paper's data, by rising acid concentration
CLASS_SIZES = (228, 1528, 1880, 731, 70)
#: wavelengths of the spectrum, in nm
N_WAVELENGTHS = 212

#: acids: centres, widths (nm) and heights (absorbance per g/l) of their bands, and their typical shares of the total
_ACIDS = (
    (((204.0, 11.0, 0.16),), 0.45),
    (((207.0, 12.0, 0.15),), 0.25),
    (((210.0, 13.0, 0.14), (262.0, 22.0, 0.006)), 0.18),
    (((214.0, 14.0, 0.13), (271.0, 18.0, 0.010)), 0.12),
)
#: other absorbers: bands, typical absorbance at the first band's height, and the spread of its logarithm
_OTHERS = (
    (((195.0, 45.0, 1.0), (280.0, 35.0, 0.25)), 0.80, 0.15),
    (((203.0, 10.0, 1.0), (301.0, 15.0, 0.02)), 0.45, 0.22),
)
_MEDIAN, _SPREAD = 5.0, 0.45  # of the total concentration: g/l, and of its logarithm
_MIXING = 100.0  # a larger value means smaller variation of the acids' shares
_TURBIDITY, _TURBIDITY_SPREAD, _EXPONENTS = 0.15, 0.25, (1.35, 1.45)
_DRIFT = 0.003
_STRAY = (-2.2, -2.0)


class Spectra(NamedTuple):
    """Spectra, the total acid concentration in g/l behind each, and its class, from 1 for the least."""

    X: Floats
    concentration: Floats
    y: NDArray[np.intp]


def simulated_spectra(
    seed: int = 0, class_sizes: Sequence[int] = CLASS_SIZES, *, noise: float = 0.001, n_wavelengths: int = N_WAVELENGTHS
) -> Spectra:
    """Simulate absorption spectra of mixtures of acids in a turbid fluid, cut into classes by total acid concentration.

    Bands add up (Beer and Lambert): four acids that nearly coincide in the far UV, two other absorbers, turbidity as a power of
    the wavelength, drift, stray light, and detector noise, `noise` at no absorbance.
    """
    sizes = [int(size) for size in class_sizes]
    if len(sizes) < 2 or min(sizes) < 1:
        raise ArgumentError(f"class_sizes={tuple(class_sizes)} are not the sizes of two classes or more")
    if not noise >= 0:
        raise ArgumentError(f"noise={noise} is negative; use 0 or more")
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    wavelengths = np.linspace(200.0, 720.0, n_wavelengths)
    total = np.exp(rng.normal(np.log(_MEDIAN), _SPREAD, n))
    shares = rng.dirichlet([_MIXING * share for _, share in _ACIDS], n)
    absorbance = sum((total * shares[:, k])[:, None] * _bands(bands, wavelengths) for k, (bands, _) in enumerate(_ACIDS)) + sum(
        (level * np.exp(spread * rng.normal(size=n)))[:, None] * _bands(bands, wavelengths) for bands, level, spread in _OTHERS
    )
    relative = wavelengths / 400.0
    turbidity = _TURBIDITY * np.exp(_TURBIDITY_SPREAD * rng.normal(size=n))
    absorbance = absorbance + turbidity[:, None] * relative ** -rng.uniform(*_EXPONENTS, n)[:, None]
    absorbance = absorbance + rng.normal(0.0, _DRIFT, n)[:, None] + rng.normal(0.0, _DRIFT, n)[:, None] * (relative - 1.0)
    stray = 10.0 ** rng.uniform(*_STRAY, n)[:, None]
    measured = -np.log10((10.0**-absorbance + stray) / (1.0 + stray))
    X = measured + noise * (1.0 + 2.0 * measured) * rng.normal(size=measured.shape)
    y = np.empty(n, dtype=np.intp)
    y[np.argsort(total, kind="stable")] = np.repeat(np.arange(1, len(sizes) + 1), sizes)
    return Spectra(X, total, y)


def _bands(bands: Sequence[tuple[float, float, float]], wavelengths: Floats) -> Floats:
    return np.asarray(sum(height * np.exp(-0.5 * ((wavelengths - centre) / width) ** 2) for centre, width, height in bands))


Rows = NDArray[np.intp]

#: the paper's training and test records; they leave out 2 of its 4,437
TRAIN, TEST = 3326, 1109

SOURCES = ("simulated", "tecator")


@dataclass(frozen=True)
class AcidData:
    """Spectra in five classes, 1 to 5, split once into training and test rows.

    Rows with the same number in `copies` have the same spectrum, and are never separated.
    """

    name: str
    X: Floats
    y: Rows
    copies: Rows
    train: Rows
    test: Rows

    def split(self, seed: int) -> tuple[Rows, Rows]:
        """Split the training rows at random, 80 % to train on and 20 % to validate, by class."""
        return split_by_class(self.train, self.y, self.copies, 0.8, 0.2, seed)


def acid_data(source: str, quick: bool = False) -> AcidData:
    """Return the data of a source: "simulated", of the paper's size (quick: a quarter), classes and split, or "tecator".

    "tecator" has spectra of 240 samples of meat, their fat cut into five classes of the paper's shares.
    """
    if source == "tecator":
        return _tecator()
    sizes = [max(size // 4, 8) for size in CLASS_SIZES] if quick else CLASS_SIZES
    X, _, y = simulated_spectra(0, sizes)
    n = len(y)
    share = n / sum(CLASS_SIZES)
    rows = np.arange(n)
    train, test = split_by_class(rows, y, rows, round(TRAIN * share), round(TEST * share), 0)
    return AcidData("simulated", X, y, rows, train, test)


def _tecator() -> AcidData:
    table = read_table("tecator")
    columns = [name for name in map(str, table) if name.startswith("a")]
    if len(columns) != 100 or "y" not in table:
        raise DataError("tecator.csv: the columns a1 to a100 and y are needed")
    X = table[columns].to_numpy(dtype=np.float64)
    fat = table["y"].to_numpy(dtype=np.float64)
    copies = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    y = classes_by_share(fat, CLASS_SIZES)
    train, test = split_by_class(np.arange(len(y)), y, copies, TRAIN / sum(CLASS_SIZES), TEST / sum(CLASS_SIZES), 0)
    return AcidData("tecator", X, y, copies, train, test)


def classes_by_share(values: Floats, sizes: Sequence[int]) -> Rows:
    """Cut values into classes, from 1 for the smallest, with the shares of the sizes; equal values stay together."""
    edges = np.cumsum(sizes)[:-1] / np.sum(sizes)
    ordered = np.sort(values)
    cuts = ordered[np.round(edges * len(values)).astype(int)]
    return np.asarray(1 + np.searchsorted(cuts, values, side="right"), dtype=np.intp)


def split_by_class(rows: Rows, y: Rows, copies: Rows, train: float, test: float, seed: int) -> tuple[Rows, Rows]:
    """Split rows at random so that both sides have each class's share; rows with the same spectrum stay together.

    `train` and `test` are sizes, or shares, of the two sides, counted in different spectra.
    """
    first = np.unique(copies[rows], return_index=True)[1]
    units = rows[first]
    ours, theirs = train_test_split(copies[units], train_size=train, test_size=test, random_state=seed, stratify=y[units])
    return rows[np.isin(copies[rows], ours)], rows[np.isin(copies[rows], theirs)]
