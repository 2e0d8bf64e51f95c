"""Studies with a swept parameter: sweeps in trials, tables and records, and resuming."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from completed_trials import BrokenOff, break_off_after, facts
from scipy.stats import loguniform, randint, uniform

from spotsvm import Study, load_study
from spotsvm.errors import ArgumentError, StorageError, StudyMismatchError
from tests.spotsvm.study.record.records import describe, edit

SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3), "degree": randint(1, 4)}
PATH = [2.0**k for k in range(-5, 16, 5)]


def score(params, C):
    return (np.log2(params["gamma"]) + 5) ** 2 + 0.1 * (np.log2(C) + np.log2(params["gamma"]) + 3) ** 2 + params["degree"]


def path(params):
    assert "C" not in params
    return {C: {"value": score(params, C), "double": 2 * C} for C in PATH}


def moody(params):
    """Fail for some gamma, and for large C at others."""
    if params["gamma"] > 1:
        raise ValueError("too large")
    return {C: None if C > 100 and params["degree"] == 2 else score(params, C) for C in PATH}


def study(path=None, search="kriging", **options):
    return Study(SPACE, search, 0, path=path, noise=False, sweep="C", **options)


def test_each_value_is_a_trial_and_the_search_sees_the_best():
    done = study().run(path, 12)
    assert (done.n_finished, len(done.trials)) == (12, 60)
    assert repr(done).endswith("by 'kriging': 12 of 12 trials finished, with 60 values in their sweeps>")
    assert "12 of 12 trials finished, with 60 values in their sweeps" in done._repr_html_()
    assert done._how_to_resume(12).startswith("12 of 12 trials are finished;")
    assert [t.number for t in done.trials] == list(range(60))
    frame = done.frame()
    assert frame["sweep"].tolist() == [5 * k for k in range(12) for _ in PATH]
    assert (frame["extra_double"] == 2 * frame["param_C"]).all()
    best = frame.groupby("sweep")["value"].min()
    assert frame.set_index("number").loc[best.index, "value"].tolist() == best.tolist()
    assert frame[frame["number"] == frame["sweep"]]["seconds"].notna().all()
    for t in done.trials:
        assert t.value == pytest.approx(score(t.params, t.params["C"]))
        assert done.space.decode(t.point) == pytest.approx(dict(t.params))
    assert done.best_trial.value < 3
    # without C it is a search of the other parameters, and the first points are those of one
    other = Study({name: SPACE[name] for name in ("gamma", "degree")}, "kriging", 0, noise=False)
    first = [other.ask().params for _ in range(other._books.n_initial)]
    asked = [t for t in done.trials if t.sweep == t.number][: len(first)]
    assert [{name: t.params[name] for name in p} for t, p in zip(asked, first, strict=True)] == first


def test_batches_do_not_depend_on_who_evaluates_them(tmp_path):
    alone = study().run(path, 12, batch_size=3)
    with ThreadPoolExecutor(3) as threads, study(tmp_path / "s.db") as s:
        s.run(path, 12, threads, batch_size=3)
    assert facts(s) == facts(alone)


def test_worker_processes_return_paths():
    def objective(params):
        return {C: {"value": params["gamma"] * C, "twice": 2.0} if C < 1000 else None for C in (1.0, 30.0, 2000.0)}

    def listed(params):
        return [(w, params["gamma"] + k) for k, w in enumerate([None, "balanced", {0: 5, 1: 1}])]

    in_processes = listed_study(search="random").run(listed, 4, n_jobs=2, batch_size=2)
    assert facts(in_processes) == facts(listed_study(search="random").run(listed, 4, batch_size=2))
    assert len(in_processes.trials) == 12
    with ProcessPoolExecutor(2) as executor:
        in_processes = study().run(objective, 6, executor=executor, batch_size=3)
    assert facts(in_processes) == facts(study().run(objective, 6, batch_size=3))
    assert in_processes.trials[2].extra["twice"] == 2.0


WEIGHTS = [None, "balanced", {0: 1, 1: 5}, {0: 5, 1: 1}]
LISTED = {"gamma": SPACE["gamma"], "w": WEIGHTS, "degree": SPACE["degree"]}


def weighted(params):
    """Return pairs of all values of a list; some fail."""
    of_each = [(k - 2) ** 2 + (np.log2(params["gamma"]) + k) ** 2 for k in range(4)]
    return [(w, None if value > 100 else {"value": value}) for w, value in zip(WEIGHTS, of_each, strict=True)]


def listed_study(path=None, search="kriging"):
    return Study(LISTED, search, 0, path=path, noise=False, sweep="w")


def test_a_list_is_profiled_and_its_record_goes_on(tmp_path):
    whole = listed_study().run(weighted, 12)
    assert (whole.n_finished, len(whole.trials)) == (12, 48)
    for k in range(0, 48, 4):
        assert [t.params["w"] for t in sorted(whole.trials[k : k + 4], key=lambda t: t.point)] == WEIGHTS
    with pytest.raises(BrokenOff), listed_study(tmp_path / "s.db") as s:
        s.run(weighted, 12, callback=break_off_after(7))
    with listed_study(tmp_path / "s.db") as s:
        s.run(weighted, 12)
    assert facts(s) == facts(whole)
    read = load_study(tmp_path / "s.db")
    assert [t.point for t in read.trials] == [t.point for t in whole.trials]
    assert [t.value for t in read.trials] == [t.value for t in whole.trials]
    assert read.trials[2].params["w"] == str(whole.trials[2].params["w"])


def test_asking_and_telling_by_hand():
    s = study(search="random")
    trial = s.ask()
    assert sorted(trial.params) == ["degree", "gamma"]
    told = s.tell(trial, {1.0: 3.0, 10.0: 2.0, 100.0: float("nan")})
    assert (told.params["C"], told.value, told.sweep) == (10.0, 2.0, 0)
    assert [(t.params["C"], t.state, t.origin) for t in s.trials[1:]] == [(1.0, "ok", "sweep"), (100.0, "failed", "sweep")]
    failed = s.fail(s.ask(), "no luck")
    assert (failed.state, failed.sweep, "C" in failed.params) == ("failed", failed.number, False)
    told = s.tell(s.ask(), 3.0)
    assert told.reason == "the objective returned 3.0; with sweep='C' it returns a mapping from values of C to outcomes"
    with pytest.raises(ArgumentError, match=r"a sweep with C=1000000000.0 is not a number in \[0.03125, 32768\]"):
        s.tell(s.ask(), {1e9: 1.0})
    assert s.trials[-1].state == "failed"


def test_a_start_hands_on_its_own_value_and_is_not_repeated(tmp_path):
    start = {"C": 3.0, "gamma": 0.5, "degree": 2}
    seen = []

    def with_own(params):
        seen.append(params.get("C"))
        return {C: score(params, C) for C in [*PATH, *([params["C"]] if "C" in params else [])]}

    for n in (7, 9):
        with study(tmp_path / "s.db", start=start) as s:
            s.run(with_own, n)
    assert (seen[0], seen[1:]) == (pytest.approx(3.0), [None] * 8)
    assert (s.trials[0].params, s.trials[0].sweep) == (start, 0)  # not the best in the sweep, and without rounding
    assert min(t.value for t in s.trials if t.sweep == 0) < s.trials[0].value
    with pytest.raises(StudyMismatchError, match="with another start"):
        study(tmp_path / "s.db", start={**start, "gamma": 0.25})


def test_a_start_that_was_running_goes_on_with_the_values_given(tmp_path):
    start = {"C": 0.1, "gamma": 0.3, "degree": 2}
    with study(tmp_path / "s.db", start=start) as s:
        assert s.ask().params == start
    with study(tmp_path / "s.db") as s:
        told = s.tell(s.ask(), {0.1: 3.0, 1.0: 2.0})
        assert (told.params, told.value, s.trials[1].params["C"]) == (start, 3.0, 1.0)
    with study(tmp_path / "s.db") as s:
        assert (s.trials[0], s.best_trial.number) == (told, 1)


def test_another_profile_is_another_study(tmp_path):
    with study(tmp_path / "s.db", "random") as s:
        s.run(path, 3)
    with pytest.raises(StudyMismatchError, match="another sweep: it has 'C', this one None"):
        Study(SPACE, "random", 0, path=tmp_path / "s.db", noise=False)
    with pytest.raises(ArgumentError, match="sweep='C' is for one objective, and the study has 2"):
        Study(SPACE, "random", 0, direction=("minimize", "maximize"), sweep="C")


def test_a_stop_rule_counts_suggestions():
    s = study().run(path, 60, stop="uncertainty")
    assert s.findings["stop"]["n_trials"] == s.n_finished == 60
    noisy = Study({"x": uniform(0, 1), "y": uniform(0, 1)}, "kriging", 0, sweep="y")
    rng = np.random.default_rng(0)
    noisy.run(lambda p: {y: (p["x"] - y) ** 2 + rng.normal() for y in (0.0, 0.5, 1.0)}, 60, stop="uncertainty")
    assert noisy.findings["stop"]["stopped"] is True
    assert noisy.findings["stop"]["n_trials"] == noisy.n_finished < 60


@pytest.mark.parametrize(
    ("edited", "said"),
    [
        (lambda told: told["rows"][1].update(number=77), "trials are missing"),
        (lambda told: told["rows"][1].update(number="x"), "its number is 'x'"),
        (lambda told: told["rows"].reverse(), "the sweep of trial 0 has trials of others"),
        (lambda told: told["rows"][1].update(params={}), "trial 1 has other parameters than the space"),
    ],
)
def test_a_record_with_paths_that_cannot_be_is_damaged(tmp_path, edited, said):
    with study(tmp_path / "s.db", "random") as s:
        s.run(path, 3)
    edit(tmp_path / "s.db", "told", edited, number=0)
    with pytest.raises(StorageError, match=said):
        load_study(tmp_path / "s.db")


def test_a_record_whose_swept_parameter_is_none_is_damaged(tmp_path):
    with study(tmp_path / "s.db", "random") as s:
        s.run(path, 3)
    describe(tmp_path / "s.db", sweep="kernel")
    with pytest.raises(StorageError, match="sweep='kernel' is not a parameter with a range"):
        load_study(tmp_path / "s.db")


@pytest.mark.parametrize(("search", "objective"), [("kriging", moody), ("cmaes", path)])
def test_a_record_that_was_broken_off_goes_on_as_if_nothing_had_happened(tmp_path, search, objective):
    whole = study(search=search).run(objective, 12)
    with pytest.raises(BrokenOff), study(tmp_path / "s.db", search) as s:
        s.run(objective, 12, callback=break_off_after(8))
    with study(tmp_path / "s.db", search) as s:
        s.run(objective, 12)
    read = load_study(tmp_path / "s.db")
    assert facts(s) == facts(read) == facts(whole)
    pd.testing.assert_frame_equal(read.frame().filter(regex="param|value|sugg"), whole.frame().filter(regex="param|value|sugg"))
    status = read.status()
    assert (status.n_finished, status.state, status.incumbent.value) == (12, "ended", whole.best_trial.value)
