import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, uniform

from spotsvm import Study, compare
from spotsvm.errors import ArgumentError, BudgetError, SpaceError

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}
TIMES = ["ask_seconds", "fit_seconds", "acquisition_seconds", "seconds"]


def bowl(params):
    return (params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2


def noisy_bowl(params, seed):
    return {"value": bowl(params) + 0.1 * np.random.default_rng(seed).standard_normal(), "truth": bowl(params)}


def untimed(comparison):
    return comparison.frame().drop(columns=TIMES)


class Told:
    """A search of a test's: given points, one after the other; the centre, 0.5, comes before them in every run."""

    def __init__(self, points):
        self.points = list(points)

    def ask(self):
        return [self.points.pop(0)]

    def tell(self, point, value):
        pass


def scripted(*by_seed):
    return lambda domain, seed: Told(by_seed[seed])


def line(params):
    return params["x"]


LINE = {"x": uniform(0, 1)}


def test_each_run_is_the_study_that_one_would_run_oneself_from_the_centre():
    seen = []
    comparison = compare(bowl, SPACE, ["kriging", "vns"], n_trials=8, seeds=[3, 1], callback=seen.append)
    assert tuple(seen) == comparison.runs
    for run in comparison.runs:
        study = Study(SPACE, run.search, run.seed, start={"x": 0.5, "y": 0.5}).run(bowl, 8)
        assert [t.params for t in run.trials] == [t.params for t in study.trials]
        assert run.recommended == study.recommend().number
    assert [(run.search, run.seed) for run in comparison.runs] == [("kriging", 3), ("kriging", 1), ("vns", 3), ("vns", 1)]


def test_scripted_searches_by_hand():
    a, b = scripted([0.2, 0.9], [0.6, 0.3]), scripted([0.1, 0.8], [0.9, 0.45])
    comparison = compare(line, LINE, {"a": a, "b": b}, n_trials=3, seeds=2)
    assert comparison.results().to_numpy() == pytest.approx(np.array([[0.2, 0.1], [0.3, 0.45]]))
    assert comparison.ranks().to_numpy().tolist() == [[2.0, 1.0], [1.0, 2.0]]
    table = comparison.table().set_index("search")
    assert table.loc["a", ["best", "mean", "median", "worst"]].to_numpy(float) == pytest.approx([0.2, 0.25, 0.25, 0.3])
    assert table.loc["a", "sd"] == pytest.approx(0.1 / np.sqrt(2))
    assert comparison.frame()["best"].to_numpy() == pytest.approx([0.5, 0.2, 0.2, 0.5, 0.5, 0.3, 0.5, 0.1, 0.1, 0.5, 0.5, 0.45])
    assert comparison.after(1).results().to_numpy() == pytest.approx(0.5)
    assert comparison.after(2).results().to_numpy() == pytest.approx(np.array([[0.2, 0.1], [0.5, 0.5]]))


def test_the_measure_is_taken_where_the_study_recommends():
    comparison = compare(noisy_bowl, SPACE, ["kriging", "random"], n_trials=10, seeds=2, measure="truth", noise=True)
    for run in comparison.runs:
        with Study(SPACE, run.search, run.seed, noise=True) as study:
            for _ in range(10):
                trial = study.ask()
                study.tell(trial, noisy_bowl(dict(trial.params), trial.seed))
            recommended = study.recommend()
        assert comparison.results().loc[run.seed, run.search] == bowl(recommended.params)
    frame = comparison.frame()
    chosen = frame[frame.recommended]
    assert len(chosen) == 4
    assert set(chosen.extra_truth) == set(comparison.results().to_numpy().ravel())


def test_noise_from_the_trials_seed_is_shared_by_the_searches():
    comparison = compare(noisy_bowl, SPACE, ["lhs", "random"], n_trials=4, seeds=2, measure="truth")
    errors = comparison.frame().assign(error=lambda f: f.value - f.extra_truth).pivot(columns="search", index=["seed", "number"])
    assert errors["error"]["lhs"].to_numpy() == pytest.approx(errors["error"]["random"].to_numpy())
    assert errors["error"]["lhs"].nunique() == 8


def test_two_processes_give_what_one_gives():
    # functions of a test's own travel by value: other processes need not find this module
    def objective(params, seed):
        truth = (params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2
        return {"value": truth + 0.1 * np.random.default_rng(seed).standard_normal(), "truth": truth}

    def plain_random(domain, seed):
        from spotsvm.searches import RandomSearch

        return RandomSearch(domain, seed)

    arguments = (objective, SPACE, {"k": "kriging", "l": plain_random}, 8, 2)
    one, two = (compare(*arguments, measure="truth", n_jobs=n) for n in (None, 2))
    pd.testing.assert_frame_equal(untimed(one), untimed(two))
    pd.testing.assert_frame_equal(one.results(), two.results())


def test_failed_trials_count_and_are_counted():
    def half(params):
        if params["x"] >= 0.5:
            raise RuntimeError("too far")
        return params["x"]

    searches = {"a": scripted([0.3], [0.8]), "b": scripted([0.4], [0.2])}
    comparison = compare(half, LINE, searches, n_trials=2, seeds=2)
    table = comparison.table().set_index("search")
    assert table["failed"].to_dict() == {"b": 2, "a": 3}
    assert table["runs"].to_dict() == {"b": 2, "a": 1}
    assert np.isnan(comparison.results().loc[1, "a"])
    assert comparison.ranks().loc[1].tolist() == [2.0, 1.0]
    frame = comparison.frame()
    assert frame.loc[frame.search == "a", "best"].to_numpy() == pytest.approx([np.nan, 0.3, np.nan, np.nan], nan_ok=True)
    assert frame.loc[frame.state == "failed", "reason"].str.contains("too far").all()
    assert not frame.loc[(frame.search == "a") & (frame.seed == 1), "recommended"].any()


class Stop(BaseException):
    """What a kill looks like from inside."""


def test_a_comparison_that_was_ended_goes_on(tmp_path):
    evaluated = []

    def ended_after(limit):
        def objective(params):
            if len(evaluated) == limit:
                raise Stop
            evaluated.append(params)
            return bowl(params)

        return objective

    arguments = (SPACE, ["kriging", "random"], 8, 2)
    with pytest.raises(Stop):
        compare(ended_after(13), *arguments, path=tmp_path / "runs")
    assert sorted(f.name for f in (tmp_path / "runs").glob("*.db")) == ["kriging_seed0.db", "kriging_seed1.db"]
    resumed = compare(ended_after(-1), *arguments, path=tmp_path / "runs")
    assert len(evaluated) == 32
    undisturbed = compare(bowl, *arguments)
    pd.testing.assert_frame_equal(untimed(resumed), untimed(undisturbed))
    again = compare(ended_after(32), *arguments, path=tmp_path / "runs")
    pd.testing.assert_frame_equal(again.frame(), resumed.frame())


def test_a_folder_of_longer_runs_gives_shorter_ones(tmp_path):
    long = compare(bowl, SPACE, ["kriging"], n_trials=12, seeds=2, path=tmp_path)
    short = compare(bowl, SPACE, ["kriging"], n_trials=7, seeds=2, path=tmp_path)
    pd.testing.assert_frame_equal(short.results(), long.after(7).results())
    assert short.frame()["number"].max() == 6


def test_a_finite_space_ends_a_run_early():
    comparison = compare(lambda p: p["k"], {"k": [3, 1, 2]}, ["random", "lhs"], n_trials=5, seeds=2)
    assert len(comparison.frame()) == 12
    assert (comparison.results() == 1).all(axis=None)
    assert comparison.table().loc[1, "note"] == "all differences are 0"
    assert comparison.curves().groupby(["search", "seed"]).size().tolist() == [5] * 4


def test_a_comparison_can_be_pickled():
    comparison = compare(bowl, {"C": loguniform(1e-2, 1e2), **SPACE}, ["random"], n_trials=3, seeds=2)
    again = pickle.loads(pickle.dumps(comparison))
    pd.testing.assert_frame_equal(again.frame(), comparison.frame())
    pd.testing.assert_frame_equal(again.table(), comparison.table())


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"objective": 3}, ArgumentError, "objective=3 is not callable"),
        ({"searches": ["random", "nsga2"]}, ArgumentError, "'nsga2' is for several objectives"),
        ({"seeds": [0, 0]}, ArgumentError, "seeds has 0 more than once"),
        ({"searches": ["random", "kriging"]}, BudgetError, "search 'kriging': n_trials=3 is below the initial design of 6"),
        ({"searches": ["cmaes"]}, BudgetError, "'cmaes': n_trials=3 is below the first generation of 6 trials; use at least"),
        ({"start": {"x": 2.0, "y": 0.0}}, SpaceError, r"start is not in the space: x=2.0 is not a number in \[0, 1\]"),
        ({"start": 3}, SpaceError, "start=3 is not a configuration"),
        ({"direction": ("minimize", "minimize")}, ArgumentError, "is not a direction"),
        ({"measure": "value"}, ArgumentError, "measure='value' is not the name of a further number"),
        ({"confidence": 95}, ArgumentError, "confidence=95 is not between 0 and 1"),
        ({"n_jobs": 0}, ArgumentError, "n_jobs=0 is not a number of processes"),
        *(
            (
                {"objective": lambda p: (p["x"], p["y"]), "n_jobs": n},
                ArgumentError,
                "returned 2 values .* the study has one objective",
            )
            for n in (None, 2)
        ),
    ],
)
def test_what_cannot_be_compared(given, error, text):
    arguments = {"objective": bowl, "space": SPACE, "searches": ["random"], "n_trials": 3, "seeds": 2} | given
    with pytest.raises(error, match=text):
        compare(**arguments)


def test_a_measure_that_is_not_there_costs_one_evaluation():
    calls = []

    def objective(params):
        calls.append(params)
        return {"value": 1.0, "truth": 2.0}

    with pytest.raises(ArgumentError, match="measure='true' was not returned by the objective .* returned 'truth'"):
        compare(objective, SPACE, ["random"], n_trials=30, seeds=2, measure="true")
    assert len(calls) == 1
    with pytest.raises(ArgumentError, match="it returned none"):
        compare(bowl, SPACE, ["random"], n_trials=30, seeds=2, measure="true")
