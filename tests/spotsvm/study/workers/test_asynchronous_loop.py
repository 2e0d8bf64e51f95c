import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from completed_trials import SQUARE as SPACE
from completed_trials import BrokenOff, bowl, break_off_after, facts

from spotsvm import Study, load_study
from spotsvm.studies.common.virtual_workers import VirtualWorkers
from spotsvm.study.record.record import read_ledger
from spotsvm.trials.outcome import Outcome


def duration(params):
    """Log-normal, a function of the parameters alone."""
    return float(np.exp(np.random.default_rng(int(1e9 * params["x"])).normal()))


def run(study, n_trials, workers, **settings):
    return study.run(workers, n_trials, **settings)


def test_a_free_worker_never_waits_for_the_slowest():
    workers = VirtualWorkers(bowl, 8, duration)
    study = run(Study(SPACE, "random", 0), 400, workers)
    assert study.n_finished == 400
    assert workers.most == 8
    assert workers.busy / (8 * workers.now) > 0.95
    in_batches = VirtualWorkers(bowl, 8, duration)
    run(Study(SPACE, "random", 0), 400, in_batches, batch_size=8)
    assert in_batches.now > 1.5 * workers.now


@pytest.mark.parametrize("search", ["kriging", "random"])
def test_what_is_under_way_is_not_suggested_again_and_counts_in_the_budget(search):
    workers = VirtualWorkers(bowl, 5, duration)
    study = run(Study(SPACE, search, 0, noise=False), 16, workers)
    assert [t.state for t in study.trials] == ["ok"] * 16
    assert len({t.point for t in study.trials}) == 16
    assert sorted(workers.submitted) == list(range(16))


def test_a_small_space_is_gone_through_and_what_runs_is_waited_for(caplog):
    study = run(Study({"a": [1, 2, 3], "b": ["x", "y"]}, "kriging", 0, noise=False), 20, VirtualWorkers(lambda p: p["a"], 4))
    assert [t.state for t in study.trials] == ["ok"] * 6
    assert caplog.text.count("the study ends with 6 trials: all 6 configurations") == 1


@pytest.mark.parametrize(("search", "at"), [("kriging", 8), ("cmaes", 15), ("random", 1)])
def test_a_resumed_study_goes_on_as_the_one_that_was_broken_off_would(search, at, tmp_path):
    path = tmp_path / "study.db"
    with Study(SPACE, search, 7, path=path) as study, pytest.raises(BrokenOff):
        run(study, 20, VirtualWorkers(bowl, 4, duration), callback=break_off_after(at))
    left = [t.number for t in study.trials if t.state == "running"]
    assert study.n_finished == at
    assert len(left) >= 3
    kept = run(pickle.loads(pickle.dumps(study)), 20, VirtualWorkers(bowl, 4, duration))
    with Study(SPACE, search, 7, path=path) as again:
        workers = VirtualWorkers(bowl, 4, duration)
        run(again, 20, workers)
        assert facts(again) == facts(kept)
        assert [t.number for t in again.finished_trials] == [t.number for t in kept.finished_trials]
    assert workers.submitted[: len(left)] == left


def test_the_record_has_no_batch_size_where_the_order_is_the_workers(tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "s.db") as study, ThreadPoolExecutor(2) as executor:
        study.run(bowl, 8, executor)
        assert study.about["batch_size"] is None
        assert load_study(study.path).about["batch_size"] is None
        assert study.run(bowl, 12).about["batch_size"] is None


class StopAtTwelve:
    """Stops once the trial told as the twelfth is there."""

    def __init__(self):
        self.seen = []

    def __call__(self, study):
        self.seen.append([t.number for t in study.finished_trials])
        return "twelve are enough" if study.n_finished == 12 else None


@pytest.mark.parametrize("at", [None, 10, 13])
def test_a_stop_rule_sees_trials_in_the_order_told_and_ends_a_resumed_study_where_it_would_have(at, tmp_path):
    path, rule = tmp_path / "s.db", StopAtTwelve()
    if at is not None:
        with Study(SPACE, "random", 0, path=path) as study, pytest.raises(BrokenOff):
            run(study, 40, VirtualWorkers(bowl, 4, duration), stop=rule, callback=break_off_after(at))
    with Study(SPACE, "random", 0, path=path) as study:
        run(study, 40, VirtualWorkers(bowl, 4, duration), stop=rule)
    assert study.n_finished == 15  # the three that were under way are waited for
    assert all(seen == [t.number for t in study.finished_trials[: len(seen)]] for seen in rule.seen)
    assert rule.seen[-1] != sorted(rule.seen[-1])
    finding = study.findings["stop"]
    assert (finding["stopped"], finding["n_trials"]) == (True, 12)
    assert finding["sentence"] == "twelve are enough"


class Mortal(VirtualWorkers):
    """Loses a worker in every attempt at trials 2 and 5, so many times."""

    def __init__(self, times):
        super().__init__(bowl, 3, duration)
        self.left = {2: times, 5: times}

    def wait(self, timeout=None):
        ended = super().wait(timeout)
        for k, (key, _) in enumerate(ended):
            if self.left.get(key, 0):
                self.left[key] -= 1
                ended[k] = key, Outcome("failed", reason=f"gone\n{self.left[key]}", lost=True)
        return ended


@pytest.mark.parametrize("batch_size", [None, 4])
def test_a_trial_whose_worker_died_is_evaluated_again_as_often_as_wanted(batch_size, tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "s.db") as study:
        run(study, 8, workers := Mortal(2), retries=2, batch_size=batch_size)
        assert [t.state for t in study.trials] == ["ok"] * 8
        assert study.trials[2].lost == ("gone 1", "gone 0")
        assert load_study(study.path).trials[5].lost == ("gone 1", "gone 0")
        assert sorted(workers.submitted) == sorted([*range(8), 2, 2, 5, 5])
    study = run(Study(SPACE, "random", 0), 8, Mortal(2), retries=1, batch_size=batch_size)
    assert [t.number for t in study.trials if t.state == "failed"] == [2, 5]
    assert study.trials[5].reason == "gone\n0"
    assert study.frame()["lost"].tolist() == [0, 0, 2, 0, 0, 2, 0, 0]


def test_losses_count_after_a_resume(tmp_path):
    path = tmp_path / "s.db"
    with Study(SPACE, "random", 0, path=path) as study, pytest.raises(BrokenOff):
        run(study, 8, Mortal(9), retries=3, callback=break_off_after(2))
    before = len(study.trials[2].lost)
    assert 0 < before < 4
    with Study(SPACE, "random", 0, path=path) as study:
        run(study, 8, workers := Mortal(9), retries=3)
    assert study.trials[2].state == "failed"
    assert len(study.trials[2].lost) == 4
    assert workers.submitted.count(2) == 4 - before


@pytest.mark.parametrize("at", [1, 5])
def test_what_came_back_before_its_turn_is_recorded_at_once_and_not_evaluated_again(at, tmp_path):
    path, calls = tmp_path / "s.db", []

    def objective(params):
        calls.append(params)
        if len(calls) == at:
            raise KeyboardInterrupt
        return bowl(params)

    def run_first_slowly(study):
        durations = itertools.chain([100.0], itertools.count(1.0))
        run(study, 16, VirtualWorkers(objective, 8, lambda params: next(durations)), batch_size=8)

    with Study(SPACE, "kriging", 0, path=path) as study, pytest.raises(KeyboardInterrupt):
        run_first_slowly(study)
    with Study(SPACE, "kriging", 0, path=path) as again:
        assert len(again.ledger.outcomes) + again.n_finished == at - 1
        run_first_slowly(again)
        assert read_ledger(path).outcomes == {}
    assert len(calls) == 16 + 1
    assert facts(again) == facts(Study(SPACE, "kriging", 0).run(bowl, 16, batch_size=8))


def test_what_has_come_back_is_told_though_a_callback_raises():
    study = Study(SPACE, "random", 0)
    with pytest.raises(BrokenOff):
        run(study, 20, VirtualWorkers(bowl, 6), callback=break_off_after(1))
    assert study.n_finished == 6  # all came at one time
    seen = []
    run(study, 20, VirtualWorkers(bowl, 6), callback=lambda s, t: seen.append(t.number))
    assert sorted(seen) == list(range(6, 20))


def test_an_objective_that_asks_the_study_fails_with_the_reason():
    study = Study(SPACE, "random", 0)
    study.run(lambda params: study.ask().params["x"], 2, max_failures=None)
    assert [t.state for t in study.trials] == ["failed"] * 2
    assert "ask() cannot be called while the study is being run" in study.trials[0].reason
    study.run(lambda params: study.tell(3, 0.0).value, 4, max_failures=None)
    assert "tell() cannot be called while the study is being run" in study.trials[3].reason


@pytest.mark.parametrize(("search", "waits"), [("cmaes", 1), ("vns", 1), ("kriging", 0)])
def test_only_a_search_that_goes_on_from_the_best_start_waits_for_the_starts(search, waits):
    starts = [{"x": 0.25, "y": 0.5}, {"x": 0.5, "y": 0.25}]
    workers = VirtualWorkers(bowl, 4, lambda params: 5.0 if params["x"] in (0.25, 0.5) else 1.0)
    asked_at = {}

    class Asked:
        def on_ask(self, study, trial):
            asked_at[trial.number] = workers.now

    study = run(Study(SPACE, search, 0, start=starts), 10, workers, callback=Asked())
    assert [t.origin for t in study.trials].count("start") == 2
    assert asked_at[2] == (5.0 if waits else 0.0)
    assert workers.most == 4
