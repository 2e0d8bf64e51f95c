"""Bounds of named numbers by search, with paths, and for several objectives; the constrained optima are known in closed form."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.errors import NoCompletedTrialError
from spotsvm.searches import Domain, KochSearch, NestedSearch, Stage, opening

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}
KOCH = partial(KochSearch, warped=False)  # koch2011 but for its maximum likelihood, which takes long
STAGES = [
    Stage(Domain.continuous(1), 10, lambda u: np.repeat(u, 2), lambda u: u[:1], name="equal"),
    Stage(Domain.continuous(2), 40, name="free"),
]


def needing_memory(params):
    """The best that holds memory <= 1e9 is at x = 0.55, y = 0.45, on the border, with the value 0.245."""
    value = (params["x"] - 0.9) ** 2 + (params["y"] - 0.8) ** 2
    return {"value": value, "memory": 1e9 * np.exp(3 * (params["x"] + params["y"]) - 3)}


@pytest.mark.parametrize(
    ("search", "near"),
    [
        ("kriging", 0.002),
        ("kriging_per_second", 0.01),
        (KOCH, 0.01),
        (partial(NestedSearch, stages=STAGES, inner="kriging"), 0.01),
        (opening(SPACE, ["x"], 10), 0.01),
    ],
)
def test_each_kriging_search_models_bounds_and_resumes_to_the_bit(search, near, tmp_path):
    def study(path=None):
        return Study(SPACE, search, 0, constraints={"memory": ("<=", 1e9)}, noise=False, path=path)

    whole = study().run(needing_memory, n_trials=25)
    assert whole._books.search._search.capabilities.models_bounds
    assert 0.245 <= whole.best_value < 0.245 + near
    assert whole.best_trial.extra["memory"] <= 1e9
    if search == "kriging_per_second":  # its points depend on the clock
        return
    with study(tmp_path / "s.db") as part:
        part.run(needing_memory, n_trials=17)
    with study(tmp_path / "s.db") as part:
        part.run(needing_memory, n_trials=20)
        assert [t.params for t in part.trials] == [t.params for t in whole.trials[:20]]


@pytest.mark.parametrize("search", ["cmaes", "vns", "lbfgsb", "random"])
def test_any_other_search_is_told_a_failure(search):
    study = Study(SPACE, search, 0, constraints={"memory": ("<=", 1e9)}, noise=False).run(needing_memory, n_trials=20)
    inner = study._books.search._search
    assert not inner.capabilities.models_bounds
    held = np.array([t.extra["bounds_held"] for t in study.trials]) == 1
    assert (np.isfinite(inner.values) == held).all()
    assert not held.all()


def test_koch_repeats_nothing_that_does_not_hold_the_bounds():
    rng = np.random.default_rng(0)

    def noisy(params):
        found = needing_memory(params)
        return found | {"value": found["value"] + 0.01 * rng.normal()}

    study = Study(SPACE, KOCH, 0, constraints={"memory": ("<=", 1e9)}, noise=True).run(noisy, n_trials=45)
    repeated = [t for t in study.trials if t.origin == "replicate" and not t.note.startswith("evaluation 2 of 2")]
    assert repeated
    assert all(t.extra["memory"] <= 1e9 for t in repeated)


def two_distances(params):
    """The front under x + y <= 0.5 is the whole border; without it, the line from (1, 0) to (0, 1)."""
    values = [(1 - params["x"]) ** 2 + params["y"] ** 2, (1 - params["y"]) ** 2 + params["x"] ** 2]
    return {"values": values, "sum": params["x"] + params["y"]}


@pytest.mark.parametrize(("search", "n_trials", "near"), [("nsga2", 25, 0.03), ("parego", 25, 0.03)])
def test_the_front_of_several_objectives_is_on_the_bound(search, n_trials, near, tmp_path):
    def study(path=None):
        return Study(
            SPACE, search, 0, direction=("minimize", "minimize"), constraints={"sum": ("<=", 0.5)}, noise=False, path=path
        )

    whole = study().run(two_distances, n_trials=n_trials)
    front = [t.extra["sum"] for t in whole.pareto()]
    assert max(front) <= 0.5
    assert 0.5 - np.median(front) < near
    assert len(front) > 5
    later = [t.extra["bounds_held"] for t in whole.trials[n_trials // 2 :]]
    assert np.mean(later) > 0.5  # random search: an eighth
    inside = whole.frame().query("extra_bounds_held == 1")
    assert len(inside) < n_trials
    alone = Study.from_frame(inside, SPACE, "random", direction=("minimize", "minimize"))
    assert whole.hypervolume([2.0, 2.0]).iloc[-1] == alone.hypervolume([2.0, 2.0]).iloc[-1]
    with study(tmp_path / "s.db") as part:
        part.run(two_distances, n_trials=n_trials - 4)
    with study(tmp_path / "s.db") as part:
        part.run(two_distances, n_trials=n_trials)
        assert [t.params for t in part.trials] == [t.params for t in whole.trials]


@pytest.mark.parametrize("search", ["random", "nsga2"])
def test_several_objectives_of_which_none_holds_the_bounds(search, tmp_path):
    study = Study(SPACE, search, 0, direction=("minimize", "minimize"), constraints={"sum": ("<=", -1)}, noise=False)
    study.run(two_distances, n_trials=12)
    with pytest.raises(NoCompletedTrialError, match="no trial holds the bounds"):
        study.pareto()
    assert study.hypervolume().iloc[-1] == 0
    assert study.status().n_front == 0
    assert "Study of" in study._repr_html_()
    page = study.report(tmp_path / "report.html").read_text()
    assert "There is no recommendation yet: no trial holds the bounds" in page


def test_the_picture_of_the_front_tells_what_is_outside_the_bounds():
    import matplotlib as mpl
    from matplotlib import pyplot

    study = Study(SPACE, "random", 0, direction=("minimize", "minimize"), constraints={"sum": ("<=", 0.8)})
    study.run(two_distances, n_trials=20)
    outside = sum(t.extra["bounds_held"] == 0 for t in study.trials)
    with mpl.rc_context({"backend": "agg"}):
        labels = [text.get_text() for text in study.plot_pareto().get_legend().get_texts()]
        pyplot.close("all")
    assert f"outside the bounds ({outside} trials)" in labels


GRID = np.linspace(0, 1, 11)


def along_y(params):
    return {y: needing_memory({"x": params["x"], "y": y}) for y in GRID}


def test_paths_lose_the_values_that_a_condition_forbids(tmp_path):
    def study(path=None):
        return Study(SPACE, seed=0, sweep="y", constraints=lambda p: p["x"] + p["y"] <= 1, noise=False, path=path)

    whole = study().run(along_y, n_trials=12)
    assert all(t.params["x"] + t.params["y"] <= 1 for t in whole.trials)
    # of the values of y in sweeps, 0.4 at x = 0.6 is the best that is allowed: 0.25, and 0.2450 where y is free
    assert whole.best_value < 0.2501
    with study(tmp_path / "s.db") as part:
        part.run(along_y, n_trials=7)
    with study(tmp_path / "s.db") as part:
        part.run(along_y, n_trials=12)
        assert [t.params for t in part.trials] == [t.params for t in whole.trials]


def test_a_path_without_an_allowed_value_is_a_failure_and_a_suggestion_has_one():
    study = Study(SPACE, "random", 0, sweep="y", constraints=lambda p: 0.45 < p["x"] + p["y"] <= 0.5)
    study.run(lambda p: {0.95: 1.0}, n_trials=4, max_failures=None)
    assert {t.reason for t in study.trials} == {"no value of y in the sweep satisfies the constraints"}
    assert all(any(0.45 < t.params["x"] + y <= 0.5 for y in GRID) for t in study.trials)


@pytest.mark.parametrize("search", ["kriging", "random"])
def test_bounds_on_sweeps(search):
    study = Study(SPACE, search, 0, sweep="y", constraints={"memory": ("<=", 1e9)}, noise=False).run(along_y, n_trials=12)
    held = {t.number: t.extra["memory"] <= 1e9 for t in study.trials}
    assert all(t.extra["bounds_held"] == held[t.number] for t in study.trials)
    for t in study.trials:
        if t.sweep == t.number:  # the best in its sweep that holds the bound
            path = [one for one in study.trials if one.sweep == t.number and held[one.number]]
            assert t.value == min(one.value for one in path)
    assert study.best_value < (0.2501 if search == "kriging" else 0.27)
