import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.solvers.search.kriging.ocba import ocba_shares


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
