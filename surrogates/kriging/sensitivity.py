"""Averages of Kriging predictions over a domain, with their standard errors, and the share of variance explained."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotri, dtrtrs
from scipy.spatial.distance import pdist

from spotsvm.surrogates.kriging.ensemble import Member, Models
from spotsvm.surrogates.kriging.process import Process

Floats = NDArray[np.float64]
_BLOCK = 256  # points in a block, whose correlations with a thousand others stay in the cache


def predict_mean(models: Models, inputs: Floats) -> Floats:
    """Return the predicted response at many points, without its error; for models fitted without a warp."""
    embedded = models.embedding.transform(inputs)
    blocks = [embedded[k : k + _BLOCK] for k in range(0, len(embedded), _BLOCK)]
    means = [
        m.process.mu + np.concatenate([m.process.correlations(block) @ m.process.a for block in blocks]) for m in models.members
    ]
    return np.asarray(models.members[0].warp.low + models.unit * np.mean(means, axis=0))


def predict_averages(models: Models, groups: Floats) -> tuple[Floats, Floats]:
    """Return the response's average over each group of points, (g, m, d), and its standard error; for models without a warp.

    The error has the correlations between the points and the variance between members. Averages over all other coordinates are
    main effects (Oakley, O'Hagan 2004, section 3).
    """
    g, m, d = groups.shape
    embedded = models.embedding.transform(groups.reshape(g * m, d))
    predictions = []
    for member in models.members:
        process = member.process
        psi = process.correlations(embedded).reshape(g, m, -1).mean(axis=1)
        among = np.array([_mean_correlation(process, group) for group in embedded.reshape(g, m, -1)])
        half = dtrtrs(process.L, psi.T, lower=1)[0]
        bound = process.half_one @ process.half_one
        variance = among - np.einsum("ij,ij->j", half, half) + (1.0 - process.half_one @ half) ** 2 / bound
        predictions.append((process.mu + psi @ process.a, process.sigma2 * np.maximum(variance, 0.0)))
    return models.combined(predictions)


def left_out_share(models: Models) -> float:
    """Return the share of the responses' variance that leave-one-point-out predictions explain (Dubrule 1983).

    The hyperparameters are those fitted to all points. 1 is perfect; 0 or less is no better than the mean of the others.
    """
    shares = []
    for member in models.members:
        seen, missed, _ = _left_out(member)
        spread = float(np.sum((seen - seen.mean()) ** 2))
        shares.append(1.0 - float(np.sum(missed**2)) / spread if spread > 0 else 0.0)
    return float(np.mean(shares))


def left_out_predictions(models: Models) -> tuple[Floats, Floats, Floats]:
    """Return the responses, their leave-one-point-out predictions and the standard errors of these; for models without a warp.

    A response at a point with replicates is their mean. The error has the noise of the response (Dubrule 1983).
    """
    found = [_left_out(member) for member in models.members]
    seen = found[0][0]
    means = np.array([one - missed for one, missed, _ in found])
    variance = np.mean([error**2 for *_, error in found], axis=0) + means.var(axis=0)
    low = models.members[0].warp.low
    return low + models.unit * seen, low + models.unit * means.mean(axis=0), models.unit * np.sqrt(variance)


def _left_out(member: Member) -> tuple[Floats, Floats, Floats]:
    """Return the responses of a member, less their predictions from the others, and the standard errors."""
    p = member.process
    inverse = np.diag(np.asarray(dpotri(p.L, lower=1)[0]))
    return member.response.mean, p.a / inverse, np.sqrt(p.sigma2 / inverse)


def _mean_correlation(process: Process, embedded: Floats) -> float:
    """Return the mean correlation over all pairs of a group's points, including each point with itself."""
    m = len(embedded)
    pairs = process.correlation.value(pdist(embedded * process.scale, "sqeuclidean"))
    return (m + 2.0 * float(pairs.sum())) / m**2
