import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

from spotsvm import (
    CutoffClassifier,
    DelayEmbedding,
    EvoSVC,
    ExactSVC,
    ExactSVR,
    ImportanceFraction,
    LeakyRain,
    PrincipalMonomials,
    Space,
    default_space,
)
from spotsvm.common.errors import ArgumentError


@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (LeakyRain(0.3, 50), ["decays", "windows"]),
        (DelayEmbedding(), ["dimensions"]),
        (PrincipalMonomials(), ["n_components"]),
        (ImportanceFraction(), ["fraction"]),
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
        values = {name: (d.ppf(end) if hasattr(d.dist, "pdf") else int(d.ppf(max(end, 1e-9)))) for name, d in space.items()}
        clone(estimator).set_params(**values)


def test_classes_can_be_said():
    assert "cutoffclassifier__cutoff__x" in default_space(make_pipeline(CutoffClassifier(SVC())), classes=["x", "y"])
    with pytest.raises(ArgumentError, match=r"a weight and a cutoff for each class; pass classes=\[...\]"):
        default_space(CutoffClassifier(SVC()))


def test_what_has_no_default():
    with pytest.raises(
        ArgumentError, match="StandardScaler has no default space; those with one are LeakyRain, DelayEmbedding, Pr"
    ):
        default_space(StandardScaler())
    with pytest.raises(ArgumentError, match="has several pairs, which cannot be tuned separately; use one LeakyRain per pair"):
        default_space(make_pipeline(LeakyRain()))
