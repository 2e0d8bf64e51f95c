"""Trials that were evaluated elsewhere, and starts from another study."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, norm, randint, uniform
from sklearn.datasets import load_iris
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from spotsvm import CurrentTrial, Space, SpotSearchCV, Study, load_study
from spotsvm.errors import ArgumentError, NoCompletedTrialError, SpaceError, StorageError, StudyMismatchError

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}
ELSEWHERE = [({"x": 0.1 * k, "y": 1 - 0.07 * k**1.3}, 0.2 + 0.01 * k) for k in range(4)]


def bowl(p):
    return (p["x"] - 0.3) ** 2 + (p["y"] - 0.6) ** 2


def facts(study):
    return [(t.params, t.point, t.state, t.value, t.values, t.origin, t.seed, t.extra, t.sweep) for t in study.trials]


def run_with_given(search, path, cuts, objective=bowl, direction="minimize", values=lambda v: v, n=10):
    """Run to n + 8 trials with two given ones at first and two after n, and open the record anew where `cuts` says."""
    options = {"direction": direction, "noise": False, "path": path}
    study = Study(SPACE, search, 3, **options)

    def again(count):
        nonlocal study
        if count in cuts:
            study.close()
            study = Study(SPACE, search, 3, **options)

    for count, (params, value) in enumerate(ELSEWHERE[:2], start=1):
        assert study.add_trial(params, values(value)).origin == "given"
        again(count)
    study.run(objective, n_trials=n)
    for params, value in ELSEWHERE[2:]:
        study.add_trial(params, values(value))
    again(n + 2)
    study.run(objective, n_trials=n + 5)
    again(n + 5)
    study.run(objective, n_trials=n + 8).close()
    return study


@pytest.mark.parametrize("search", ["kriging", "cmaes"])
def test_a_study_with_given_trials_goes_on_as_if_it_had_not_been_cut(search, tmp_path):
    whole = run_with_given(search, tmp_path / "whole.db", ())
    cut = run_with_given(search, tmp_path / "cut.db", (1, 2, 12, 15))
    assert facts(cut) == facts(whole)
    assert [t.number for t in whole.trials if t.origin == "given"] == [0, 1, 10, 11]
    assert [dict(t.params) for t in whole.trials if t.origin == "given"] == [params for params, _ in ELSEWHERE]
    assert whole.n_finished == len(whole.trials) == 18
    assert facts(load_study(tmp_path / "whole.db")) == facts(whole)


def test_of_several_objectives_too(tmp_path):
    search, n = "nsga2", 14
    options = {
        "direction": ("minimize", "maximize"),
        "objective": lambda p: [bowl(p), p["x"]],
        "values": lambda v: [v, 0.5],
        "n": n,
    }
    whole = run_with_given(search, tmp_path / "whole.db", (), **options)
    cut = run_with_given(search, tmp_path / "cut.db", (1, n + 2), **options)
    assert facts(cut) == facts(whole)
    assert whole.trials[1].values == (ELSEWHERE[1][1], 0.5)


def test_the_search_goes_on_from_them_and_needs_a_smaller_design():
    study = Study(SPACE, "kriging", 0, noise=False)
    for k in range(8):
        study.add_trial({"x": k / 8, "y": 0.6 * ((k * 3) % 8) / 8}, bowl({"x": k / 8, "y": 0.6 * ((k * 3) % 8) / 8}))
    study.run(bowl, n_trials=10)
    assert [t.origin for t in study.trials] == ["given"] * 8 + ["improvement"] * 2
    assert study.status().trials_per_minute is None or study.status().trials_per_minute > 0


def test_what_a_given_trial_may_have():
    study = Study(SPACE | {"n": randint(1, 9)}, "random", 0)
    told = study.add_trial({"x": np.float64(0.5), "y": 0, "n": np.int64(3)}, {"value": 0.5, "time": 3}, seconds=12.0)
    assert (told.value, told.extra, told.seconds, told.state) == (0.5, {"time": 3.0}, 12.0, "ok")
    assert (type(told.params["x"]), type(told.params["n"])) == (float, int)
    told = study.add_trial({"x": 0.5, "y": 0.5, "n": 3}, {"value": 1.0, "time": "long"})
    assert (told.value, told.extra, told.attributes) == (1.0, {}, {"time": "long"})
    failed = study.add_trial({"x": 0.25, "y": 0.5, "n": 3}, float("nan"))
    assert (failed.state, failed.value) == ("failed", None)
    for params, value, said in [
        ({"x": 0.5, "y": 0.5}, 1.0, r"params has the names \['x', 'y'\]"),
        ({"x": 1.5, "y": 0.5, "n": 3}, 1.0, r"x=1.5 is not a number in \[0, 1\]"),
        ({"x": 0.5, "y": 0.5, "n": 3}, None, "value=None is not a valid value of a trial"),
        ({"x": 0.5, "y": 0.5, "n": 3}, "0.5", "value='0.5' is not a valid value of a trial"),
        ({"x": 0.5, "y": 0.5, "n": 3}, {"value": float("nan"), 3: 4.0}, "it is 3: 4.0, which is not a named number"),
        ({"x": 0.5, "y": 0.5, "n": 3}, [1.0, 2.0], "the trial has 2 values"),
        (0.5, 1.0, "params=0.5 is not a dictionary"),
    ]:
        with pytest.raises((ArgumentError, SpaceError), match=said):
            study.add_trial(params, value)
    with pytest.raises(ArgumentError, match="seconds='long' is not a time"):
        study.add_trial({"x": 0.5, "y": 0.5, "n": 3}, 1.0, seconds="long")
    assert len(study.trials) == study.n_finished == 3
    two = Study(SPACE, "random", 0, direction=["minimize", "maximize"])
    assert two.add_trial({"x": 0.5, "y": 0.5}, [1.0, float("nan")]).state == "failed"


def low_x(p):
    return p["x"] <= 0.5


def test_a_given_trial_is_judged_by_the_constraints(tmp_path):
    options = {"constraints": [low_x, {"memory": ("<=", 10)}]}
    with Study(SPACE, "random", 0, path=tmp_path / "a.db", **options) as study:
        with pytest.raises(SpaceError, match=r"params=.*'x': 0.75.* violates constraints\[0\] \(low_x\); leave the trial out"):
            study.add_trial({"x": 0.75, "y": 0.5}, {"value": 0.0, "memory": 1})
        study.add_trial({"x": 0.25, "y": 0.5}, {"value": 0.25, "memory": 11, "solver": "smo"})
        study.add_trial({"x": 0.5, "y": 0.5}, {"value": 0.5, "memory": 9})
        assert [t.extra["bounds_held"] for t in study.trials] == [0.0, 1.0]
        table = study.frame()
    with Study(SPACE, "random", 0, path=tmp_path / "a.db", **options) as study:
        assert study.best_trial.number == 1
        assert study.trials[0].attributes == {"solver": "smo"}
    narrower = Study.from_frame(table, SPACE, "random", 0, constraints={"memory": ("<=", 5)})
    assert [t.extra["bounds_held"] for t in narrower.trials] == [0.0, 0.0]
    assert [t.attributes for t in narrower.trials] == [{"solver": "smo"}, {}]
    free = Study.from_frame(table, SPACE, "random", 0)
    assert (free.best_trial.number, free.best_trial.extra) == (0, {"memory": 11.0})
    table.loc[1, "param_x"] = 0.75
    with pytest.raises(SpaceError, match="'x': 0.75.* violates"):
        Study.from_frame(table, SPACE, "random", 0, path=tmp_path / "b.db", constraints=low_x)
    with Study(SPACE, "random", 0, path=tmp_path / "b.db", constraints=low_x) as study:
        assert study.trials == ()


def test_a_given_value_that_stands_for_a_failure_is_noted():
    study = Study(SPACE, "random", 0)
    for k in range(10):
        study.add_trial({"x": k / 10, "y": 0.5}, 0.5 + 0.01 * k)
    assert study.add_trial({"x": 0.05, "y": 0.5}, 1e10).extra == {"penalty": 1.0}


def test_what_cannot_be_recorded_is_not_there(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise StorageError("the disk is full")

    study = Study(SPACE, "kriging", 0, noise=False, path=tmp_path / "a.db")
    with monkeypatch.context() as patch:
        patch.setattr(study.ledger._store, "append", refuse)
        with pytest.raises(StorageError, match="the disk is full"):
            study.add_trial(*ELSEWHERE[0])
    other = Study(SPACE, "kriging", 0, noise=False)
    for one in (study, other):
        one.add_trial(*ELSEWHERE[1])
        one.run(bowl, n_trials=9)
    assert facts(study) == facts(other)


def test_where_a_parameter_is_profiled_a_value_or_a_path_is_given(tmp_path):
    def sweep_outcome(p):
        return {y: bowl({"x": p["x"], "y": y}) for y in (0.2, 0.6, 1.0)}

    def made(path, cut):
        study = Study(SPACE, "kriging", 0, noise=False, sweep="y", path=path)
        single = study.add_trial({"x": 0.5, "y": 0.5}, 0.25)
        assert (single.sweep, single.params, single.value) == (0, {"x": 0.5, "y": 0.5}, 0.25)
        best = study.add_trial({"x": 0.2}, {0.5: 0.75, 0.25: 0.5})
        for params, value in [({"x": 0.5}, 0.25), ({"x": 0.5, "y": 0.5}, "a"), ({"x": 0.5, "y": 0.5}, {})]:
            with pytest.raises(ArgumentError, match="is not a valid value of a trial: it is"):
                study.add_trial(params, value)
        assert (best.number, best.params, best.value, len(study.trials)) == (1, {"x": 0.2, "y": 0.25}, 0.5, 3)
        if cut:
            study.close()
            study = Study(SPACE, "kriging", 0, noise=False, sweep="y", path=path)
        study.run(sweep_outcome, n_trials=8).close()
        return study

    whole = made(tmp_path / "a.db", False)
    assert facts(made(tmp_path / "b.db", True)) == facts(whole)
    assert whole.n_finished == 8
    table = whole.frame()
    again = Study.from_frame(table, SPACE, "kriging", 0, noise=False, sweep="y")
    assert again.n_finished == 8
    assert again.best_trial.params == whole.best_trial.params
    assert len(again.trials) == len(whole.trials)


MIXED = [
    {"kind": ["a"], "C": loguniform(0.1, 10), "n": randint(1, 9), "size": [(1,), (1, 2)], "scale": [StandardScaler(), None]},
    {"kind": ["b"], "C": loguniform(0.1, 10), "flag": [True, False], "level": [1, 2, 4]},
]


def mixed(p):
    if p.get("n") == 3 or p.get("level") == 4:
        raise ValueError("not this")
    return {"value": np.log(p["C"]) ** 2, "more": p["C"]}


def test_a_frame_comes_back_as_the_study_that_made_it():
    study = Study(MIXED, "random", 1).run(mixed, n_trials=30)
    study.ask()
    again = Study.from_frame(study.frame(), MIXED, "kriging", seed=2)
    assert {t.origin for t in again.trials} == {"given"}
    kept = ("params", "state", "value", "extra", "reason", "seconds")
    assert [[getattr(t, name) for name in kept] for t in again.trials] == [
        [getattr(t, name) for name in kept] for t in study.trials if t.state != "running"
    ]
    np.testing.assert_allclose([t.point for t in again.trials], [t.point for t in study.trials[:30]], rtol=0.0, atol=1e-12)
    buffer = io.StringIO(study.frame().to_csv())
    of_file = Study.from_frame(pd.read_csv(buffer), MIXED, "random", seed=2)
    assert [(t.state, t.params.keys(), t.params["kind"]) for t in of_file.trials] == [
        (t.state, t.params.keys(), t.params["kind"]) for t in again.trials
    ]
    np.testing.assert_allclose([t.point for t in of_file.trials], [t.point for t in again.trials], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(of_file.frame()["value"], again.frame()["value"], rtol=1e-12)


def test_a_plain_table_is_enough():
    table = pd.DataFrame({"x": [0.25, 0.5], "y": [0.5, 0.75], "value": [1.0, np.nan], "remark": ["", "broke"]}, index=[7, 9])
    study = Study.from_frame(table, SPACE | {"kernel": ["rbf"]}, seed=0)
    assert [(dict(t.params), t.value) for t in study.trials] == [
        ({"x": 0.25, "y": 0.5, "kernel": "rbf"}, 1.0),
        ({"x": 0.5, "y": 0.75, "kernel": "rbf"}, None),
    ]
    two = table.drop(columns="value").assign(value_cost=[1, 2], value_gain=[3, 4])
    study = Study.from_frame(two, SPACE, "random", direction={"cost": "minimize", "gain": "maximize"})
    assert [t.values for t in study.trials] == [(1.0, 3.0), (2.0, 4.0)]


@pytest.mark.parametrize(
    ("table", "error", "said"),
    [
        ({"x": [0.5], "value": [1.0]}, ArgumentError, "frame has no column for y; it has x, value"),
        ({"x": [0.5], "y": [0.5]}, ArgumentError, "frame has no column for value"),
        ({"x": [0.5, 2.0], "y": [0.5, 0.5], "value": [1.0, 1.0]}, SpaceError, "row 1 of the frame is not in the space: x=2.0 is"),
        ({"x": [0.5], "y": [None], "value": [1.0]}, SpaceError, "row 0 of the frame"),
        ({"x": [0.5], "y": [0.5], "value": [1.0], "state": ["done"]}, ArgumentError, "row 0 .* state='done' is unknown"),
        (
            {"x": [0.5, 0.6], "y": [0.5, 0.5], "value": [1.0, "n/a"]},
            ArgumentError,
            "row 1 of the frame: value='n/a' is not a number",
        ),
        (
            {"x": [0.5], "y": [0.5], "value": [1.0], "seconds": [-1.0]},
            ArgumentError,
            "row 0 of the frame: seconds=-1.0 is not a time",
        ),
    ],
)
def test_tables_that_do_not_fit(table, error, said, tmp_path):
    with pytest.raises(error, match=said):
        Study.from_frame(pd.DataFrame(table), SPACE, "random", 0, path=tmp_path / "a.db")
    with Study(SPACE, "random", 0, path=tmp_path / "a.db") as study:  # the record is free
        assert study.trials == ()
    with pytest.raises(ArgumentError, match="is not a pandas.DataFrame"):
        Study.from_frame([table], SPACE)


def test_a_table_that_is_given_twice_counts_once(tmp_path):
    table = pd.DataFrame([params | {"value": value} for params, value in ELSEWHERE])
    Study.from_frame(table[:2], SPACE, "random", 0, path=tmp_path / "a.db").run(bowl, n_trials=5).close()
    with Study.from_frame(table, SPACE, "random", 0, path=tmp_path / "a.db") as study:
        assert [t.value for t in study.trials if t.origin == "given"] == table["value"].tolist()
        assert study.n_finished == 7
    with Study.from_frame(table[::-1], SPACE, "random", 0, path=tmp_path / "a.db") as study:
        assert study.n_finished == 7
    with pytest.raises(StudyMismatchError, match="other given trials: trial 0, .* is not among the 1 passed now"):
        Study.from_frame(table[1:2], SPACE, "random", 0, path=tmp_path / "a.db")


def test_it_starts_at_the_best_of_another_study_or_record(tmp_path):
    other = Study(SPACE, "random", 5, path=tmp_path / "other.db", direction="maximize").run(lambda p: -bowl(p), n_trials=12)
    best = [t.params for t in sorted(other.trials, key=lambda t: -t.value)[:5]]
    for start in (other, tmp_path / "other.db", str(tmp_path / "other.db")):
        study = Study(SPACE, "kriging", 0, start=start).run(bowl, n_trials=8)
        assert [t.params for t in study.trials[:5]] == best
        assert [t.origin for t in study.trials].count("start") == 5
    narrow = Study({"x": uniform(0, 1), "y": uniform(0, 0.9 * best[0]["y"])}, "random", 0, start=other)
    assert best[0] not in [narrow.ask().params for _ in range(5)]
    with pytest.raises(SpaceError, match="none of the best configurations of .* is in the space: params has the names"):
        Study({"z": uniform(0, 1)}, start=other)
    with pytest.raises(NoCompletedTrialError, match="a study without a trial that has succeeded"):
        Study(SPACE, start=Study(SPACE, "random", 0))
    with pytest.raises(SpaceError, match="is not a configuration; .* there is no such file"):
        Study(SPACE, start=tmp_path / "none.db")
    pair = Study(SPACE, "random", 1, direction=("minimize", "maximize")).run(lambda p: [bowl(p), p["x"]], n_trials=20)
    first = Study(SPACE, "random", 0, start=pair).ask().params
    front = [t.params for t in pair.pareto()]
    assert first == front[0]
    last = front[-1]
    study = Study(SPACE, "random", 0, start=pair, constraints=lambda p: p["x"] >= last["x"])
    assert [study.ask().params for _ in range(2)][0] == last


def test_five_of_a_front_are_chosen_from_what_the_constraints_allow():
    pair = Study({"x": uniform(0, 1)}, "lhs", 1, direction=("minimize", "maximize")).run(lambda p: [p["x"]] * 2, n_trials=60)
    front = [t.params["x"] for t in pair.pareto()]
    assert len(front) == 60
    narrow = front[13:23]  # among the five of the whole front there is only one
    study = Study({"x": uniform(0, 1)}, "random", 0, start=pair, constraints=lambda p: narrow[0] <= p["x"] <= narrow[-1])
    assert [study.ask().params["x"] for _ in range(5)] == [narrow[k] for k in (0, 2, 4, 7, 9)]
    few = Study({"x": uniform(0, 1)}, "random", 0, start=pair, constraints=lambda p: p["x"] in front[30:32])
    assert [few.ask().params["x"] for _ in range(2)] == front[30:32]


def test_of_another_study_what_the_constraints_allow_is_a_start(tmp_path):
    other = Study(SPACE, "random", 5, path=tmp_path / "other.db", constraints={"memory": (">=", 0.4)})
    other.run(lambda p: {"value": bowl(p), "memory": p["x"]}, n_trials=200)
    ranked = [t.params for t in sorted(other.trials, key=lambda t: t.value)]
    held = [params for params in ranked if params["x"] >= 0.4]
    best = [params for params in held if params["x"] <= 0.45][:5]
    assert ranked[0]["x"] < 0.4
    assert best != held[:5]
    for start in (other, tmp_path / "other.db"):
        study = Study(SPACE, "random", 0, start=start, constraints=lambda p: p["x"] <= 0.45)
        assert [study.ask().params for _ in range(5)] == best
    with pytest.raises(SpaceError, match=r"none of the best configurations of .* is allowed: .* violates constraints\[0\]"):
        Study(SPACE, "random", 0, start=other, constraints=lambda p: p["x"] > 1)
    none = Study(SPACE, "random", 5, constraints={"memory": (">=", 2)})
    none.tell(none.ask(), {"value": 0.5, "memory": 1})
    with pytest.raises(NoCompletedTrialError, match="is a study of which no trial holds the bounds"):
        Study(SPACE, "random", 0, start=none)


def test_a_study_that_started_at_another_one_goes_on_after_that_has_gone_on(tmp_path):
    other = Study(SPACE, "random", 5).run(bowl, n_trials=10)
    Study(SPACE, "random", 0, start=other, path=tmp_path / "cut.db").run(bowl, n_trials=2).close()
    Study(SPACE, "random", 0, start=other, path=tmp_path / "done.db").run(bowl, n_trials=8).close()
    other.run(bowl, n_trials=60)
    for name in ("cut", "done"):
        with Study(SPACE, "random", 0, start=other, path=tmp_path / f"{name}.db") as study:
            study.run(bowl, n_trials=9)
            assert [t.origin for t in study.trials].count("start") == 5


def test_a_cross_validated_search_starts_at_the_record_of_other_data(tmp_path):
    X, y = load_iris(return_X_y=True)
    space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
    SpotSearchCV(SVC(), space, n_iter=8, cv=3, random_state=0, path=tmp_path / "a.db").fit(X[::2], y[::2])
    search = SpotSearchCV(SVC(), space, n_iter=8, cv=3, random_state=1, start=tmp_path / "a.db").fit(X[1::2], y[1::2])
    starts = [t.params["gamma"] for t in search.study_.trials if t.origin == "start"]
    assert len(set(starts)) == 5  # of five paths
    before = load_study(tmp_path / "a.db")
    assert starts[0] == before.recommend().params["gamma"]


def test_scales_of_a_record_are_texts_and_so_in_no_space(tmp_path):
    space = {"x": uniform(0, 1), "scale": [StandardScaler(), MinMaxScaler()]}
    study = Study(space, "random", 0, path=tmp_path / "a.db").run(lambda p: p["x"], n_trials=3)
    assert Study(space, "random", 1, start=study).ask().params["x"] == study.best_trial.params["x"]
    study.close()
    with pytest.raises(SpaceError, match="scale='StandardScaler"):
        Study(space, "random", 1, start=tmp_path / "a.db")


@pytest.mark.parametrize(
    "what",
    [
        loguniform(1e-3, 1 / 3),
        (0.0, 1 / 3),
        (2 / 3, 1e6 / 7, "log-uniform"),
        (-1 / 3, 0.0),
        (1e6 + 1 / 3, 2e6),
        norm(0, 1),
    ],
    ids=lambda what: str(getattr(what, "args", what)),
)
def test_a_value_that_was_rounded_at_a_bound_is_taken_and_one_outside_is_not(what):
    parameter = Space({"x": what}).branches[0]["x"]
    low, high = parameter.low, parameter.high
    rounded = [one for end in (low, high) for one in (float(f"{end:.6g}"), float(np.float32(end)), float(str(end)))]
    study = Study({"x": what}, "random", 0, start=[{"x": value} for value in rounded])
    for value in rounded:
        study.add_trial({"x": value}, 1.0)
    assert all(low <= trial.params["x"] <= high for trial in study.trials)
    table = pd.DataFrame({"x": rounded, "value": 1.0})
    assert len(Study.from_frame(table, {"x": what}, "random", 0).trials) == len(rounded)
    for outside in (low - 0.001 * (high - low), high + 0.001 * (high - low)):
        with pytest.raises(SpaceError, match="is not a number in"):
            study.add_trial({"x": outside}, 1.0)


def test_a_masked_element_is_no_number_wherever_it_is_given():
    study = Study({"x": (0.0, 1.0), "k": (0, 9)}, "random", 0, direction="minimize")
    study.run(lambda params: 1.0 if params["x"] < 0.7 else np.ma.masked, 8)
    masked = [t for t in study.trials if t.params["x"] >= 0.7]
    assert [t.state for t in masked] == ["failed"] * len(masked)
    assert 0 < len(masked) < 8
    assert study.best_trial.value == 1.0
    told = study.tell(study.ask(), {"value": 2.0, "time": np.ma.masked})
    assert (told.extra, told.attributes) == ({}, {"time": None})
    assert study.tell(study.ask(), np.ma.masked).state == "failed"
    for give in (
        lambda: study.add_trial({"x": 0.5, "k": 1}, np.ma.masked),
        lambda: study.add_trial({"x": 0.5, "k": 1}, 1.0, seconds=np.ma.masked),
        lambda: study.add_trial({"x": np.ma.masked, "k": 1}, 1.0),
        lambda: study.add_trial({"x": 0.5, "k": np.timedelta64(1, "s")}, 1.0),
        lambda: CurrentTrial(0, 0, {}).report(1, np.ma.masked),
    ):
        with pytest.raises((ArgumentError, SpaceError), match="not a"):
            give()


BIG = 2**53 + 1


@pytest.mark.parametrize(
    "space",
    [
        {"k": (0, 2**60)},
        {"k": randint(-(2**61), 2**61)},
        {"k": (BIG - 3, BIG + 9)},
        [{"k": (0, 2**60), "kind": ["wide"]}, {"kind": ["none"]}],
    ],
    ids=["a range", "of both signs", "narrow", "in one of two dictionaries"],
)
def test_whole_numbers_that_are_no_floats_keep_their_last_digit(space, tmp_path):
    path, kind = tmp_path / "wide.db", {"kind": "wide"} if isinstance(space, list) else {}
    with Study(space, "random", 0, path=path, start=[{"k": np.int64(BIG), **kind}]) as study:
        study.run(lambda params: float(params.get("k") == BIG), 2)
        for k in (BIG, np.uint64(BIG + 2), float(BIG + 1)):
            study.add_trial({"k": k, **kind}, 1.0)
        if kind:
            study.add_trial({"kind": "none"}, 1.0)
    first, _, *rest = study.trials
    assert (first.params["k"], first.value) == (BIG, 1.0)
    assert [t.params["k"] for t in rest[:3]] == [BIG, BIG + 2, BIG + 1]
    assert {type(t.params["k"]) for t in rest[:3]} == {int}
    with Study(space, "random", 0, path=path, start=[{"k": BIG, **kind}]) as again:
        assert again.trials == study.trials
    assert facts(load_study(path)) == facts(study)
    table = study.frame()
    assert table["param_k"].tolist() == [t.params.get("k") for t in study.trials]
    cells = pd.read_csv(io.StringIO(table.to_csv(index=False)), dtype={"param_k": str})["param_k"]
    assert cells.dropna().tolist() == [str(t.params["k"]) for t in study.trials if "k" in t.params]
    assert [t.params for t in Study.from_frame(table, space, "random", 0).trials] == [t.params for t in study.trials]


def test_starts_that_a_search_cannot_tell_apart_are_refused():
    with pytest.raises(SpaceError, match=f"k={2**60 - 5}, which a search cannot tell from the {2**60 - 6} of an earlier start"):
        Study({"k": (0, 2**60)}, "random", 0, start=[{"k": 2**60 - 6}, {"k": 2**60 - 5}])


def test_whole_numbers_of_numpy_are_whole_in_a_sweep():
    study = Study({"k": (0, 2**60), "x": (0.0, 1.0)}, "random", 0, sweep="k")
    study.run(lambda params: {np.int64(BIG): 1.0, BIG + 1: 2.0}, 1)
    study.add_trial({"x": 0.5, "k": np.int64(BIG)}, 3.0)
    assert [t.params["k"] for t in study.trials] == [BIG, BIG + 1, BIG]
    assert {type(t.params["k"]) for t in study.trials} == {int}
