import json
import math
import os
import subprocess
import sys
import textwrap
import time
from dataclasses import replace

import pytest
from scipy.stats import uniform
from sklearn.svm import SVC

from spotsvm import Status, Study, Trial, load_study
from spotsvm.commands.status import status_page
from spotsvm.study.status import read_status, status_of
from spotsvm.trials.findings import STOP, Findings, Stop, content_of
from spotsvm.trials.objectives import Objectives

SPACE = {"x": uniform(0, 1), "kind": ["a", "b"]}
ONE = Objectives.of("minimize")


def objective(params):
    if params["kind"] == "b":
        raise ValueError("no b")
    return params["x"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


def ended(path, n=12, **arguments):
    with Study(SPACE, "random", 0, path=path, **arguments) as study:
        return study.run(objective, n_trials=n)


def lasting(status):
    """What does not depend on when it was asked for."""
    return replace(status, seconds_since=None, writer=None, last_writer=None)


def test_a_study_that_has_ended(path):
    study = ended(path)
    status = read_status(path)
    frame = study.frame()
    assert (status.state, status.reason) == ("ended", "all trials of the budget are finished")
    assert (status.search, status.seed, status.n_trials, status.path) == ("random", 0, 12, str(path))
    assert (status.n_ok, status.n_failed) == ((frame["state"] == "ok").sum(), (frame["state"] == "failed").sum())
    assert (status.n_timeout, status.n_running, status.n_finished, status.running) == (0, 0, 12, ())
    best = study.best_trial
    assert (status.incumbent.number, status.incumbent.value, status.incumbent.params) == (best.number, best.value, best.params)
    [(reason, count)] = status.failures
    assert reason.startswith("ValueError: no b")
    assert count == status.n_failed
    assert status.writer is status.last_writer is status.seconds_left is status.n_front is None
    assert status.time_spent["evaluation"].total == pytest.approx(frame["seconds"].sum())
    assert status.trials_per_minute > 0
    assert 0 <= status.seconds_since < 60
    with Study(SPACE, "random", 0, path=path) as study:  # open after its end
        assert isinstance(study.status(), Status)
        assert study.status().writer.pid == os.getpid()
        assert lasting(study.status()) == lasting(load_study(path).status()) == lasting(status)
        assert "still open in process" in status_page(study.status())


def test_while_it_runs(path):
    seen = []

    def look(study, trial):
        seen.append((read_status(path), study.status(), load_study(path).status()))

    with Study(SPACE, "random", 0, path=path) as study:
        study.run(objective, n_trials=6, batch_size=3, callback=look)
    for n, several in enumerate(seen, 1):
        assert len({json.dumps(lasting(status).to_dict() | {"running": None, "seconds_left": None}) for status in several}) == 1
        status = several[0]
        assert status.n_finished == n
        assert (status.state, status.writer.pid) == ("running", os.getpid()) if n < 6 else status.state == "ended"
        assert status.n_running == len(status.running) == -n % 3
        assert all(0 <= t.seconds < 60 and t.params == study.trials[t.number].params for t in status.running)
        assert status.seconds_left == (None if n == 6 else pytest.approx(60 * (6 - n) / status.trials_per_minute))
    assert read_status(path).writer is None


def test_a_study_that_was_broken_off(path):
    def stop(params):
        raise KeyboardInterrupt

    with Study(SPACE, "random", 0, path=path) as study, pytest.raises(KeyboardInterrupt):
        study.run(stop, n_trials=6)
    status = read_status(path)
    assert (status.state, status.n_running, status.n_trials) == ("broken off", 1, 6)
    assert status.running[0].seconds is None
    assert "run the same program," in status_page(status)
    assert "1 unfinished" in status_page(status)


KILLED = """
    import os, signal, sys
    from spotsvm import Study
    study = Study({"x": [1, 2, 3]}, "random", 0, path=sys.argv[1])
    study.run(lambda params: os.kill(os.getpid(), signal.SIGKILL) if params["x"] == 2 else 1.0, n_trials=3)
"""


@pytest.mark.skipif(os.name == "nt", reason="a signal of POSIX")
def test_a_killed_process_is_named(path):
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED), str(path)]).returncode == -9
    status = read_status(path)
    assert (status.state, status.writer, status.n_running) == ("broken off", None, 1)
    assert status.last_writer.pid != os.getpid()
    assert f"broken off when process {status.last_writer.pid} on " in status_page(status)


def test_a_study_that_nobody_gave_a_budget(path):
    with Study(SPACE, "random", 0, path=path) as study:
        trial = study.ask()
        assert study.status().state == "running"
        study.tell(trial, 1.0)
    assert read_status(path).state == "idle"
    assert "it has no budget" in status_page(read_status(path))


def test_a_study_in_memory():
    study = Study(SPACE, "random", 0)
    assert study.status().state == "idle"
    trial = study.ask()
    assert (study.status().state, study.status().path) == ("running", None)
    study.tell(trial, 2.0)
    assert study.status().incumbent.value == 2.0
    assert study.run(objective, n_trials=3).status().state == "ended"
    assert status_page(study.status()).startswith("study in memory: random, seed 0\nended: ")


def test_a_space_that_is_used_up(path):
    with Study([{"k": ["a"], "n": [1, 2]}, {"k": ["b"]}], "random", 0, path=path) as study:
        study.run(lambda params: 1.0, n_trials=10)
    status = read_status(path)
    assert (status.state, status.reason, status.n_finished) == ("ended", "every configuration in its space has been evaluated", 3)


def test_a_stop_rule_ended_it(path):
    study = ended(path)
    about, trials = study.about | {"budget": 50}, study.trials
    stop = Stop(True, 12, "stop_at", "The rule stopped the run.")
    found = Findings({STOP: content_of(stop)})
    assert status_of(trials, about, found, ONE, path).reason == "the stop rule ended the run"
    others = [Findings({STOP: content_of(replace(stop, **change))}) for change in ({"stopped": False}, {"n_trials": 7})]
    for other in (Findings(), *others):
        assert status_of(trials, about, other, ONE, path).state == "broken off"


def test_several_objectives_and_maximised_ones(path):
    with Study({"x": [0, 1, 2, 3]}, "random", 0, direction=("minimize", "maximize"), path=path) as study:
        study.run(lambda p: {"values": [p["x"], min(p["x"], 2)]}, n_trials=4)
    status = read_status(path)
    assert (status.incumbent, status.n_front) == (None, len(study.pareto()))
    assert "3 non-dominated trials" in status_page(status)
    other = path.with_name("other.db")
    assert ended(other, direction="maximize").best_trial.number == read_status(other).incumbent.number


def test_running_for_as_long_as_this_process_evaluates_it(path):
    now = time.time()
    old = Trial(0, {"x": 1}, (0.5,), asked_at=now - 1000)
    with Study(SPACE, "random", 0, path=path):
        new = replace(old, number=1, asked_at=time.time())
        status = status_of([old, new], {}, Findings(), ONE, path)
    assert 0 <= status.running[1].seconds <= status.running[0].seconds < 100


def test_the_commonest_reasons_of_failures_and_of_lost_workers():
    trials = [
        Trial(0, {}, (0.1,), "ok", 1.0, lost=("killed", "killed")),
        Trial(1, {}, (0.2,), "failed", reason="out of memory", lost=("exit code 1",)),
    ]
    status = status_of(trials, {}, Findings(), ONE, None)
    assert (status.n_lost, status.lost) == (3, (("killed", 2), ("exit code 1", 1)))
    assert "\nworkers lost  2 x killed\n              1 x exit code 1" in status_page(status)
    reasons = [f"reason {k}" for k in range(8) for _ in range(k + 1)]
    status = status_of([Trial(k, {}, (0.1,), "failed", reason=r) for k, r in enumerate(reasons)], {}, Findings(), ONE, None)
    assert status.failures == tuple((f"reason {k}", k + 1) for k in (7, 6, 5, 4, 3))
    assert status.n_failed == 36


def test_to_dict_is_json():
    trials = [
        Trial(0, {"model": SVC(), "C": math.nan, "k": (1, 2)}, (0.1,), "ok", 1.0, seconds=math.inf),
        Trial(1, {"model": SVC()}, (0.2,)),
    ]
    found = json.loads(json.dumps(status_of(trials, {}, Findings(), ONE, None).to_dict(), allow_nan=False))
    params = {"model": "SVC()", "C": None, "k": [1, 2]}
    assert found["incumbent"] == {"number": 0, "value": 1.0, "metric": "", "params": params}
    assert found["running"] == [{"number": 1, "params": {"model": "SVC()"}, "seconds": None}]
    assert (found["n_finished"], found["n_ok"]) == (1, 1)
