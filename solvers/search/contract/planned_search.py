"""Base of searches that plan several points ahead, such as the rest of a generation."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.solvers.search.contract.base import Capabilities, Noise, Search, Suggestion
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.noise import Verdict, judge_noise

Floats = NDArray[np.float64]


class PlannedSearch(Search):
    """Base of the searches that keep a plan.

    The plan moves when a point is asked for or told, and in no other way: `assume` makes the same plan as `ask` does and
    compares. So a record of what was asked and told brings the plan back to the bit, and there is no further state to keep.
    Points that the plan does not hold are welcome. Until the first of its own points the plan is made anew at every event,
    from the best of what was told.

    A subclass has `_plan`, which chooses the next point and leaves no trace before the first own one, and `_proceed`.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of every random choice.
    """

    capabilities = Capabilities(follows_given=True)

    def __init__(self, domain: Domain, seed: int = 0):
        super().__init__(domain, seed)
        self._own: set[bytes] = set()
        self._next: Suggestion | None = None
        self._responses: dict[bytes, list[float]] = {}

    def assume(self, point: ArrayLike, *, given: bool = False) -> None:
        """Take `point` as asked for; where it is what the plan has next, and was not given, the plan goes on."""
        canonical = self.domain.snap_one(point)
        planned = None if given else self.suggest(np.random.default_rng([self.seed, self.n_asked]))
        super().assume(canonical, given=given)
        self._next = None
        if planned is not None and np.array_equal(planned.point, canonical):
            self._own.add(canonical.tobytes())
            self._proceed(planned)

    def tell(self, point: ArrayLike, value: float) -> None:
        """Take the value at a point, whether it was asked for or not; see `Search.tell`."""
        super().tell(point, value)
        self._next = None
        self._responses.setdefault(self._points[-1].tobytes(), []).append(self._values[-1])

    def response(self, point: Floats) -> float | None:
        """Return the mean of the responses at a canonical point; nan if all failed, None if there is none yet.

        Returns
        -------
        float or None
            The mean; None if the point was never told.
        """
        told = self._responses.get(point.tobytes())
        if told is None:
            return None
        ok = [v for v in told if np.isfinite(v)]
        return sum(v / len(ok) for v in ok) if ok else np.nan

    def is_pending(self, point: Floats) -> bool:
        """Return whether a canonical point was asked for and is not yet told.

        Returns
        -------
        bool
            True if the point is pending.
        """
        key = point.tobytes()
        return any(waiting.tobytes() == key for waiting in self.pending)

    def best_told(self) -> Floats | None:
        """Return the point with the best value told, None if no evaluation has succeeded.

        Returns
        -------
        ndarray of shape (dimension,) or None
            The point.
        """
        values = self.values
        return None if np.isnan(values).all() else self._points[int(np.nanargmin(values))]

    def strangers(self, since: int = 0) -> list[Floats]:
        """Return the points told that this search never asked for, from the `since`-th told on.

        Returns
        -------
        list of ndarray of shape (dimension,)
            The points.
        """
        return [p for p in self._points[since:] if p.tobytes() not in self._own]

    def judge(self, noise: Noise) -> Verdict:
        """Return what is known of the noise: what the user says, else what replicates say.

        Returns
        -------
        Verdict
            Whether there is noise, and how it is known.
        """
        if noise != "auto":
            return "noisy" if noise else "deterministic"
        ok = np.isfinite(self.values)
        return judge_noise(self.points[ok], self.values[ok])

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Return the plan's next point; the same one until it is taken or something is told.

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
        """Choose the next point. Before the first own point it must leave no trace."""

    @abstractmethod
    def _proceed(self, planned: Suggestion) -> None:
        """Go on: what was planned has been asked for."""
