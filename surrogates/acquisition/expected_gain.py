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
    """The model's prediction for one more evaluation: the largest expected improvement, in the response's unit.

    `incumbent` is the evaluation to improve on: the best prediction if the response is noisy, otherwise the best response.
    """

    improvement: float
    incumbent: int
    incumbent_error: float


def expected_gain(domain: Domain, points: Floats, values: Floats, *, noisy: bool, rng: np.random.Generator) -> ExpectedGain:
    """Fit a Kriging ensemble to the evaluations of any search, and return its largest expected improvement.

    `values` are nan where an evaluation failed, at least two finite; equal rows of `points` are replicates.
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
