"""Machines that are trained by their own solver, on a kernel matrix that is computed once for all folds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.svm import NuSVC, NuSVR

from solvers.errors import SolverError
from solvers.kernels import Kernel, gram_matrix, make_kernel
from spotsvm.evo_svc import EvoSVC
from spotsvm.own_decisions import own_decisions
from spotsvm.stand_in import NotSharedError

Floats = NDArray[np.float64]

#: Estimators whose result does not depend on who computes the kernel matrix
MATRIX_MACHINES = (NuSVC, NuSVR, EvoSVC)


class MatrixMachine:
    """An estimator with the kernel matrix in place of its kernel.

    Parameters
    ----------
    estimator : NuSVC, NuSVR or EvoSVC
        The machine.
    """

    def __init__(self, estimator: Any):
        if type(estimator) not in MATRIX_MACHINES:
            raise NotSharedError(f"{estimator!r} is not a machine whose work can be shared")
        params = estimator.get_params(deep=False)
        known = isinstance(params["kernel"], str) and params["kernel"] in ("linear", "poly", "rbf", "sigmoid")
        if params.get("break_ties") and params.get("decision_function_shape") == "ovo":
            raise NotSharedError("scikit-learn refuses to predict")
        evolved = params.get("method", "exact") not in ("exact", "memetic") or params.get("kernel") == "sigmoid"
        if not known or params.get("probability") is True or (type(estimator) is EvoSVC and evolved):
            # a search at random takes another way after the least rounding; predictions of probabilities draw at random
            raise NotSharedError(f"{estimator!r} is not a machine whose work can be shared")
        self.kernel_depends_on_rows = params["gamma"] == "scale" and params["kernel"] != "linear"
        self._estimator, self._params = estimator, params
        self.by_libsvm = type(estimator) is not EvoSVC
        self.tol = float(params["tol"])
        self.regression = is_regressor(estimator)
        self.shape = params.get("decision_function_shape", "ovr")
        self.break_ties = bool(params.get("break_ties", False))

    def kernel_on(self, X: Floats) -> Kernel:
        """Return the kernel as it is for some training rows."""
        p = self._params
        try:
            return make_kernel(p["kernel"], X, gamma=p["gamma"], coef0=p["coef0"], degree=p["degree"], sigma=p.get("sigma"))
        except SolverError as error:
            raise NotSharedError(str(error)) from error

    def gram(self, kernel: Kernel, X: Floats) -> Floats:
        """Return the kernel matrix of all rows."""
        try:
            return gram_matrix(kernel, X)
        except SolverError as error:
            raise NotSharedError(str(error)) from error

    def decisions(self, K: Floats, y: NDArray[Any], rows: NDArray[np.intp]) -> tuple[NDArray[Any] | None, Floats]:
        """Train on some rows; give the classes, and each pair's decision, or the prediction, for all rows."""
        machine = clone(self._estimator).set_params(kernel="precomputed")
        return own_decisions(machine, K[np.ix_(rows, rows)], y[rows], K[:, rows])
