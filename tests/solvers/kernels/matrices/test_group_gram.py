import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.kernels import Kernel, gram_matrix
from spotsvm.solvers.kernels import BaseKernel, MultiKernel, squared_distances
from spotsvm.solvers.kernels.matrices import single_gram
from spotsvm.solvers.kernels.matrices._single_kernels import add_exponentials, add_scaled, place_rows
from spotsvm.solvers.kernels.matrices.single_gram import GroupGram

X = np.random.default_rng(0).standard_normal((150, 7))
A, B, C = (0, 3), (1, 2, 5, 6), (4,)
EACH = 2 * 150 * 151  # bytes of what is kept for one group


def base(name, columns, *parameters):
    return BaseKernel(Kernel(name, *parameters), columns)


def total(*terms):
    return MultiKernel(tuple(base(*t[1:]) for t in terms), tuple(t[0] for t in terms))


TUNED = total((1.5, "rbf", A, 0.8), (0.01, "rbf", B, 0.01), (3.0, "rbf", C, 20.0))
MIXED = total(
    (1.5, "rbf", A, 0.8), (0.2, "poly", B, 0.1, 1.0, 2), (0.0, "linear", A), (2.0, "rbf", B, 0.02), (0.5, "rbf", B, 1.0)
)
PRODUCT = MultiKernel((base("rbf", A, 0.2), base("rbf", B, 0.03), base("rbf", C, 0.0)), (2.5,), True)
SMOOTH = MultiKernel((base("rbf", A, 1e-6), base("rbf", B, 1e-7)), (2.5,), True)
KERNELS = {"tuned": TUNED, "mixed": MIXED, "product": PRODUCT, "smooth": SMOOTH}


def twin(exponents, scale, weight, less, total):
    """What `add_exponentials` does, plainly."""
    x = np.maximum(np.float64(scale) * exponents, -80.0)
    return total + weight * (np.expm1(x) if less else np.exp(x))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(0.0, 1e4, width=32), min_size=1, max_size=40),
    st.floats(1e-8, 100.0),
    st.sampled_from([0.0, 1.0]),
    st.floats(0.01, 100.0),
)
def test_the_compiled_exponential_is_the_plain_one(values, gamma, less, weight):
    exponents = np.array(values, np.float32)
    found, powers = np.zeros(len(values), np.float32), np.empty(len(values), np.float32)
    scale = np.float32(-gamma)
    add_exponentials(exponents, scale, np.float32(weight), np.float32(less), powers, powers.view(np.int32), found)
    plain = twin(exponents.astype(np.float64), scale, weight, less, np.zeros(len(values)))
    # an exponent of up to 80 is rounded to single precision
    np.testing.assert_allclose(found, plain, rtol=1e-6 if less else 2e-5, atol=1e-34)


def test_the_compiled_sum_and_the_two_halves_are_the_plain_ones():
    rng = np.random.default_rng(0)
    values, found = rng.random(100).astype(np.float32), rng.random(100).astype(np.float32)
    plain = found + np.float32(0.5) * values
    add_scaled(values, np.float32(0.5), found)
    np.testing.assert_allclose(found, plain, rtol=1e-6)
    n = 37
    upper = rng.random((n, n)).astype(np.float32)
    K = np.empty((n, n), np.float32)
    for first in range(0, n, 16):
        last = min(first + 16, n)
        place_rows(np.concatenate([upper[i, i:] for i in range(first, last)]), first, last, K)
    np.testing.assert_array_equal(K, np.triu(upper) + np.triu(upper, 1).T)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("max_bytes", [10**9, 100], ids=["kept", "by blocks"])
def test_the_matrix_and_the_constant_are_the_kernel_matrix(name, max_bytes):
    kernel = KERNELS[name]
    K, offset = GroupGram(X, max_bytes).matrix(kernel)
    assert K.dtype == np.float32
    assert K.flags.c_contiguous
    assert (K == K.T).all()
    np.testing.assert_allclose(K.astype(np.float64) + offset, gram_matrix(kernel, X), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("gamma", [1e-9, 1.0])
def test_a_product_of_many_factors(gamma):
    rows = np.random.default_rng(0).standard_normal((60, 50))
    kernel = MultiKernel(tuple(base("rbf", (k,), gamma * (1 + k % 3)) for k in range(50)), (1.5,), True)
    gram = GroupGram(rows)
    K, offset = gram.matrix(kernel)
    assert offset == (1.5 if gamma < 0.01 else 0.0)
    assert gram.kept_bytes == 0
    exponents = np.maximum(-squared_distances(kernel.scaled_columns(rows)), -80.0)
    np.testing.assert_allclose(K, 1.5 * (np.expm1(exponents) if offset else np.exp(exponents)), rtol=2e-5, atol=gamma * 1e-10)


@pytest.mark.parametrize("gamma", [1e-14, 1e-4])
def test_small_gammas_keep_their_digits(gamma):
    kernel = total((2.0, "rbf", A, gamma), (0.5, "rbf", B, 2 * gamma))
    K, offset = GroupGram(X).matrix(kernel)
    assert offset == 2.5
    exact = 2.0 * np.expm1(-gamma * squared_distances(X[:, A])) + 0.5 * np.expm1(-2 * gamma * squared_distances(X[:, B]))
    np.testing.assert_allclose(K, exact, rtol=1e-6, atol=gamma * 1e-12)
    assert GroupGram(X).matrix(total((1.5, "rbf", A, gamma), (3.0, "rbf", C, 20.0)))[1] == 1.5  # the rest is not near one
    product = MultiKernel(kernel.bases, (2.0,), True)
    K, offset = GroupGram(X).matrix(product)
    assert offset == 2.0
    exact = 2.0 * np.expm1(-gamma * squared_distances(X[:, A]) - 2 * gamma * squared_distances(X[:, B]))
    np.testing.assert_allclose(K, exact, rtol=1e-6, atol=gamma * 1e-12)


def test_groups_are_computed_once_and_the_longest_unused_is_given_up(monkeypatch):
    calls = []
    original = single_gram.base_values
    monkeypatch.setattr(single_gram, "base_values", lambda *a: calls.append(a[1].shape[1]) or original(*a))
    gram = GroupGram(X)
    one, _ = gram.matrix(TUNED)
    again, _ = gram.matrix(TUNED)
    assert again is one
    gram.matrix(total((1.0, "rbf", B, 0.5), (2.0, "rbf", B, 5.0)))
    gram.matrix(PRODUCT)
    assert sorted(calls) == [1, 2, 4]
    assert gram.kept_bytes == 3 * EACH
    gram = GroupGram(X, 2 * EACH)
    for columns in (A, B, A, C):
        gram.matrix(total((1.0, "rbf", columns, 0.5), (0.0, "rbf", B, 0.1)))  # what has no weight is not computed
    assert gram.kept_bytes == 2 * EACH
    assert set(gram._kept) == {A, C}


@pytest.mark.parametrize(
    ("scale", "kernel", "message"),
    [
        (1e25, total((1.0, "rbf", A, 0.5)), "squared distances up to"),
        (1e-20, total((1.0, "rbf", A, 0.5)), "squared distances up to"),
        (1e25, total((1.0, "linear", A)), "'linear' gives values beyond single precision"),
        (1e200, total((1.0, "linear", A)), "'linear' gives"),
        (1.0, total((1e38, "rbf", A, 0.5)), "a sum of 1 kernels gives values beyond"),
        (100.0, total((1e35, "linear", A)), "a sum of 1 kernels gives values beyond"),
        (1.0, MultiKernel((base("rbf", A, 0.5),), (1e38,), True), "a product of 1 kernels gives values beyond"),
        (1.0, total((1.0, "rbf", (9,), 0.5)), "X has 7 columns; a kernel needs column 9"),
    ],
)
def test_what_single_precision_cannot_hold_is_an_error(scale, kernel, message):
    gram = GroupGram(X * scale)
    for _ in range(2):
        with pytest.raises(SolverError, match=message):
            gram.matrix(kernel)
