import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform

from spotsvm import Study
from spotsvm.errors import ArgumentError
from spotsvm.searches import opening

SPACE = {
    "C": loguniform(2.0**-5, 2.0**5),
    "weight": loguniform(0.5, 2.0),
    "gamma": loguniform(2.0**-5, 2.0**5),
    "degree": randint(2, 5),
    "kernel": ["rbf"],
}


def response(params):
    """Its best point has a weight of 1.5."""
    logs = np.log2([params["C"], params["gamma"], params["weight"] / 1.5])
    return float((logs - [1, -2, 0]) @ (logs - [1, -2, 0]) + params["degree"])


def held(trial):
    return trial.params["weight"] == pytest.approx(1.0) and trial.params["degree"] == 3


@pytest.mark.parametrize("search", ["kriging", "random", "cmaes", "lbfgsb", "vns"])
def test_the_others_are_held_in_the_middle_and_then_opened(search):
    study = Study(SPACE, opening(SPACE, ["gamma", "C"], 12, search), seed=0).run(response, n_trials=30)
    assert search != "kriging" or study._books.n_initial == 6  # of the two first parameters
    assert all(held(t) for t in study.trials[:12])
    assert sum(held(t) for t in study.trials[12:]) <= 2
    assert len({t.params["gamma"] for t in study.trials[:12]}) > 5
    assert "C, gamma" in study.trials[0].note
    assert "all parameters" in study.trials[12].note


def test_all_that_is_known_goes_on_into_the_richer_part():
    """A quadratic of four parameters is near its best after few trials more."""
    study = Study(SPACE, opening(SPACE, ["gamma", "C"], 15), seed=1).run(response, n_trials=45)
    assert study.recommend().value < 2.1
    assert study.recommend().params["degree"] == 2


def test_starts_come_first_and_do_not_count():
    start = [{"C": 2.0, "weight": 0.7, "gamma": 1.0, "degree": 4, "kernel": "rbf"}]
    study = Study(SPACE, opening(SPACE, ["gamma", "C"], 8), seed=0, start=start).run(response, n_trials=10)
    assert [held(t) for t in study.trials] == [False, *[True] * 8, False]


def test_a_record_is_resumed_in_either_part(tmp_path):
    given = opening(SPACE, ["gamma", "C"], 8)
    whole = [t.point for t in Study(SPACE, given, seed=2).run(response, n_trials=14).trials]
    for stop in (7, 11):
        for n_trials in (stop, 14):
            with Study(SPACE, opening(SPACE, ["C", "gamma"], 8), seed=2, path=tmp_path / f"{stop}.db") as study:
                points = [t.point for t in study.run(response, n_trials=n_trials).trials]
        assert points == whole


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([SPACE], ["C"]), "use one dictionary of parameters"),
        ((SPACE, "C"), "first='C'; use a list of parameter names"),
        ((SPACE, ["C", "nu"]), r"first=\['C', 'nu'\]: 'nu' is not a parameter that varies; .* vary are C, weight, gamma, degree"),
        ((SPACE, ["kernel"]), "'kernel' is not a parameter that varies"),
        ((SPACE, []), r"first=\[\]: use some of the parameters, but not all"),
        (({"a": uniform(), "b": uniform()}, ["b", "a"]), "use some of the parameters, but not all"),
        ((SPACE, ["C"], 0), "n_trials=0 is not a number of trials; use 1 or more"),
        ((SPACE, ["C"], 5, 3), "search=3; use a name, such as 'kriging'"),
    ],
)
def test_arguments_that_make_no_sense(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        opening(*arguments)
