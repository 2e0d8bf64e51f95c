"""The probability that an evaluation succeeds, estimated from successes and failures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.kriging.correlation import Matern52
from spotsvm.surrogates.kriging.embedding import Embedding
from spotsvm.surrogates.kriging.likelihood import Response
from spotsvm.surrogates.kriging.process import Process
from spotsvm.surrogates.kriging.replicates import aggregate

Floats = NDArray[np.float64]


class Feasibility:
    """A smooth regression of success (1) and failure (0), kept between `LEAST` and 1.

    A failed evaluation has no response, and none is made up for it: the response's model never sees it, and this one
    only steers the search away. The length is fixed, since a handful of failures cannot tell one.

    Parameters
    ----------
    embedding : Embedding
        From model inputs to the processes' space.
    inputs : ndarray of shape (N, d)
        Model inputs of all evaluations.
    succeeded : ndarray of bool, shape (N,)
        Which of them gave a response.

    Attributes
    ----------
    process : Process
        Its mean, kept between `LEAST` and 1, is the chance.
    """

    LEAST = 0.01
    LENGTH = 0.3
    NUGGET = 0.05

    def __init__(self, embedding: Embedding, inputs: Floats, succeeded: NDArray[np.bool_]):
        data = aggregate(inputs, succeeded.astype(float))
        embedded = embedding.transform(data.X)
        theta = np.full(embedded.shape[1], 1.0 / (self.LENGTH**2 * embedding.n_features))
        response = Response(data.mean, data.count, data.within)
        self.process = Process.condition(Matern52(), theta, self.NUGGET, embedded, response)
