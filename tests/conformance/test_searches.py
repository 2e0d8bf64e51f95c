"""Each search of the library keeps the contract of searches, and a search that breaks a part of it is refused."""

import copy
import pickle
import re
from functools import partial

import numpy as np
import pytest
from scipy.stats import loguniform

from spotsvm import Space
from spotsvm.errors import SolverError
from spotsvm.searches import (
    SEARCHES,
    Capabilities,
    CmaesSearch,
    Coordinate,
    Domain,
    KochSearch,
    KrigingSearch,
    LbfgsbSearch,
    MultiObjectiveSearch,
    NestedSearch,
    Nsga2Search,
    ParegoSearch,
    RandomSearch,
    Search,
    Stage,
    Suggestion,
    VnsSearch,
    check_search,
    search_checks,
)
from tests.solvers.search.kriging.test_regressor import PARTS


def nested(inner):
    return lambda domain, seed: NestedSearch(domain, seed, stages=[Stage(domain, 6), Stage(domain, 10)], inner=inner)


#: the searches that take several objectives alone
SEVERAL = {"nsga2", "parego"}
TWO_LINES = Space(
    [
        {"kernel": ["linear"], "C": loguniform(0.01, 10.0)},
        {"kernel": ["rbf"], "C": loguniform(1e-4, 1e4), "gamma": loguniform(1e-3, 10.0)},
    ]
)
#: most points are of the design, as these models take long
parts = partial(KrigingSearch, n_initial=9)
OURS = {
    **{name: search_checks(name) for name in SEARCHES if name not in {*SEVERAL, "koch2011", "keerthi_lin"}},
    "keerthi_lin": search_checks("keerthi_lin", space=TWO_LINES),
    "keerthi_lin, no linear kernel": search_checks("keerthi_lin", 30, space=Space(TWO_LINES.branches[1])),
    # its models take long, and differ from those of the other searches in their fit alone
    "koch2011": {name: search_checks("koch2011", 12)[name] for name in ("same seed", "failures", "exhaustion", "declared")},
    # twice six for the design, the best, one by OCBA, three of a new point, the best
    "koch, noise": search_checks(partial(KochSearch, noise=True, n_initial=6, n_members=2), 18),
    "cmaes, bipop": search_checks(partial(CmaesSearch, restarts="bipop")),
    "lbfgsb, noise": search_checks(partial(LbfgsbSearch, noise=True, n_initial=3)),
    "vns, options": search_checks(partial(VnsSearch, norm="2", plateau="stay", radii="linear", step=0.1, kappa_max=4)),
    "nested vns": search_checks(nested("vns")),
    "nested kriging": search_checks(nested("kriging")),
    "own acquisition": search_checks(partial(parts, **PARTS["Kriging, own"]), 12),
    "own model": search_checks(partial(parts, **PARTS["GPR, PI"]), 12),
    "random model": search_checks(partial(parts, **PARTS["forest, EI"]), 12),
    **{f"{name}, 2 objectives": search_checks(name, n_objectives=2) for name in ("nsga2", "parego", "random", "lhs")},
    "nsga2, 3 objectives": search_checks(partial(Nsga2Search, n_initial=9), 12, n_objectives=3),
    "nsga2, no models": search_checks(partial(Nsga2Search, models=False), n_objectives=2),
    "nsga2, no models, 3 objectives": search_checks(partial(Nsga2Search, models=False, population=4), n_objectives=3),
    "parego, 3 objectives": search_checks(ParegoSearch, 12, n_objectives=3),
}


@pytest.mark.parametrize(("name", "check"), [(name, check) for name, checks in OURS.items() for check in checks])
def test_a_search_of_the_library_keeps_the_contract(name, check):
    OURS[name][check]()


def test_every_name_of_a_search_is_checked():
    assert {name.removesuffix(", 2 objectives") for name in OURS} >= set(SEARCHES)


@pytest.mark.parametrize("name", ["kriging", "vns", "cmaes", "lbfgsb", "nsga2", "parego"])
def test_a_copy_goes_on_by_itself(name):
    several = name in SEVERAL
    mixed = Domain((Coordinate(), Coordinate(levels=7), Coordinate(levels=3, categorical=True)))
    search = SEARCHES[name](mixed, 2, **({"n_objectives": 2} if several else {}))

    def run(one, n):
        for _ in range(n):
            u = one.ask().point
            one.tell(u, [u[0], 1 - u[0] + u[1]] if several else float(((u - 0.3) ** 2).sum()))
            yield u

    list(run(search, {"nsga2": 10, "parego": 14}.get(name, 10)))
    others = copy.deepcopy(search), pickle.loads(pickle.dumps(search))
    points, *more = [list(run(one, 3)) for one in (search, *others)]
    np.testing.assert_array_equal(more, [points, points])


class Right(Search):
    """Random search; each subclass breaks one part of the contract."""

    def suggest(self, rng):
        return Suggestion(self.new_point(rng), "random")


class Outside(Right):
    def suggest(self, rng):
        return Suggestion(rng.normal(0.5, 1.0, self.domain.dimension), "random")


class Between(Right):
    def suggest(self, rng):
        return Suggestion(rng.random(self.domain.dimension), "random")


class Bare(Right):
    def ask(self):
        return super().ask().point


class Again(Right):
    def suggest(self, rng):
        return Suggestion(self.points[-1], "again") if len(self.points) % 5 == 4 else super().suggest(rng)


class FalseReplicate(Right):
    def suggest(self, rng):
        return Suggestion(self.new_point(rng), "replicate")


class GlobalNumbers(Right):
    def suggest(self, rng):
        return super().suggest(np.random)


class Clock(Right):
    drawn = 0

    def suggest(self, rng):
        Clock.drawn += 1
        return super().suggest(np.random.default_rng(Clock.drawn))


class OneSeed(Right):
    def __init__(self, domain, seed):
        super().__init__(domain, 0)


class NoFailures(Right):
    def tell(self, point, value):
        if not np.isfinite(value):
            raise ValueError("the value is not finite")
        super().tell(point, value)


class Penalty(Right):
    def tell(self, point, value):
        super().tell(point, value if np.isfinite(value) else 1e6)


class Mutating(Right):
    def tell(self, point, value):
        super().tell(point, value)
        point *= 0.5


class Keeping(Right):
    """Follows the array that it was given, and not a copy."""

    last = None

    def tell(self, point, value):
        super().tell(point, value)
        self.last = point

    def suggest(self, rng):
        return super().suggest(rng if self.last is None else np.random.default_rng(int(1e6 * self.last[0])))


class NoCopy(Right):
    """Returns the array of its values itself."""

    def tell(self, point, value):
        super().tell(point, value)
        self.own_values = np.append(self.values, value)

    own_values = np.empty(0)

    @property
    def values(self):
        return self.own_values


class Forgetful(Right):
    """Does not know what it has asked for."""

    def suggest(self, rng):
        rng = np.random.default_rng([self.seed, len(self.points)])
        return Suggestion(self.domain.snap_one(rng.random(self.domain.dimension)), "next")


class Unnoted(Right):
    def ask(self):
        return self.suggest(np.random.default_rng([self.seed, len(self.points), len(self._seen)]))


class NeverDone(Right):
    def tell(self, point, value):
        pending = list(self.pending)
        super().tell(point, value)
        self.pending = pending


class FarSighted(Right):
    n_foreseen = 4

    def suggest(self, rng):
        return super().suggest(np.random.default_rng([self.seed, len(self.points), len(self.pending)]))


class NothingForeseen(Right):
    n_foreseen = 0


class OwnPointsOnly(Right):
    def tell(self, point, value):
        if any(np.array_equal(point, waiting) for waiting in self.pending):
            super().tell(point, value)


class Counting(Right):
    """Has a state that it does not return."""

    n_told = 0

    def tell(self, point, value):
        super().tell(point, value)
        self.n_told += 1 if value > 0.2 else 0

    def assume(self, point, *, given=False):
        super().assume(point, given=given)
        self.n_told = 0 if len(self.pending) > 1 else self.n_told

    def suggest(self, rng):
        self.n_told += 1
        return super().suggest(np.random.default_rng([self.seed, self.n_asked, self.n_told]))


class ArrayState(Right):
    def state(self):
        return {"last": self.points}

    def restore(self, state):
        pass


class EndsEarly(Right):
    def suggest(self, rng):
        if len(self.points) > 3 and self.domain.size == 6:
            self._seen.update(point.tobytes() for point in self._enumerate(rng))
        return super().suggest(rng)


class NeverEnds(Right):
    def suggest(self, rng):
        point = self.domain.snap_one(rng.random(self.domain.dimension))
        return Suggestion(point, "random") if len(self.points) >= self.domain.size else super().suggest(rng)


class TakesAll(Right):
    def tell(self, point, value):
        if np.shape(point) == (self.domain.dimension,) and np.isfinite(point).all():
            super().tell(point, value)


class RemembersWrong(Right):
    def tell(self, point, value):
        self.pending.clear()
        super().tell(point, value)


class Unconstrained(Right):
    capabilities = Capabilities(respects_constraints=True)

    def suggest(self, rng):
        return Suggestion(self.domain.snap_one(rng.random(self.domain.dimension)), "random")


class Claiming(Right):
    capabilities = Capabilities(models_bounds=True)


class FirstValueOnly(MultiObjectiveSearch):
    def suggest(self, rng):
        return Suggestion(self.new_point(rng), "random")

    @property
    def values(self):
        return super().values[:, :1]


BROKEN = [
    (Outside, "points", "which is outside the unit cube of dimension 1; clip it to [0, 1]"),
    (Between, "points", "] is; use Domain.snap_one"),
    (Bare, "points", "; return Suggestion(point, origin)"),
    (Again, "points", "is suggested twice; suggest what is_new, or give it the origin 'replicate'"),
    (FalseReplicate, "points", "has the origin 'replicate' and was not evaluated before; use another origin"),
    (GlobalNumbers, "same seed", "numpy's global random numbers change; use the generator of suggest"),
    (Clock, "same seed", "the same seed gives other points; draw from the generator passed to suggest alone"),
    (OneSeed, "other seed", "another seed gives the same points; pass the seed to Search.__init__"),
    (NoFailures, "failures", "tell does not accept the value inf of a failed evaluation"),
    (Penalty, "failures", "after every second evaluation failed; it must be nan there, and there alone"),
    (Mutating, "own arrays", "; work on a copy"),
    (Keeping, "own arrays", "the suggestions depend on arrays that the caller changed after tell; copy them"),
    (NoCopy, "own arrays", "values is no copy, so that a caller can change the history"),
    (Forgetful, "pending", "is suggested twice; suggest what is_new"),
    (Unnoted, "pending", "pending has 0 points after 1 calls of ask; ask must call assume, as Search.ask does"),
    (NeverDone, "pending", "ask must call assume"),
    (FarSighted, "foreseen", "n_foreseen is 4, and a point among the next 4 depends on values reported meanwhile; return fewer"),
    (NothingForeseen, "foreseen", "n_foreseen is 0; it must be at least 1"),
    (OwnPointsOnly, "strangers", "points has 0 of 9 reported points; tell must call Search.tell"),
    (Counting, "resumption", "a resumed search suggests"),
    (ArrayState, "resumption", "which JSON cannot hold; use numbers, texts, lists, dicts"),
    (EndsEarly, "exhaustion", "SearchExhaustedError is raised after 4 of 6 configurations"),
    (NeverEnds, "exhaustion", "suggestions continue after all configurations were reported; raise SearchExhaustedError"),
    (TakesAll, "refusals", "tell takes point=[0.1], value="),
    (RemembersWrong, "refusals", "a refused point or value is remembered"),
    (Unconstrained, "declared", "respects_constraints is declared, and"),
]


@pytest.mark.parametrize(("search", "check", "message"), BROKEN, ids=[f"{row[0].__name__}" for row in BROKEN])
def test_a_search_that_breaks_the_contract_is_refused(search, check, message):
    with pytest.raises(AssertionError, match=re.escape(message)):
        search_checks(search, 12)[check]()


def test_every_check_refuses_a_search():
    single = {check for _, check, _ in BROKEN}
    assert single == set(search_checks(RandomSearch))
    several = search_checks(FirstValueOnly, n_objectives=2)
    assert set(several) - single == {"several values"}
    with pytest.raises(AssertionError, match=r"values has the shape \(0, 1\) at first; use \(0, 2\)"):
        several["several values"]()


def test_what_a_search_declares_and_lacks_is_refused_at_once():
    with pytest.raises(SolverError, match="models_bounds=True, and there is no Claiming.take_margins"):
        check_search(Claiming)


class Grid:
    """A user's own object: it needs ask and tell alone."""

    def __init__(self, domain, seed):
        self.points = np.random.default_rng(seed).random((200, domain.dimension))
        self.n = 0

    def ask(self):
        self.n += 1
        return self.points[self.n]

    def tell(self, point, value):
        float(value)


def test_an_object_with_ask_and_tell_has_fewer_checks():
    check_search(Grid)
    assert list(search_checks(Grid)) == ["points", "same seed", "failures", "own arrays"]
    outside = type("Outside", (Grid,), {"ask": lambda self: super(outside, self).ask() + 1})
    with pytest.raises(AssertionError, match="outside the unit cube of dimension 1") as raised:
        check_search(outside)
    assert raised.value.__notes__ == ["on the domain 'one', with the response 'bowl'", "in the check 'points'"]


@pytest.mark.parametrize(
    ("make", "options", "said"),
    [
        (RandomSearch(Domain.continuous(1)), {}, "is one search, and each check needs new ones; use its class"),
        (RandomSearch, {"n": 11}, "n=11 is too few evaluations, or no number of them; use 12 or more"),
        (RandomSearch, {"n": "many"}, "n='many' is too few evaluations, or no number of them; use 12 or more"),
        (RandomSearch, {"n_objectives": 0}, "n_objectives=0 is not a number of values; use 1 or more"),
        ("bayes", {}, "search='bayes' is unknown"),
    ],
)
def test_what_makes_no_searches_is_refused(make, options, said):
    with pytest.raises(SolverError, match=said):
        check_search(make, **options)
