import numpy as np
import pytest

from spotsvm.surrogates.design import initial_design
from spotsvm.surrogates.domain import Coordinate, Domain


def test_centre_and_latin_hypercube():
    design = initial_design(Domain.continuous(3), 9, np.random.default_rng(0))
    assert design[0].tolist() == [0.5] * 3
    assert (np.sort((8 * design[1:]).astype(int), axis=0) == np.arange(8)[:, None]).all()
    assert initial_design(Domain.continuous(3), 8, np.random.default_rng(0), centre=False).shape == (8, 3)
    domain = Domain((Coordinate(levels=3), Coordinate()))
    snapped = initial_design(domain, 6, np.random.default_rng(0))
    assert np.array_equal(snapped, domain.snap(snapped))
    with pytest.raises(ValueError, match="n=0 is not a number of points"):
        initial_design(domain, 0, np.random.default_rng(0))
