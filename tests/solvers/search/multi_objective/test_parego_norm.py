"""The first model of ParEGO."""

import numpy as np
from driven import drive, two_bowls

from spotsvm.searches import Domain, KrigingSearch, ParegoSearch
from spotsvm.solvers.search.checks import replayed
from spotsvm.solvers.search.multi_objective.parego_search import augmented_tchebycheff


def test_the_first_model_is_the_kriging_search_s_of_the_norm():
    """After the design both search the same response, so they suggest the same point."""
    search = ParegoSearch(Domain.continuous(2), 3, noise=False)
    drive(search, two_bowls, 6)
    response = augmented_tchebycheff(search.values, search.weights)
    other = replayed(KrigingSearch(Domain.continuous(2), 3, noise=False), search.points, response)
    assert np.array_equal(search.ask().point, other.ask().point)
