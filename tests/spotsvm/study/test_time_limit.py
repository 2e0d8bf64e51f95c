import time

import pytest

from spotsvm import Study
from spotsvm.errors import ArgumentError
from spotsvm.study.workers.protocol import Here

SPACE = {"x": list(range(1000))}


class Clock:
    """A clock that an objective turns on by a second."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr("spotsvm.study.stop.monotonic", lambda: self.now)

    def __call__(self, params):
        self.now += 1.0
        return params["x"]


def test_no_trial_starts_once_the_time_is_up_and_the_next_run_has_it_again(monkeypatch, tmp_path):
    tick = Clock(monkeypatch)
    with Study(SPACE, "random", 0, path=tmp_path / "r.db") as study:
        assert study.run(tick, 100, timeout=4.5).n_finished == 5
        assert study.findings["timeout"] == {
            "sentence": "The run ended after 5 trials, because its time was up (timeout=4.5 s).",
            "timed_out": True,
            "n_trials": 5,
            "timeout": 4.5,
        }
        assert (study.status().state, study.status().reason) == ("ended", "the time of the run was up")
    with Study(SPACE, "random", 0, path=tmp_path / "r.db") as study:
        assert study.run(tick, 100, timeout=3.5).n_finished == 9
        assert study.run(tick, 10, timeout=3.5).n_finished == 10
        assert not study.findings["timeout"]["timed_out"]
        assert study.findings["timeout"]["sentence"] == "The run ended after 10 trials, within its time (timeout=3.5 s)."
    assert [t.params for t in study.trials] == [t.params for t in Study(SPACE, "random", 0).run(lambda p: 0, 10).trials]


def test_a_run_within_its_time_has_no_finding(monkeypatch):
    assert Study(SPACE, "random", 0).run(Clock(monkeypatch), 5, timeout=100).findings == {}


def test_one_trial_is_run_in_any_case_and_a_batch_is_finished(monkeypatch):
    tick = Clock(monkeypatch)
    assert Study(SPACE, "random", 0).run(tick, 100, timeout=1e-9).n_finished == 1
    assert Study(SPACE, "random", 0).run(tick, 100, timeout=4.5, batch_size=3).n_finished == 6


class Two(Here):
    """Two workers, the second of which is always behind."""

    n_workers = 2

    def wait(self, timeout=None):
        return [] if timeout == 0 else super().wait(timeout)


def test_trials_under_way_are_finished(monkeypatch):
    study = Study(SPACE, "random", 0).run(Two(Clock(monkeypatch)), 100, timeout=2.5)
    assert study.n_finished == len(study.trials) == 4


@pytest.mark.parametrize("timeout", [0, -1, True, float("nan"), "60"])
def test_what_is_not_a_time_is_refused(timeout):
    with pytest.raises(ArgumentError, match=r"timeout=.* is not a time; use a positive number of seconds, or None"):
        Study(SPACE, "random", 0).run(lambda p: 0, 5, timeout=timeout)


def test_the_limit_is_that_of_the_wall_clock():
    began = time.monotonic()
    study = Study(SPACE, "random", 0).run(lambda p: time.sleep(0.01) or 0, 1000, timeout=0.05)
    assert 1 <= study.n_finished <= 5
    assert time.monotonic() - began >= 0.05
