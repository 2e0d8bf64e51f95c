"""Sequential parameter optimisation as printed: new points are evaluated k times, the best once more in each iteration."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.search.contract.base import Noise, Suggestion
from spotsvm.solvers.search.kriging.kriging_search import KrigingSearch
from spotsvm.solvers.search.kriging.model import Evaluations, FittedCriterion
from spotsvm.solvers.search.kriging.ocba import ocba_next
from spotsvm.surrogates.acquisition.maximize_acquisition import Acquisition
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.responses import Noisiness

Floats = NDArray[np.float64]
#: stream of random numbers for the samples of the printed algorithm
_SAMPLE_STREAM = 17


class KochSearch(KrigingSearch):
    """A Kriging search with the repeats of Koch et al. 2011, Algorithm 1.

    Each point of the initial design is evaluated k_0 times. Then, in every iteration, the point with the best mean response is
    evaluated once more. OCBA (Chen et al. 2000), which the printed algorithm lacks, allots further evaluations to all points, by
    the means and variances of their responses. Finally a new point is evaluated as often as the best point so far.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of every random choice.
    noise : "auto" or bool, default="auto"
        Whether two evaluations of a point may differ. If not, no point is repeated. "auto" evaluates the design once, and then
        its best point again: if the responses differ, the missing repeats of the other points follow.
    n_initial : int, default=10
        Points of the initial design.
    repeats : int, default=2
        k_0, at least 1. With 1 no variance is known at first, and OCBA waits for repeats of the best points.
    max_repeats : int or None, default=None
        Maximum number of evaluations of a point. Section 3.2.2 of the paper uses 2; use 1 if the objective is already a mean of
        repeats.
    spread : int, default=1
        Number of evaluations that OCBA allots in an iteration; 0 as in the printed algorithm.
    n_sampled : int or None, default=None
        The algorithm's l: the new points of an iteration are those with the best predicted mean of l random points. None
        maximises the expected improvement, as in the paper's text.
    n_new : int, default=1
        The algorithm's d: number of new points in an iteration, chosen together from the l random points.
    **settings : dict
        Other arguments of `KrigingSearch`, except `repeat_below`.

    Raises
    ------
    SolverError
        If a number is invalid.

    Notes
    -----
    The printed algorithm draws the new points of an iteration at random and keeps those with the best predictions; in the
    paper's text, CMA-ES maximises the expected improvement. By default an iteration has a single new point, where the logarithm
    of the expected improvement is largest: candidates are compared, and the best three are improved by gradients.
    `KochSearch(n_sampled=l, n_new=d, spread=0)` is the algorithm as printed, but for one thing: the points are chosen after the
    best one is evaluated again, by a model that includes its result.

    With several workers, no point is evaluated by two workers at the same time; while due repeats wait for this, the next
    iteration begins. A point at which every evaluation failed is not repeated. At a point with some failures, only the successful
    evaluations count.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", Algorithm 1.
    Chen, Lin, Yucesan, Chick 2000, "Simulation Budget Allocation for Further Enhancing the Efficiency of Ordinal Optimization".

    Examples
    --------
    >>> search = KochSearch(
    ...     Domain.continuous(2), seed=0, noise=True, n_initial=3, spread=0
    ... )
    >>> noise = np.random.default_rng(0)
    >>> for _ in range(10):
    ...     suggestion = search.ask()
    ...     print(f"{suggestion.origin}: {suggestion.note}".rstrip(": "))
    ...     search.tell(
    ...         suggestion.point,
    ...         float(suggestion.point.sum() + 0.1 * noise.normal()),
    ...     )
    design
    design
    design
    replicate: evaluation 2 of 2
    replicate: evaluation 2 of 2
    replicate: evaluation 2 of 2
    replicate: evaluation 3 of the best
    improvement
    replicate: evaluation 2 of 3
    replicate: evaluation 3 of 3
    """

    def __init__(
        self,
        domain: Domain,
        seed: int = 0,
        *,
        noise: Noise = "auto",
        n_initial: int = 10,
        repeats: int = 2,
        max_repeats: int | None = None,
        spread: int = 1,
        n_sampled: int | None = None,
        n_new: int = 1,
        **settings: Any,
    ):
        if n_sampled is not None:
            settings = {"acquisition": predicted_mean, **settings}
        super().__init__(domain, seed, noise=noise, n_initial=n_initial, repeat_below=0.0, **settings)
        if repeats < 1:
            raise SolverError(f"repeats={repeats} leaves the design without an evaluation; use 1 or more")
        if max_repeats is not None and max_repeats < repeats:
            raise SolverError(f"max_repeats={max_repeats} is below repeats={repeats}; use as many or more, or None")
        if spread < 0:
            raise SolverError(f"spread={spread} is negative; use 0 for no repeats by OCBA, or more")
        if n_new < 1 or (n_sampled is None and n_new > 1):
            raise SolverError(
                f"n_new={n_new} with n_sampled={n_sampled}; several new points are chosen from n_sampled random ones"
            )
        if n_sampled is not None and n_sampled < n_new:
            raise SolverError(f"n_sampled={n_sampled} is below n_new={n_new}; use many more, such as 1000")
        self.n_sampled, self.n_new = n_sampled, n_new
        self._n_chosen, self._began = 0, 0  # new points after the design; evaluations when the iteration's first was asked for
        self.capabilities = replace(self.capabilities, n_initial=n_initial * repeats if noise is True else n_initial)
        self._repeats = PaperRepeats(repeats, max_repeats, spread)
        self._most_repeats = np.inf if max_repeats is None else max_repeats

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Choose a point to evaluate again or, if no repeat is due, a new point.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """
        if self.n_asked >= len(self._design) and self._noisiness() == "noisy":
            again = self._repeats.next({point.tobytes() for point in self.pending}, due=self._in_iteration)
            if again is not None:
                return Suggestion(again[0], "replicate", again[1])
        return super().suggest(rng)

    def assume(self, point: ArrayLike, *, given: bool = False) -> None:
        """Mark `point` as asked for; see `Search.assume`."""
        is_new, after_design = self.is_new(self.domain.snap_one(point)), self.n_asked >= len(self._design)
        super().assume(point, given=given)
        if is_new and after_design:
            self._began = self._began if self._in_iteration else len(self._points)
            self._n_chosen += 1
        self._repeats.asked(self.pending[-1])

    @property
    def _in_iteration(self) -> bool:
        """Whether some of the new points of an iteration were asked for, and others were not."""
        return self._n_chosen % self.n_new > 0

    def _evaluations(self) -> Evaluations:
        """Return the evaluations for the model: those known when the new points of the iteration were chosen."""
        told = super()._evaluations()
        return told.first(self._began) if self._in_iteration else told

    def _maximise(self, criterion: Acquisition, fitted: FittedCriterion, rng: np.random.Generator) -> tuple[Floats, float] | None:
        """Return the best point of the iteration's random sample that was not asked for, or of all points without a sample."""
        if self.n_sampled is None:
            return super()._maximise(criterion, fitted, rng)
        # the same sample for all new points of an iteration, also after a resume
        draw = np.random.default_rng([self.seed, _SAMPLE_STREAM, self._n_chosen // self.n_new])
        sample = [x for x in self.domain.snap(draw.random((self.n_sampled, self.domain.dimension))) if self.is_new(x)]
        if not sample:
            return None
        values = criterion.value(np.array(sample))
        best = int(np.argmax(values))
        return sample[best], float(values[best])

    def tell(self, point: ArrayLike, value: float) -> None:
        """Report the value at a point, whether it was asked for or not; see `Search.tell`."""
        n_pending = len(self.pending)
        super().tell(point, value)
        self._repeats.told(self._points[-1], self._values[-1], asked=len(self.pending) < n_pending)

    def take_margins(self, margins: Sequence[float]) -> None:
        """Take the margin of each bound at the evaluation reported last; a point that violates a bound is not repeated."""
        super().take_margins(margins)
        if not all(margin >= 0 for margin in margins):
            self._repeats.disregard_last()

    def _noisiness(self) -> Noisiness:
        ok = np.isfinite(self.values)
        return self._judge_noise(self.points[ok], self.values[ok])


def predicted_mean(mean: Floats, std: Floats) -> Floats:
    """Return the predicted mean: the criterion of the printed algorithm."""
    return mean


@dataclass
class Tally:
    """A point with its finished, pending and due evaluations; `mean` of the successful values is inf before the first.

    `owed` counts all evaluations due, whatever their results; `n` those asked for or reported unasked.
    """

    point: Floats
    owed: int
    n: int = 0
    values: list[float] = field(default_factory=list)
    mean: float = np.inf

    def update(self) -> None:
        """Recompute the mean of the values."""
        self.mean = sum(v / len(self.values) for v in self.values) if self.values else np.inf


class PaperRepeats:
    """Chooses the point to evaluate again, or a new point, which is due as many evaluations k as the best has had (>= `first`).

    Then the best is evaluated once more, so that k grows, and OCBA allots `spread` more. Points that are pending, or that always
    failed, are skipped.
    """

    def __init__(self, first: int, most: int | None, spread: int):
        self.first, self.most, self.spread = first, most, spread
        self._tallies: dict[bytes, Tally] = {}
        self._told_last: tuple[Floats, float] | None = None
        self._more = 0  # evaluations since the last new point that were not due

    def asked(self, point: Floats) -> None:
        """Record that a canonical point was asked for."""
        tally = self._tallies.get(point.tobytes())
        if tally is None:
            tally = self._tallies[point.tobytes()] = Tally(point, self._k())
            self._more = 0
        elif tally.n >= tally.owed:
            self._more += 1
        tally.n += 1

    def told(self, point: Floats, value: float, asked: bool) -> None:
        """Record the value of an evaluation, and whether it was asked for."""
        self._told_last = point, value
        tally = self._tallies.setdefault(point.tobytes(), Tally(point, 1))
        tally.n += not asked
        if np.isfinite(value):
            tally.values.append(value)
            tally.update()

    def disregard_last(self) -> None:
        """Treat the last report as a failure."""
        if self._told_last is not None and np.isfinite(self._told_last[1]):
            tally = self._tallies[self._told_last[0].tobytes()]
            tally.values.pop()
            tally.update()
        self._told_last = None

    def next(self, pending: Collection[bytes], due: bool = False) -> tuple[Floats, str] | None:
        """Return the point to evaluate again and the reason, or None if a new point is due; `pending` has points as bytes.

        `due`: only evaluations that a point is due, as further new points of the iteration follow.
        """
        idle = [
            tally
            for key, tally in self._tallies.items()
            if tally.values and key not in pending and (self.most is None or tally.n < self.most)
        ]
        for tally in idle:
            if tally.n < tally.owed:
                return tally.point, f"evaluation {tally.n + 1} of {tally.owed}"
        if due:
            return None
        if self._more == 0:
            best = self._best()
            if any(tally is best for tally in idle):
                return best.point, f"evaluation {best.n + 1} of the best"
        chosen = _allotted(idle) if self._more <= self.spread and self.spread else None
        return None if chosen is None else (chosen.point, "to tell the best points apart")

    def _k(self) -> int:
        """Return the number of evaluations that a new point is due."""
        k = max(self.first, self._best().n if self._tallies else 0)
        return k if self.most is None else min(k, self.most)

    def _best(self) -> Tally:
        return min(self._tallies.values(), key=lambda tally: tally.mean)


def _allotted(tallies: Sequence[Tally]) -> Tally | None:
    """Return the point to which OCBA allots an evaluation, None if the repeats show no noise.

    The variance at a point is estimated from its own repeats and, with the weight of a single repeat, from the repeats of all
    points. So a point with two responses that are close by chance does not count as noise-free.
    """
    if len(tallies) < 2:
        return None
    quarters = [0.25 * np.array(tally.values) for tally in tallies]  # quartered, so that no difference overflows
    low, unit = np.min(np.concatenate(quarters)), np.ptp(np.concatenate(quarters))
    if not unit > 0:
        return None
    scaled = [(values - low) / unit for values in quarters]
    mean, count = np.array([np.mean(z) for z in scaled]), np.array([len(z) for z in scaled])
    within = np.array([np.sum((z - m) ** 2) for z, m in zip(scaled, mean, strict=True)])
    if not within.sum() > np.finfo(float).tiny:
        return None
    variance = (within + within.sum() / np.sum(count - 1)) / count
    return tallies[ocba_next(mean, variance, count)]
