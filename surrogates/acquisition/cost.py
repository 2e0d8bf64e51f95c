"""The cost of an evaluation at a point, as a Kriging model of the logarithm of the measured seconds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.acquisition.chance import Chance
from spotsvm.surrogates.kriging.embedding import Embedding

Floats = NDArray[np.float64]

_LEAST = 0.01  # seconds, about the time of a suggestion: faster evaluations count as this
_FEWEST = 3


def saving(embedding: Embedding, inputs: Floats, seconds: Floats) -> Chance | None:
    """Return a model of ln(mean cost / cost of an evaluation), where the mean is the geometric mean.

    `AveragedImprovement` adds the prediction of its method `mean`; its probability of being positive is not used.

    Parameters
    ----------
    embedding : Embedding
        Map from model inputs to the space of the processes.
    inputs : ndarray of shape (N, d)
        Model inputs of evaluations.
    seconds : ndarray of shape (N,)
        Duration of each evaluation, nan where unknown; durations below 0.01 s count as 0.01 s.

    Returns
    -------
    Chance or None
        None if fewer than three durations are known or all are equal.

    Notes
    -----
    Equation :eq:`saving` of the chapter :doc:`/method/index`.

    Examples
    --------
    >>> inputs = np.linspace(0.0, 1.0, 9)[:, None]
    >>> embedding = Embedding.of(inputs)
    >>> model = saving(embedding, inputs, 10.0 ** (2 * inputs[:, 0]))
    >>> (
    ...     model.mean(embedding.transform(np.array([[0.25], [0.75]])))
    ...     / np.log(10.0)
    ... ).round(2)
    array([ 0.5, -0.5])
    """
    known = np.isfinite(seconds)
    logs = np.log(np.maximum(seconds[known], _LEAST))
    if len(logs) < _FEWEST or not np.ptp(logs) > 0:
        return None
    unit = float(np.std(logs))
    return replace(Chance.of_bound(embedding, inputs[known], (logs.mean() - logs) / unit), power=unit)
