import numpy as np
from scipy.stats import uniform

from spotsvm import Study

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}


def objective(params):
    return 1e10 if params["x"] > 0.9 else (params["x"] - 0.8) ** 2 + params["y"]


def test_penalties_are_noted_and_modelled_as_failures():
    study = Study(SPACE, seed=3, noise=False).run(objective, n_trials=25)
    bad = [t.number for t in study.trials if t.value == 1e10]
    noted = [t.number for t in study.trials if t.extra.get("penalty") == 1.0]
    assert bad
    assert set(noted) == {number for number in bad if number >= 4}
    assert study.best_trial.value < 0.02
    assert any("failed and are avoided" in t.note for t in study.trials)


def test_the_same_when_maximised():
    study = Study(SPACE, seed=3, noise=False, direction="maximize").run(lambda p: -objective(p), n_trials=14)
    other = Study(SPACE, seed=3, noise=False).run(objective, n_trials=14)
    assert [t.params for t in study.trials] == [t.params for t in other.trials]
    assert [t.extra for t in study.trials] == [t.extra for t in other.trials]


def test_a_recommendation_under_noise_is_not_blunted():
    rng = np.random.default_rng(0)
    study = Study({"x": uniform(0, 1)}, "lhs", seed=0, noise=True)
    study.run(lambda p: 1e10 if p["x"] > 0.9 else (p["x"] - 0.4) ** 2 + 0.01 * rng.normal(), n_trials=40)
    assert abs(study.recommend().params["x"] - 0.4) < 0.15
