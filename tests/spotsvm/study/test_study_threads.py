import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest
from scipy.stats import loguniform, uniform

from spotsvm import Study, load_study
from spotsvm.errors import StorageError, TrialStateError

SPACE = {"x": uniform(0, 1), "C": loguniform(1e-3, 1e3)}
N_THREADS = 8


@pytest.fixture(autouse=True)
def _threads_change_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(work, n=N_THREADS):
    """Call `work` with 0, 1, ... in as many threads at once, and raise what the first of them raises."""
    errors, together = [], threading.Barrier(n)

    def run(k):
        together.wait()
        try:
            work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    if errors:
        raise errors[0]


@contextmanager
def meanwhile(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield
    thread.join(60)
    assert not thread.is_alive()


def value_of(trial):
    return (trial.params["x"] - 0.3) ** 2 + np.log10(trial.params["C"]) ** 2


@pytest.mark.parametrize(("search", "rounds", "recorded"), [("random", 15, False), ("kriging", 3, True)])
def test_numbers_follow_the_order_of_calls_and_nothing_is_lost(search, rounds, recorded, tmp_path):
    study = Study(SPACE, search, 0, path=tmp_path / "study.db" if recorded else None)
    clock, calls = itertools.count(), []

    def work(k):
        for _ in range(rounds):
            began = next(clock)
            trial = study.ask()
            calls.append((began, next(clock), trial.number))
            study.tell(trial, {"value": value_of(trial), "thread": k})

    in_threads(work)
    n = N_THREADS * rounds
    assert [t.number for t in study.trials] == list(range(n))
    assert study.n_finished == n
    assert sorted(number for *_, number in calls) == list(range(n))
    assert sorted(t.number for t in study.finished_trials) == list(range(n))
    for (_, ended, first), (began, _, second) in itertools.permutations(calls, 2):
        if ended < began:
            assert first < second
    assert Counter(t.extra["thread"] for t in study.trials) == dict.fromkeys(range(N_THREADS), rounds)
    assert all(t.value == value_of(t) for t in study.trials)
    if not recorded:
        return
    trials, told = study.trials, study.finished_trials
    asked_next = study.ask()
    study.close()
    recorded = load_study(study.path)
    assert recorded.trials == (*trials, asked_next)
    assert recorded.finished_trials == told
    with Study(SPACE, search, 0, path=study.path) as resumed:
        assert resumed.trials == (*trials, asked_next)
        assert resumed.finished_trials == told
        assert resumed.ask() == asked_next


def test_the_search_is_in_one_thread_at_a_time():
    class Alone:
        inside = False

        def ask(self):
            self.tell(None, None)
            return np.array([0.5, 0.5])

        def tell(self, point, value):
            assert not self.inside
            self.inside = True
            time.sleep(0)
            self.inside = False

    study = Study(SPACE, Alone(), 0)
    in_threads(lambda k: [study.tell(study.ask(), 1.0) for _ in range(30)])
    assert study.n_finished == 30 * N_THREADS


def test_a_trial_is_told_by_one_thread_alone(tmp_path):
    refused = []
    with Study(SPACE, "random", 0, path=tmp_path / "study.db") as study:
        for _ in range(10):
            trial = study.ask()

            def tell(k, trial=trial):
                try:
                    study.tell(trial, float(k))
                except TrialStateError:
                    refused.append(k)

            in_threads(tell, 4)
        assert study.n_finished == 10
        assert len(refused) == 30


def test_all_that_may_be_said_of_a_trial_may_be_said_by_any_thread(tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "study.db") as study:

        def work(k):
            for i in range(5):
                batch = [study.ask() for _ in range(3)]
                study._books.lose(batch[0], f"thread {k}")
                study.fail(batch[0], "no value", extra={"thread": k})
                study.tell(batch[1], value_of(batch[1]))
                study._books.hand_back(batch[2:])
                study.add_finding(f"thread {k}", {"round": i})
                study._books.plan(100 + k, 3)

        in_threads(work, 4)
        trials, findings = study.trials, study.findings
        states = Counter(t.state for t in trials)
        assert states["ok"] == states["failed"] == 20
        assert study.n_finished == 40
        assert study._books.n_unfinished == states["running"] == len(trials) - 40
    with Study(SPACE, "random", 0, path=tmp_path / "study.db") as resumed:
        assert resumed.trials == trials
        assert resumed.findings == findings == {f"thread {k}": {"round": 4} for k in range(4)}


class _Slow:
    """A search whose `ask` takes until it is let go."""

    def __init__(self):
        self.asked, self.go_on = threading.Event(), threading.Event()

    def ask(self):
        self.asked.set()
        assert self.go_on.wait(60)
        return np.array([0.5, 0.5])

    def tell(self, point, value):
        pass


def test_ctrl_c_reaches_who_waits_for_another_thread():
    search = _Slow()
    study = Study(SPACE, search, 0)
    with meanwhile(study.ask):
        assert search.asked.wait(60)
        main = threading.main_thread().ident
        for wait in (study.ask, lambda: study.tell(0, 1.0), study.close):
            interrupt = threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT))
            interrupt.start()
            with pytest.raises(KeyboardInterrupt):
                wait()
            interrupt.join()
        search.go_on.set()
    assert [t.state for t in study.trials] == ["running"]
    assert study.tell(0, 1.0).value == 1.0
    assert study.ask().number == 1


def test_a_handler_of_a_signal_may_tell_what_it_interrupts(tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "study.db") as study:
        trials = [study.ask() for _ in range(2)]
        before = signal.signal(signal.SIGTERM, lambda *_: study.tell(trials[1], 2.0))
        try:
            with study._books.guard.turn:
                signal.raise_signal(signal.SIGTERM)
        finally:
            signal.signal(signal.SIGTERM, before)
        study.tell(trials[0], 1.0)
        assert [t.value for t in study.trials] == [1.0, 2.0]


def test_a_study_is_closed_between_two_steps_of_other_threads(tmp_path):
    study = Study(SPACE, "random", 0, path=tmp_path / "study.db")

    def go_on():
        while True:
            study.tell(study.ask(), 1.0)

    def work(k):
        if k == 0:
            while study.n_finished < 20:
                pass
            study.close()
        else:
            with pytest.raises(StorageError, match="the record is closed"):
                go_on()

    in_threads(work, 4)
    with Study(SPACE, "random", 0, path=tmp_path / "study.db") as resumed:
        assert resumed.trials == study.trials


def test_a_run_refuses_what_other_threads_ask_and_tell_meanwhile():
    refused = []

    def objective(params):
        for wrong in (study.ask, lambda: study.tell(0, 1.0), lambda: study.run(objective, 5)):
            thread = threading.Thread(target=lambda wrong=wrong: refused.append(pytest.raises(TrialStateError, wrong)))
            thread.start()
            thread.join(60)
            assert not thread.is_alive()
        return 1.0

    study = Study(SPACE, "random", 0)
    study.run(objective, n_trials=3)
    assert [t.state for t in study.trials] == ["ok"] * 3
    assert ["the study is being run" in str(error.value) for error in refused] == [True] * 9
    with pytest.raises(TrialStateError, match="is being run already"):
        study.run(lambda params: 1.0, 5, callback=lambda s, t: s.run(objective, 9))
    assert study.run(lambda params: 1.0, 5).n_finished == 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_does_not_wait_for_a_thread_that_it_has_not():
    script = """
        import os, sys, threading, warnings
        from scipy.stats import uniform
        from spotsvm.study.study import Study
        warnings.simplefilter("ignore")  # later Pythons warn of forks with threads
        study, held, over = Study({"x": uniform(0, 1)}, "random", 0), threading.Event(), threading.Event()
        def hold():
            with study._books.guard.turn:
                held.set()
                over.wait(60)
        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(60)
        child = os.fork()
        if child == 0:
            os._exit(7 if study.tell(study.ask(), 1.0).number == 0 else 1)
        status = os.waitpid(child, 0)[1]
        over.set()
        thread.join()
        sys.exit(os.waitstatus_to_exitcode(status))
    """
    process = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], timeout=60, capture_output=True, text=True)
    assert process.returncode == 7, process.stderr
