import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform

from spotsvm import Space, Study
from spotsvm.reports.axes import branch_labels, study_axes
from spotsvm.reports.model import best_of, fit_study_model, random_values
from spotsvm.reports.view import importance, main_effects


def modelled(space, objective, n=80, direction="minimize"):
    study = Study(space, "lhs", 0, direction=direction, noise=False).run(objective, n_trials=n)
    model = fit_study_model(study.trials, study.space.domain, study.objectives, 0, noise=False, seed=0)
    return study, model, study_axes(study.space)


def test_sobol_indices_of_ishigamis_kind_are_those_known():
    """f = a + b^2 + a c on [-1, 1]^3: variances 1/3, 4/45, 1/9 of a, b and (a, c) together."""
    space = {name: uniform(-1, 2) for name in "abcd"}
    study, model, axes = modelled(space, lambda p: p["a"] + p["b"] ** 2 + p["a"] * p["c"], n=120)
    found = importance(model, 0)
    total = 1 / 3 + 4 / 45 + 1 / 9
    assert found.first == pytest.approx([1 / 3 / total, 4 / 45 / total, 0, 0], abs=0.03)
    assert found.total == pytest.approx([4 / 9 / total, 4 / 45 / total, 1 / 9 / total, 0], abs=0.03)
    assert [axes[j].name for j in found.order] == ["a", "c", "b", "d"]


def test_main_effects_are_averages_over_the_others():
    space = {"a": uniform(0, 1), "b": uniform(0, 1), "n": randint(1, 5), "k": ["u", "v", "w"]}
    weight = {"u": 0.0, "v": 1.0, "w": -1.0}
    study, model, axes = modelled(
        space, lambda p: 4 * p["a"] ** 2 + p["b"] * p["a"] + p["n"] + weight[p["k"]], n=120, direction="maximize"
    )
    effects = main_effects(model, axes, 0)
    truths = [
        4 * effects[0].places ** 2 + effects[0].places / 2,
        effects[1].places / 2,
        np.arange(1.0, 5.0),
        np.array([0.0, 1.0, -1.0]),
    ]
    for effect, truth in zip(effects, truths, strict=True):
        assert effect.mean - effect.mean.mean() == pytest.approx(truth - truth.mean(), abs=0.12)
        assert (effect.error > 0).all()
        assert (effect.error < 0.2).all()
    assert len(effects[2].places) == 4
    assert len(effects[3].places) == 3


def test_a_conditional_parameter_is_averaged_where_it_exists():
    space = [{"kind": ["p"], "a": uniform(0, 1)}, {"kind": ["q"], "b": uniform(0, 1)}]
    study, model, axes = modelled(space, lambda p: 5 + p["a"] if "a" in p else -2 * p["b"], n=60)
    kind, a, b = main_effects(model, axes, 0)
    assert kind.mean == pytest.approx([5.5, -1.0], abs=0.1)
    assert a.mean[[0, -1]] == pytest.approx([5, 6], abs=0.1)
    assert b.mean[[0, -1]] == pytest.approx([0, -2], abs=0.1)
    shares = importance(model, 0)
    assert shares.order[0] == 0
    assert shares.total[0] > 0.9


def test_a_flat_model_has_no_importance_and_a_single_parameter_all_of_it():
    study, model, axes = modelled({"a": uniform(0, 1)}, lambda p: p["a"] ** 2, n=12)
    assert importance(model, 0).total.tolist() == [1.0]
    alike = Study({"a": uniform(0, 1), "b": uniform(0, 1)}, "random", 0).run(lambda p: 1.0, n_trials=12)
    answer = fit_study_model(alike.trials, alike.space.domain, alike.objectives, 0, noise="auto", seed=0)
    assert answer == "All values are the same, so no effects are visible."


def test_ticks_are_round_values_at_their_places():
    axes = study_axes(Space({"C": loguniform(2**-5, 2**15), "x": uniform(-1, 2), "n": randint(0, 40), "k": ["a", None, "c"]}))
    places, labels = axes[0].ticks()
    assert labels == ["0.1", "1", "10", "100", "1000", "10000"]
    assert places == pytest.approx([(np.log2(float(label)) + 5) / 20 for label in labels])
    assert axes[1].ticks()[1][0] == "-1"
    assert axes[1].ticks()[1][-1] == "1"
    assert axes[2].ticks()[1] == ["0", "7", "14", "21", "28", "35"]
    assert axes[3].ticks() == (pytest.approx([1 / 6, 0.5, 5 / 6]), ["a", "None", "c"])


def test_dictionaries_are_called_by_what_they_fix_or_by_number():
    assert branch_labels(Space([{"k": ["a"], "x": [1, 2]}, {"k": ["b"]}])) == ("k", ["a", "b"])
    assert branch_labels(Space([{"x": [1, 2]}, {"y": [1, 2]}])) == ("dictionary", ["dictionary 1", "dictionary 2"])
    names = [axis.name for axis in study_axes(Space([{"k": ["a"], "x": [1, 2]}, {"k": ["b"], "x": [3, 4, 5]}]))]
    assert names == ["k", "x (a)", "x (b)"]


def test_quantiles_of_the_best_of_many_draws():
    values = np.random.default_rng(0).normal(size=20_000)
    found = best_of(values, np.array([1, 5, 40]))
    drawn = np.random.default_rng(1).choice(values, size=(20_000, 40))
    for column, m in enumerate((1, 5, 40)):
        expected = np.quantile(drawn[:, :m].min(axis=1), [0.1, 0.5, 0.9])
        assert found[:, column] == pytest.approx(expected, abs=0.05)


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
