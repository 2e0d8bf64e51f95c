from functools import partial

import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Space, Study
from spotsvm.comparison.runs import (
    Task,
    check_entrants,
    checked_seeds,
    labelled_searches,
    recommended_number,
    record_name,
    run_search,
    takes_seed,
)
from spotsvm.errors import ArgumentError, BudgetError
from spotsvm.searches import Domain, KrigingSearch, LatinHypercubeSearch, Nsga2Search, ParegoSearch, RandomSearch

SPACE = Space({"x": uniform(0, 1)})


class Counted:
    def __call__(self, params, seed=None):
        return {"value": params["x"], "seed": seed}


def test_who_takes_a_seed():
    assert takes_seed(Counted())
    assert takes_seed(lambda params, *, seed=0: 0.0)
    assert takes_seed(partial(lambda weight, params, seed: 0.0, 2.0))
    without = (lambda seed: 0.0, lambda params, **named: 0.0, partial(lambda params, seed: 0.0, seed=3), dict.get, min)
    assert not any(map(takes_seed, without))


def test_the_seed_is_the_trials():
    run = run_search(Task(Counted(), SPACE, 4), "r", "random", 7)
    assert [t.extra["seed"] for t in run.trials] == [t.seed for t in run.trials]
    study = Study(SPACE, "random", 7)
    assert [t.seed for t in run.trials] == [study.ask().seed for _ in range(4)]


def test_nothing_is_recommended_where_nothing_has_succeeded():
    def broken(params):
        raise ValueError("no")

    run = run_search(Task(broken, SPACE, 3), "r", "random", 0)
    assert run.recommended is None
    assert [t.state for t in run.trials] == ["failed"] * 3
    assert recommended_number((), Task(broken, SPACE, 3), 0) is None


@pytest.mark.parametrize("pair", [("a/b", "a_b"), ("A", "a"), ("a b", "a/b"), ("x", "y")])
def test_no_two_labels_share_a_file(pair):
    names = [record_name(label, 0) for label in pair]
    assert len({name.lower() for name in names}) == 2
    assert not any(set(name) & set('/\\:*?"<>| ') for name in names)


@pytest.mark.parametrize("label", ["../../etc/passwd", "", "CON", "a/b", "x" * 1000, "\ud800"])
def test_the_name_of_a_record_never_leaves_its_folder(tmp_path, label):
    file = tmp_path / record_name(label, 3)
    assert file.resolve().parent == tmp_path.resolve()
    file.write_bytes(b"")
    assert file.name not in {record_name(f"{label}'", 3), record_name(label, 4)}
    assert file.name.split("_seed")[0].lower() not in {"con", "nul", "aux", "prn"} or "_" in file.name


def test_labels():
    ten = partial(LatinHypercubeSearch, size=10)
    given = ["random", RandomSearch, ten, ("mine", "lhs")]
    assert labelled_searches(given) == {
        "random": "random",
        "RandomSearch": RandomSearch,
        "LatinHypercubeSearch(size=10)": ten,
        "mine": "lhs",
    }
    assert list(labelled_searches({"a": "random", "b": "random"})) == ["a", "b"]
    assert labelled_searches(["random", "lhs"], names=["r", "l"]) == {"r": "random", "l": "lhs"}
    assert list(labelled_searches(("random", "lhs"))) == ["random", "lhs"]


@pytest.mark.parametrize(
    ("searches", "names", "text"),
    [
        ([], None, "searches is empty"),
        ("kriging", None, r"searches='kriging' is not a list of searches; use for example \['kriging', 'random'\]"),
        (["random", "lhs", "random"], None, "two searches have the label 'random'; use .* different labels"),
        (["random", "lhs"], ["x"], r"names=\['x'\] does not fit 2 searches"),
        (["random"], "r", "names='r' does not fit"),
        ([(3, "lhs")], None, "label=3 of a search is not a name"),
        (["random", "nsga2"], None, "search 'nsga2' is for several objectives, whose values cannot be ranked"),
        ([Nsga2Search], None, "search 'Nsga2Search' is for several objectives"),
        ([partial(ParegoSearch, rho=0.1)], None, r"search 'ParegoSearch\(rho=0.1\)' is for several objectives"),
        ([RandomSearch(Domain.continuous(1))], None, "search 'RandomSearch' is a single object, but each seed needs a new one"),
        ([("n", 7)], None, "search 'n' is 7; use a name, or a callable"),
    ],
)
def test_what_is_no_set_of_searches(searches, names, text):
    with pytest.raises(ArgumentError, match=text):
        labelled_searches(searches, names)


def test_seeds():
    assert checked_seeds(2) == [0, 1]
    assert checked_seeds(np.int64(1)) == [0]
    assert checked_seeds((9, 3)) == [9, 3]
    assert checked_seeds(np.arange(4, 6)) == [4, 5]
    assert all(type(seed) is int for seed in checked_seeds(np.arange(3)))


@pytest.mark.parametrize(
    ("seeds", "text"),
    [
        (0, "seeds=0 is not a number of runs; use 1 or more"),
        ([], "seeds is empty"),
        ([1, 1.5], "1.5 is not a seed; use integers of at least 0"),
        ([True, 2], "True is not a seed"),
        (True, "seeds=True is neither"),
        (2.0, "seeds=2.0 is neither a number of runs nor a list"),
        ([4, 2, 4], "seeds has 4 more than once"),
    ],
)
def test_what_are_no_seeds(seeds, text):
    with pytest.raises(ArgumentError, match=text):
        checked_seeds(seeds)


def check(searches, n_trials, space=None):
    space = Space(space or {"x": uniform(0, 1)})
    check_entrants(labelled_searches(searches), space, n_trials, noise="auto")


def test_whose_search_cannot_be_made_or_paid_for():
    check(["random", ("wide", partial(KrigingSearch, n_initial=9))], 9)
    check([("wide", partial(KrigingSearch, n_initial=9))], 8, {"x": [1, 2, 3]})
    with pytest.raises(BudgetError, match=r"search 'wide': n_trials=8 is below the initial design of 9"):
        check(["random", ("wide", partial(KrigingSearch, n_initial=9))], 8)
    for n_trials in (-1, 2.5, True, "9"):
        with pytest.raises(BudgetError, match="is not a number of evaluations; use 1 or more"):
            check(["random"], n_trials)
    with pytest.raises(ArgumentError, match="search 'b' cannot be created: search='powell' is unknown"):
        check([("a", "random"), ("b", "powell")], 20)
    with pytest.raises(ArgumentError, match="search 'odd' cannot be created: .* has no ask and tell"):
        check([("odd", lambda domain, seed: 3)], 20)
