import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.solvers.search.kriging.ocba import ocba_next, ocba_shares


def test_shares_follow_the_theorem():
    """Chen et al. 2000, theorem 1, by hand: means 1, 2, 3, 4, equal variances: N_2 : N_3 : N_4 = 1 : 1/4 : 1/9."""
    shares = ocba_shares([1.0, 2.0, 3.0, 4.0], [9.0] * 4)
    assert np.allclose(shares[1:] / shares[1], [1, 1 / 4, 1 / 9])
    assert np.isclose(shares[0], np.sqrt((shares[1:] ** 2).sum()))
    assert np.allclose(ocba_shares([1.0, 1.0], [1.0, 1.0]), [0.5, 0.5])
    assert ocba_shares([3.0], [1.0]).tolist() == [1.0]


USUAL, ANY = st.tuples(st.floats(-100, 100), st.floats(1e-3, 100)), st.tuples(st.floats(-1e300, 1e300), st.floats(1e-300, 1e300))


@given(st.lists(USUAL, min_size=1, max_size=8) | st.lists(ANY, min_size=1, max_size=8))
@example([(0.0, 1.0), (1e300, 1.0)])
@example([(0.0, 5e-324), (0.0, 1e308)])
def test_shares_of_any_span(candidates):
    shares = ocba_shares([m for m, _ in candidates], [v for _, v in candidates])
    assert np.isclose(shares.sum(), 1.0)
    assert (shares >= 0).all()
    if all(abs(m) <= 100 and 1e-3 <= v <= 100 for m, v in candidates):
        assert (shares > 0).all()


@pytest.mark.parametrize(
    ("mean", "variance"),
    [
        ([], []),
        ([1.0], [0.0]),
        ([1.0, 2.0], [1.0]),
        ([0.0, np.inf], [1.0, 1.0]),
        ([np.nan, 0.0], [1.0, 1.0]),
        ([0.0, 1.0], [1.0, np.inf]),
    ],
)
def test_what_describes_no_candidates_is_refused(mean, variance):
    with pytest.raises(SolverError, match="do not describe candidates"):
        ocba_shares(mean, variance)


def test_choosing_the_best_succeeds_more_often_than_with_equal_shares():
    mean, sd = np.array([0.0, 0.3, 1.0, 1.2, 1.4]), 1.0
    hits = {"ocba": 0, "equal": 0}
    for seed in range(600):
        rng = np.random.default_rng(seed)
        for way in hits:
            sums, counts = mean * 3 + sd * np.sqrt(3) * rng.normal(size=5), np.full(5, 3.0)
            for step in range(60):
                k = ocba_next(sums / counts, np.full(5, sd**2), counts) if way == "ocba" else step % 5
                sums[k] += mean[k] + sd * rng.normal()
                counts[k] += 1
            hits[way] += int(np.argmin(sums / counts) == 0)
    assert hits["ocba"] > hits["equal"] + 20
