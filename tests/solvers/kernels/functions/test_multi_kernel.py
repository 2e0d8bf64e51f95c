import pytest

from spotsvm.solvers.errors import SolverError
from spotsvm.solvers.kernels import BaseKernel, Kernel, MultiKernel

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


def test_kernels_without_weight_are_no_terms():
    kernel = MultiKernel((RBF, LINEAR), (0.0, 2.0))
    assert kernel.terms == [(LINEAR, 2.0)]
    assert kernel.n_terms == 1
    product = MultiKernel((RBF, RBF), (2.0,), True)
    assert product.terms == [(RBF, 2.0), (RBF, 2.0)]


def test_a_sum_is_semidefinite_if_all_that_has_weight_is():
    indefinite = BaseKernel(Kernel("sigmoid"), (0,))
    assert MultiKernel((RBF, LINEAR), (1.0, 2.0)).positive_semidefinite
    assert not MultiKernel((RBF, indefinite), (1.0, 2.0)).positive_semidefinite
    assert MultiKernel((RBF, indefinite), (1.0, 0.0)).positive_semidefinite
