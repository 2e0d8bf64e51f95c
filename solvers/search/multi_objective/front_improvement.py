"""The expected hypervolume improvement of a Kriging ensemble for each objective, as a criterion to maximise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.search.multi_objective.front_boxes import Boxes
from spotsvm.surrogates.acquisition.chance import Chance
from spotsvm.surrogates.acquisition.criterion import Criterion, WeightedCriterion, stacked_processes
from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.ensemble import Member, Models
from spotsvm.surrogates.kriging.process import Process

Floats = NDArray[np.float64]


#: the reference, in units in which the front is between 0 and 1: as far beyond its worst values as these are from the best.
#: With less, a front that is still short would not be made longer
REFERENCE = 2.0


@dataclass(frozen=True)
class Scale:
    """The unit of each objective: 0 is the best value on the front, 1 the worst; `worst` is the worst of all values."""

    low: Floats
    span: Floats
    worst: Floats

    @property
    def end(self) -> Floats:
        """The reference in each objective's own unit."""
        return self.low + REFERENCE * self.span

    @property
    def far_end(self) -> Floats:
        """The reference where no point was seen beyond it."""
        return np.maximum(self.worst, self.end)

    def of(self, values: Floats) -> Floats:
        """Return values in these units; shape (n, m)."""
        return (values - self.low) / self.span


@dataclass(frozen=True)
class _Part:
    """A member for one objective: its process, and the warped response at each distinct point, then at pending points."""

    member: Member
    process: Process
    warped: Floats

    def forward(self, value: float) -> float:
        """Return a response, warped."""
        return float(self.member.warp.forward(np.asarray(value), self.member.log_strength))


class FrontImprovement(WeightedCriterion):
    """ln of the members' mean expected hypervolume improvement, plus ln of chances and savings (:eq:`front-criterion`).

    The volume is a share of the box between the best and the reference. `held` marks points where all bounds hold: the front is
    of them alone. Members are paired in their order.
    """

    def __init__(
        self,
        domain: Domain,
        models: Sequence[Models],
        scale: Scale,
        criteria: Sequence[Criterion],
        chances: Sequence[Chance] = (),
        held: NDArray[np.bool_] | None = None,
        savings: Sequence[Chance] = (),
    ):
        self._domain, self._scale, self._embedding = domain, scale, models[0].embedding
        self._end = scale.end
        self._chances, self._savings, self._bounded = tuple(chances), tuple(savings), held is not None
        self._known = np.ones(len(models[0].embedded), dtype=bool) if held is None else held
        self._parts = [[_part(member, kind) for member in one.members] for one, kind in zip(models, criteria, strict=True)]

    @cached_property
    def _compiled(self) -> tuple[list[Any], list[Any]]:
        """The arguments of the compiled functions: the processes of each objective, and the boxes of each set of members."""
        stacks = [stacked_processes([part.process for part in parts]) for parts in self._parts]
        return stacks, [self._divided(t) for t in range(max(len(parts) for parts in self._parts))]

    def _divided(self, t: int) -> tuple[Any, ...]:
        """Return the boxes of the t-th members: the levels of each objective and the slopes of the inverse warp below them."""
        parts = [parts[t % len(parts)] for parts in self._parts]
        ends = [part.forward(end) for part, end in zip(parts, self._end, strict=True)]
        boxes = Boxes.of(np.column_stack([part.warped for part in parts])[self._known], np.array(ends))
        counts = np.array([len(one) for one in boxes.levels])
        levels, slopes = np.zeros((len(parts), counts.max())), np.zeros((len(parts), counts.max()))
        for j, (part, own) in enumerate(zip(parts, boxes.levels, strict=True)):
            heights = part.member.backward(own) * part.member.warp.unit / self._scale.span[j]
            first = np.exp(part.member.log_slope(own[:1])) * part.member.warp.unit / self._scale.span[j]
            levels[j, : len(own)] = own
            slopes[j, : len(own)] = np.append(first, np.diff(heights) / np.diff(own))
        return levels, slopes, counts, boxes.low + 1, boxes.high + 1

    def extending(self) -> Self:
        """Return the criterion with the reference beyond all values: most is gained by better ends of the front."""
        return self._changed(_end=self._scale.far_end)

    def believe(self, inputs: Floats) -> Self:
        """Return the criterion with the models' own predictions at pending points added as data (Kriging believer).

        With bounds the pending points are not added to the front.
        """
        further = self._embedding.transform(inputs)
        parts = []
        for objective in self._parts:
            new = []
            for part in objective:
                process = part.process.believe(further)
                believed = part.warped if self._bounded else np.append(part.warped, process.fitted[-len(further) :])
                new.append(_Part(part.member, process, believed))
            parts.append(new)
        known = self._known if self._bounded else np.append(self._known, np.ones(len(further), dtype=bool))
        return self._changed(_parts=parts, _known=known)

    def gain(self, points: Floats) -> Floats:
        """Return the expected hypervolume improvement at canonical points, without chances; shape (m,)."""
        from spotsvm.solvers.search.multi_objective._front_kernels import add_gains
        from spotsvm.surrogates.acquisition._improvement_kernels import predictions

        stacks, sets = self._compiled
        embedded = self._embed(points)
        predicted = [predictions(stack, embedded) for stack in stacks]
        total = np.zeros(len(points))
        for t, boxes in enumerate(sets):
            means = np.stack([mean[t % len(mean)] for mean, _ in predicted])
            add_gains(means, np.stack([sd[t % len(sd)] for _, sd in predicted]), *boxes, total)
        return total / len(sets)

    def value(self, points: Floats) -> Floats:
        """Return the criterion at canonical points; shape (m,)."""
        with np.errstate(divide="ignore"):
            values = np.log(np.maximum(self.gain(points), 0.0))
        if self._chances or self._savings:
            values = values + self.log_weights(self._embed(points))
        return np.asarray(values)

    def log_chance(self, points: Floats) -> Floats:
        """Return ln of the chance that an evaluation succeeds and meets all bounds, at canonical points; shape (m,)."""
        return self.cost_blind().log_weights(self._embed(points))

    def _embed(self, points: Floats) -> Floats:
        return np.ascontiguousarray(self._embedding.transform(self._domain.model_inputs(points)))


def _part(member: Member, criterion: Criterion) -> _Part:
    noisy = criterion == "reinterpolation"
    process = member.process.reinterpolate() if noisy else member.process
    warped = process.fitted if noisy else member.response.mean
    return _Part(member, process if process.sigma2 > 0 else process.with_variance(1.0), warped)
