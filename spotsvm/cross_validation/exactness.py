"""Where scores of shared work would differ from LIBSVM's: kernel values that lose digits, and biases that are not unique."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from spotsvm.cross_validation.machines import NotSharedError
from spotsvm.estimators import Floats
from spotsvm.solvers.dual.exact.fold_solver import State, Target
from spotsvm.solvers.dual.problem.one_vs_one import votes
from spotsvm.solvers.kernels import Kernel

Single = NDArray[np.float32]

_SINGLE, _DOUBLE = 2.0**-24, 2.0**-53
#: the least spread of kernel values, as a share of the largest
_LEAST_SPREAD = 1e-3
#: Factor by which an offset must increase the rounding error to be its cause
_TIMES = 100.0
#: Standard deviations from which a mean is an offset, and share of the largest offset from which an offset is named
_DEVIATIONS, _SHARE = 4.0, 0.1
_SHOWN = 3
_SOME = 64  # rows that are compared in pairs


class LostDigitsError(NotSharedError):
    """A machine's own library loses digits of the data that shared work keeps, so that the scores differ.

    `advice` is the text for the user, empty if no column has an offset.
    """

    def __init__(self, reason: str, advice: str):
        super().__init__(reason)
        self.advice = advice


class Digits:
    """Checks of the precision of the kernel values of rows; `label` returns the name of a column for its index."""

    def __init__(self, X: Floats, label: Callable[[int], str]):
        self._X, self._label = X, label
        self._mean, self._deviation = X.mean(axis=0), X.std(axis=0)
        squares = np.einsum("ij,ij->i", X, X)
        self._longest = int(squares.argmax())
        self._largest = float(squares[self._longest])

    @cached_property
    def offset_columns(self) -> list[int]:
        """The columns whose mean is far from zero compared with their deviation, the farthest first."""
        offset = np.abs(self._mean)
        far = np.flatnonzero((offset > _DEVIATIONS * self._deviation) & (offset >= _SHARE * offset.max()))
        found: list[int] = far[np.argsort(-np.log10(offset[far]).round(1), kind="stable")].tolist()
        return found

    def check(self, kernel: Kernel, *, by_libsvm: bool, reach: float, tol: float) -> None:
        """Raise LostDigitsError if a machine's own library rounds kernel values so much that its decisions change.

        LIBSVM (`by_libsvm`) uses exp(-gamma (<x, x> + <z, z> - 2 <x, z>)) in double, and stores single precision; shared work
        centres rows. `reach` is the largest change of a decision if kernel values change by one.
        """
        if kernel.base == "squared distances":
            if not by_libsvm:
                return
            error, usual = 4 * _DOUBLE * kernel.gamma * self._largest, _SINGLE
            constant = 2 * kernel.gamma * float(np.square(self._deviation).sum()) < _TIMES * _SINGLE
        elif kernel.base == "inner products":
            unit = _DOUBLE if kernel.name == "linear" and not by_libsvm else _SINGLE
            error = unit * float(kernel.of(np.array([self._largest]))[0])
            usual, constant = _TIMES * _SINGLE * self._half_distance(kernel), False
        else:
            return
        lost = not (error <= usual or error * reach <= tol)
        if lost or (constant and self.offset_columns):
            raise LostDigitsError(f"kernel: {kernel.label} loses digits of the data", self._advice(kernel, self.offset_columns))

    def _advice(self, kernel: Kernel, columns: list[int]) -> str:
        if not columns:
            return ""
        shown = ", ".join(f"{self._label(j)} ({self._mean[j]:.3g} +- {self._deviation[j]:.2g})" for j in columns[:_SHOWN])
        more = f" and {len(columns) - _SHOWN} more" if len(columns) > _SHOWN else ""
        return (
            f"The offset of {shown}{more} costs the kernel {kernel.label} the digits in which rows differ, which makes models "
            "less accurate. Subtract it, for example by a StandardScaler before the model in a pipeline."
        )

    def _half_distance(self, kernel: Kernel) -> float:
        """Return half the largest squared distance of some rows in the space of a kernel of inner products."""
        rows = self._X - self._mean if kernel.name == "linear" else self._X
        some = rows[np.append(np.arange(0, len(rows), max(len(rows) // _SOME, 1)), self._longest)]
        with np.errstate(over="ignore", invalid="ignore"):
            K = kernel.of(some @ some.T)
            diagonal = K.diagonal()
            return float((0.5 * (diagonal[:, None] + diagonal) - K).max())


def check_scale(K: Single, offset: float) -> None:
    """Raise NotSharedError if kernel values are almost equal, or, without a constant subtracted, too small or too large."""
    some = _some_rows(K)
    low, high = float(some.min()), float(some.max())
    largest = max(high, -low)
    if high - low < _LEAST_SPREAD * largest or (offset == 0.0 and not 1e-6 < largest < 1e9):
        raise NotSharedError(f"kernel values from {low:.6g} to {high:.6g} leave single precision too few digits")


def some_squares(K: Single) -> Single:
    """Return the squares of some rows of a kernel matrix, for `check_rounding`."""
    with np.errstate(over="ignore"):
        squares: Single = np.square(_some_rows(K))
    return squares


def check_rounding(squares: Single, betas: Sequence[Floats], most: float) -> None:
    """Raise NotSharedError if rounded kernel values leave a decision open by more than `most`.

    A decision is sum_j beta_j K_ij; the roundings of its terms, each up to 2^-24 of it, add up as random numbers do. Large
    terms that cancel out, as of a heavy linear kernel, leave little of a light one beside them.
    """
    for beta in betas:
        with np.errstate(over="ignore", invalid="ignore"):
            left_open = _SINGLE * float(np.sqrt((squares @ np.square(beta.astype(np.float32))).max()))
        if not left_open <= most:
            raise NotSharedError(f"single precision leaves decisions open by {left_open:.2g}")


def _some_rows(K: Single) -> Single:
    return K[:: max(len(K) // 64, 1)]


#: error of LIBSVM's gradient, a sum of kernel values in single precision, as a share of the largest possible sum
_OFF = 2.0**-22
_MOST_TOL = 0.01
_MOST_OPEN = 6  # decisions of a row whose signs are all tried
_REST = 1e-9  # rounding error of a step to a bound, as a share of the step


def same_predictions(values: Floats, ends: Floats, tol: float) -> bool:
    """Return whether all biases between two ends give each decision, `values` plus the bias, the same sign."""
    return not open_decisions(values, ends, tol).any()


def open_decisions(values: Floats, ends: Floats, tol: float) -> NDArray[np.bool_]:
    """Return a mask of the rows where the sign of the decision, `values` plus the bias, depends on the bias between two ends."""
    sure: NDArray[np.bool_] = (values + ends.min() > tol) | (values + ends.max() < -tol)
    return ~sure


def deciding_pairs(decisions: Floats, open_: NDArray[np.bool_], n_classes: int) -> list[int]:
    """Return the pairs whose open decisions are in a row where the winner of the votes depends on the signs of open decisions."""
    found: set[int] = set()
    for row in np.flatnonzero(open_.any(axis=1)).tolist():
        columns = np.flatnonzero(open_[row]).tolist()
        if found.issuperset(columns):
            continue
        signs = np.array([*product((-1.0, 1.0), repeat=min(len(columns), _MOST_OPEN))])
        either = np.tile(decisions[row], (len(signs), 1))
        either[:, columns[:_MOST_OPEN]] = signs
        if len(columns) > _MOST_OPEN or np.ptp(votes(either, n_classes).argmax(axis=1)) > 0:
            found.update(columns)
    return sorted(found)


def libsvm_takes_the_middle(
    K: NDArray[np.float32], offset: float, target: Target, state: State, rows: Floats, tol: float
) -> bool:
    """Return whether LIBSVM is certain to end at this solution, and to predict as the middle of its biases does.

    That is so for two classes of m rows each, all at the same bound C, if each of LIBSVM's steps leads from one corner of the box
    to another.
    """
    widths = target.upper - target.lower
    trained = widths > 0.0
    C, m = float(widths.max()), int(trained.sum()) / 2
    at_bound = (widths[trained] == C) & (np.abs(state.beta[trained]) >= (1.0 - _REST) * C)
    if tol > _MOST_TOL or target.z.sum() != 0.0 or not at_bound.all():
        return False
    high, low = float(K.diagonal().max()), float(K.min())
    rounding = _OFF * max(abs(high + offset), abs(low + offset))
    if not float(np.abs(rows).min(initial=np.inf)) > 2.0 * m * C * rounding:
        return False
    D = 2.0 * (high - low) + rounding
    return _ends_at_corners(C, D, m * C * D, m * C * D) or _ends_at_corners(C, D, *_spreads(K, target.z, C, m * C * rounding))


def _ends_at_corners(C: float, D: float, R: float, r: float) -> bool:
    # At corners, decisions before the bias are C times sums over at most m rows of each class. R bounds the difference of those
    # of two rows of different classes, r of the same class, and D the squared distance between rows in the space of the kernel.
    # A step of one row of each class has a violation v of at least 2 - R and a length v / curvature >= (2 - R) / D. One of two
    # rows of the same class has a violation of at most r, and is preferred only where v^2 / curvature >= (2 - R)^2 / D; so its
    # length is at least (2 - R)^2 / (D r). Where both are C or more, nothing is rounded on the way to the corner where all are
    # at C, and there LIBSVM returns the middle of the interval.
    return R < 2.0 and 2.0 - R >= C * D and (2.0 - R) ** 2 >= C * D * r


def _spreads(K: NDArray[np.float32], z: Floats, C: float, rounding: float) -> tuple[float, float]:
    """Return R and r: each row's decision lies between sums of its largest, or smallest, kernel values with each class."""
    own, other = np.flatnonzero(z > 0), np.flatnonzero(z < 0)
    both = np.concatenate([own, other])
    a, b = (np.sort(K[np.ix_(both, part)].astype(np.float64), axis=1) for part in (own, other))
    highest = C * np.maximum(a[:, ::-1] - b, 0.0).sum(axis=1) + rounding
    lowest = -C * np.maximum(b[:, ::-1] - a, 0.0).sum(axis=1) - rounding
    m = len(own)
    top, least = (highest[:m].max(), highest[m:].max()), (lowest[:m].min(), lowest[m:].min())
    return float(top[0] - least[1]), float(max(top[0] - least[0], top[1] - least[1]))
