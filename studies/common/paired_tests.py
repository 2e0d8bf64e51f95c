"""Tests of paired differences over resamples that share rows, on a set and over sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from spotsvm.errors import ArgumentError
from spotsvm.luck.intervals import corrected_factor, t_interval


class PairedTest(NamedTuple):
    """A two-sided t test of a mean difference, with its 95 % interval; nan where the resamples have no spread."""

    mean: float
    low: float
    high: float
    t: float
    p: float
    degrees: float


def corrected_resampled_t_test(differences: ArrayLike, ratio: float) -> PairedTest:
    """Test whether the mean of paired differences over resamples of one set is 0, corrected for the rows that resamples share.

    Nadeau, Bengio 2003, "Inference for the Generalization Error", section 3.1; `ratio` is test rows per training row.
    """
    return over_sets([differences], [ratio])


def over_sets(differences: Sequence[ArrayLike], ratios: Sequence[float]) -> PairedTest:
    """Test whether the mean difference, averaged over sets, is 0; the sets are fixed, no sample of further ones.

    Each set's mean has its own corrected variance (Nadeau, Bengio 2003, section 3.1); degrees of freedom are Satterthwaite's
    (1946).
    """
    sets = [np.asarray(values, dtype=np.float64) for values in differences]
    if not sets or min(len(values) for values in sets) < 1:
        raise ArgumentError("differences is empty; give at least one set, of at least one resample")
    mean = float(np.mean([values.mean() for values in sets]))
    if min(len(values) for values in sets) < 2:
        return PairedTest(mean, *(float("nan"),) * 5)
    factors = [corrected_factor(len(values), ratio) for values, ratio in zip(sets, ratios, strict=True)]
    # the variance of equal values is not always 0: their mean is rounded
    spreads = [values.var(ddof=1) if np.ptp(values) > 0 else 0.0 for values in sets]
    variances = np.array(factors) * spreads / len(sets) ** 2
    total = float(variances.sum())
    own = np.array([len(values) - 1 for values in sets])
    if not total > 0:  # without spread there is no test
        nothing = float("nan")
        return PairedTest(mean, mean, mean, 0.0, 1.0, float(own.sum())) if mean == 0 else PairedTest(mean, *(nothing,) * 5)
    degrees = total**2 / float((variances**2 / own).sum())
    t = mean / total**0.5
    low, high = t_interval(mean, total, degrees, 0.95)
    return PairedTest(mean, low, high, t, 2 * float(student.sf(abs(t), degrees)), degrees)
