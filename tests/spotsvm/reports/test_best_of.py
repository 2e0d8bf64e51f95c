import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.reports.model import best_of, fit_study_model, random_values


def test_quantiles_of_the_best_of_many_draws():
    values = np.random.default_rng(0).normal(size=20_000)
    found = best_of(values, np.array([1, 5, 40]))
    drawn = np.random.default_rng(1).choice(values, size=(20_000, 40))
    for column, m in enumerate((1, 5, 40)):
        expected = np.quantile(drawn[:, :m].min(axis=1), [0.1, 0.5, 0.9])
        assert found[:, column] == pytest.approx(expected, abs=0.05)


def test_more_draws_are_never_worse():
    found = best_of(np.random.default_rng(0).random(50), np.arange(1, 300))
    assert (np.diff(found, axis=1) <= 0).all()
    assert (np.diff(found, axis=0) >= 0).all()
    assert found[:, -1] == pytest.approx(np.random.default_rng(0).random(50).min())


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_the_band_of_the_model_is_where_random_search_ends(noise):
    rng = np.random.default_rng(0)
    space = {"x": uniform(0, 1), "y": uniform(0, 1)}

    def objective(p):
        return 2 - (p["x"] - 0.3) ** 2 - (p["y"] - 0.6) ** 2 + noise * rng.normal()

    study = Study(space, "lhs", 0, direction="maximize", noise=noise > 0).run(objective, n_trials=60)
    model = fit_study_model(study.trials, study.space.domain, study.objectives, 0, noise=study.noise, seed=0)
    band = -best_of(random_values(model, 0), np.array([20]))[:, 0]
    ends = [Study(space, "random", k, direction="maximize").run(objective, n_trials=20).best_trial.value for k in range(40)]
    assert model.noise == pytest.approx(noise, abs=0.1)
    assert band == pytest.approx(np.quantile(ends, [0.9, 0.5, 0.1]), abs=0.02 + 0.5 * noise)
