"""The expected gain of a further evaluation, by a model of the evaluations so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.acquisition.chance import MOST_LABELS, Chance
from spotsvm.surrogates.acquisition.criterion import AveragedImprovement
from spotsvm.surrogates.acquisition.maximize_acquisition import maximize_acquisition
from spotsvm.surrogates.acquisition.selection import select_evaluations, select_places
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble
from spotsvm.surrogates.one_thread import one_blas_thread
from spotsvm.surrogates.responses import within_reach

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ExpectedGain:
    """The model's prediction for one more evaluation.

    Attributes
    ----------
    improvement : float
        The largest expected improvement among points not evaluated yet, in the response's unit; 0 if all points were evaluated.
    incumbent : int
        Index of the evaluation to improve on: the best prediction if the response is noisy, otherwise the best response.
    incumbent_error : float
        Standard error of the prediction at the incumbent; close to 0 if the response is deterministic.
    """

    improvement: float
    incumbent: int
    incumbent_error: float


def expected_gain(domain: Domain, points: Floats, values: Floats, *, noisy: bool, rng: np.random.Generator) -> ExpectedGain:
    """Fit a Kriging ensemble to the evaluations of any search, and return its largest expected improvement.

    Parameters
    ----------
    points : ndarray of shape (n, d)
        Canonical points; equal rows are replicates.
    values : ndarray of shape (n,)
        Responses, smaller being better; nan where an evaluation failed, at least two finite.
    noisy : bool
        Whether two responses at one point may differ.
    rng : numpy.random.Generator
        Random generator of the model's samples and of the candidates.

    Examples
    --------
    >>> points = np.linspace(0.0, 1.0, 9)[:, None]
    >>> rng = np.random.default_rng(0)
    >>> gain = expected_gain(
    ...     Domain.continuous(1),
    ...     points,
    ...     (points[:, 0] - 0.4) ** 2,
    ...     noisy=False,
    ...     rng=rng,
    ... )
    >>> gain.incumbent, bool(0 < gain.improvement < 0.001)
    (3, True)
    """
    ok = np.isfinite(values)
    responses, unit = within_reach(values[ok])
    succeeded = points[ok]
    with one_blas_thread():
        rows = select_evaluations(domain, succeeded, responses, noisy=noisy)
        models = KrigingEnsemble(domain, warped=not noisy).fit(succeeded[rows], responses[rows], rng)
        predicted = models.mean_evaluated()
        anchors = succeeded[rows[np.argsort(predicted, kind="stable")[:5]]]
        chances = []
        if not ok.all():
            near = select_places(domain, points, anchors, MOST_LABELS)
            chances.append(Chance.of_success(models.embedding, domain.model_inputs(points[near]), ok[near]))
        acquisition = AveragedImprovement(domain, models, "reinterpolation" if noisy else "plain", chances)
        seen = {point.tobytes() for point in points}
        maximum = maximize_acquisition(domain, acquisition, anchors, rng, allowed=lambda point: point.tobytes() not in seen)
        at = int(np.argmin(predicted if noisy else responses[rows]))  # the selection includes the best
        error = unit * float(models.error_evaluated(at)[0])
    improvement = 0.0 if maximum is None else unit * models.unit * float(np.exp(maximum[1]))
    return ExpectedGain(improvement, int(np.flatnonzero(ok)[rows[at]]), error)
