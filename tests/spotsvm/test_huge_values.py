import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Study

SQUARE = {"x": uniform(-1, 2), "y": uniform(-1, 2)}


def scaled(unit):
    return lambda p: unit * float(np.sign(p["x"])) * p["y"] ** 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("noise", [False, "auto", True])
@pytest.mark.parametrize("search", ["kriging", "random"])
@pytest.mark.parametrize("unit", [1e300, 1.7e308])
def test_values_near_the_largest_number_are_searched_and_reported_without_a_warning(tmp_path, search, noise, unit):
    study = Study(SQUARE, search, 0, noise=noise).run(scaled(unit), n_trials=20)
    assert study.report(tmp_path / "report.html").stat().st_size > 0
    assert np.isfinite(study.recommend().value)


@pytest.mark.filterwarnings("error")
def test_a_search_among_huge_values_is_that_among_small_ones():
    """A power of two changes no digit, so the suggestions are the same to the last bit."""
    huge, small = (Study(SQUARE, "kriging", 0).run(scaled(2.0**power), n_trials=20) for power in (1023, 0))
    assert [t.point for t in huge.trials] == [t.point for t in small.trials]


@pytest.mark.filterwarnings("error")
def test_what_is_recommended_among_huge_values_is_that_among_small_ones():
    huge, small = (Study(SQUARE, "lhs", 0, noise=True).run(scaled(2.0**power), n_trials=20).recommend() for power in (1020, 0))
    assert huge.number == small.number
    assert huge.value / 2.0**1020 == small.value
    assert huge.standard_error / 2.0**1020 == small.standard_error


@pytest.mark.filterwarnings("error")
def test_the_stop_rule_and_the_hypervolume_take_huge_values():
    rng = np.random.default_rng(0)
    study = Study(SQUARE, "lhs", 0, noise=True)
    study.run(lambda p: scaled(1.7e308)(p) * (1 - 0.1 * rng.random()), n_trials=30, stop="uncertainty")
    assert study.n_finished <= 30
    two = Study(SQUARE, "random", 0, direction=("minimize", "maximize"))
    assert len(two.run(lambda p: {"values": [1.7e308 * p["x"], 1.0]}, n_trials=10).hypervolume()) == 10
