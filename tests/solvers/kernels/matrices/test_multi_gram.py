import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel

from spotsvm.errors import SolverError
from spotsvm.kernels import Kernel, gram_matrix
from spotsvm.solvers.kernels import BaseKernel, MultiKernel, kernel_blocks, kernel_matrix

RNG = np.random.default_rng(0)
X, Z = RNG.standard_normal((300, 7)), RNG.standard_normal((41, 7))
A, B, C = (0, 3), (1, 2, 5, 6), (4,)


def base(name, columns, *parameters):
    return BaseKernel(Kernel(name, *parameters), columns)


MIXED = MultiKernel(
    (
        base("rbf", A, 0.3),
        base("rbf", B, 0.05),
        base("rbf", B, 1.0),
        base("linear", C),
        base("poly", B, 0.2, 1.0, 2),
        base(laplacian_kernel, A),
    ),
    (1.0, 0.5, 3.0, 0.0, 0.25, 2.0),
)


def expected(rows, others):
    return (
        rbf_kernel(rows[:, A], others[:, A], 0.3)
        + 0.5 * rbf_kernel(rows[:, B], others[:, B], 0.05)
        + 3.0 * rbf_kernel(rows[:, B], others[:, B], 1.0)
        + 0.25 * polynomial_kernel(rows[:, B], others[:, B], 2, 0.2, 1.0)
        + 2.0 * laplacian_kernel(rows[:, A], others[:, A])
    )


@pytest.mark.parametrize("max_bytes", [200 * 2**20, 20_000])
def test_a_sum_is_the_sum(max_bytes):
    K = gram_matrix(MIXED, X, max_bytes=max_bytes)
    np.testing.assert_allclose(K, expected(X, X), rtol=1e-12, atol=1e-12)
    assert (K == K.T).all()
    blocks = list(kernel_blocks(MIXED, X, Z, max_bytes=max_bytes))
    assert (len(blocks) == 1) == (max_bytes > 10**6)
    np.testing.assert_allclose(np.vstack([values for _, values in blocks]), expected(X, Z), rtol=1e-12, atol=1e-12)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(0.0, 2.0), min_size=3, max_size=3), st.floats(0.1, 10.0))
def test_a_product_is_the_anisotropic_gaussian_kernel(gammas, weight):
    kernel = MultiKernel(tuple(base("rbf", columns, g) for columns, g in zip((A, B, C), gammas, strict=True)), (weight,), True)
    factors = [kernel_matrix(b.kernel, b.of(X[:40]), b.of(Z)) for b in kernel.bases]
    ((_, values),) = kernel_blocks(kernel, X[:40], Z)
    np.testing.assert_allclose(values, weight * np.prod(factors, axis=0), rtol=1e-10, atol=1e-33)
    np.testing.assert_allclose(gram_matrix(kernel, X[:40]).diagonal(), weight)


def test_too_few_columns_and_overflow_are_told():
    with pytest.raises(SolverError, match="X has 5 columns; a kernel needs column 6"):
        gram_matrix(MIXED, X[:, :5])
    with pytest.raises(SolverError, match="'linear' gives inf"):
        gram_matrix(MultiKernel((base("linear", (0,)),), (1.0,)), [[1e200], [1.0]])
    with pytest.raises(SolverError, match="returned shape"):
        gram_matrix(MultiKernel((base(lambda a, b: np.ones((1, 1)), A),), (1.0,)), X)


RBF, LINEAR = BaseKernel(Kernel("rbf", 0.5), (0, 1)), BaseKernel(Kernel("linear"), (2,))


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (MultiKernel, ((), ()), "bases is empty"),
        (MultiKernel, ((RBF, LINEAR), (1.0,)), "weights has 1 entries; 2 needed"),
        (MultiKernel, ((RBF, LINEAR), (1.0, -1.0)), r"weights\[1\]=-1.0"),
        (MultiKernel, ((RBF, LINEAR), (float("nan"), 1.0)), r"weights\[0\]=nan"),
        (MultiKernel, ((RBF, LINEAR), (float("inf"), 1.0)), r"weights\[0\]=inf"),
        (MultiKernel, ((RBF, LINEAR), (0.0, 0.0)), "weights are all 0"),
        (MultiKernel, ((RBF, LINEAR), (1.0,), True), "a product is defined for the kernel 'rbf' only, not for 'linear'"),
        (MultiKernel, ((RBF, RBF), (1.0, 1.0), True), "weights has 2 entries; 1 needed"),
        (BaseKernel, (Kernel("precomputed"), (0,)), "kernel='precomputed' has no columns"),
        (BaseKernel, (Kernel("rbf"), ()), r"columns=\(\)"),
        (BaseKernel, (Kernel("rbf"), (0, -1)), r"columns=\(0, -1\)"),
    ],
)
def test_what_is_no_combination_is_told(kind, arguments, message):
    with pytest.raises(SolverError, match=message):
        kind(*arguments)


def test_terms_are_kernels_with_weight_and_make_a_sum_semidefinite():
    kernel = MultiKernel((RBF, LINEAR), (0.0, 2.0))
    assert kernel.terms == [(LINEAR, 2.0)]
    assert kernel.n_terms == 1
    product = MultiKernel((RBF, RBF), (2.0,), True)
    assert product.terms == [(RBF, 2.0), (RBF, 2.0)]
    indefinite = BaseKernel(Kernel("sigmoid"), (0,))
    assert MultiKernel((RBF, LINEAR), (1.0, 2.0)).positive_semidefinite
    assert not MultiKernel((RBF, indefinite), (1.0, 2.0)).positive_semidefinite
    assert MultiKernel((RBF, indefinite), (1.0, 0.0)).positive_semidefinite
