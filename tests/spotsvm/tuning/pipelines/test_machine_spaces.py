import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

from spotsvm import ConformalSVC, ExactSVC, MultiKernelSVC, MultiKernelSVR, ReducedSVC, SpotSearchCV, default_space
from spotsvm.solvers.kernels import KERNELS
from spotsvm.studies.common.plain_search import PLAIN

X, Y = make_classification(n_samples=60, n_features=4, random_state=0)
GROUPS = {"a": [0, 1], "b": [2, 3]}
CASES = [
    (SVC(kernel="poly", max_iter=1000), ["C", "gamma", "degree", "coef0"]),
    (SVC(kernel="sigmoid"), ["C", "gamma", "coef0"]),
    (SVC(kernel="linear", max_iter=1000), ["C"]),
    (SVR(kernel="sigmoid", max_iter=1000), ["C", "gamma", "coef0", "epsilon"]),
    (ExactSVC(sigma=2.0), ["C"]),
    (LinearSVC(max_iter=1000), ["C"]),
    (LinearSVR(max_iter=1000), ["C", "epsilon"]),
    (NuSVC(), ["gamma", "nu"]),
    (NuSVR(), ["C", "gamma", "nu"]),
    (OneClassSVM(), ["gamma", "nu"]),
    (KernelRidge(), ["alpha"]),
    (KernelRidge(kernel="rbf"), ["gamma", "alpha"]),
    (KernelRidge(kernel="polynomial"), ["gamma", "degree", "coef0", "alpha"]),
    (MultiKernelSVC(), ["C", "gamma"]),
    (MultiKernelSVC(groups=GROUPS), ["weights__a", "weights__b", "gamma__a", "gamma__b"]),
    (MultiKernelSVC(groups=GROUPS, kernel="poly"), ["weights__a", "weights__b", "degree", "coef0"]),
    (MultiKernelSVR(), ["C", "gamma", "epsilon"]),
    (ConformalSVC(kappa="auto"), ["C", "gamma"]),
    (ReducedSVC(method="random", n_per_class=5, random_state=0), ["C", "gamma"]),
]


@pytest.mark.parametrize(("machine", "names"), CASES, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("piped", [False, True], ids=["alone", "in a pipeline"])
def test_a_search_over_the_space_of_each_machine(machine, names, piped):
    whole = make_pipeline(StandardScaler(), machine) if piped else machine
    space = default_space(whole)
    prefix = f"{whole.steps[-1][0]}__" if piped else ""
    assert list(space) == [f"{prefix}{name}" for name in names]
    scoring = None if hasattr(machine, "score") else "balanced_accuracy"
    y = np.where(Y == 1, 1, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FitFailedWarning)
        fitted = SpotSearchCV(
            whole, space, **PLAIN | {"n_iter": 3, "search": "random", "cv": 2, "random_state": 0, "scoring": scoring}
        ).fit(X, y)
    assert [t.state for t in fitted.study_.trials].count("ok") >= 2
    assert list(fitted.best_params_) == list(space)


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "precomputed"])
def test_each_kernel_takes_its_parameters(kernel):
    machine = ExactSVC(kernel=kernel)
    space = default_space(machine)
    middle = {name: (3 if name == "degree" else float(law.median())) for name, law in space.items()}
    assert set(machine.set_params(**middle).fit(X, Y).predict(X)) == {0, 1}
    assert ("gamma" in space) == (kernel != "linear")
