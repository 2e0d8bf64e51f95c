"""What an evaluation at a point costs, as a Kriging model of the logarithm of the seconds that others took."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.acquisition.chance import Chance
from spotsvm.surrogates.kriging.embedding import Embedding

Floats = NDArray[np.float64]

_LEAST = 0.01  # seconds, about what a suggestion takes: whatever is faster costs as much
_FEWEST = 3


def saving(embedding: Embedding, inputs: Floats, seconds: Floats) -> Chance | None:
    """Return a model of by how much an evaluation is cheaper than the mean, as a natural logarithm.

    `AveragedImprovement` adds what its method `mean` predicts; the chance that it is positive is of no use.

    Parameters
    ----------
    embedding : Embedding
        From model inputs to the processes' space.
    inputs : ndarray of shape (N, d)
        Model inputs of evaluations.
    seconds : ndarray of shape (N,)
        What each took, nan where that is not known; below a hundredth of a second all count the same.

    Returns
    -------
    Chance or None
        None where less than three are known, or all are equal.

    Notes
    -----
    Equation :eq:`saving` of the chapter :doc:`/method/index`.

    Examples
    --------
    >>> inputs = np.linspace(0.0, 1.0, 9)[:, None]
    >>> embedding = Embedding.of(inputs)
    >>> model = saving(embedding, inputs, 10.0 ** (2 * inputs[:, 0]))
    >>> (model.mean(embedding.transform(np.array([[0.25], [0.75]]))) / np.log(10.0)).round(2)
    array([ 0.5, -0.5])
    """
    known = np.isfinite(seconds)
    logs = np.log(np.maximum(seconds[known], _LEAST))
    if len(logs) < _FEWEST or not np.ptp(logs) > 0:
        return None
    unit = float(np.std(logs))
    return replace(Chance.of_bound(embedding, inputs[known], (logs.mean() - logs) / unit), power=unit)
