import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_diabetes, make_classification
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

from spotsvm import (
    ConformalSVC,
    CutoffClassifier,
    DelayEmbedding,
    EvoSVC,
    ExactSVC,
    ExactSVR,
    ImportanceFraction,
    LeakyRain,
    MultiKernelSVC,
    MultiKernelSVR,
    PLSScores,
    PrincipalMonomials,
    ReducedSVC,
    SavitzkyGolay,
    Space,
    SpotSearchCV,
    default_space,
)
from spotsvm.errors import ArgumentError
from spotsvm.solvers.kernels import KERNELS
from spotsvm.tuning.pipelines.default_spaces import table_pipeline

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}


@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (LeakyRain(0.3, 50), ["decays", "windows"]),
        (LeakyRain(), ["decays"]),
        (DelayEmbedding(), ["dimensions"]),
        (PrincipalMonomials(), ["n_components"]),
        (ImportanceFraction(), ["fraction"]),
        (SavitzkyGolay(), ["deriv", "window_length"]),
        (SavitzkyGolay(3, polyorder=0), ["deriv", "window_length"]),
        (PLSScores(), ["n_components"]),
        (SVC(), ["C", "gamma"]),
        (ExactSVC(), ["C", "gamma"]),
        (EvoSVC(), ["C", "gamma"]),
        (LinearSVC(), ["C"]),
        (SVR(), ["C", "gamma", "epsilon"]),
        (ExactSVR(), ["C", "gamma", "epsilon"]),
        (CutoffClassifier(classes=["a", "b"]), ["class_weight__a", "class_weight__b", "cutoff__a"]),
        (CutoffClassifier(LinearSVC(), classes=[3, 1]), ["class_weight__1", "class_weight__3", "cutoff__1", "estimator__C"]),
        (
            make_pipeline(StandardScaler(), PrincipalMonomials(), ImportanceFraction(), SVC()),
            ["principalmonomials__n_components", "importancefraction__fraction", "svc__C", "svc__gamma"],
        ),
        (
            TransformedTargetRegressor(SVR(), transformer=StandardScaler()),
            ["regressor__C", "regressor__gamma", "regressor__epsilon"],
        ),
        (FeatureUnion([("a", LeakyRain(0.1, 5)), ("b", DelayEmbedding())]), ["a__decays", "a__windows", "b__dimensions"]),
        (ColumnTransformer([("rain", DelayEmbedding(), [0]), ("rest", "passthrough", [1])]), ["rain__dimensions"]),
    ],
    ids=lambda e: type(e).__name__,
)
def test_the_parameters_that_are_tuned(estimator, names):
    space = default_space(estimator)
    assert list(space) == names
    point = Space(space)
    assert list(point.names) == names
    for end in (0.0, 0.5, 1.0):
        values = {name: at(d, end) for name, d in space.items()}
        clone(estimator).set_params(**values)


def at(values, quantile):
    if isinstance(values, list):
        return values[round(quantile * (len(values) - 1))]
    return values.ppf(quantile) if hasattr(values.dist, "pdf") else int(values.ppf(max(quantile, 1e-9)))


def test_classes_can_be_said():
    assert "cutoffclassifier__cutoff__x" in default_space(make_pipeline(CutoffClassifier(SVC())), classes=["x", "y"])
    with pytest.raises(ArgumentError, match=r"a weight and a cutoff for each class; pass classes=\[...\]"):
        default_space(CutoffClassifier(SVC()))


def test_what_has_no_default():
    with pytest.raises(
        ArgumentError, match="StandardScaler has no default space; those with one are LeakyRain, DelayEmbedding, Pr"
    ):
        default_space(StandardScaler())
    with pytest.raises(ArgumentError, match="has a window twice, whose decays cannot be tuned separately; use one"):
        default_space(make_pipeline(LeakyRain(windows=(50, 50))))


EXPONENTS = {"C": (-5, 15), "gamma": (-15, 3), "epsilon": (-8, 0)}


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


@pytest.mark.parametrize(("task", "n"), [("classification", 2), ("regression", 3)])
def test_the_space_is_that_of_the_guide(task, n):
    pipeline, space = table_pipeline(task, 100)
    assert len(space) == n
    for name, distribution in space.items():
        assert np.log2(distribution.support()) == pytest.approx(EXPONENTS[name.rpartition("__")[2]])
    assert list(Space(space).names) == list(space)
    middle = {name: float(distribution.median()) for name, distribution in space.items()}
    assert clone(pipeline).set_params(**middle).get_params().items() >= middle.items()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_untouched_it_is_scikit_learns_default(task):
    given = table_pipeline(task, 100)[0].get_params(deep=True)
    machine = next(p for p in given.values() if isinstance(p, SVC | SVR)).get_params()
    default = (SVC() if task == "classification" else SVR()).get_params()
    changed = set() if task == "classification" else {"max_iter"}  # whose cross-validation can share its work, needs no cap
    assert {name for name in default if default[name] != machine[name]} == changed


def test_the_unit_of_the_target_does_not_matter():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:120], y[:120]
    pipeline, space = table_pipeline("regression", 120)
    pipeline.set_params(**{name: float(distribution.median()) for name, distribution in space.items()})
    a = clone(pipeline).fit(X, y).predict(X)
    b = clone(pipeline).fit(X, 1e4 * y - 5e6).predict(X)
    assert (b + 5e6) / 1e4 == pytest.approx(a, rel=1e-3)
    assert np.corrcoef(a, y)[0, 1] > 0.5


@pytest.mark.parametrize(
    ("task", "n_samples", "cap"),
    [
        ("regression", 10, 100_000),
        ("regression", 500, 100_000),
        ("regression", 5_000, 1_000_000),
        ("classification", 10, -1),
        ("classification", 20_000, -1),
        ("classification", 20_001, 4_000_200),
    ],
)
def test_the_iterations_are_capped_where_work_cannot_be_shared(task, n_samples, cap):
    params = table_pipeline(task, n_samples)[0].get_params(deep=True)
    assert [v for k, v in params.items() if k.endswith("max_iter")] == [cap]


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "precomputed"])
def test_each_kernel_takes_its_parameters(kernel):
    machine = ExactSVC(kernel=kernel)
    space = default_space(machine)
    middle = {name: (3 if name == "degree" else float(law.median())) for name, law in space.items()}
    assert set(machine.set_params(**middle).fit(X, Y).predict(X)) == {0, 1}
    assert ("gamma" in space) == (kernel != "linear")
