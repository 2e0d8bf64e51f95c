import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC

from spotsvm import Space
from spotsvm.errors import ArgumentError, SolverError
from spotsvm.kernels import AnisotropicRbfModel, ConicModel, FixedKernelModel, KernelModel, RbfModel, TunedConicModel

GROUPS = {"front": [0, 1], "middle": [2, 3, 4, 5], "back": [6]}
SIZES = {"front": 2, "middle": 4, "back": 1}
X = np.random.default_rng(0).standard_normal((25, 7))
Z = np.random.default_rng(1).standard_normal((4, 7))
RBF_SUM = FixedKernelModel(GROUPS, "rbf", scales=(0.25, 1, 4))
MODELS = {
    "linear": FixedKernelModel(GROUPS),
    "fixed": RBF_SUM,
    "scale": FixedKernelModel(GROUPS, "rbf", gamma="scale"),
    "rbf": RbfModel(GROUPS),
    "plain rbf": RbfModel(n_features=7),
    "anisotropic": AnisotropicRbfModel(GROUPS),
    "columns": AnisotropicRbfModel(n_features=7),
    "conic": ConicModel(GROUPS, scales=(0.25, 1, 4)),
    "tuned": TunedConicModel(GROUPS),
}


def of(X, name):
    return X[:, GROUPS[name]]


def some(model, seed=0):
    rng = np.random.default_rng(seed)
    return {name: 2.0 ** rng.uniform(-3, 3) for name in model.names}


EXPECTED = {
    "linear": lambda p, A, B: p["C"] * linear_kernel(A, B),
    "fixed": lambda p, A, B: (
        p["C"] * sum(rbf_kernel(of(A, g), of(B, g), 1 / (s * SIZES[g])) for g in GROUPS for s in (0.25, 1, 4))
    ),
    "scale": lambda p, A, B: p["C"] * sum(rbf_kernel(of(A, g), of(B, g), 1 / (SIZES[g] * of(X, g).var())) for g in GROUPS),
    "rbf": lambda p, A, B: p["C"] * sum(rbf_kernel(of(A, g), of(B, g), p["gamma"]) for g in GROUPS),
    "plain rbf": lambda p, A, B: p["C"] * rbf_kernel(A, B, p["gamma"]),
    "anisotropic": lambda p, A, B: p["C"] * np.prod([rbf_kernel(of(A, g), of(B, g), p[f"gamma__{g}"]) for g in GROUPS], axis=0),
    "columns": lambda p, A, B: p["C"] * np.prod([rbf_kernel(A[:, [k]], B[:, [k]], p[f"gamma__{k}"]) for k in range(7)], axis=0),
    "conic": lambda p, A, B: sum(
        p[f"weights__{g}/{s}"] * rbf_kernel(of(A, g), of(B, g), 1 / (s * SIZES[g])) for g in GROUPS for s in (0.25, 1, 4)
    ),
    "tuned": lambda p, A, B: sum(p[f"weights__{g}"] * rbf_kernel(of(A, g), of(B, g), p[f"gamma__{g}"]) for g in GROUPS),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_matrix_is_that_of_the_paper_and_the_machine_is_svc_with_it(name):
    model = MODELS[name]
    matrices = model.matrices(X)
    for seed in range(3):
        params = some(model, seed)
        K, new = model.gram(X, params), model.gram(X, params, Z)
        np.testing.assert_allclose(K, EXPECTED[name](params, X, X), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(new, EXPECTED[name](params, X, Z), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(matrices.gram(params), K, rtol=1e-10, atol=1e-12)
    y = np.where(X[:, 0] + X[:, 3] ** 2 > 1, 1, 0)
    machine = model.estimator(params, tol=1e-8).fit(X, y)
    assert machine.tol == 1e-8
    decisions = SVC(kernel="precomputed", C=1.0, tol=1e-8).fit(K, y).decision_function(new.T)
    np.testing.assert_allclose(machine.decision_function(Z), decisions, rtol=1e-4, atol=1e-4)
    assert model.n_parameters == len(set(model.names))
    assert tuple(model.space()) == Space(model.space()).names == model.names
    other = model.estimator(tol=1e-8).set_params(**params).fit(X, y)
    np.testing.assert_allclose(other.decision_function(Z), machine.decision_function(Z))


def test_names_and_ranges():
    assert MODELS["linear"].names == ("C",)
    assert MODELS["rbf"].names == ("C", "gamma")
    assert MODELS["anisotropic"].names == ("C", "gamma__front", "gamma__middle", "gamma__back")
    assert AnisotropicRbfModel(feature_names=["a", "b"]).names == ("C", "gamma__a", "gamma__b")
    assert MODELS["conic"].names[:2] == ("weights__front/0.25", "weights__front/1")
    assert ConicModel([[0], [1]], ["rbf", "linear"]).names == (
        "weights__0:rbf",
        "weights__0:linear",
        "weights__1:rbf",
        "weights__1:linear",
    )
    assert MODELS["tuned"].names[2:4] == ("weights__back", "gamma__front")
    assert all(isinstance(model, KernelModel) for model in MODELS.values())

    def ends(model, name, **ranges):
        return tuple(float(end) for end in model.space(**ranges)[name].support())

    assert ends(MODELS["linear"], "C") == (2.0**-12, 2.0**12)
    assert ends(MODELS["conic"], "weights__middle/4", weights=(0.1, 10)) == (0.1, 10.0)
    assert ends(MODELS["tuned"], "gamma__middle", gamma=(0.5, 8.0)) == (0.125, 2.0)
    assert ends(MODELS["rbf"], "gamma", gamma=(0.5, 8.0)) == (0.5, 2.0)  # in the ranges of groups of 1, 2 and 4 columns
    assert ends(MODELS["plain rbf"], "gamma", gamma=(0.5, 8.0)) == (0.5 / 7, 8.0 / 7)
    assert ends(MODELS["anisotropic"], "gamma__front", gamma=(0.5, 8.0)) == (0.5 / 7, 8.0 / 7)
    assert ends(RbfModel(), "gamma", gamma=(0.5, 8.0)) == (0.5, 8.0)


def test_a_model_alone_makes_its_machine_in_a_fresh_process():
    script = "from spotsvm.kernels import RbfModel; print(RbfModel().estimator(), RbfModel().estimator(regression=True))"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == "MultiKernelSVC(gamma='auto') MultiKernelSVR(gamma='auto')\n"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: AnisotropicRbfModel(), "groups=None means a group for each column, but the number of columns is unknown"),
        (lambda: RbfModel(n_features=0), "n_features=0; use the number of columns"),
        (lambda: RbfModel(GROUPS, n_features=5), "group 'middle' has the column 5, but there are 5 columns, from 0"),
        (lambda: RbfModel(GROUPS, n_features=8), "groups: column 7 is in no group"),
        (lambda: RbfModel({"a": ["u"], "b": ["v"]}, n_features=3), "n_features=3, but 2 columns are named"),
        (lambda: TunedConicModel({"a": [0, 1], "b": [1]}), "groups: column 1 is in the groups 'a' and 'b'"),
        (lambda: TunedConicModel({"a": [0, 1], "b": [3]}), "groups: column 2 is in no group"),
        (lambda: TunedConicModel({"a": ["u", "v"], "b": ["v"]}), "groups: column 'v' is named twice"),
        (lambda: TunedConicModel({"a": 0.5, "b": [1]}), "groups has 0.5; use names, indices or a slice"),
        (lambda: ConicModel({}), "groups is empty"),
        (lambda: ConicModel(GROUPS, "precomputed"), "kernel='precomputed' has no columns"),
        (lambda: ConicModel(GROUPS, scales=(0,)), r"scales=\(0,\)"),
        (lambda: FixedKernelModel(GROUPS, "rbf", gamma={"up": 1.0}), "gamma names 'up'"),
        (
            lambda: TunedConicModel([slice(0, 2), slice(2, None)]).space(),
            "number of columns of the group '1' is not known; give n_features",
        ),
        (lambda: MODELS["rbf"].space(gamma=(1.0, 2.0)), "no gamma is in the ranges of groups of 1 and of 4 columns both"),
        (lambda: MODELS["rbf"].space(gamma=(2.0, 1.0)), r"gamma=\(2.0, 1.0\); use the smallest and the largest"),
        (lambda: MODELS["rbf"].space(weights=3), "weights=3; use the smallest and the largest"),
        (lambda: MODELS["rbf"].gram(X, {"C": 1.0}), r"params has \['C'\]; the parameters of RbfModel.* are \['C', 'gamma'\]"),
        (lambda: MODELS["linear"].matrices(X).gram({"gamma": 1.0}), "params has"),
        (lambda: MODELS["rbf"].estimator({"C": 1.0, "gamma": -1.0}), "gamma=-1.0; use a positive, finite number"),
        (lambda: MODELS["rbf"].estimator({"C": 1.0, "gamma": "auto"}), "gamma='auto'; use a positive, finite number"),
    ],
)
def test_what_makes_no_sense_is_told(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
    with pytest.raises(SolverError, match="X"):
        MODELS["linear"].matrices([[np.nan] * 7])
