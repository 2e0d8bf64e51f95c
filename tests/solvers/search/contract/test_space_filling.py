import numpy as np
import pytest
from scipy.stats import kstest

from spotsvm.searches import Domain, LatinHypercubeSearch, RandomSearch


def test_each_hypercube_visits_each_slice_once():
    search = LatinHypercubeSearch(Domain.continuous(3), seed=2, size=10)
    points = np.array([search.ask().point for _ in range(20)])
    for block in (points[:10], points[10:]):
        assert (np.sort((10 * block).astype(int), axis=0) == np.arange(10)[:, None]).all()
    assert not np.array_equal(points[:10], points[10:])
    with pytest.raises(ValueError, match="size=0"):
        LatinHypercubeSearch(Domain.continuous(1), size=0)


def test_random_points_are_uniform():
    search = RandomSearch(Domain.continuous(2), seed=1)
    points = np.array([search.ask().point for _ in range(500)])
    assert min(kstest(points[:, j], "uniform").pvalue for j in range(2)) > 0.01
