"""ExactSVC: a support vector classifier over the exact solver of the dual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from spotsvm.errors import ArgumentError
from spotsvm.estimators.dual.dual_svc import DualSVC


@dataclass(eq=False, repr=False, kw_only=True)
class ExactSVC(DualSVC):
    """C-support vector classification, solved exactly on the whole kernel matrix in float64.

    Parameters and attributes are those of scikit-learn's SVC, and so are the results, within the tolerance. The differences: the
    solver always stops; any kernel may be indefinite; equal rows are one variable; and if any bias of an interval is optimal, as
    with class_weight="balanced" and a small C, the bias is the middle, while LIBSVM's depends on rounding.

    Parameters
    ----------
    C : float, default=1.0
        Cost of errors, positive and finite.
    kernel : str or callable, default="rbf"
        As in `spotsvm.solvers.kernels.Kernel`: "linear", "poly", "rbf", "laplacian", "sigmoid", "epanechnikov",
        "multiquadric", "negative_multiquadric", "precomputed", or a function of two arrays that returns the matrix of their
        rows' kernel values. It is called with blocks of rows and with support vectors, not only with the whole training data.
    degree : int, default=3
        Power of "poly", 0 or more.
    gamma : {"scale", "auto"} or float, default="scale"
        Scale of the kernel: 1 / (n_features Var(X)), 1 / n_features, or a number.
    coef0 : float, default=0.0
        Shift of "poly", "sigmoid" and the multiquadrics.
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
    sigma : float or None, default=None
        Instead of gamma, for "rbf": exp(-d^2 / (2 sigma^2)).
    probability : bool, default=False
        False, or SVC's own "deprecated". True is refused: use `CalibratedClassifierCV(ExactSVC(), ensemble=False)` for
        probabilities.
    shrinking : bool, default=True
        Without effect; accepted for compatibility with SVC.
    verbose : bool, default=False
        Without effect, as `shrinking`.
    random_state : int, RandomState or None, default=None
        Without effect, as `shrinking`: nothing is drawn at random.

    Attributes
    ----------
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, \
n_features_in_, feature_names_in_
        As SVC has them. Classes without any weight are left out.
    dual_objective_ : ndarray of shape (n_pairs,)
        The dual objective reached for each pair of classes; it is maximised.
    kernel_ : spotsvm.solvers.kernels.Kernel
        The kernel, its gamma a number.

    Raises
    ------
    ArgumentError, SolverError
        In `fit`, if a parameter is not as above; both are ValueErrors.

    See Also
    --------
    ExactSVR : The regression.
    EvoSVC : Solutions for indefinite kernels.
    cross_val_scores : Scores many candidates, which share work.

    References
    ----------
    Fan, Chen, Lin 2005, "Working Set Selection Using Second Order Information for Training Support Vector Machines".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = ExactSVC(gamma=0.5).fit(X, y)
    >>> round(float(machine.score(X, y)), 3)
    0.98

    It accepts the parameters of SVC:

    >>> from sklearn.svm import SVC
    >>> ExactSVC(**SVC(C=10.0, shrinking=False).get_params()).C
    10.0
    """

    C: float = 1.0
    kernel: Any = "rbf"
    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    tol: float = 1e-3
    cache_size: float = 200
    class_weight: Any = None
    max_iter: int = -1
    decision_function_shape: Literal["ovr", "ovo"] = "ovr"
    break_ties: bool = False
    sigma: float | None = None
    probability: Any = False
    shrinking: Any = True
    verbose: Any = False
    random_state: Any = None

    def _check_parameters(self) -> tuple[float, int | None]:
        if self.probability not in (False, "deprecated"):
            raise ArgumentError(
                f"probability={self.probability!r}; use False, and for probabilities "
                "sklearn.calibration.CalibratedClassifierCV(ExactSVC(), ensemble=False)"
            )
        return super()._check_parameters()
