"""EvolvedKernelSVC: a support vector classifier whose kernel is found by genetic programming."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import validate_data

from spotsvm.common.targets import as_classes
from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.dual.dual_svc import DualSVC
from spotsvm.estimators.dual.kernel_machine import check_max_iter
from spotsvm.estimators.evolved.machine import EvolvedKernelMachine
from spotsvm.estimators.evolved.matrix_task import SEARCHES_KEPT, ClassificationTask
from spotsvm.estimators.evolved.settings import KernelEvolutionSettings
from spotsvm.solvers.dual.evolution.memetic import MemeticSettings
from spotsvm.solvers.dual.problem.result import DualResult
from spotsvm.solvers.dual.problem.spectrum import matrix_state
from spotsvm.solvers.dual.solve import solve_dual


@dataclass(eq=False, repr=False, kw_only=True)
class EvolvedKernelSVC(EvolvedKernelMachine, DualSVC):  # type: ignore[misc]  # weights of rows have no part in an evolution
    """C-support vector classification with a kernel that genetic programming finds for the data.

    Random kernel expressions are varied and selected by the error of their models on held-out rows. Two spaces of
    expressions: the paper's (`grammar="paper"`), with everything as in its section 2.3.2 and Table 3; and one whose kernels
    are positive semidefinite by construction and are changed by small steps (`grammar="psd"`), started from the standard
    kernels. The model with the best kernel is then fitted exactly to all rows. Put the features on a common scale first, as
    with StandardScaler: expressions use only inner products and distances.

    Parameters
    ----------
    grammar : {"psd", "paper"}, default="psd"
        The space of kernels. "auto" in other parameters is the default of the grammar, given as (paper / psd) below.
    n_trials : int or "auto", default="auto"
        Expressions to evaluate, 1 or more (2500 / 500).
    population_size : int, default=20
        Expressions in the population, 2 or more.
    tournament_size : int, default=8
        Expressions drawn at a time, from 2 to `population_size`: children of the better half replace the worse half.
    design_factor : int, default=3
        Models for each coordinate of an expression's Latin hypercube over C and the paper's constants, 1 or more. With "psd"
        twice as many values of C on an even grid, in units of 1 / the variance of the mapped rows.
    breeding_tries : int, default=5000
        How often growth or variation is tried until an expression is valid, 1 or more.
    max_depth : int, default=10
        Levels of an expression, from 3 to 64.
    max_constants : int or "auto", default="auto"
        Constants, or numbers of its own, that an expression may have, 1 or more (4 / 8).
    validation_fraction : float, default=1/3
        Share of each class that is held out to evaluate expressions, between 0 and 1.
    n_holdouts : int or "auto", default="auto"
        Random holdouts over which an evaluation is a mean (1 / 5).
    indefinite : {"reject", "clip", "evolve"}, default="reject"
        Treatment of an expression with an indefinite matrix: "reject" discards it; "clip" sets its negative eigenvalues to 0, and
        projects new rows accordingly; "evolve" trains on it unchanged, by the memetic solver.
    C_range : (float, float), default=(2**-8, 2**8)
        Range of C, on a log scale; with "psd" in units of 1 / that variance.
    constant_range : (float, float), default=(2**-8, 2**8)
        Range of the paper's symbolic constants, on a log scale. The numbers of "psd" are of the data's scale at first and
        vary by steps.
    smoothness : float or "auto", default="auto"
        Share of the ramp loss in the loss that selects expressions, from 0 to 1 (0 / 0.5); the rest is the error.
        Few held-out rows give many kernels the same error, but not the same ramp loss.
    parsimony : float or "auto", default="auto"
        Penalty on the loss for each node of an expression, as a share of the error of always predicting the largest class (0 /
        0.01).
    screened : int or "auto", default="auto"
        Children generated for each evaluated child, whose matrix has the highest centred alignment with the classes (1 / 3); only
        with "psd".
    n_finalists : int or "auto", default="auto"
        Best expressions of different form, and the standard kernels, that are compared once more over the range of C by twice
        repeated 5-fold cross-validation on all rows (0 / 8); 0 takes the best of the evolution.
    n_tuning_trials : int or "auto", default="auto"
        Trials of a Kriging search of the numbers of an expression and C, by that cross-validation, for the best three finalists,
        which are then compared on other folds (0 / 30). The paper's authors found that tuning gained little.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which the final solver stops, positive.
    cache_size : float, default=200
        Megabytes that blocks of kernel values may take in prediction.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for each class, and of its errors in the fitness.
    max_iter : int, default=-1
        Cap on the final solver's iterations, 1 or more; -1 for a cap that grows with the data. In the evolution a model is
        stopped after 10 steps for each of its rows, and then counts as a constant prediction.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether the decision function of several classes has a column for each class or for each pair.
    break_ties : bool, default=False
        Whether `predict` breaks ties of votes by the decision function.
    random_state : int, RandomState or None, default=None
        Seed of everything random.

    Attributes
    ----------
    expression_ : spotsvm.solvers.kernels.expressions.Expression
        The kernel, with symbols for the paper's constants.
    constants_ : dict of str to float
        Their values; with "psd" the numbers that the expression carries, "v1", "v2", ... in their order.
    formula_, latex_ : str
        The kernel with all numbers, as text and in LaTeX's mathematics.
    kernel_function_ : ExpressionKernel
        The kernel as a function of two arrays, for `kernel=` of other estimators; `kernel_function_.save(path)` writes a JSON
        file.
    C_ : float
        The chosen cost.
    fitness_ : float
        The error of the chosen expression on the rows held out in the evolution. The expression was selected by this error, or by
        a loss that includes it: expect a larger error on new data.
    cv_error_ : float
        The error in the cross-validation of the final choice; nan without cross-validation.
    history_ : pandas.DataFrame
        A row for each evaluation: its number, the error and the loss, the fitness, the formula, its size, depth and number of
        constants, C (with "psd" that of a kernel of variance 1) and epsilon, the state of its matrix, its origin ("start",
        "growth" or "variation"), and the smallest error so far.
    n_evaluations_ : int
        Number of evaluated expressions; fewer than `n_trials` only if there were no more.
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, fit_status_, \
dual_objective_, kernel_, n_features_in_, feature_names_in_
        As ExactSVC has them.

    Raises
    ------
    ArgumentError, SolverError
        In `fit`, if a parameter is not as above, or no valid kernel was found; both are ValueErrors.

    See Also
    --------
    EvolvedKernelSVR : The regression.
    ExpressionKernel : A kernel from a formula.
    MultiKernelSVC : A sum of kernels, of known form.

    Notes
    -----
    The paper's settings, 2500 evaluations, take 38 s on one core for 216 rows of 13 features, and about 4 minutes for 614 rows;
    500 evaluations with "psd" and the final take 11 s for 216 rows. Time grows in proportion to the evaluations, and with the
    square to the cube of the rows.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 2.3.2,
    Fig. 1, Tables 1 and 3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = EvolvedKernelSVC(n_trials=30, random_state=0).fit(X, y)
    >>> bool(machine.score(X, y) > 0.95)
    True
    """

    smoothness: Any = "auto"
    class_weight: Any = None
    decision_function_shape: Literal["ovr", "ovo"] = "ovr"
    break_ties: bool = False

    def _find_kernel(self, X: Any, y: Any, settings: KernelEvolutionSettings) -> None:
        rows, y = validate_data(self, X, as_classes(y, type(self).__name__), dtype=np.float64, order="C")
        self.C_ = 1.0  # until the evolution has found one
        self._check_parameters()
        code, _ = self._set_classes(y, np.ones(len(y)))
        rows, code = rows[code >= 0], code[code >= 0]
        if np.bincount(code).max() < 2:
            raise ArgumentError("y has one row of each class; at least one class needs two, so that a row can be held out")
        task = ClassificationTask(code, self.class_weight_, settings.indefinite, settings.smoothness)
        self.C_ = self._evolve(rows, task, code, settings).setting.C

    def _cost(self) -> float:
        return self.C_

    def _pair_seeds(self, n_pairs: int) -> list[int]:
        return list(range(n_pairs))

    def _solve_pair(self, K: Floats, labels: Floats, bounds: Floats, seed: int) -> DualResult:
        max_iter = check_max_iter(self.max_iter)
        matrix, back = self._clipped(K)
        if self.indefinite == "evolve" and matrix_state(K) == "indefinite":
            return solve_dual(
                K,
                labels,
                bounds,
                "memetic",
                bias=True,
                tol=self.tol,
                max_iter=max_iter,
                random_state=seed,
                settings=MemeticSettings(searches=SEARCHES_KEPT),
            )
        result = solve_dual(matrix, labels, bounds, "exact", bias=True, tol=self.tol, max_iter=max_iter)
        # in terms of the original matrix, which new rows have as well
        return result if back is None else replace(result, alpha=labels * (back @ (labels * result.alpha)))
