"""All searches of a comparison begin with the same evaluations."""

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform

from spotsvm import Space, Study, compare

SPACE = {"C": loguniform(0.01, 100), "gamma": loguniform(2**-15, 2**3)}


def valley(params):
    return (np.log10(params["C"]) - 0.7) ** 2 + (np.log2(params["gamma"]) + 3) ** 2


@pytest.mark.parametrize("search", ["kriging", "lbfgsb"])
def test_a_centre_that_fails_is_not_evaluated_again(search):
    def broken_near_the_centre(params):
        return np.nan if abs(np.log10(params["C"])) < 1e-6 else valley(params)

    (run,) = compare(broken_near_the_centre, SPACE, [search], n_trials=12, seeds=1).runs
    assert [t.state for t in run.trials] == ["failed"] + ["ok"] * 11


def test_an_integer_beside_the_middle_one_is_none():
    space = Space({"n": randint(0, 2**41 + 1), "x": uniform(0, 1)})
    study = Study(space, "random", 0, start=[{"n": 2**40 + k, "x": 0.5} for k in range(3)])
    assert [study.ask().params["n"] for _ in range(3)] == [2**40, 2**40 + 1, 2**40 + 2]


def test_a_comparison_recorded_before_starts_were_equal_goes_on(tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "random_seed0.db") as study:
        study.run(valley, 4)
    (run,) = compare(valley, SPACE, ["random"], n_trials=7, seeds=1, path=tmp_path).runs
    assert [t.params for t in run.trials[:4]] == [t.params for t in study.trials]
    assert [t.origin for t in run.trials[4:]] == ["start", "random", "random"]
    (again,) = compare(valley, SPACE, ["random"], n_trials=7, seeds=1, path=tmp_path).runs
    assert again == run


def test_a_record_that_started_within_rounding_of_the_centre_is_resumed(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("spotsvm.study.given.ROUNDING", 0.0)
        with Study(SPACE, "random", 0, start={"C": 1.0, "gamma": 2.0**-6}, path=tmp_path / "random_seed0.db") as study:
            study.run(valley, 2)
    (run,) = compare(valley, SPACE, ["random"], n_trials=4, seeds=1, path=tmp_path).runs
    assert [t.origin for t in run.trials] == ["start", "random", "random", "random"]
