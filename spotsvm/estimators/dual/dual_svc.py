"""The classifiers over solvers of the dual: one-vs-one, with the attributes and the decisions of scikit-learn's SVC."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import validate_data

from spotsvm.common.checks import check_choice, check_flag, check_positive
from spotsvm.common.targets import as_classes, check_sample_weight
from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.dual.kernel_machine import (
    KernelMachine,
    check_bounds_finite,
    check_C,
    check_cache_size,
    check_max_iter,
    check_square,
)
from spotsvm.estimators.dual.merged_rows import MergedRows
from spotsvm.solvers.dual.problem.one_vs_one import (
    PairCoefficients,
    chosen_classes,
    decision_values,
    pair_decisions,
    pair_labels,
    pair_terms,
    pairs,
)
from spotsvm.solvers.dual.problem.result import DualResult
from spotsvm.solvers.dual.solve import solve_dual


class PairProblem(NamedTuple):
    """The problem of one pair of classes i < j: its groups of equal rows, their kernel matrix, their labels, and a seed."""

    i: int
    j: int
    groups: NDArray[np.intp]
    K: Floats
    labels: Floats
    seed: int

    def enter(self, coefficients: PairCoefficients, alpha: Floats, rows: MergedRows) -> None:
        """Enter a solution into the table of all pairs' coefficients, each row of training data with its share."""
        signed = np.zeros(len(rows.first))
        signed[self.groups] = self.labels * alpha
        every = rows.expand(signed, len(coefficients.classes))
        used = np.flatnonzero(every)
        coefficients.put(self.i, self.j, used, every[used])


class PairClassifier(ClassifierMixin, ABC):
    """Mixin of classifiers by pairs of classes, whose decisions `_pair_decisions` computes."""

    decision_function_shape: Any
    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> Floats:
        """Compute the decision function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data; with kernel="precomputed" its kernel values with the training data, (n_samples, n_training).

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Of two classes one value, positive for the second class; of several, according to `decision_function_shape`,
            one for each class or for each pair of classes, as in SVC.

        See Also
        --------
        predict : The classes that follow from it.
        """
        return decision_values(self._pair_decisions(X), len(self.classes_), self.decision_function_shape)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes.

        Raises
        ------
        ArgumentError
            If `break_ties` is asked for with `decision_function_shape="ovo"`.

        See Also
        --------
        decision_function : What decides.
        """
        chosen = chosen_classes(self._pair_decisions(X), len(self.classes_), self._breaks_ties())
        predicted: NDArray[Any] = self.classes_[chosen]
        return predicted

    @abstractmethod
    def _pair_decisions(self, X: Any) -> Floats:
        """Check new rows, and return the decision of each pair's classifier, (n_samples, n_pairs)."""

    @abstractmethod
    def _breaks_ties(self) -> bool:
        """Return whether the decision function breaks ties of votes."""


class DualSVC(PairClassifier, KernelMachine):
    """Base class of the classifiers by pairs of classes (ExactSVC, EvoSVC, ...), which define how one pair is solved."""

    C: Any
    tol: Any
    class_weight: Any
    max_iter: Any
    break_ties: Any
    _merges_rows = True  # whether equal rows of one class are one variable

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data; with kernel="precomputed" the kernel matrix, (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Classes, two or more.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C, 0 or more. A row of weight 2 counts as two rows, one of weight 0 as none; only for gamma="scale" each
            row counts once, as in scikit-learn.

        Returns
        -------
        estimator
            Itself.

        Raises
        ------
        ArgumentError
            If a parameter or a weight is invalid, or fewer than two classes are left; a ValueError.
        SolverError
            If the kernel raises it; a ValueError.

        See Also
        --------
        predict : The classes of new rows.
        decision_function : What decides.
        """
        X, y = validate_data(self, X, as_classes(y, type(self).__name__), dtype=np.float64, order="C")
        C, _ = self._check_parameters()
        check_square(X, self._pairwise_data)
        code, weights = self._set_classes(y, check_sample_weight(sample_weight, len(X)))
        check_bounds_finite(C, weights)
        rows = MergedRows.of(X, code.astype(np.float64), weights, merge=self._merges_rows and not self._pairwise_data)
        self._set_kernel(X)
        coefficients, results = self._solve_pairs(X, code, rows, C)
        self._keep_solution(X, coefficients, results)
        self._warn_if_stopped_early([r.message for r in results if not r.converged])
        return self

    def _solve_pair(self, K: Floats, labels: Floats, bounds: Floats, seed: int) -> DualResult:
        """Solve the problem of one pair of classes, exactly unless a subclass has its own solver."""
        return solve_dual(K, labels, bounds, "exact", bias=True, tol=self.tol, max_iter=check_max_iter(self.max_iter))

    def _pair_seeds(self, n_pairs: int) -> list[int]:
        return [0] * n_pairs

    def _check_parameters(self) -> tuple[float, int | None]:
        check_positive("tol", self.tol)
        check_cache_size(self.cache_size)
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        self._check_break_ties()
        return self._cost(), check_max_iter(self.max_iter)

    def _validate_params(self) -> None:
        """Check the parameters without data; scikit-learn uses this name."""
        self._check_parameters()

    def _check_break_ties(self) -> None:
        check_flag("break_ties", self.break_ties)

    def _breaks_ties(self) -> bool:
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ArgumentError("break_ties=True needs decision_function_shape='ovr'; it is 'ovo'")
        return bool(self.break_ties)

    def _cost(self) -> float:
        return check_C(self.C)

    def _set_classes(self, y: NDArray[Any], weights: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Set the classes that have rows with weight; return each row's class, -1 for others, and its whole weight."""
        classes, code = np.unique(y, return_inverse=True)
        try:
            factors = compute_class_weight(self.class_weight, classes=classes, y=y)
        except ValueError as error:
            raise ArgumentError(f"class_weight={self.class_weight!r}; {error}") from error
        if len(wrong := np.flatnonzero(~(np.isfinite(factors) & (factors >= 0)))):
            of_class, weight = classes.tolist()[wrong[0]], factors[wrong[0]]
            raise ArgumentError(f"class_weight of the class {of_class!r} is {weight}; weights are finite, and 0 or more")
        weights = weights * factors[code]
        there = np.bincount(code, weights=weights > 0, minlength=len(classes)) > 0
        if there.sum() < 2:
            left = "" if len(classes) < 2 else " with a positive weight"
            shown = f"the one class {classes[there].tolist()[0]!r}" if there.any() else "no class"
            samples = f" (n_samples={len(y)})" if len(y) == 1 else ""
            raise ArgumentError(f"y holds {shown}{left}{samples}; two classes or more are needed")
        self.classes_, self.class_weight_ = classes[there], factors[there]
        number = np.where(there, np.cumsum(there) - 1, -1)
        return number[code], weights

    def _solve_pairs(
        self, X: Floats, code: NDArray[np.intp], rows: MergedRows, C: float
    ) -> tuple[PairCoefficients, list[DualResult]]:
        coefficients = PairCoefficients(code, len(self.classes_))
        results = []
        for problem in self._pair_problems(X, code, rows):
            result = self._solve_pair(problem.K, problem.labels, C * rows.group_weights[problem.groups], problem.seed)
            problem.enter(coefficients, result.alpha, rows)
            results.append(result)
        return coefficients, results

    def _pair_problems(self, X: Floats, code: NDArray[np.intp], rows: MergedRows) -> Iterator[PairProblem]:
        n_classes = len(self.classes_)
        chosen, group_code = pairs(n_classes), code[rows.first]
        # the blocks of two classes are parts of one matrix, where there is room for it
        fits = 8 * len(rows.first) ** 2 <= check_cache_size(self.cache_size)
        whole = len(chosen) == 1 or (self._one_kernel and fits)
        gram = self._gram(X, rows.first) if whole else None
        for problem, ((i, j), seed) in enumerate(zip(chosen, self._pair_seeds(len(chosen)), strict=True)):
            of_pair = np.flatnonzero((group_code == i) | (group_code == j))
            if gram is None:
                K = self._gram(X, rows.first[of_pair], problem)
            else:
                K = gram if len(chosen) == 1 else gram[np.ix_(of_pair, of_pair)]
            yield PairProblem(i, j, of_pair, K, pair_labels(group_code[of_pair] == i, n_classes), seed)

    def _keep_solution(self, X: Floats, coefficients: PairCoefficients, results: list[DualResult]) -> None:
        support, self.n_support_, self.dual_coef_ = coefficients.support()
        self._keep_support(X, support)
        self.intercept_ = np.array([r.bias for r in results])
        self.n_iter_ = np.array([r.iterations for r in results], dtype=np.int64)
        self.dual_objective_ = np.array([r.objective for r in results])
        self.fit_status_ = int(not all(r.converged for r in results))

    def _pair_decisions(self, X: Any) -> Floats:
        rows = self._check_new_rows(X)
        decisions = np.empty((len(rows), len(self.intercept_)))
        for block, values in self._support_columns(rows):
            decisions[block] = pair_decisions(values, self.dual_coef_, self.n_support_, self.intercept_)
        return decisions

    def _linear_coefficients(self) -> Floats:
        vectors = self.support_vectors_
        return np.array([sum(c @ vectors[at] for at, c in terms) for terms in pair_terms(self.dual_coef_, self.n_support_)])
