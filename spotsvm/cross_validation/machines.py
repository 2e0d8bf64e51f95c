"""The parameters of a support vector machine, from which shared work can train it with the same result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from spotsvm.estimators import Floats
from spotsvm.estimators.dual.evo_svc import EvoSVC
from spotsvm.estimators.dual.exact_svc import ExactSVC
from spotsvm.estimators.dual.exact_svr import ExactSVR
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.kernels import Kernel, make_kernel
from spotsvm.solvers.kernels.functions.multi_kernel import MultiKernel

_MACHINES = (SVC, SVR, ExactSVC, ExactSVR)
#: machines of other packages, with the functions that read their parameters
_OWN_MACHINES: dict[type, Callable[[Mapping[str, Any]], SvmMachine | None]] = {}
_SHARED_KERNELS = ("linear", "poly", "rbf", "precomputed")
#: kernels that scikit-learn's machines know by a function only
_OWN_KERNELS = ("laplacian",)


class NotSharedError(Exception):
    """The work of scoring a candidate cannot be shared, so that scikit-learn has to score it."""


@dataclass(frozen=True)
class SvmMachine:
    """The parameters of a machine whose solution is unique: a positive semidefinite kernel, no cap on iterations.

    They are those of SVC and SVR; gamma may be "scale" or "auto", which depend on the training rows. `by_libsvm` is whether
    LIBSVM trains it, and decides where the solution leaves its result open.
    """

    regression: bool
    kernel: str
    gamma: float | str
    degree: int
    coef0: float
    C: float
    tol: float
    epsilon: float = 0.0
    class_weight: Any = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    by_libsvm: bool = False

    def kernel_on(self, X: Floats, names: Sequence[str] | None = None) -> Kernel | MultiKernel:
        """Return the kernel for some training rows, whose columns may have names; a SpotSVMError if it is invalid."""
        return make_kernel(self.kernel, X, gamma=self.gamma, coef0=self.coef0, degree=self.degree)

    @cached_property
    def along_sweep(self) -> SvmMachine:
        """The machine with C = 1 and no tube; it is equal for machines that start from each other's solutions."""
        return replace(self, C=1.0, epsilon=0.0)

    @property
    def kernel_depends_on_rows(self) -> bool:
        """Whether other training rows change the kernel."""
        return self.kernel in ("poly", "rbf", "laplacian") and self.gamma == "scale"


def split_pipeline(estimator: Any) -> tuple[Pipeline | None, Any]:
    """Return the transformers, None if there are none, and the last step."""
    if type(estimator) is not Pipeline:
        return None, estimator
    steps = [step for _, step in estimator.steps[:-1] if step is not None and step != "passthrough"]
    return (estimator[:-1] if steps else None), estimator[-1]


def is_machine(kind: type) -> bool:
    """Return whether `read_machine` supports exactly this type; a subclass may behave differently."""
    return kind in _MACHINES or kind in _OWN_MACHINES


def share_work_of(kind: type, read: Callable[[Mapping[str, Any]], SvmMachine | None]) -> None:
    """Declare that exactly this type is a machine; `read` returns it from the parameters, None if the work cannot be shared."""
    _OWN_MACHINES[kind] = read


def read_machine(kind: type, p: Mapping[str, Any]) -> SvmMachine | None:
    """Return a machine from an estimator's type and parameters; None if the work cannot be shared."""
    if not is_machine(kind) or p["max_iter"] != -1 or not _unused_are_sound(p):
        return None
    if kind in _OWN_MACHINES:
        return _OWN_MACHINES[kind](p)
    names = _SHARED_KERNELS if kind in (SVC, SVR) else (*_SHARED_KERNELS, *_OWN_KERNELS)
    if not isinstance(p["kernel"], str) or p["kernel"] not in names:
        return None
    gamma = p["gamma"]
    if p.get("sigma") is not None:
        usual = p["kernel"] == "rbf" and isinstance(gamma, str) and gamma == "scale"
        if not (usual and _positive(p["sigma"]) and 1e-150 < p["sigma"] < 1e150):
            return None
        gamma = 0.5 / p["sigma"] ** 2
    regression = kind in (SVR, ExactSVR)
    machine = SvmMachine(
        regression=regression,
        kernel=p["kernel"],
        gamma=gamma,
        degree=p["degree"],
        coef0=p["coef0"],
        by_libsvm=kind in (SVC, SVR),
        **common_parameters(p, regression),
    )
    return rounded_if_sound(machine)


def common_parameters(p: Mapping[str, Any], regression: bool) -> dict[str, Any]:
    """Return the parameters that do not belong to the kernel."""
    found = {"C": p["C"], "tol": p["tol"]}
    names = ["epsilon"] if regression else ["class_weight", "decision_function_shape", "break_ties"]
    return found | {name: p[name] for name in names}


def rounded_if_sound(machine: SvmMachine) -> SvmMachine | None:
    """Return a machine with floats for numbers; None if scikit-learn has to train it, or to report an error."""
    return replace(machine, C=float(machine.C), tol=float(machine.tol)) if _is_sound(machine) else None


def _unused_are_sound(p: Mapping[str, Any]) -> bool:
    """Check whether scikit-learn accepts the parameters without effect here."""
    seed = p.get("random_state")
    return (
        p.get("probability", False) in (False, "deprecated")
        and isinstance(p.get("shrinking", True), bool | np.bool_)
        and _positive(p.get("cache_size", 200))
        and isinstance(p.get("verbose", False), int | np.bool_)
        and (seed is None or isinstance(seed, np.random.RandomState | int))
    )


def _is_sound(m: SvmMachine) -> bool:
    """Check whether scikit-learn accepts every parameter, too, and the kernel is positive semidefinite."""
    if not (_positive(m.C) and _positive(m.tol) and m.C <= 1e9):
        return False
    if m.regression and not 0 <= as_float(m.epsilon) < np.inf:
        return False
    if not (m.gamma in ("scale", "auto") if isinstance(m.gamma, str) else _positive(m.gamma)):
        return False
    if m.kernel == "poly":
        whole = isinstance(m.degree, Integral) and not isinstance(m.degree, bool) and int(m.degree) >= 1
        if not (whole and 0 <= as_float(m.coef0) < np.inf):
            return False
    weights = m.class_weight
    known = weights is None or isinstance(weights, dict) or (isinstance(weights, str) and weights == "balanced")
    if m.break_ties and m.decision_function_shape == "ovo":
        return False  # scikit-learn refuses to predict
    return known and m.decision_function_shape in ("ovr", "ovo") and isinstance(m.break_ties, bool | np.bool_)


def _positive(value: Any) -> bool:
    return 0 < as_float(value) < np.inf


#: Estimators whose result does not depend on who computes the kernel matrix
MATRIX_MACHINES = (NuSVC, NuSVR, EvoSVC)


#: Parameters with which a classifier gives the decision of each pair of classes
OWN_ANSWERS = {"decision_function_shape": "ovo", "break_ties": False}


class MatrixMachine:
    """An estimator (NuSVC, NuSVR or EvoSVC) with the kernel matrix in place of its kernel."""

    def __init__(self, estimator: Any):
        if type(estimator) not in MATRIX_MACHINES:
            raise NotSharedError(f"{estimator!r} is not an SVM whose work can be shared")
        params = estimator.get_params(deep=False)
        names = ("linear", "poly", "rbf", "sigmoid", *(_OWN_KERNELS if type(estimator) is EvoSVC else ()))
        known = isinstance(params["kernel"], str) and params["kernel"] in names
        if params.get("break_ties") and params.get("decision_function_shape") == "ovo":
            raise NotSharedError("scikit-learn refuses to predict")
        evolved = params.get("method", "exact") not in ("exact", "memetic") or params.get("kernel") == "sigmoid"
        if not known or params.get("probability") is True or (type(estimator) is EvoSVC and evolved):
            # a random search diverges after the smallest rounding error; probabilities are computed from random draws
            raise NotSharedError(f"{estimator!r} is not an SVM whose work can be shared")
        self.kernel_depends_on_rows = params["gamma"] == "scale" and params["kernel"] != "linear"
        self._estimator, self._params = estimator, params
        self.by_libsvm = type(estimator) is not EvoSVC
        self.tol = float(params["tol"])
        self.regression = is_regressor(estimator)
        self.shape = params.get("decision_function_shape", "ovr")
        self.break_ties = bool(params.get("break_ties", False))

    def kernel_on(self, X: Floats) -> Kernel:
        """Return the kernel for some training rows; a SolverError if it is invalid."""
        p = self._params
        return make_kernel(p["kernel"], X, gamma=p["gamma"], coef0=p["coef0"], degree=p["degree"], sigma=p.get("sigma"))

    def decisions(self, K: Floats, y: NDArray[Any], rows: NDArray[np.intp]) -> tuple[NDArray[Any] | None, Floats]:
        """Train on some rows; return the classes, and each pair's decision, or the prediction, for all rows."""
        machine = clone(self._estimator).set_params(kernel="precomputed", **({} if self.regression else OWN_ANSWERS))
        return own_decisions(machine, K[np.ix_(rows, rows)], y[rows], K[:, rows])


def own_decisions(machine: Any, X: Floats, y: NDArray[Any], rows: Floats) -> tuple[NDArray[Any] | None, Floats]:
    """Train a machine, and return its classes (None in regression) and its decisions for rows, a column per pair of classes.

    With "precomputed", X and rows have kernel values. NotSharedError if training fails, so that scikit-learn reports the error.
    """
    try:
        machine.fit(X, y)
    except ValueError as error:
        raise NotSharedError(str(error)) from error
    if not hasattr(machine, "classes_"):
        return None, machine.predict(rows)[:, None]
    values = machine.decision_function(rows)
    return machine.classes_, values[:, None] if values.ndim == 1 else values
