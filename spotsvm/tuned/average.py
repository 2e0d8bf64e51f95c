"""The fitted average: members, the columns that they read, and the weight of each setting."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from spotsvm.common.compat import safe_indexing
from spotsvm.common.notices import gathered, once, tell
from spotsvm.errors import ArgumentError
from spotsvm.solvers.kernels import base_matrix
from spotsvm.tuned.columns import Columns, Views
from spotsvm.tuned.families import FAMILIES
from spotsvm.tuned.members import Member, fit_members
from spotsvm.tuned.sweeps import Setting, Sweep, sweep_of
from spotsvm.tuned.task import Task

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

_BLOCK = 2_000_000  # maximum kernel values in memory during a prediction


@dataclass(frozen=True)
class FittedAverage:
    """Members with the columns that they read; `weights` and `divisors` are those of the decisions of each setting."""

    columns: Columns
    members: list[Member]
    weights: Floats
    divisors: Floats

    def decisions(self, X: Any) -> Floats:
        """Return the averaged decisions of checked rows, (n, k)."""
        sparse = issparse(self.members[0].rows)
        if issparse(X) != sparse:
            X = X.toarray() if issparse(X) else csr_matrix(np.asarray(X, dtype=np.float64))
            if sparse and np.isnan(X.data).any():
                raise ArgumentError("X contains NaN, and the estimator was fitted on sparse rows, which have no gaps")
        size, n = max(_BLOCK // max(1, *(member.rows.shape[0] for member in self.members)), 1), X.shape[0]
        decisions: list[Floats] = []
        capped: Any = 0
        with gathered() as found:
            X = self.columns.read(X)
            for start in range(0, n, size):
                views = self.columns.transform(safe_indexing(X, slice(start, start + size)))
                decisions.append(self._of_block(views))
                capped = capped + self.columns.n_capped(views)
            tell(self.columns.of_capped(capped, n))
        tell(once(found))
        return np.concatenate(decisions)

    def _of_block(self, views: Views) -> Floats:
        total: Any = 0.0
        seen, rows, D = None, None, None
        for member in self.members:
            sweep, kind = member.sweep, FAMILIES[member.sweep.family]
            if sweep.columns != seen or member.rows is not rows:
                seen, rows = sweep.columns, member.rows
                A = self.columns.kernel_columns(views, sweep)
                D = base_matrix(kind.base, A, rows)
            assert D is not None
            total = total + member.averaged(D, self.weights[member.places] / self.divisors[member.places])
        return np.asarray(total)

    def support(self) -> tuple[Floats, Rows]:
        """Return the coefficients and the indices of the support vectors of the only setting of weight."""
        (member,) = self.members
        beta = member.beta[member.places.index(int(np.flatnonzero(self.weights)[0]))]  # the member has all C of its sweep
        support = np.flatnonzero(beta.any(axis=0))
        assert member.support is not None
        return beta[:, support], member.support[support]

    def relevance(self) -> pd.Series | None:
        """Return the learned relevance of each number in the encoding of most weight; None if nothing was learned."""
        learned = dict.fromkeys(self.columns.encodings, 0.0)
        for member in self.members:
            has_relevance = FAMILIES[member.sweep.family].columns == "relevance"
            learned[member.sweep.encoding] += has_relevance * float(self.weights[member.places].sum())
        return self.columns.relevance(max(learned, key=lambda name: learned[name]))

    def refitted(
        self, C: Sequence[float], columns_for: Callable[[Collection[Sweep]], Columns], X: Any, task: Task
    ) -> FittedAverage:
        """Return the same settings with the same weights, fitted to other rows; `C` are those of all settings."""
        of = [(member, j, i) for member in self.members for j, i in enumerate(member.places) if self.weights[i] > 0]
        settings = [Setting(**vars(sweep_of(member.sweep)), C=float(C[i]), power=j in member.smearings) for member, j, i in of]
        columns = columns_for(settings).fit(X, task.relevance_target)
        members, _ = fit_members(columns, X, task.machines, settings, range(len(settings)))
        for member in members:
            known = ((j, of[i]) for j, i in enumerate(member.places))
            member.smearings = {j: old.smearings[k] for j, (old, k, _) in known if k in old.smearings}
        places = [i for *_, i in of]
        return FittedAverage(columns, members, self.weights[places], self.divisors[places])
