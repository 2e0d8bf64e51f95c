from functools import partial

import numpy as np
import pytest

from solvers.errors import SolverError
from solvers.search import SEARCHES, KrigingSearch, RandomSearch, describe_search, make_search
from surrogates.domain import Domain

DOMAIN = Domain.continuous(2)


class Mine:
    def ask(self):
        return np.array([0.5, 0.5])

    def tell(self, point, value):
        pass


@pytest.mark.parametrize("name", SEARCHES)
def test_names(name):
    assert make_search(name, DOMAIN, 3).seed == 3
    assert describe_search(name) == name


def test_what_is_known_of_noise_reaches_the_searches_that_use_it():
    assert make_search("kriging", DOMAIN, 0, noise=False).noise is False
    assert make_search("koch2011", DOMAIN, 0, noise=True).noise is True
    assert isinstance(make_search("random", DOMAIN, 0, noise=True), RandomSearch)


def test_objects_classes_and_partials():
    mine = Mine()
    assert make_search(mine, DOMAIN, 0) is mine
    assert isinstance(make_search(RandomSearch, DOMAIN, 0), RandomSearch)
    made = make_search(partial(KrigingSearch, correlation="gaussian", n_initial=9), DOMAIN, 0)
    assert (made.n_initial, made._ensemble.correlation.name) == (9, "gaussian")


def test_descriptions_tell_searches_apart():
    assert describe_search(Mine()) == describe_search(Mine) != describe_search(RandomSearch)
    a, b = (partial(KrigingSearch, n_initial=k) for k in (8, 9))
    assert describe_search(a) != describe_search(b)
    assert describe_search(a) == describe_search(partial(KrigingSearch, n_initial=8))


@pytest.mark.parametrize("search", ["bayes", 3, None])
def test_an_unknown_search_is_refused(search):
    with pytest.raises(SolverError, match=f"search={search!r}"):
        make_search(search, DOMAIN, 0)


def test_a_callable_that_makes_no_search_is_refused():
    with pytest.raises(SolverError, match="which has no ask and tell"):
        make_search(lambda domain, seed: 5, DOMAIN, 0)
