"""Base class of searches that plan several points ahead, such as the rest of a generation."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.solvers.search.contract.base import Capabilities, Noise, Search, Suggestion
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.responses import Noisiness, judge_noise

Floats = NDArray[np.float64]


class PlannedSearch(Search):
    """Base of searches whose plan changes only when a point is asked for or reported, so that the record restores it bit by bit.

    A subclass has `_plan`, which chooses the next point and changes no state before the first own point, and `_proceed`. Until
    then the plan is remade at every event, from the best reported point.
    """

    capabilities = Capabilities(follows_given=True)

    def __init__(self, domain: Domain, seed: int = 0):
        super().__init__(domain, seed)
        self._own: set[bytes] = set()
        self._next: Suggestion | None = None
        self._responses: dict[bytes, list[float]] = {}

    def assume(self, point: ArrayLike, *, given: bool = False) -> None:
        """Mark `point` as asked for; the plan proceeds if it is the planned point and was not supplied by the user."""
        canonical = self.domain.snap_one(point)
        planned = None if given else self.suggest(np.random.default_rng([self.seed, self.n_asked]))
        super().assume(canonical, given=given)
        self._next = None
        if planned is not None and np.array_equal(planned.point, canonical):
            self._own.add(canonical.tobytes())
            self._proceed(planned)

    def tell(self, point: ArrayLike, value: float) -> None:
        """Report the value at a point, whether it was asked for or not; see `Search.tell`."""
        super().tell(point, value)
        self._next = None
        self._responses.setdefault(self._points[-1].tobytes(), []).append(self._values[-1])

    def response(self, point: Floats) -> float | None:
        """Return the mean of the responses at a canonical point; nan if all failed, None before the first report.

        Returns
        -------
        float or None
            The mean; None if the point was never reported.
        """
        told = self._responses.get(point.tobytes())
        if told is None:
            return None
        ok = [v for v in told if np.isfinite(v)]
        return sum(v / len(ok) for v in ok) if ok else np.nan

    def best_told(self) -> Floats | None:
        """Return the point with the best reported value, None if no evaluation has succeeded.

        Returns
        -------
        ndarray of shape (dimension,) or None
            The point.
        """
        values = self.values
        return None if np.isnan(values).all() else self._points[int(np.nanargmin(values))]

    def strangers(self, since: int = 0) -> list[Floats]:
        """Return the reported points that this search never asked for, from the `since`-th report on.

        Returns
        -------
        list of ndarray of shape (dimension,)
            The points.
        """
        return [p for p in self._points[since:] if p.tobytes() not in self._own]

    def judge(self, noise: Noise) -> Noisiness:
        """Return whether the objective is noisy: by the user's `noise`, or else by replicates.

        Returns
        -------
        Noisiness
            "noisy", "deterministic" or "unknown".
        """
        ok = np.isfinite(self.values)
        return judge_noise(self.points[ok], self.values[ok], noise)

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Return the plan's next point; it stays the same until it is taken or a value is reported.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """
        if self._next is None:
            self._next = self._plan(rng)
        return self._next

    @abstractmethod
    def _plan(self, rng: np.random.Generator) -> Suggestion:
        """Choose the next point. Before the first own point this must not change the state."""

    @abstractmethod
    def _proceed(self, planned: Suggestion) -> None:
        """Proceed: the planned point has been asked for."""
