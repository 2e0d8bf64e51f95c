"""The one start of several searches."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform

from spotsvm import Space, Study, compare
from spotsvm.searches import SEARCHES, Domain, KeerthiLinSearch, NestedSearch, Stage
from spotsvm.solvers.search import needs_several_objectives
from spotsvm.study.given import equal_start

SPACE = {"C": loguniform(0.01, 100), "gamma": loguniform(2**-15, 2**3)}
START = {"C": 10.0, "gamma": 0.01}
MIXED = [{"kernel": ["rbf"], "C": loguniform(0.01, 100)}, {"kernel": ["poly"], "C": uniform(0, 4), "degree": randint(2, 7)}]
ONE_OBJECTIVE = [name for name in SEARCHES if not needs_several_objectives(name)]
STAGES = [
    Stage(Domain.continuous(1), 6, lambda u: np.repeat(u, 2), lambda u: u[:1], name="equal"),
    Stage(Domain.continuous(2), 6, name="free"),
]


def valley(params):
    return (np.log10(params["C"]) - 0.7) ** 2 + (np.log2(params["gamma"]) + 3) ** 2


def test_every_search_begins_with_the_given_start_and_the_centre_and_evaluates_them_once():
    searches = {name: name for name in ONE_OBJECTIVE} | {"nested": partial(NestedSearch, stages=STAGES)}
    searches["keerthi_lin"] = partial(KeerthiLinSearch, n_costs=4, n_widths=5)
    comparison = compare(valley, SPACE, searches, n_trials=13, seeds=1, start=START)
    assert len(comparison.runs) == len(ONE_OBJECTIVE) + 1
    first, centre = (pytest.approx(params) for params in equal_start(SPACE, START))
    for run in comparison.runs:
        assert [t.params for t in run.trials[:2]] == [first, centre], run.search
        assert [t.origin == "start" for t in run.trials] == [True, True, *[False] * 11], run.search
        asked = [t.point for t in run.trials if t.origin != "replicate"]
        assert len(set(asked)) == len(asked), run.search
    assert len({tuple(t.value for t in run.trials[:2]) for run in comparison.runs}) == 1


def test_the_centre_of_a_conditional_space_is_that_of_each_dictionary():
    assert equal_start(MIXED) == [
        {"kernel": "rbf", "C": pytest.approx(1.0)},
        {"kernel": "poly", "C": pytest.approx(2.0), "degree": 4},
    ]
    runs = compare(lambda p: p["C"], MIXED, ["random", "kriging"], n_trials=8, seeds=1).runs
    for run in runs:
        assert [t.params["kernel"] for t in run.trials[:2]] == ["rbf", "poly"]
        assert len({t.point for t in run.trials if t.origin != "replicate"}) >= 7


def test_the_centre_is_one_point_to_the_bit_however_it_is_written():
    exact = Space(SPACE).domain.snap_one([0.5, 0.5])
    written = {"C": 1.0, "gamma": 2.0**-6}
    assert Space(SPACE).encode(written).tolist() != exact.tolist()  # by rounding
    study = Study(SPACE, "random", 0, start=[written, *equal_start(SPACE)])
    assert study.ask().point == tuple(exact)
    assert study.ask().origin == "random"
