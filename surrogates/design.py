"""Initial designs: the first points of a search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]


def initial_design(domain: Domain, n: int, rng: np.random.Generator, *, centre: bool = True) -> Floats:
    """Return n points: the centre of the cube if wanted, and a Latin hypercube.

    Parameters
    ----------
    domain : Domain
        What the coordinates mean.
    n : int
        Number of points, at least 1.
    rng : numpy.random.Generator
        Source of the hypercube.
    centre : bool, default=True
        Whether the first point is the centre, where a range that was chosen with sense has its best guess.

    Returns
    -------
    ndarray of shape (n, d)
        Canonical points; in a small discrete domain some may be equal.

    Examples
    --------
    >>> initial_design(Domain.continuous(2), 3, np.random.default_rng(0))[0].tolist()
    [0.5, 0.5]
    """
    if n < 1:
        raise ValueError(f"n={n} is not a number of points; use 1 or more")
    first = np.full((int(centre), domain.dimension), 0.5)
    return domain.snap(np.vstack([first, qmc.LatinHypercube(domain.dimension, rng=rng).random(n - int(centre))]))
