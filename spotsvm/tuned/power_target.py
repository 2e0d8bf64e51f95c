"""A target on a scale on which it is nearer to a normal distribution, and the way back to its own scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.tuned.powers import best_powers, inverse_yeo_johnson, yeo_johnson

Floats = NDArray[np.float64]

#: two scales whose correlation is larger give the same models
_ALIKE = 0.999
_QUANTILES = np.linspace(0.02, 0.98, 25)
_BLOCK = 2**16  # values that are transformed together: what stays in the processor's cache
_BEYOND = 0.5  # of a prediction from the targets, in standard deviations of the new scale


@dataclass(frozen=True)
class PowerScale:
    """Targets z less `origin` in `unit`, with a Yeo-Johnson power, less `center` in `deviation`.

    The origin is the least target, and the unit is the distance of the median from it. Predictions on this scale are limited to
    half a deviation beyond the targets (`limits`), and targets to half their range beyond the `ends`.
    """

    power: float
    origin: float
    unit: float
    center: float
    deviation: float
    ends: tuple[float, float]
    limits: tuple[float, float]

    @classmethod
    def of(cls, z: Floats, weights: Floats) -> PowerScale | None:
        """Return the scale of targets z; None if it is hardly another one."""
        origin = float(z.min())
        unit = float(np.median(z)) - origin
        if not unit > 0.0:
            return None
        v = (z - origin) / unit
        power = float(best_powers(v[:, None])[0])
        t = yeo_johnson(v[:, None], np.array([power]))[:, 0]
        center = float(np.average(t, weights=weights))
        deviation = float(np.sqrt(np.average((t - center) ** 2, weights=weights)))
        if not 0.0 < deviation < np.inf or np.corrcoef(t, z)[0, 1] > _ALIKE:
            return None
        limits = (float(t.min()) - center) / deviation - _BEYOND, (float(t.max()) - center) / deviation + _BEYOND
        return cls(power, origin, unit, center, deviation, (origin, float(z.max())), limits)

    def values(self, z: Floats) -> Floats:
        """Return targets on this scale."""
        t = yeo_johnson(((z - self.origin) / self.unit)[:, None], np.array([self.power]))[:, 0]
        return np.asarray((t - self.center) / self.deviation)

    def inverse(self, t: Floats) -> Floats:
        """Return values of this scale as targets, within the limits."""
        t = np.clip(t, *self.limits)
        found = inverse_yeo_johnson(t * self.deviation + self.center, self.power) * self.unit + self.origin
        room = 0.5 * (self.ends[1] - self.ends[0])
        return np.clip(found, self.ends[0] - room, self.ends[1] + room)


@dataclass(frozen=True)
class Smearing:
    """The mean target for predictions on a power scale: that of the targets that they and typical `residuals` make.

    Equation :eq:`smearing`; Duan 1983, "Smearing estimate: a nonparametric retransformation method".
    """

    scale: PowerScale
    residuals: Any

    @classmethod
    def of(cls, scale: PowerScale, z: Floats, out_of_fold: NDArray[Any]) -> Smearing:
        """Return the smearing by the residuals of out-of-fold predictions, nan where there is none, on this scale."""
        known = np.isfinite(out_of_fold)
        return cls(scale, np.quantile(scale.values(z)[known] - out_of_fold[known], _QUANTILES))

    def __call__(self, predictions: NDArray[Any]) -> NDArray[Any]:
        """Return the targets for predictions of any shape."""
        size = max(_BLOCK // len(self.residuals), 1)
        flat, means = predictions.reshape(-1), np.empty(predictions.size)
        for start in range(0, len(flat), size):
            block = slice(start, start + size)
            means[block] = self.scale.inverse(flat[None, block] + self.residuals[:, None]).mean(axis=0)
        return means.reshape(predictions.shape)
