"""Whether a second pass is worth it, and with which kappa: a choice by cross-validation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from spotsvm.conformal_passes import NONE, Fading, PassProblem, solve_passes
from spotsvm.errors import ArgumentError

Floats = NDArray[np.float64]

#: what kappa is chosen from, as multiples of 1 / max|f|; the plain machine stands beside them
MULTIPLES = (0.3, 1.0, 3.0)
N_FOLDS, N_PARTITIONS = 5, 3
#: the standard errors by which the errors must fall for a second pass to be chosen
NEEDED_GAIN = 0.5


def choose_fading(problem: PassProblem, n_passes: int) -> Fading:
    """Choose kappa by the errors of three partitions into five folds; without a clear gain, choose the plain machine.

    A choice must lower the errors, each weighted with its row's bound, by more than half the standard error of the difference.
    The folds are the same each time.

    Parameters
    ----------
    problem : PassProblem
        What is solved.
    n_passes : int
        Passes in all, 1 or more.
    """
    n_folds = min(N_FOLDS, int((problem.labels > 0).sum()), int((problem.labels < 0).sum()))
    if n_passes == 1 or n_folds < 2:
        return NONE
    candidates = [Fading(multiple, relative=True) for multiple in MULTIPLES]
    wrong = np.zeros((1 + len(candidates), len(problem.labels)))
    folds = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=N_PARTITIONS, random_state=0)
    for train, test in folds.split(problem.K, problem.labels):
        wrong[:, test] += _errors(problem, candidates, n_passes, train, test)
    gained = problem.bounds * (wrong[0] - wrong[1:])
    total, error = gained.sum(axis=1), np.sqrt((gained**2).sum(axis=1))
    best = int(np.argmax(np.where(total > NEEDED_GAIN * error, total, 0.0)))
    return candidates[best] if total[best] > NEEDED_GAIN * error[best] else NONE


def _errors(
    problem: PassProblem, candidates: list[Fading], n_passes: int, train: NDArray[np.intp], test: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return which test rows are on the wrong side: of the plain machine, and of each candidate."""
    part, values = problem.part(train), problem.K[np.ix_(test, train)]
    first = part.first_pass()
    decisions = [first.decide(values, part.labels, None)]
    for fading in candidates:
        f = decisions[0]
        try:
            passes = solve_passes(part, fading, n_passes, first)
        except ArgumentError:  # no boundary to magnify: as the plain machine
            passes = [first]
        for one in passes[1:]:
            f = one.decide(values, part.labels, f)
        decisions.append(f)
    wrong: NDArray[np.bool_] = (np.array(decisions) > 0) != (problem.labels[test] > 0)
    return wrong
