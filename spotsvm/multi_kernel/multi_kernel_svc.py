"""MultiKernelSVC: a support vector classifier with a kernel for each group of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spotsvm.cross_validation.machines import share_work_of
from spotsvm.estimators import Floats
from spotsvm.estimators.dual.dual_svc import DualSVC
from spotsvm.multi_kernel.machine import MultiKernelMachine, read_multi_machine
from spotsvm.multi_kernel.models.base import MACHINES
from spotsvm.solvers.dual.problem.one_vs_one import pair_decisions


@dataclass(eq=False, repr=False, kw_only=True)
class MultiKernelSVC(MultiKernelMachine, DualSVC):
    """C-support vector classification with a conic combination of kernels on groups of columns.

    The kernel is sum_t w_t k_t(x, z), each k_t on the columns of one group; or with combine="product" one Gaussian kernel
    with a gamma for each group, w exp(-sum_t gamma_t d_t^2). Solved exactly, as by `ExactSVC`.

    Parameters
    ----------
    groups : dict, sequence or None, default=None
        From the names of the groups to their columns (a slice, a mask, indices or feature names), or a sequence of such columns,
        whose groups are called "0", "1", ...; None is one group "all". Every column belongs to exactly one group.
    kernel : str, callable, spotsvm.solvers.kernels.Kernel, list of these, or dict, default="rbf"
        The kernel of every group, by a name as ExactSVC's; several kernels on every group; or a dict from each group to its
        kernel or kernels. A Kernel brings its own parameters.
    gamma : {"scale", "auto"}, float, sequence or dict, default="scale"
        Scale of the kernels: for the n_t columns of a group 1 / (n_t Var(X_t)), 1 / n_t, or a number, 0 or more; a sequence
        with one of these for each group; or a dict from groups to these, "scale" where a group is left out.
    scales : sequence of float, default=(1.0,)
        Factors of sigma = 1 / gamma: each kernel "rbf" is used once for each factor.
    weights : float, array-like, dict or None, default=None
        Weights of the kernels, 0 or more: one for all; an array of shape (n_kernels,), or (n_problems, n_kernels) for each pair
        of classes; or a dict from names of kernels, 1 for a kernel that is left out. A kernel of weight 0 is not computed.
    combine : {"sum", "product"}, default="sum"
        Whether kernels are added or, being Gaussian, multiplied; the product has one weight.
    degree : int, default=3
        Power of "poly", 0 or more.
    coef0 : float, default=0.0
        Shift of "poly", "sigmoid" and the multiquadrics.
    C : float, default=1.0
        Cost of errors, positive and finite. Twice the weights are the same as twice the C.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which the solver stops, positive.
    cache_size : float, default=200
        Megabytes that blocks of kernel values may take, in addition to the kernel matrix of two classes.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for each class.
    max_iter : int, default=-1
        Cap on the solver's iterations, 1 or more; -1 for a cap that grows with the data. At the cap a ConvergenceWarning is
        given.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether the decision function of several classes has a column for each class or for each pair.
    break_ties : bool, default=False
        Whether `predict` breaks ties of votes by the decision function.
    tune : str, callable or None, default=None
        Search by which `fit` tunes the kernels with cross-validation, as in `SpotSearchCV`: first one C for all kernels, then a
        weight for each (see `nested`). If the kernel is "rbf" on one scale and gamma is "scale" or "auto", a gamma for each group
        is tuned as well. `weights` and C are then not used. None does not tune.
    n_trials : int or pair of int, default=100
        Number of candidates to evaluate, 1 or more: the total, of which the poorer model gets a third, or one number for each
        model. A total below the initial designs of both models is spent on the poorer model alone; a pair must cover both
        designs.
    cv : int, splitter or iterable, default=5
        Folds of the tuning, as in `SpotSearchCV`.
    scoring : str, callable or None, default=None
        Score of the tuning, as in `SpotSearchCV`.
    random_state : int, RandomState or None, default=None
        Seed of the tuning.

    Attributes
    ----------
    weights_ : ndarray of shape (n_problems, n_kernels)
        Weights of the kernels; n_problems is 1 for two classes, else the number of pairs of classes.
    kernel_names_ : tuple of str
        Their names: the name of the group, followed by ":" and the kernel if a group has several, and by "/" and the scale if
        there are several; "product" for a product.
    gamma_ : dict of str to float
        gamma of each group.
    groups_ : dict of str to ndarray of int
        The columns of each group.
    kernels_ : tuple of spotsvm.solvers.kernels.MultiKernel
        The combined kernel of each problem.
    tuning_ : SpotSearchCV
        The search, with `best_params_`, `best_score_`, `cv_results_` and `study_`; exists after a fit with `tune`.
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, \
dual_objective_, n_features_in_, feature_names_in_
        As ExactSVC has them; `coef_` with kernel="linear".

    Raises
    ------
    ArgumentError, SolverError
        In `fit`, if a parameter is not as above; both are ValueErrors.

    See Also
    --------
    MultiKernelSVR : The regression.
    ExactSVC : One kernel for all columns.
    spotsvm.kernels.nested : The search of `tune`.

    References
    ----------
    Carrizosa, Martin-Barragan, Romero Morales 2014, "A nested heuristic for parameter tuning in Support Vector Machines",
    eq. 7, 8 and 13.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> groups = {"sepal": [0, 1], "petal": [2, 3]}
    >>> machine = MultiKernelSVC(groups=groups, weights={"petal": 2.0})
    >>> machine = machine.fit(X, y)
    >>> machine.kernel_names_, machine.weights_.shape
    (('sepal', 'petal'), (3, 2))
    >>> machine.set_params(weights__sepal=0.5, gamma__petal=0.1).weights
    {'sepal': 0.5, 'petal': 2.0}
    """

    class_weight: Any = None
    decision_function_shape: Literal["ovr", "ovo"] = "ovr"
    break_ties: bool = False

    def _pair_decisions(self, X: Any) -> Floats:
        check_is_fitted(self)
        if len(self.intercept_) == 1 or self._one_kernel:
            return super()._pair_decisions(X)
        rows = self._check_new_rows(X)
        decisions = np.empty((len(rows), len(self.intercept_)))
        for problem in range(len(self.intercept_)):
            for block, values in self._support_columns(rows, problem):
                found = pair_decisions(values, self.dual_coef_, self.n_support_, self.intercept_)
                decisions[block, problem] = found[:, problem]
        return decisions

    def _linear_coefficients(self) -> Floats:
        return self._weighted(super()._linear_coefficients())


MACHINES["classifier"] = MultiKernelSVC


share_work_of(MultiKernelSVC, read_multi_machine)
