"""The dual problem of a support vector machine as checked plain arrays, and the measures of a solution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_float, as_floats, check_flag, is_count

Floats = NDArray[np.float64]

#: Distance to a bound that is only rounding, as a share of the interval between the bounds
_REST = 1e-9


def bias_interval(slope: Floats, beta: Floats, lower: Floats, upper: Floats, epsilon: float = 0.0) -> tuple[float, float]:
    """Return the smallest and the largest optimal bias (:eq:`threshold`), infinite where no variable limits it.

    Variables strictly between bounds (0 is one too if epsilon > 0) determine it: both ends are their mean; "at a bound" allows
    for rounding. If beta is not optimal, the first can be larger. slope = K beta - z.
    """
    rest = _REST * (upper - lower)
    off_zero = (np.abs(beta) > rest) | (epsilon == 0.0)
    can_rise, can_fall = beta < upper - rest, beta > lower + rest
    free = can_rise & can_fall & off_zero
    if free.any():
        mean = -float((slope[free] + epsilon * np.sign(beta[free])).mean())
        return mean, mean
    rise = (slope + np.where(beta >= -rest, epsilon, -epsilon))[can_rise]
    fall = (slope + np.where(beta > rest, epsilon, -epsilon))[can_fall]
    return -float(np.min(rise, initial=np.inf)), -float(np.max(fall, initial=-np.inf))


def middle_bias(low: float, high: float) -> float:
    """Return the middle of an interval of biases; its finite end if half-infinite, and 0 if every bias is optimal."""
    ends = [end for end in (low, high) if np.isfinite(end)]
    return sum(ends) / len(ends) if ends else 0.0


@dataclass(frozen=True)
class DualProblem:
    """Maximise sum(alpha) - alpha' Q alpha / 2 with Q_ij = y_i y_j K_ij over 0 <= alpha <= C.

    Mierswa 2006, eq. 31 and 32; with `bias` also sum(alpha y) = 0 (eq. 33).

    Attributes
    ----------
    K : ndarray of shape (n, n)
        Symmetric kernel matrix, float64, C-contiguous.
    y : ndarray of shape (n,)
        Labels, -1.0 or 1.0.
    C : ndarray of shape (n,)
        Upper bounds, positive or zero.
    bias : bool
        Whether the problem has the equality constraint, and therefore a bias.

    Examples
    --------
    >>> import numpy as np
    >>> from spotsvm.solvers.dual import make_problem
    >>> problem = make_problem([[1.0, -1.0], [-1.0, 1.0]], [1, -1], C=10.0)
    >>> problem.n, problem.objective(np.array([0.5, 0.5]))
    (2, 0.5)
    """

    K: Floats
    y: Floats
    C: Floats
    bias: bool

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.y)

    @property
    def box(self) -> tuple[Floats, Floats]:
        """The bounds of beta = alpha y: 0 and C, or -C and 0, by the label."""
        return signed_bounds(self.C, self.y)

    def decision(self, alpha: Floats) -> Floats:
        """Return sum_j alpha_j y_j K_ij for each row.

        Returns
        -------
        ndarray of shape (n,)
            The decision values without the bias.
        """
        return kernel_sums(self.K, alpha * self.y)

    def objective(self, alpha: Floats, decision: Floats | None = None) -> float:
        """Return the value of eq. 31; `decision` without the bias, if known.

        Returns
        -------
        float
            The value.
        """
        f = self.decision(alpha) if decision is None else decision
        return float(alpha.sum() - 0.5 * np.dot(alpha * self.y, f))

    def kkt(self, alpha: Floats, decision: Floats) -> tuple[float, float]:
        """Return the largest violation of the optimality conditions and the bias at which it is reached.

        Returns
        -------
        tuple of float
            The violation and the bias.

        Notes
        -----
        Equation :eq:`violation` of the chapter :doc:`/method/index`.
        """
        gain = self.y - decision  # derivative of the objective with respect to y_i alpha_i
        positive = self.y > 0
        up = np.where(positive, alpha < self.C, alpha > 0)
        down = np.where(positive, alpha > 0, alpha < self.C)
        highest = float(np.max(gain[up], initial=-np.inf))
        lowest = float(np.min(gain[down], initial=np.inf))
        if not self.bias:
            return max(highest, -lowest, 0.0), 0.0
        return max(highest - lowest, 0.0), self.threshold(alpha, decision)

    def threshold(self, alpha: Floats, decision: Floats) -> float:
        """Return the threshold b of a solution: the mean of y minus the decision over the rows with 0 < alpha < C.

        If all rows are at a bound, it is the middle of the interval of optimal thresholds.

        Returns
        -------
        float
            The threshold.

        Examples
        --------
        >>> import numpy as np
        >>> from spotsvm.solvers.dual import make_problem
        >>> problem = make_problem(np.eye(2), [1, -1], C=2.0)
        >>> alpha = np.array([1.0, 0.5])
        >>> problem.threshold(
        ...     alpha, problem.decision(alpha)
        ... )  # the mean of 1 - 1 and -1 + 0.5
        -0.25
        """
        return middle_bias(*bias_interval(decision - self.y, alpha * self.y, *self.box))

    def primal(self, alpha: Floats, decision: Floats, bias: float) -> float:
        """Return the primal objective: half the squared norm plus the slacks times their C.

        Returns
        -------
        float
            The value.
        """
        slack = np.maximum(1.0 - self.y * (decision + bias), 0.0)
        return float(0.5 * np.dot(alpha * self.y, decision) + np.dot(self.C, slack))


def signed_bounds(C: Any, y: Floats) -> tuple[Floats, Floats]:
    """Return the bounds of beta = alpha y: 0 and C, or -C and 0, by the label."""
    signed = C * y
    return np.minimum(signed, 0.0), np.maximum(signed, 0.0)


def kernel_sums(K: Floats, beta: Floats) -> Floats:
    """Return K beta by the rows of nonzero beta; K is symmetric, and its rows are contiguous."""
    support = np.flatnonzero(beta)
    sums: Floats = beta[support] @ K[support]
    return sums


def make_problem(K: Any, y: Any, C: Any, bias: bool = False) -> DualProblem:
    """Check the arrays of a problem.

    Returns
    -------
    DualProblem
        The problem, with arrays of float64 in C order.

    Raises
    ------
    SolverError
        If K is not a square, symmetric matrix of finite numbers, y has labels other than -1 and 1, or C is not positive and
        finite, or so large that the objective overflows.

    Examples
    --------
    >>> from spotsvm.solvers.dual import make_problem
    >>> make_problem([[1, 0], [0, 1]], [1, -1], C=2).C  # one bound for each row
    array([2., 2.])
    """
    matrix = check_kernel_matrix(K)
    labels = check_labels(y, len(matrix))
    bounds = check_bounds(C, len(matrix))
    check_objective_finite(matrix, bounds)
    return DualProblem(matrix, labels, bounds, check_flag("bias", bias))


def check_kernel_matrix(K: Any) -> Floats:
    """Return K as a writable, symmetric float64 matrix, or raise SolverError."""
    try:
        matrix = np.ascontiguousarray(as_floats(K))
    except (TypeError, ValueError) as error:
        raise SolverError(f"K must be a matrix of numbers; {error}") from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise SolverError(f"K has shape {matrix.shape}; it must be a square kernel matrix, (n, n) with n >= 1")
    low, high = float(matrix.min()), float(matrix.max())
    if not np.isfinite(low) or not np.isfinite(high):
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise SolverError(f"K[{row}, {column}] is {matrix[row, column]}; a kernel matrix holds finite numbers")
    scale = max(abs(low), abs(high))
    if scale > 1e150:
        raise SolverError(f"K holds entries up to {scale:.3g}, whose squares overflow; scale the kernel")
    _check_symmetric(matrix, scale)
    return matrix if matrix.flags.writeable else matrix.copy()  # a loop would be compiled again for a read-only array


def check_objective_finite(K: Floats, C: Floats) -> None:
    """Raise SolverError if the objective or its sums can overflow."""
    n, scale, most = len(K), max(float(K.max()), -float(K.min()), 1.0), float(C.max())
    with np.errstate(over="ignore"):
        largest = np.square(np.float64(n) * most) * scale
    if not np.isfinite(largest):
        raise SolverError(f"C={most:g} is so large that the objective overflows; use a smaller one (1e6 is a hard margin)")


def _check_symmetric(matrix: Floats, scale: float) -> None:
    for start in range(0, len(matrix), 256):  # by blocks: no copy of the whole
        rows, columns = matrix[start : start + 256], matrix[:, start : start + 256].T
        if np.array_equal(rows, columns):
            continue
        difference = np.abs(rows - columns)
        if difference.max() > 1e-8 * scale:
            i, j = np.unravel_index(int(difference.argmax()), difference.shape)
            i = i + start
            raise SolverError(
                f"K is not symmetric: K[{i}, {j}] = {matrix[i, j]:.6g} but K[{j}, {i}] = {matrix[j, i]:.6g}; "
                "use (K + K.T) / 2 if that is meant"
            )


def check_labels(y: Any, n: int) -> Floats:
    """Return the labels as -1.0 and 1.0, or raise SolverError."""
    try:
        labels = np.asarray(y)
        kinds = np.unique(labels)
    except (TypeError, ValueError) as error:
        raise SolverError(f"y is not an array of labels; {error}") from error
    if labels.shape != (n,):
        raise SolverError(f"y has shape {labels.shape}; K has {n} rows, so it must be ({n},)")
    if not set(kinds.tolist()) <= {-1, 1}:
        shown = ", ".join(repr(k) for k in kinds[:5].tolist())
        raise SolverError(f"y holds {shown}; the labels of a dual problem are -1 and 1")
    if len(kinds) < 2:
        raise SolverError(f"y holds the one class {kinds[0]}; two are needed")
    return np.array(labels, dtype=np.float64, order="C")


def check_bounds(C: Any, n: int) -> Floats:
    """Return an upper bound for each variable, or raise SolverError."""
    try:
        if np.asarray(C).dtype.kind == "b":
            raise TypeError("it is a truth value")
        bounds = np.array(as_floats(C))
    except (TypeError, ValueError) as error:
        raise SolverError(f"C={C!r} is not a number or an array of {n} numbers") from error
    if bounds.ndim == 0:
        if not (np.isfinite(bounds) and bounds > 0):
            raise SolverError(f"C={C!r}; use a positive, finite number (a large one, as 1e6, for a hard margin)")
        return np.full(n, float(bounds))
    if bounds.shape != (n,):
        raise SolverError(f"C has shape {bounds.shape}; use a number or an array of shape ({n},)")
    if not np.isfinite(bounds).all() or (bounds < 0).any():
        worst = bounds[~(np.isfinite(bounds) & (bounds >= 0))][0]
        raise SolverError(f"C holds {worst}; every bound must be finite and not negative")
    if not (bounds > 0).any():
        raise SolverError("C holds only zeros; at least one bound must be positive")
    return bounds


def check_numbers(name: str, values: Any, n: int) -> Floats:
    """Return finite numbers, one for each row of K, or raise SolverError."""
    try:
        numbers = np.array(as_floats(values))
    except (TypeError, ValueError) as error:
        raise SolverError(f"{name} must be {n} finite numbers; {error}") from error
    if numbers.shape != (n,):
        raise SolverError(f"{name} must be {n} finite numbers, one for each row of K; its shape is {numbers.shape}")
    if not np.isfinite(numbers).all():
        i = int(np.isfinite(numbers).argmin())
        raise SolverError(f"{name}[{i}] is {numbers[i]}; {name} must be {n} finite numbers")
    return numbers


def check_stopping(tol: Any, max_iter: Any) -> tuple[float, int | None]:
    """Return a tolerance and a maximum number of steps as plain numbers, or raise SolverError."""
    if not 0 < as_float(tol) < np.inf:
        raise SolverError(f"tol={tol!r}; use a positive number")
    if max_iter is None:
        return as_float(tol), None
    if not is_count(max_iter):
        raise SolverError(f"max_iter={max_iter!r}; use 1 or more, or None for a cap that grows with n")
    return as_float(tol), int(max_iter)
