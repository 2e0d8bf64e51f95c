from functools import partial

import numpy as np
import pytest

from spotsvm.errors import SolverError
from spotsvm.searches import (
    SEARCHES,
    Capabilities,
    Domain,
    KrigingSearch,
    LatinHypercubeSearch,
    MultiObjectiveSearch,
    NestedSearch,
    Nsga2Search,
    ParegoSearch,
    RandomSearch,
    Stage,
    register_search,
)
from spotsvm.solvers.search import capabilities_of, describe_search, make_search, needs_several_objectives, registry

DOMAIN = Domain.continuous(2)


class Mine:
    def ask(self):
        return np.array([0.5, 0.5])

    def tell(self, point, value):
        pass


@pytest.mark.parametrize("search", ["nsga2", "random", "lhs", ParegoSearch, partial(LatinHypercubeSearch, size=9)])
def test_searches_of_several_objectives(search):
    made = make_search(search, DOMAIN, 3, n_objectives=3)
    assert isinstance(made, MultiObjectiveSearch)
    assert (made.n_objectives, made.seed) == (3, 3)
    made.tell(made.ask().point, [1.0] * 3)
    assert getattr(made, "size", 9) == (25 if search == "lhs" else 9)
    if search == "random":
        assert np.array_equal(made.points[0], make_search("random", DOMAIN, 3).ask().point)
        assert made.n_foreseen > 1


@pytest.mark.parametrize("search", ["nsga2", "parego", Nsga2Search, partial(ParegoSearch, n_initial=9), ParegoSearch(DOMAIN)])
def test_a_search_of_several_objectives_is_refused_for_one(search):
    assert needs_several_objectives(search)
    with pytest.raises(SolverError, match="is for two or more objectives, and there is one; name a direction for each"):
        make_search(search, DOMAIN, 0)


@pytest.mark.parametrize(
    "search", ["kriging", "koch2011", KrigingSearch, partial(KrigingSearch, n_initial=9), KrigingSearch(DOMAIN)]
)
def test_a_search_of_one_objective_is_refused_for_several(search):
    assert not needs_several_objectives(search)
    with pytest.raises(SolverError, match="has one objective, and there are 2; use one of random, lhs, nsga2, parego"):
        make_search(search, DOMAIN, 0, n_objectives=2)


def test_a_search_made_for_another_number_of_objectives_is_refused():
    for search in (Nsga2Search(DOMAIN, n_objectives=2), lambda domain, seed: Nsga2Search(domain, seed)):
        assert make_search(search, DOMAIN, 0, n_objectives=2).n_objectives == 2
        with pytest.raises(SolverError, match="was made for 2 objectives, and there are 3; make it with n_objectives=3"):
            make_search(search, DOMAIN, 0, n_objectives=3)


@pytest.mark.parametrize(
    ("search", "noise", "used"),
    [
        ("kriging", False, False),
        ("koch2011", True, True),
        ("parego", False, False),
        ("lbfgsb", False, False),
        ("lbfgsb", True, True),
        (KrigingSearch, False, False),
        (partial(partial(KrigingSearch, n_initial=9), centre=False), True, True),
        (partial(KrigingSearch, noise=True), False, True),
        (lambda domain, seed, noise="auto": KrigingSearch(domain, seed, noise=noise), True, "auto"),
    ],
)
def test_what_is_known_of_noise_reaches_what_uses_it_and_does_not_say_otherwise(search, noise, used):
    made = make_search(search, DOMAIN, 0, noise=noise, n_objectives=2 if needs_several_objectives(search) else 1)
    assert made.noise == used


def test_what_is_known_of_noise_reaches_a_nested_search_and_does_not_disturb_others():
    assert isinstance(make_search("nsga2", DOMAIN, 0, noise=False, n_objectives=2), Nsga2Search)
    assert isinstance(make_search("random", DOMAIN, 0, noise=True), RandomSearch)
    nested = partial(NestedSearch, stages=[Stage(DOMAIN, 9)], inner="lbfgsb")
    assert make_search(nested, DOMAIN, 0, noise=True)._inners[0].noise is True


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (6, r"Declaring.capabilities=6 is invalid; use Capabilities\(\.\.\.\)"),
        (Capabilities(n_initial=-1), "Declaring.capabilities has n_initial=-1; use a number of points, 0 or more"),
        (Capabilities(max_given=np.nan), "Declaring.capabilities has max_given=nan; use a number of points, 0 or more"),
        (Capabilities(models_bounds=True), "models_bounds=True, and there is no Declaring.take_margins; write it, or use False"),
        (
            Capabilities(models_seconds=True),
            "models_seconds=True, and there is no Declaring.take_seconds; write it, or use False",
        ),
    ],
)
@pytest.mark.parametrize("base", [Mine, RandomSearch])
def test_what_a_search_declares_is_checked_when_it_is_made(base, declared, message):
    search = type("Declaring", (base,), {"capabilities": declared})
    with pytest.raises(SolverError, match=message):
        make_search(search() if base is Mine else search, DOMAIN, 0)


def test_an_object_of_ones_own_declares_nothing_or_what_it_can():
    assert capabilities_of(make_search(Mine(), DOMAIN, 0)) == Capabilities()
    able = type("Able", (Mine,), {"capabilities": Capabilities(models_bounds=True), "take_margins": lambda self, margins: None})
    assert capabilities_of(make_search(able(), DOMAIN, 0)).models_bounds


def test_descriptions_tell_searches_apart():
    assert describe_search(Mine()) == describe_search(Mine) != describe_search(RandomSearch)
    a, b = (partial(KrigingSearch, n_initial=k) for k in (8, 9))
    assert describe_search(a) != describe_search(b)
    assert describe_search(a) == describe_search(partial(KrigingSearch, n_initial=8))


@pytest.mark.parametrize(
    ("search", "said"),
    [
        *((unknown, f"search={unknown!r}") for unknown in ("bayes", 3, None)),
        (lambda domain, seed: 5, "which has no ask and tell"),
    ],
)
def test_an_unknown_search_is_refused(search, said):
    with pytest.raises(SolverError, match=said):
        make_search(search, DOMAIN, 0)


def test_a_search_is_registered_by_a_function(monkeypatch):
    monkeypatch.setattr(registry, "_SEARCHES", searches := dict(SEARCHES))
    monkeypatch.setattr(registry, "SEARCHES", searches)
    mine = partial(RandomSearch)
    assert register_search("my-own_1", mine) == "my-own_1"
    assert register_search("my-own_1", mine) == "my-own_1"
    assert isinstance(make_search("my-own_1", Domain.continuous(2), 0), RandomSearch)
    with pytest.raises(SolverError, match="search='yours' is unknown; use one of kriging, .*, my-own_1, or"):
        make_search("yours", Domain.continuous(2), 0)
    for name, factory, message in (
        ("kriging", mine, "name='kriging' is another search's already; use another name"),
        ("", mine, "name='' is no name of a search; use letters"),
        (3, mine, "name=3 is no name"),
        ("other", RandomSearch(Domain.continuous(1)), "factory=.* cannot be called; use a class"),
    ):
        with pytest.raises(SolverError, match=message):
            register_search(name, factory)


def test_searches_by_name_are_only_read():
    with pytest.raises(TypeError, match="does not support item assignment"):
        SEARCHES["mine"] = RandomSearch
