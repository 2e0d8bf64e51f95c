"""A child's kernel matrix is close to its parent's: what section 4 of the paper misses in its own search space."""

import numpy as np

from spotsvm.kernels import Expression
from spotsvm.solvers.kernels.alignment import centred_alignment
from spotsvm.solvers.kernels.expressions import CONSTANTS, InnerProducts, evaluate
from spotsvm.solvers.search.genetic_programming import PaperGrammar, PsdGrammar, breed_new, breed_variation

X = np.random.default_rng(0).normal(size=(40, 6))
PRODUCTS = InnerProducts.between(X)
SETTING = dict(zip(CONSTANTS, (0.1, 0.5, 1.0, 2.0), strict=True))


def matrix(expression):
    return evaluate(expression, PRODUCTS, SETTING)


def is_kernel(expression):
    K = matrix(expression)
    if not np.isfinite(K).all() or not np.allclose(K, K.T, rtol=1e-9) or not np.ptp(K):
        return False
    eigenvalues = np.linalg.eigvalsh(K)
    return eigenvalues[0] >= -1e-8 * eigenvalues[-1]


def alignments(grammar):
    """Of changed children with their parents; rounding apart, an alignment of 1 is a change without effect."""
    rng = np.random.default_rng(1)
    bred = [breed_new(grammar, is_kernel, 1000, rng) for _ in range(30)]
    parents = [b.expression for b in bred if b.accepted]
    assert len(parents) == 30
    found = []
    for _ in range(150):
        pair = [parents[k] for k in rng.integers(len(parents), size=2)]
        child = breed_variation(grammar, pair, is_kernel, 300, rng)
        if child.accepted:
            found.append(centred_alignment(matrix(pair[0]), matrix(child.expression)))
    return np.array(found)


def test_changes_are_small_and_rarely_drastic_or_without_effect_in_the_semidefinite_grammar():
    paper, psd = alignments(PaperGrammar()), alignments(PsdGrammar(squared_norm=6.0))
    assert np.mean(psd < 0.5) < 0.06
    assert np.mean(paper < 0.5) > 0.12
    assert np.mean(psd > 1 - 1e-9) < 0.35
    assert np.mean(paper > 1 - 1e-9) > 0.5
    assert np.median(psd) > 0.95


def test_steps_of_a_gaussian_are_small():
    grammar, rng = PsdGrammar(squared_norm=6.0), np.random.default_rng(0)
    parent = Expression("gaussian", value=1 / 12)
    children = [grammar.mutate(parent, rng) for _ in range(100)]
    found = [centred_alignment(matrix(parent), matrix(child)) for child in children]
    assert np.quantile(found, 0.1) > 0.9
