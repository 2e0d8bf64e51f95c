"""The non-dominated trials of several objectives, and their hypervolume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from solvers.pareto import non_dominated
from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.objectives import Objectives
from spotsvm.recommendation import summarise_failures
from spotsvm.trial import FINISHED, Trial

Floats = NDArray[np.float64]
_MARGIN = 0.1


def pareto_trials(trials: Sequence[Trial], objectives: Objectives) -> tuple[Trial, ...]:
    """Return the non-dominated trials, from the best in the first objective on; see `Study.pareto`."""
    objectives.require_several("pareto()")
    done = [t for t in trials if t.values is not None]
    if not done:
        raise NoCompletedTrialError(f"no trial has succeeded yet: {summarise_failures(trials)}")
    return tuple(done[k] for k in non_dominated(objectives.turned([t.values for t in done])))


def hypervolume_curve(
    trials: Sequence[Trial],
    objectives: Objectives,
    reference: Sequence[float] | Mapping[str, float] | None,
    at: Sequence[int] | None = None,
) -> pd.Series[float]:
    """Return the dominated hypervolume after each finished trial, or after those at some positions; see `Study.hypervolume`."""
    objectives.require_several("hypervolume()")
    from pymoo.indicators.hv import HV  # on use: it takes half a second

    finished = [t for t in trials if t.state in FINISHED]
    values = np.array([t.values for t in finished if t.values is not None], dtype=float)
    known = objectives.turned(values.reshape(-1, len(objectives)))
    if reference is not None:
        bound = objectives.turned(_checked(reference, objectives))
    elif len(known):
        spread = np.ptp(_MARGIN * known, axis=0)
        with np.errstate(over="ignore"):  # near the largest float the bound is infinite, and so is the volume
            bound = known.max(axis=0) + np.where(spread > 0, spread, 1.0)
    else:
        bound = np.zeros(len(objectives))
    volume = HV(ref_point=bound)
    asked = set(range(len(finished)) if at is None else at)
    front, reached, grown, curve = known[:0], 0.0, False, []
    for k, t in enumerate(finished):
        if t.values is not None:
            point = objectives.turned(t.values)
            if (point < bound).all() and not (front <= point).all(axis=1).any():
                front, grown = np.vstack([front[(front < point).any(axis=1)], point]), True
        if k in asked:
            if grown:
                reached, grown = float(volume(front)), False
            curve.append(reached)
    index = pd.Index([t.number for k, t in enumerate(finished) if k in asked], name="number", dtype="int64")
    return pd.Series(curve, index=index, name="hypervolume", dtype="float64")


def _checked(reference: Any, objectives: Objectives) -> list[float]:
    given = reference
    if isinstance(reference, Mapping):
        if set(reference) != set(objectives.names):
            raise ArgumentError(f"reference={reference!r}; use a number for each of {', '.join(objectives.names)}")
        given = [reference[name] for name in objectives.names]
    numbers = list(given) if np.ndim(given) == 1 else []
    if len(numbers) != len(objectives) or not all(isinstance(x, Real) and np.isfinite(float(x)) for x in numbers):
        raise ArgumentError(f"reference={reference!r} is not {len(objectives)} finite numbers, one per objective")
    return [float(x) for x in numbers]
