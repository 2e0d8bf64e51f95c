"""What each parameter does to the value, by the Kriging model: main effects and Sobol indices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc, sobol_indices, uniform

from spotsvm.reports.axes import StudyAxis
from spotsvm.reports.study_model import StudyModel

Floats = NDArray[np.float64]

_GRID = 25
_OTHERS = 64
_SOBOL = 1024


@dataclass(frozen=True)
class MainEffect:
    """The mean value over all other parameters, along one of them.

    Attributes
    ----------
    axis : StudyAxis
        The parameter.
    places : ndarray of shape (g,)
        Where, on its coordinate.
    mean, error : ndarray of shape (g,)
        The average of the model there, and its standard error.
    """

    axis: StudyAxis
    places: Floats
    mean: Floats
    error: Floats


def main_effects(model: StudyModel, axes: Sequence[StudyAxis], seed: int) -> list[MainEffect]:
    """Give the main effect of each coordinate; of a conditional one over the configurations in which it exists.

    Parameters
    ----------
    model : StudyModel
        The model.
    axes : sequence of StudyAxis
        The coordinates.
    seed : int
        Seed of the points to average over, the same for all coordinates.
    """
    others = qmc.Sobol(model.domain.dimension, rng=np.random.default_rng([seed, 1 << 43])).random(_OTHERS)
    return [_main_effect(model, axis, others) for axis in axes]


def _main_effect(model: StudyModel, axis: StudyAxis, others: Floats) -> MainEffect:
    coordinate = model.domain.coordinates[axis.column]
    if coordinate.parent >= 0:
        allowed = np.array(sorted(coordinate.parent_levels))
        chosen = allowed[np.minimum((others[:, coordinate.parent] * len(allowed)).astype(int), len(allowed) - 1)]
        others = others.copy()
        others[:, coordinate.parent] = (chosen + 0.5) / model.domain.coordinates[coordinate.parent].levels
    places = axis.grid(_GRID)
    groups = np.repeat(others[None], len(places), axis=0)
    groups[:, :, axis.column] = places[:, None]
    mean, error = model.average(groups)
    return MainEffect(axis, places, mean, error)


@dataclass(frozen=True)
class Importance:
    """Sobol indices of a model's mean: shares of its variance over the whole space.

    Attributes
    ----------
    first : ndarray of shape (d,)
        What a coordinate explains alone.
    total : ndarray of shape (d,)
        What it explains alone and together with others.
    """

    first: Floats
    total: Floats

    @property
    def order(self) -> list[int]:
        """The coordinates, the most important first."""
        return [int(j) for j in np.argsort(-self.total, kind="stable")]


def importance(model: StudyModel, seed: int) -> Importance | None:
    """Give the Sobol indices of all coordinates, for configurations drawn uniformly from the cube; None of a flat model.

    A conditional coordinate counts with its share: where it does not exist it has no effect.

    Parameters
    ----------
    model : StudyModel
        The model.
    seed : int
        Seed of the sample.

    References
    ----------
    Sobol 2001, "Global sensitivity indices for nonlinear mathematical models and their Monte Carlo estimates"; Saltelli et
    al. 2010, "Variance based sensitivity analysis of model output", as `scipy.stats.sobol_indices` has them.
    """
    rng = np.random.default_rng([seed, 1 << 44])
    spread = model.mean(rng.random((256, model.domain.dimension)))
    centre, width = float(np.median(spread)), float(np.ptp(spread))
    if not width > 1e-12 * max(float(np.abs(spread).max()), 1e-300):
        return None
    if model.domain.dimension == 1:  # scipy's function is for two or more
        return Importance(np.ones(1), np.ones(1))
    # in units of their own spread: the squares of huge values are beyond all numbers, and those of tiny ones are 0
    found = sobol_indices(
        func=lambda x: (model.mean(x.T) - centre) / width, n=_SOBOL, dists=[uniform()] * model.domain.dimension, rng=rng
    )
    # estimates of small shares can fall below 0, and above 1 by as little
    first, total = (np.clip(np.atleast_1d(index), 0.0, 1.0) for index in (found.first_order, found.total_order))
    return Importance(first, np.maximum(first, total))
