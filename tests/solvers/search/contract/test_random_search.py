import numpy as np
from conformance import SearchConformance
from scipy.stats import kstest

from spotsvm.solvers.search.contract.random_search import RandomSearch
from spotsvm.surrogates.domain import Domain


class TestRandomSearch(SearchConformance):
    def make(self, domain, seed=0):
        return RandomSearch(domain, seed)


def test_points_are_uniform():
    search = RandomSearch(Domain.continuous(2), seed=1)
    points = np.array([search.ask().point for _ in range(500)])
    assert min(kstest(points[:, j], "uniform").pvalue for j in range(2)) > 0.01
