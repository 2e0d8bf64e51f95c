"""Margin and training error of many expansions f(x) = sum_j alpha_j y_j k(x_j, x) + b at once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import check_choice
from spotsvm.solvers.dual.front.best_threshold import best_count_threshold, best_hinge_threshold
from spotsvm.solvers.dual.problem.problem import check_kernel_matrix, check_labels

Floats = NDArray[np.float64]
ErrorMeasure = Literal["count", "hinge"]

#: How far below 1 a functional margin still counts as 1: rounding must not turn a row on the margin into an error.
ON_THE_MARGIN = 1e-9

# scales of a direction; of more scales a subset is used, as each costs a sort of all rows
_MOST_SCALES = 256

# least largest entry of a kernel matrix: coefficients are as large as its inverse, times 1e9 in a degenerate matrix
_SMALLEST_ENTRY = 1e-140


@dataclass(frozen=True)
class Expansions:
    """Decision functions with their criteria, a row for each; `alpha` (m, n) is not negative and has no upper bound.

    norm_squared = alpha' Q alpha, infinite without a hyperplane; hinge = mean of max(0, 1 - y f); count = share of rows with y f
    < 1; misclassified = share on the wrong side (f = 0 is negative).
    """

    alpha: Floats
    bias: Floats
    norm_squared: Floats
    hinge: Floats
    count: Floats
    misclassified: Floats

    def __len__(self) -> int:
        return len(self.bias)

    def __getitem__(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Expansions:
        return Expansions(*(getattr(self, field.name)[rows] for field in fields(self)))

    def joined(self, other: Expansions) -> Expansions:
        """Return these expansions followed by the others."""
        return Expansions(*(np.concatenate([getattr(self, f.name), getattr(other, f.name)]) for f in fields(self)))


class MarginError:
    """Evaluate expansions by margin, 1 / ||w|| where y f is 1 (eq. 9), and training error (Mierswa 2006, sections 3 and 6).

    Rows below the margin are errors, by slack (eq. 21, ``"hinge"``) or number (``"count"``). Expansions with ||w||^2 below
    `smallest_norm` are scaled up to it, where the front ends. With `sparse` a third criterion is the number of support vectors.
    """

    def __init__(
        self,
        K: object,
        y: object,
        error: ErrorMeasure = "count",
        bias: bool = True,
        smallest_norm: float = 0.0,
        sparse: bool = False,
    ) -> None:
        self.K = check_kernel_matrix(K)
        self.y = check_labels(y, len(self.K))
        check_choice("error", error, ("count", "hinge"))
        self.error: ErrorMeasure = error
        self.bias = bias
        self.smallest_norm = smallest_norm
        self.sparse = sparse
        self._largest_entry = float(np.abs(self.K).max())
        if 0.0 < self._largest_entry < _SMALLEST_ENTRY:
            raise SolverError(
                f"K holds no entry beyond {self._largest_entry:.3g}; coefficients, as large as its inverse, overflow if squared; "
                "scale the kernel"
            )

    def evaluate(self, alpha: Floats) -> Expansions:
        """Evaluate expansions (m, n), after scaling each to the best scale in its own direction.

        Below `smallest_norm` w is scaled up. With ``"count"`` it shrinks until the first row without an error reaches the margin.
        """
        return self._judge(alpha, alpha * self.y @ self.K)

    def _judge(self, alpha: Floats, decisions: Floats) -> Expansions:
        weights = alpha * self.y
        norms = np.einsum("ij,ij->i", weights, decisions)
        # a smaller squared norm is only the rounding error of larger terms
        real = norms > 1e-12 * self._largest_entry * np.abs(weights).sum(axis=1) ** 2
        norms = np.where(real, norms, 1.0)
        scale = np.sqrt(np.maximum(self.smallest_norm / norms, 1.0))
        margins, bias = self._functional_margins(decisions * scale[:, None])
        if self.error == "count":
            reached = np.where(margins >= 1.0 - ON_THE_MARGIN, margins, np.inf).min(axis=1)
            least = np.sqrt(self.smallest_norm / norms) / scale
            shrink = np.where(np.isfinite(reached), np.maximum(1.0 / reached, np.minimum(least, 1.0)), 1.0)
            scale, bias, margins = scale * shrink, bias * shrink, margins * shrink[:, None]
        squared = norms * scale**2
        # expansions scaled to the smallest norm get exactly the same norm, without rounding errors
        squared = np.where(np.isclose(squared, self.smallest_norm, rtol=1e-12, atol=0.0), self.smallest_norm, squared)
        return Expansions(
            alpha * np.where(real, scale, 1.0)[:, None],
            bias,
            np.where(real, squared, np.inf),
            np.maximum(1.0 - margins, 0.0).mean(axis=1),
            (margins < 1.0 - ON_THE_MARGIN).mean(axis=1),
            (((margins * self.y) > 0.0) != (self.y > 0.0)).mean(axis=1),
        )

    def evaluate_at_all_scales(self, alpha: Floats) -> Expansions:
        """Evaluate an expansion at each scale at which a row reaches the margin, the largest margin first.

        Of more than 256 scales, 256 evenly spaced ones. With ``"count"`` this gives the best margin for each number of errors.
        """
        decision = alpha * self.y @ self.K
        margins, _ = self._functional_margins(decision[None, :])
        reached = np.unique(margins[margins > 0.0])[::-1]
        reached = reached[evenly(len(reached), _MOST_SCALES)]
        scales = 1.0 / reached if len(reached) else np.ones(1)
        return self._judge(np.outer(scales, alpha), np.outer(scales, decision))

    def objectives(self, expansions: Expansions) -> Floats:
        """Return the criteria (m, 2 or 3), to be minimised: ||w||^2, the training error, and the number of support vectors."""
        columns = [expansions.norm_squared, getattr(expansions, self.error)]
        return np.column_stack(columns + [np.count_nonzero(expansions.alpha, axis=1)] * self.sparse)

    def constant(self) -> Expansions:
        """Return the constant function of the larger class (the negative class if equal); its margin is wider than any other.

        Without a bias it is 0, which counts as the negative class.
        """
        positive = self.y > 0
        bias = (1.0 if positive.mean() > 0.5 else -1.0) if self.bias else 0.0
        margins = self.y * bias
        zero = np.zeros((1, len(self.y)))
        slack, missed, wrong = np.maximum(1.0 - margins, 0.0).mean(), (margins < 1.0).mean(), (positive != (bias > 0)).mean()
        return Expansions(zero, np.array([bias]), np.zeros(1), np.array([slack]), np.array([missed]), np.array([wrong]))

    def _functional_margins(self, decisions: Floats) -> tuple[Floats, Floats]:
        if self.bias:
            find = best_count_threshold if self.error == "count" else best_hinge_threshold
            bias = find(decisions, self.y)
        else:
            bias = np.zeros(len(decisions))
        return self.y * (decisions + bias[:, None]), bias


def evenly(length: int, at_most: int) -> NDArray[np.intp]:
    """Return at most `at_most` indices, evenly spread from the first to the last."""
    return np.unique(np.linspace(0, length - 1, min(length, at_most)).astype(np.intp))
