"""ExactSVR: support vector regression over the exact solver of the dual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spotsvm.estimators.dual.dual_svr import DualSVR


@dataclass(eq=False, repr=False, kw_only=True)
class ExactSVR(DualSVR):
    """Epsilon-support vector regression, solved exactly on the whole kernel matrix in float64.

    Parameters and attributes are those of scikit-learn's SVR, and so are the results, within the tolerance; see `ExactSVC` for
    the differences.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        As in `ExactSVC`.
    degree, gamma, coef0, sigma
        Parameters of the kernel, as in `ExactSVC`.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which the solver stops, positive.
    C : float, default=1.0
        Cost of errors, positive and finite.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing, 0 or more.
    cache_size : float, default=200
        Megabytes that blocks of kernel values may take, in addition to the kernel matrix.
    max_iter : int, default=-1
        Cap on the solver's iterations, 1 or more; -1 for a cap that grows with the data. At the cap a ConvergenceWarning is
        given.
    shrinking : bool, default=True
        Without effect; accepted for compatibility with SVR.
    verbose : bool, default=False
        Without effect, as `shrinking`.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, n_features_in_, \
feature_names_in_
        As SVR has them.
    dual_objective_ : float
        The dual objective reached; it is maximised.
    kernel_ : spotsvm.solvers.kernels.Kernel
        The kernel, its gamma a number.

    Raises
    ------
    ArgumentError, SolverError
        In `fit`, if a parameter is not as above; both are ValueErrors.

    See Also
    --------
    ExactSVC : The classification.
    MultiKernelSVR : A kernel for each group of columns.

    References
    ----------
    Chang, Lin 2011, "LIBSVM: A Library for Support Vector Machines", section 2.4.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> machine = ExactSVR(C=10.0, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> machine.predict([[1.5]]).round(1)
    array([1.])
    """

    kernel: Any = "rbf"
    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    tol: float = 1e-3
    C: float = 1.0
    epsilon: float = 0.1
    cache_size: float = 200
    max_iter: int = -1
    sigma: float | None = None
    shrinking: Any = True
    verbose: Any = False
