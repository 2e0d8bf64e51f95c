"""Fixed kernels are computed once."""

import numpy as np
import pytest

from spotsvm.kernels import AnisotropicRbfModel, ConicModel, FixedKernelModel, Kernel, RbfModel, TunedConicModel
from spotsvm.solvers.kernels.matrices.gram import GramCache

GROUPS = {"front": [0, 1], "middle": [2, 3, 4, 5], "back": [6]}
X = np.random.default_rng(0).standard_normal((25, 7))
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


def some(model, seed=0):
    rng = np.random.default_rng(seed)
    return {name: 2.0 ** rng.uniform(-3, 3) for name in model.names}


SEVERAL = ConicModel(GROUPS, kernel=["linear", Kernel("poly", gamma=0.5, coef0=1.0, degree=2)])


@pytest.mark.parametrize(("model", "count"), [(MODELS["conic"], 9), (SEVERAL, 6), (MODELS["linear"], 3), (MODELS["tuned"], 12)])
def test_fixed_kernels_are_computed_once_and_matrices_are_the_users_own(model, count, monkeypatch):
    asked = []

    class Counting(GramCache):
        def gram(self, kernel, **options):
            asked.append(kernel)
            return super().gram(kernel, **options)

    monkeypatch.setattr("spotsvm.multi_kernel.models.matrices.GramCache", Counting)
    matrices = model.matrices(X)
    for seed in range(4):
        params = some(model, seed)
        matrix = matrices.gram(params)
        np.testing.assert_allclose(matrix, model.gram(X, params), rtol=1e-10, atol=1e-12)
        matrix[:] = 0.0
    assert len(asked) == count
    assert len(matrices._caches) == 3
