import numpy as np
import pytest
from sklearn.datasets import make_classification

from spotsvm.estimators.evolved.breeders import PaperBreeder, PsdBreeder, standard_kernels, without_factor
from spotsvm.estimators.evolved.settings import Ranges
from spotsvm.kernels import Expression
from spotsvm.solvers.dual.problem.spectrum import matrix_state
from spotsvm.solvers.kernels.alignment import alignment_with_labels
from spotsvm.solvers.kernels.expressions import InnerProducts, evaluate
from spotsvm.solvers.search.genetic_programming import PaperGrammar, PsdGrammar

X, CODE = make_classification(n_samples=80, n_features=4, random_state=0)
PRODUCTS = InnerProducts.between(X)
RANGES = Ranges(C=(0.1, 10.0), constants=(2.0**-8, 2.0**8))


def paper(**options):
    arguments = {"tries": 5000, "indefinite_too": False, **options}
    return PaperBreeder(PaperGrammar(), PRODUCTS, RANGES, rng=np.random.default_rng(0), **arguments)


def test_indefinite_kernels_are_kernels_where_they_may_be():
    indefinite = Expression("squared_distance", (Expression("x_i"), Expression("x_j")))
    assert matrix_state(evaluate(indefinite, PRODUCTS)) == "indefinite"
    assert not paper().is_kernel(indefinite)
    assert paper(indefinite_too=True).is_kernel(indefinite)
    asymmetric = Expression(
        "inner_product", (Expression("x_i"), Expression("add_vectors", (Expression("x_i"), Expression("x_j"))))
    )
    assert not paper(indefinite_too=True).is_kernel(asymmetric)


def psd(screened):
    train = np.arange(60)
    part = PRODUCTS.block(train, train)
    breeder = PsdBreeder(PsdGrammar(squared_norm=4.0), part, lambda K: alignment_with_labels(K, CODE[train]), 100, screened)
    return breeder, part


@pytest.mark.parametrize("screened", [1, 4])
def test_every_matrix_of_ours_is_positive_semidefinite(screened):
    breeder, _ = psd(screened)
    rng = np.random.default_rng(0)
    population = [breeder.grow(rng) for _ in range(20)]
    for k in range(60):
        child, _ = breeder.vary(population[k % 20], population[(7 * k) % 20], rng)
        population[k % 20] = child
        assert breeder.grammar.is_valid(child)
        assert matrix_state(evaluate(child, PRODUCTS)) == "semidefinite"


def test_the_standard_kernels_are_there():
    kernels = standard_kernels(PsdGrammar(squared_norm=4.0), 4.0)
    texts = [kernel.text() for kernel in kernels]
    assert len(set(texts)) == 7
    assert {kernel.block for kernel in kernels} == {"linear", "gaussian", "square", "cube"}
    assert all(matrix_state(evaluate(kernel, PRODUCTS)) == "semidefinite" for kernel in kernels)
    assert [kernel.block for kernel in standard_kernels(PsdGrammar(max_depth=1), 1.0)] == ["linear", *["gaussian"] * 4]


@pytest.mark.parametrize("seed", range(8))
def test_what_is_without_a_factor_is_a_multiple(seed):
    grammar = PsdGrammar(squared_norm=4.0)
    expression = grammar.grow(np.random.default_rng(seed))
    K, bare = evaluate(expression, PRODUCTS), evaluate(without_factor(expression), PRODUCTS)
    place = np.unravel_index(np.abs(bare).argmax(), bare.shape)
    np.testing.assert_allclose(K, bare * (K[place] / bare[place]), rtol=1e-9, atol=1e-12 * np.abs(K).max())


def test_multiples_are_one_individual():
    breeder, _ = psd(1)
    one, two = Expression("linear", value=0.1), Expression("scale", (Expression("linear", value=3.0),), 2.0)
    assert breeder.key(one) == breeder.key(two)
    assert breeder.key(Expression("square", (one,))) == breeder.key(Expression("square", (two,)))
    assert breeder.key(Expression("gaussian", value=0.1)) != breeder.key(Expression("gaussian", value=0.2))
    shifted, other = (Expression("add", (Expression("number", value=1.0), k)) for k in (one, two))
    assert breeder.key(shifted) != breeder.key(other)
