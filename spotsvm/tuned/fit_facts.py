"""What the page and the methods section of a fitted TunedSVC or TunedSVR say of the fit beside its public attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class FitFacts:
    """The rows, folds and sweeps of a fit, of which a `screening` compared (sweeps, rows) first; and what its sets rest on.

    `judged` are the indices of the judged rows, `target` their coded targets, and `unusual` says how far off the predictions for
    them are. Rows count for their `weights`, and in the probabilities for their `calibration_weights`.
    """

    n_folds: int
    n_grid_rows: int
    n_held: int
    by_group: bool
    n_sweeps: int
    n_searched: int
    screening: tuple[int, int]
    judged: NDArray[np.intp]
    n_distinct: int
    target: NDArray[Any]
    unusual: Floats
    weights: Floats
    score_title: str
    versions: Mapping[str, str]
    calibration_weights: Floats | None = None
    threshold_text: str = ""
    #: codes of the predicted classes of the judged rows, and of the positive one of two classes
    predicted: NDArray[Any] | None = None
    positive: int = 1
    #: for each encoding of the table the columns that it takes in another way than the first
    encodings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: the sets of classes by log odds and coverage
    sets: Callable[[Any, float], NDArray[np.bool_]] | None = None
