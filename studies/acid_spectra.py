"""A simulator of UV/vis spectra of a biogas plant's fluid: a stand-in for the acid problem of Koch et al. 2011."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import ArgumentError

Floats = NDArray[np.float64]

#: records of each class in the paper's data, by rising acid concentration
CLASS_SIZES = (228, 1528, 1880, 731, 70)
#: wavelengths of the spectrum, in nm
N_WAVELENGTHS = 212

#: of each acid: centres, widths (nm) and heights (absorbance per g/l) of its bands, and its typical share of the total
_ACIDS = (
    (((204.0, 11.0, 0.16),), 0.45),
    (((207.0, 12.0, 0.15),), 0.25),
    (((210.0, 13.0, 0.14), (262.0, 22.0, 0.006)), 0.18),
    (((214.0, 14.0, 0.13), (271.0, 18.0, 0.010)), 0.12),
)
#: of what else absorbs: bands, typical absorbance at the first band's height, and the spread of its logarithm
_OTHERS = (
    (((195.0, 45.0, 1.0), (280.0, 35.0, 0.25)), 0.80, 0.15),
    (((203.0, 10.0, 1.0), (301.0, 15.0, 0.02)), 0.45, 0.22),
)
_MEDIAN, _SPREAD = 5.0, 0.45  # of the total concentration: g/l, and of its logarithm
_MIXING = 100.0  # the larger, the less the acids' shares vary
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

    Absorbances add up in proportion to concentrations (Beer and Lambert), a few broad bands a substance: four acids whose bands
    in the far UV nearly coincide, and two other absorbers that vary for themselves, one of them with the acids' own band.
    Turbidity adds a power of the wavelength, the lamp a drift of level and slope, stray light bends large absorbances, and the
    detector's noise grows with the absorbance. What tells the concentration is a small, bent part of spectra whose points are
    all alike.

    Parameters
    ----------
    seed : int, default=0
        The same one gives the same data.
    class_sizes : sequence of int, default=(228, 1528, 1880, 731, 70)
        Records of each class, by rising concentration.
    noise : float, default=0.001
        Standard deviation of the detector's noise at no absorbance, in absorbance; 0 or more.
    n_wavelengths : int, default=212
        Points of a spectrum, from 200 nm to 720 nm.

    Raises
    ------
    ArgumentError
        If a size is no positive whole number, or the noise is negative.

    Examples
    --------
    >>> X, concentration, y = simulated_spectra()
    >>> X.shape, np.bincount(y)[1:].tolist()
    ((4437, 212), [228, 1528, 1880, 731, 70])
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
