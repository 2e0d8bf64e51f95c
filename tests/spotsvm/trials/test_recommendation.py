from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Recommendation, Study

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}


def bowl(params):
    return (params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2


def noisy(seed, sd=0.1):
    rng = np.random.default_rng([seed, 77])
    return lambda params: bowl(params) + sd * rng.normal()


@pytest.mark.parametrize(("search", "direction"), [("kriging", "minimize"), ("random", "maximize")])
def test_without_noise_it_is_the_best_observed(search, direction):
    study = Study(SPACE, search, 1, direction=direction).run(bowl, 12)
    best = study.recommend()
    assert best.basis == "observed"
    assert best.number == best.best_seen_number == study.best_trial.number
    assert best.params == best.best_seen_params == study.best_trial.params
    assert best.value == best.best_seen_value == study.best_trial.value
    assert (best.standard_error, best.best_seen_standard_error) == (0.0, 0.0)
    assert best.n_evaluations >= 1


def test_under_noise_it_is_predicted_and_the_best_seen_stands_beside_it():
    study = Study(SPACE, "kriging", 1).run(noisy(1), 25)
    best = study.recommend()
    values = [t.value for t in study.trials]
    assert best.basis == "predicted"
    assert best.best_seen_value == min(values) == study.best_trial.value
    assert best.best_seen_number == int(np.argmin(values))
    assert best.best_seen_standard_error > 0
    assert best.standard_error > 0
    assert best.value > best.best_seen_value
    assert study.trials[best.number].params == best.params
    assert best.n_evaluations == sum(t.params == best.params for t in study.trials)


def test_it_is_printed_as_a_table():
    found = Recommendation(
        {"C": 12.345678, "kernel": "rbf"}, 7, 0.25, 0.0, "observed", 1, {"C": 12.345678, "kernel": "rbf"}, 7, 0.25, 0.0
    )
    assert repr(found).splitlines() == [
        "Recommendation (observed, 1 evaluation)",
        "        recommended",
        "trial   7",
        "value   0.25",
        "C       12.3457",
        "kernel  rbf",
    ]
    seen = {"C": 1.0, "kernel": "poly", "degree": 3}
    noisy = replace(found, basis="predicted", standard_error=0.125, n_evaluations=3, best_seen_params=seen, best_seen_number=12)
    assert str(noisy).splitlines() == [
        "Recommendation (predicted, 3 evaluations)",
        "                recommended  best seen",
        "trial           7            12",
        "value           0.25         0.25",
        "standard error  0.125        0",
        "C               12.3457      1",
        "kernel          rbf          poly",
        "degree                       3",
    ]
    hostile = repr(replace(found, params={"C": "a\x1b[2J\nb" * 100}))
    assert "\x1b" not in hostile
    assert max(map(len, hostile.splitlines())) < 140
