import numpy as np

from spotsvm.solvers.search.cmaes_search import Restarts


def test_ipop_doubles_up_to_a_limit():
    restarts = Restarts("ipop", 6, 0.25)
    sizes = []
    for _ in range(12):
        sizes.append(restarts.next(np.random.default_rng(0)))
        restarts.spend(100)
        restarts.end(all_failed=False)
    assert sizes == [(6 * 2 ** min(k, 9), 0.25) for k in range(12)]
    assert restarts.n_runs == 12
    failing = Restarts("ipop", 6, 0.25)
    for _ in range(3):  # a run of failures is repeated as it was
        assert failing.next(np.random.default_rng(0)) == (6, 0.25)
        failing.end(all_failed=True)


def test_bipop_spends_as_much_on_small_runs_as_on_large_ones():
    restarts = Restarts("bipop", 10, 0.3)
    spent, first = {"large": 0, "small": 0}, True
    for k in range(40):
        size, width = restarts.next(np.random.default_rng(k))
        small = width < 0.3
        assert 10 <= size <= 10 * 2**9
        assert 0.003 <= width <= 0.3
        if not first:
            assert not small or spent["small"] < spent["large"]
            spent["small" if small else "large"] += 10 * size
        restarts.spend(10 * size)
        restarts.end(all_failed=False)
        first = False
    assert 0.4 < spent["small"] / spent["large"] < 1.5
