"""Solutions that are kept, and where a similar machine begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.cross_validation.machines import SvmMachine
from spotsvm.estimators import Floats
from spotsvm.solvers.dual.exact.fold_solver import State
from spotsvm.solvers.kernels import Kernel
from spotsvm.solvers.kernels.functions.multi_kernel import MultiKernel


@dataclass(frozen=True)
class Task:
    """A machine to train, its kernel function, and its kernel matrix less a constant, and the constant."""

    machine: SvmMachine
    kernel: Kernel | MultiKernel
    K: NDArray[np.float32]
    offset: float


@dataclass(frozen=True)
class Solved:
    """The solutions of a machine on the training rows of some folds, or on all rows; of several classes, one for each pair.

    `ends` has the least and the largest bias of each, `bias` the middle, `bounded` whether a variable is at its bound.
    """

    machine: SvmMachine
    kernel: Kernel | MultiKernel
    z: Floats
    state: State
    ends: Floats
    bias: Floats
    bounded: NDArray[np.bool_]

    def part(self, machines: slice) -> Solved:
        """Return some of the machines' solutions."""
        state = State(self.state.beta[machines], self.state.slope[machines], self.state.converged)
        z, ends, bias = (array[machines] for array in (self.z, self.ends, self.bias))
        return Solved(self.machine, self.kernel, z, state, ends, bias, self.bounded[machines])

    def is_alike(self, task: Task) -> bool:
        """Return whether another machine differs in C, or in the tube of a regression, alone."""
        return self.kernel == task.kernel and self.machine.along_sweep == task.machine.along_sweep

    def is_of(self, task: Task) -> bool:
        """Return whether another machine has the same solution: the same bounds, or larger ones where none is reached."""
        mine, other = self.machine, task.machine
        if other.epsilon != mine.epsilon or (other.C != mine.C and (other.C < mine.C or bool(self.bounded.any()))):
            return False
        return self.is_alike(task)

    def start(self, machine: SvmMachine) -> State:
        """Return where an alike machine begins: coefficients in proportion to C, but those that no bound holds as they are."""
        ratio = machine.C / self.machine.C
        if ratio == 1.0:
            return self.state
        ratios = np.where(self.bounded | (ratio < 1.0), ratio, 1.0)[:, None]
        return State(self.state.beta * ratios, (self.state.slope + self.z) * ratios - self.z)

    def in_part(self, whole: Solved, task: Task) -> tuple[State, Floats]:
        """Return starts, and their z: the solution on all rows, but those of mine that hold for an alike machine as well."""
        if task.machine.C < self.machine.C or task.machine.epsilon != self.machine.epsilon or self.bounded.all():
            return whole.state, whole.z
        held = self.bounded.reshape(-1, len(whole.z), 1)

        def either(theirs: Floats, mine: Floats) -> Floats:
            return np.where(held, theirs, mine.reshape(-1, *theirs.shape)).reshape(mine.shape)

        mine, theirs = self.state, whole.state
        return State(either(theirs.beta, mine.beta), either(theirs.slope, mine.slope)), either(whole.z, self.z)
