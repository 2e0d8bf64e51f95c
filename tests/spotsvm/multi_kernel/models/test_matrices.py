import numpy as np
import pytest

from spotsvm import AnisotropicRbfModel, ArgumentError, ConicModel, FixedKernelModel, RbfModel, TunedConicModel
from spotsvm.multi_kernel.models import matrices as module
from spotsvm.solvers.errors import SolverError
from spotsvm.solvers.kernels import Kernel
from spotsvm.solvers.kernels.matrices.gram_cache import GramCache

GROUPS = {"front": [0, 1], "middle": [2, 3, 4, 5], "back": [6]}
X = np.random.default_rng(0).standard_normal((25, 7))
MODELS = {
    "linear": FixedKernelModel(GROUPS),
    "scale": FixedKernelModel(GROUPS, "rbf", gamma="scale"),
    "rbf": RbfModel(GROUPS),
    "columns": AnisotropicRbfModel(n_features=7),
    "conic": ConicModel(GROUPS, scales=(0.25, 1, 4)),
    "several": ConicModel(GROUPS, kernel=["linear", Kernel("poly", gamma=0.5, coef0=1.0, degree=2)]),
    "tuned": TunedConicModel(GROUPS),
}


def some(model, seed):
    rng = np.random.default_rng(seed)
    return {name: 2.0 ** rng.uniform(-3, 3) for name in model.names}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_they_are_the_models_own(model):
    matrices = model.matrices(X)
    for seed in range(3):
        params = some(model, seed)
        np.testing.assert_allclose(matrices.gram(params), model.gram(X, params), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("name", "count"), [("conic", 9), ("several", 6), ("linear", 3), ("tuned", 12)])
def test_fixed_kernels_are_computed_once(name, count, monkeypatch):
    asked = []

    class Counting(GramCache):
        def gram(self, kernel, **options):
            asked.append(kernel)
            return super().gram(kernel, **options)

    monkeypatch.setattr(module, "GramCache", Counting)
    matrices = MODELS[name].matrices(X)
    for seed in range(4):
        matrices.gram(some(MODELS[name], seed))
    assert len(asked) == count
    assert len(matrices._caches) == 3


def test_a_matrix_is_the_users_own():
    matrices, params = MODELS["linear"].matrices(X), {"C": 1.0}
    first = matrices.gram(params)
    kept = first.copy()
    first[:] = 0.0
    np.testing.assert_array_equal(matrices.gram(params), kept)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(SolverError, match="X"):
        MODELS["linear"].matrices([[np.nan] * 7])
    with pytest.raises(ArgumentError, match="params has"):
        MODELS["linear"].matrices(X).gram({"gamma": 1.0})
