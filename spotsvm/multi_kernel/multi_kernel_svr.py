"""MultiKernelSVR: support vector regression with a kernel for each group of columns."""

from __future__ import annotations

from dataclasses import dataclass

from spotsvm.cross_validation.machines import share_work_of
from spotsvm.estimators import Floats
from spotsvm.estimators.dual.dual_svr import DualSVR
from spotsvm.multi_kernel.machine import MultiKernelMachine, read_multi_machine
from spotsvm.multi_kernel.models.base import MACHINES


@dataclass(eq=False, repr=False, kw_only=True)
class MultiKernelSVR(MultiKernelMachine, DualSVR):
    """Epsilon-support vector regression with a conic combination of kernels on groups of columns.

    Parameters
    ----------
    groups, kernel, gamma, scales, weights, combine, degree, coef0, C, tol, cache_size, max_iter
        As in `MultiKernelSVC`; there is one problem.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing, 0 or more.
    tune, n_trials, cv, scoring, random_state
        As in `MultiKernelSVC`; epsilon is not tuned.

    Attributes
    ----------
    weights_ : ndarray of shape (1, n_kernels)
        Weights of the kernels.
    kernel_names_, gamma_, groups_, kernels_, tuning_
        As in `MultiKernelSVC`.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, dual_objective_, \
n_features_in_, feature_names_in_
        As ExactSVR has them; `coef_` with kernel="linear".

    Raises
    ------
    ArgumentError, SolverError
        In `fit`, if a parameter is not as above; both are ValueErrors.

    See Also
    --------
    MultiKernelSVC : The classification.
    ExactSVR : One kernel for all columns.

    References
    ----------
    Carrizosa, Martin-Barragan, Romero Morales 2014, "A nested heuristic for parameter tuning in Support Vector Machines",
    eq. 7 and 8.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> groups = {"body": slice(0, 4), "blood": slice(4, 10)}
    >>> machine = MultiKernelSVR(groups=groups, C=100.0).fit(X, y)
    >>> machine.weights_
    array([[1., 1.]])
    """

    epsilon: float = 0.1

    def _linear_coefficients(self) -> Floats:
        return self._weighted(super()._linear_coefficients())


MACHINES["regressor"] = MultiKernelSVR


share_work_of(MultiKernelSVR, read_multi_machine)
