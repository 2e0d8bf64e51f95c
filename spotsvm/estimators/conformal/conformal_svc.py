"""ConformalSVC: a support vector classifier that is trained twice, the second time with a kernel magnified along its boundary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from spotsvm.common.checks import check_choice, check_count
from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.conformal.magnification import ConformalPass, discriminants, magnification
from spotsvm.estimators.conformal.passes import (
    PassProblem,
    SolvedPass,
    check_kappa,
    choose_fading,
    solve_by_libsvm,
    solve_passes,
    whole_result,
)
from spotsvm.estimators.dual.dual_svc import DualSVC
from spotsvm.estimators.dual.kernel_machine import check_cache_size, check_max_iter
from spotsvm.estimators.dual.merged_rows import MergedRows
from spotsvm.solvers.dual.problem.one_vs_one import PairCoefficients
from spotsvm.solvers.dual.problem.result import DualResult
from spotsvm.solvers.dual.solve import solve_dual
from spotsvm.solvers.kernels.matrices.gram import squared_distances


@dataclass(eq=False, repr=False, kw_only=True)
class ConformalSVC(DualSVC):
    """Support vector classification in two passes, the second with a kernel magnified along the boundary of the first.

    The first pass is the plain SVM with the kernel K; f is its decision function. The second pass has the kernel D(x) K(x, z)
    D(z) with D = exp(-kappa f^2), which is K on the boundary and fades away from it. With several classes each pair has its own
    f, kappa and D. The older factor, of Amari and Wu, is a sum of bells at the support vectors (`factor="support"`).

    By default the second pass is used only if cross-validation on the training rows finds fewer errors with it; otherwise the
    model is the plain SVM. Far from the boundary D is so small that the decision function of eq. 1, D sum + b, has the sign of b
    there. So by default D scales the threshold too: f = D (sum + b), which is the kernel D (K + c) D with a constant c. The
    paper's model is `kappa="auto", bias=True`.

    Parameters
    ----------
    C : float, default=1.0
        Cost of errors in every pass, positive and finite.
    kernel : str or callable, default="rbf"
        The base kernel K, as in `ExactSVC`.
    factor : {"boundary", "support"}, default="boundary"
        What D follows: f, as above; or the support vectors x_i of the previous pass, D(x) = sum_i exp(-kappa_i ||x - x_i||^2),
        eq. 7. The latter is larger where support vectors are dense; it needs rows, and so no precomputed kernel.
    kappa : "cv", "auto" or float, default="cv"
        How fast D fades, 0 or more: at the margin, where `|f|` is 1, D is exp(-kappa). 0 is the plain SVM; "auto" is `1 / max|f|`
        over the training rows of the previous pass. With factor="support" a number is the same kappa for all support vectors,
        and "auto" the local one of Wu and Amari, 1 / the mean squared distance to the five nearest support vectors. "cv" chooses
        among 0 and 0.3, 1 and 3 times "auto" by errors in three partitions into five folds, for each pair of classes, and takes 0
        without a clear gain; it solves 60 problems of four fifths of the rows.
    n_passes : int, default=2
        Total number of passes, 1 or more. Each computes its D from the previous pass, and applies it to K itself.
    degree, gamma, coef0, sigma
        Parameters of the kernel, as in `ExactSVC`.
    bias : {"scaled", True, False}, default="scaled"
        The threshold: in every pass, scaled by D (the first pass is then that of `ExactSVC`, and c the largest absolute value of
        the kernel matrix); in every pass, as in eq. 1; or in none.
    solver : {"exact", "libsvm"}, default="exact"
        The solver of each pass: that of `ExactSVC`, or LIBSVM for passes with a free threshold: all passes with bias=True, only
        the first with "scaled".
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which the solver stops, positive.
    cache_size : float, default=200
        As in `ExactSVC`.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for each class.
    max_iter : int, default=-1
        Cap on the solver's iterations in each pass, 1 or more; -1 for a cap that grows with the data (none for LIBSVM). At the
        cap a ConvergenceWarning is given.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        As in `ExactSVC`.
    break_ties : bool or None, default=None
        As in `ExactSVC`; None breaks ties with decision_function_shape="ovr". They are more common than with plain SVMs.

    Attributes
    ----------
    kappa_ : ndarray of shape (n_passes - 1, n_pairs)
        kappa of each pass after the first and each pair of classes; with factor="support" the mean of the kappa_i.
    first_pass_ : ConformalSVC
        The plain SVM of the first pass, fitted.
    classes_, class_weight_, support_, support_vectors_, n_support_, intercept_, n_features_in_, feature_names_in_
        As SVC has them, of the last pass; a threshold that D scales is not in `intercept_`.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support)
        As SVC has it, of the last pass: coefficients of the magnified kernel, at most C. Those of K are D times these.
    n_iter_ : ndarray of shape (n_pairs,)
        Iterations of all passes together.
    fit_status_ : int
        0 if all passes have converged, else 1.
    dual_objective_ : ndarray of shape (n_pairs,)
        The dual objective that the last pass has reached; it is maximised.
    kernel_ : spotsvm.solvers.kernels.Kernel
        The base kernel, its gamma a number.

    Raises
    ------
    ArgumentError, SolverError
        In `fit`, if a parameter is not as above, or a pass leaves no boundary to magnify: it has no support vectors, or f is 0
        at all its rows; or for factor="support" with a precomputed kernel. Both are ValueErrors.

    See Also
    --------
    ExactSVC : The SVM without a conformal change of its kernel.
    EvolvedKernelSVC : An SVM whose kernel is evolved.

    References
    ----------
    Williams, Li, Feng, Wu 2005, "Scaling the Kernel Function to Improve Performance of the Support Vector Machine", eq. 5, 8
    and 15; eq. 7 is of Amari, Wu 1999, "Improving Support Vector Machine Classifiers by Modifying Kernel Functions", its local
    kappa of Wu, Amari 2001, "Conformal Transformation of Kernel Functions".

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> machine = ConformalSVC(C=10.0, sigma=0.5, kappa="auto").fit(X, y)
    >>> machine.kappa_.shape, machine.magnification(X).shape
    ((1, 1), (100,))
    """

    C: float = 1.0
    kernel: Any = "rbf"
    factor: Literal["boundary", "support"] = "boundary"
    kappa: Any = "cv"
    n_passes: int = 2
    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    bias: Any = "scaled"
    solver: Literal["exact", "libsvm"] = "exact"
    tol: float = 1e-3
    cache_size: float = 200
    class_weight: Any = None
    max_iter: int = -1
    decision_function_shape: Literal["ovr", "ovo"] = "ovr"
    break_ties: bool | None = None
    sigma: float | None = None

    def staged_decision_function(self, X: Any) -> Floats:
        """Compute the discriminant function f of each pass.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_passes, n_samples) or (n_passes, n_samples, n_pairs)
            Of two classes one value a pass and row, positive for the second class; of several one for each pair of classes,
            positive for its first.

        See Also
        --------
        decision_function : The last pass alone.
        magnification : What the passes do to the kernel.
        """
        stages = self._staged(X)
        return stages[:, :, 0] if len(self.classes_) == 2 else stages

    def conformal_factor(self, X: Any) -> Floats:
        """Compute D, by which the last pass has multiplied the kernel, from the pass before: exp(-kappa f^2), or eq. 7.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_pairs)
            From 0 to 1, and 1 on the boundary; with factor="support" up to the number of support vectors. 1 after a single pass,
            and where kappa is 0.

        See Also
        --------
        magnification : The effect of the factor on volumes.
        """
        rows, last = self._check_new_rows(X), self._passes[-1]
        log_D = np.zeros((len(rows), len(self.intercept_)))
        if len(self._passes) > 1:
            for block, stages, distances in self._stages(rows):
                log_D[block] = last.log_factor(stages[-2], distances)
        factor: Floats = np.exp(log_D)
        return factor[:, 0] if len(self.classes_) == 2 else factor

    def magnification(self, X: Any) -> Floats:
        """Compute by how much the last pass's kernel magnifies volumes against the base kernel: sqrt(g~ / g).

        Eq. 15 for "rbf"; eq. 6 for the others, by the derivatives of the kernel, or by difference quotients of a callable. It is
        that of D K D: the constant that carries a scaled threshold is left out.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_pairs)
            The ratios. nan, with a RuntimeWarning, at rows where the metric g of the base kernel is singular or indefinite (as
            "poly" without coef0 at 0, or the multiquadric everywhere), or where the kernel has no derivatives.

        Raises
        ------
        SolverError
            If the kernel is "precomputed" or "laplacian", and so has no derivatives; a ValueError.

        See Also
        --------
        conformal_factor : The factor D that causes it.
        """
        rows = self._check_new_rows(X)
        max_bytes = check_cache_size(self.cache_size)
        found = magnification(self.kernel_, rows, self._used_vectors, self._passes, self._n_used, max_bytes)
        return found[:, 0] if len(self.classes_) == 2 else found

    @property
    def first_pass_(self) -> ConformalSVC:
        """The plain SVM of the first pass, fitted.

        See Also
        --------
        staged_decision_function : The values of every pass.
        """
        check_is_fitted(self)
        return self if self._first is None else self._first

    @property
    def coef_(self) -> Floats:
        """Weights of the features, with the kernel "linear", where all passes are the plain SVM: D makes them depend on x.

        See Also
        --------
        decision_function : The decision with any kernel.
        """
        if hasattr(self, "kappa_") and self.kappa_.any():
            raise AttributeError("coef_ does not exist: with kappa above 0 the decision function is not linear; see first_pass_")
        return super().coef_

    def _check_parameters(self) -> tuple[float, int | None]:
        check_choice("factor", self.factor, ("boundary", "support"))
        if self.factor == "support" and self._pairwise_data:
            raise ArgumentError(
                "factor='support' and kernel='precomputed', which gives no distances from support vectors; use "
                "factor='boundary', or the kernel by name or as a function"
            )
        check_kappa(self.kappa)
        check_count("n_passes", self.n_passes, after=": 1 for the plain SVM, 2 for the paper's")
        if not (isinstance(self.bias, (bool, np.bool_)) or (isinstance(self.bias, str) and self.bias == "scaled")):
            raise ArgumentError(f"bias={self.bias!r}; use 'scaled', True or False")
        check_choice("solver", self.solver, ("exact", "libsvm"))
        if self.solver == "libsvm" and not self.bias:
            raise ArgumentError("bias=False and solver='libsvm', which always has a bias; use solver='exact'")
        return super()._check_parameters()

    def _check_break_ties(self) -> None:
        if self.break_ties is not None:
            super()._check_break_ties()

    def _breaks_ties(self) -> bool:
        return bool(self.decision_function_shape == "ovr") if self.break_ties is None else super()._breaks_ties()

    def _solve_pair(self, K: Floats, labels: Floats, bounds: Floats, seed: int = 0, bias: bool = True) -> DualResult:
        max_iter = check_max_iter(self.max_iter)
        if self.solver == "libsvm" and bias:
            return solve_by_libsvm(K, labels, bounds, tol=self.tol, max_iter=max_iter, cache_size=self.cache_size)
        return solve_dual(K, labels, bounds, "exact", bias=bias, tol=self.tol, max_iter=max_iter)

    def _solve_pairs(
        self, X: Floats, code: NDArray[np.intp], rows: MergedRows, C: float
    ) -> tuple[PairCoefficients, list[DualResult]]:
        n_passes, n_classes = int(self.n_passes), len(self.classes_)
        bias = self.bias if isinstance(self.bias, str) else bool(self.bias)
        tables, of_base = ([PairCoefficients(code, n_classes) for _ in range(n_passes)] for _ in range(2))
        solved, firsts = [], []
        for pair in self._pair_problems(X, code, rows):
            bounds = C * rows.group_weights[pair.groups]
            names = self.classes_[[pair.i, pair.j]].tolist()
            about = "" if n_classes == 2 else f" of the classes {names[0]!r} and {names[1]!r}"
            of_pair = rows.first[pair.groups]
            distances = squared_distances(X[of_pair]) if self.factor == "support" else None
            problem = PassProblem(pair.K, pair.labels, bounds, self._solve_pair, bias, about, distances)
            fading = check_kappa(self.kappa) or choose_fading(problem, n_passes)
            solved.append(solve_passes(problem, fading, n_passes))
            firsts.append(of_pair)
            for k, one in enumerate(solved[-1]):
                pair.enter(tables[k], one.result.alpha, rows)
                pair.enter(of_base[k], one.result.alpha * one.factor, rows)
        self.kappa_ = np.array([[one.kappa for one in of_pass[1:]] for of_pass in solved]).reshape(len(solved), -1).T
        self._keep_passes(X, of_base, solved, firsts)
        self._first = self._plain(X, of_base[0], tables[0], solved) if n_passes > 1 else None
        return tables[-1], [whole_result(passes) for passes in solved]

    def _plain(
        self, X: Floats, of_base: PairCoefficients, table: PairCoefficients, solved: list[list[SolvedPass]]
    ) -> ConformalSVC:
        """Return the machine of the first pass, fitted."""
        first: ConformalSVC = clone(self).set_params(n_passes=1)
        for name in ("classes_", "class_weight_", "kernel_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(first, name, getattr(self, name))
        first.kappa_, first._first = self.kappa_[:0], None
        first._keep_first_pass(X, of_base, table, solved)
        return first

    def _keep_first_pass(
        self, X: Floats, of_base: PairCoefficients, table: PairCoefficients, solved: list[list[SolvedPass]]
    ) -> None:
        self._keep_passes(X, [of_base], solved, [])
        self._keep_solution(X, table, [passes[0].result for passes in solved])

    def _keep_passes(
        self, X: Floats, of_base: list[PairCoefficients], solved: list[list[SolvedPass]], firsts: list[NDArray[np.intp]]
    ) -> None:
        """Keep what new rows need: coefficients of the base kernel for the rows that any pass uses, class by class.

        `firsts` are the rows of each pair's problem, one for each of its groups.
        """
        code = of_base[0].classes
        used = np.flatnonzero(np.any([one.table.any(axis=0) for one in of_base], axis=0))
        self._used = used[np.argsort(code[used], kind="stable")]
        self._used_vectors = np.empty((0, 0)) if self._pairwise_data else X[self._used]
        self._n_used = np.bincount(code[used], minlength=len(self.classes_)).astype(np.int32)
        self._passes = tuple(
            ConformalPass(
                np.array([passes[k].kappa for passes in solved]),
                np.ascontiguousarray(one.table[:, self._used]),
                np.array([passes[k].threshold for passes in solved]),
                np.array([passes[k].result.bias for passes in solved]),
                self._rates([passes[k] for passes in solved], firsts, len(X)) if k else None,
            )
            for k, one in enumerate(of_base)
        )

    def _rates(self, of_pass: list[SolvedPass], firsts: list[NDArray[np.intp]], n: int) -> Floats | None:
        """Return kappa_i of each pair for the rows in use, nan for rows that are no support vectors of the pass before."""
        if self.factor == "boundary":
            return None
        rates = np.full((len(of_pass), n), np.nan)
        for pair, (one, rows) in enumerate(zip(of_pass, firsts, strict=True)):
            if one.rates is not None:
                rates[pair, rows] = one.rates
        return rates[:, self._used]

    def _stages(self, rows: Floats) -> Iterator[tuple[slice, Floats, Floats | None]]:
        """Compute f of all passes at checked rows, and their squared distances from the rows in use, by blocks of rows."""
        for block, values in self._columns(rows, self._used, self._used_vectors):
            distances = squared_distances(rows[block], self._used_vectors) if self.factor == "support" else None
            yield block, discriminants(values, self._passes, self._n_used, distances), distances

    def _staged(self, X: Any) -> Floats:
        rows = self._check_new_rows(X)
        staged = np.empty((len(self._passes), len(rows), len(self.intercept_)))
        for block, stages, _ in self._stages(rows):
            staged[:, block] = stages
        return staged

    def _pair_decisions(self, X: Any) -> Floats:
        decisions: Floats = self._staged(X)[-1]
        return decisions
