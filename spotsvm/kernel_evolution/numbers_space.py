"""The numbers of an expression and its machine as a unit cube, for a search of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvers.kernels.expressions import Expression
from spotsvm.kernel_evolution.kernel_fitness import Judged
from spotsvm.kernel_evolution.setting import Setting

Floats = NDArray[np.float64]

_REACH = 8.0


class NumbersSpace:
    """C, epsilon where there is one, and the positive constants and numbers of a kernel, each up to 8 times more or less.

    Parameters
    ----------
    judged : Judged
        An expression and the setting in the middle.
    with_epsilon : bool
        Whether epsilon is a coordinate.

    Examples
    --------
    >>> judged = Judged(Expression("gaussian", value=0.5), Setting(C=2.0), 0.1, 0.1, 1, "semidefinite")
    >>> expression, setting = NumbersSpace(judged, with_epsilon=False).at(np.array([0.5, 1.0]))
    >>> round(setting.C, 6), round(expression.values[0], 6)
    (2.0, 4.0)
    """

    def __init__(self, judged: Judged, *, with_epsilon: bool):
        assert judged.setting is not None
        self.expression, self.setting, self.with_epsilon = judged.expression, judged.setting, with_epsilon
        first = [self.setting.C, *([self.setting.epsilon] if with_epsilon else [])]
        self._centre = np.log(np.array([*first, *self.setting.constants, *self.expression.values]))

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self._centre)

    @property
    def start(self) -> Floats:
        """The point of the numbers that it has."""
        return np.full(self.dimension, 0.5)

    def at(self, point: Floats) -> tuple[Expression, Setting]:
        """Give the expression and the setting at a point."""
        values = np.exp(self._centre + (2 * point - 1) * np.log(_REACH)).tolist()
        first = 2 if self.with_epsilon else 1
        k = first + len(self.setting.constants)
        setting = Setting(values[0], tuple(values[first:k]), values[1] if self.with_epsilon else 0.0)
        return self.expression.with_values(values[k:]), setting
