"""Random kernels that are positive semidefinite by construction, and their numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.kernels.expressions import BLOCKS, Expression

Floats = NDArray[np.float64]

# probabilities of the blocks; blocks that tend to be useful are more likely
_LEAVES = {"gaussian": 0.4, "linear": 0.3, "number": 0.1, "rational": 0.1, "norms": 0.05, "damping": 0.05}
_OPERATORS = {
    "add": 0.35,
    "multiply": 0.25,
    "square": 0.1,
    "normalise": 0.1,
    "exponential": 0.1,
    "cube": 0.05,
    "scale": 0.05,
}
PSD_BLOCKS = frozenset(_LEAVES) | frozenset(_OPERATORS)

_PER_SQUARED_NORM = ("linear", "gaussian", "rational", "norms", "damping")
_OPERATOR_SHARE = 0.5
_SPREAD = 1.0
_REACH = 1e4


def typical_value(block: str, squared_norm: float) -> float:
    """Return a number at which a block is neither constant nor a spike on data of this size.

    Parameters
    ----------
    block : str
        A block that carries a number.
    squared_norm : float
        Typical |x|^2 of the rows, positive.
    """
    return 1.0 / squared_norm if block in _PER_SQUARED_NORM else 1.0


def value_bounds(block: str, squared_norm: float) -> tuple[float, float]:
    """Return the search range of a block's number, four powers of ten to each side of the typical value."""
    typical = typical_value(block, squared_norm)
    return typical / _REACH, typical * _REACH


def random_leaf(squared_norm: float, rng: np.random.Generator) -> Expression:
    """Draw a kernel of a single block.

    Parameters
    ----------
    squared_norm : float
        Typical |x|^2 of the rows, positive.
    rng : numpy.random.Generator
        Generator of the random numbers.
    """
    return with_random_value(_drawn(_LEAVES, rng), (), squared_norm, rng)


def with_random_value(block: str, arguments: tuple[Expression, ...], squared_norm: float, rng: np.random.Generator) -> Expression:
    """Make an expression of a block; if the block carries a number, it is drawn around its typical value."""
    if BLOCKS[block].values == "none":
        return Expression(block, arguments)
    return Expression(block, arguments, typical_value(block, squared_norm) * float(np.exp(_SPREAD * rng.normal())))


def grow_kernel(max_depth: int, squared_norm: float, rng: np.random.Generator) -> Expression:
    """Grow a random kernel: an operator with probability 1/2 while there is depth left, and a leaf otherwise.

    Parameters
    ----------
    max_depth : int
        Maximum number of levels, at least 1.
    squared_norm : float
        Typical |x|^2 of the rows, positive.
    rng : numpy.random.Generator
        Generator of the random numbers.

    Examples
    --------
    >>> kernel = grow_kernel(3, 2.0, np.random.default_rng(0))
    >>> kernel.depth <= 3 and kernel.type == "scalar"
    True
    """
    if max_depth == 1 or rng.random() >= _OPERATOR_SHARE:
        return random_leaf(squared_norm, rng)
    block = _drawn(_OPERATORS, rng)
    arguments = tuple(grow_kernel(max_depth - 1, squared_norm, rng) for _ in BLOCKS[block].arguments)
    return with_random_value(block, arguments, squared_norm, rng)


def _drawn(shares: dict[str, float], rng: np.random.Generator) -> str:
    names = list(shares)
    return names[rng.choice(len(names), p=list(shares.values()))]
