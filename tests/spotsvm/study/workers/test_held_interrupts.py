import os
import signal
import threading
from contextlib import closing

import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.study.record.record import Record
from spotsvm.study.workers.interrupts import Interrupts, interrupts_held

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}


def press():
    os.kill(os.getpid(), signal.SIGINT)


def objective(p):
    return (p["x"] - 0.3) ** 2 + p["y"]


def facts(study):
    return [(t.number, t.params, t.state, t.value, t.origin) for t in study.trials]


def test_a_second_one_is_not_held():
    steps = []

    @interrupts_held()
    def work():
        press()
        steps.append("held")
        press()
        steps.append("not reached")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["held"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_is_raised_inside_comes_first():
    @interrupts_held()
    def work():
        press()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_user_s_own_gets_it_afterwards():
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with interrupts_held():
            press()
            assert not heard
        assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_a_run_it_holds_nothing_more_so_that_a_second_one_ends_at_once():
    steps = []

    @interrupts_held()
    def work():
        press()
        steps.append("held")
        press()
        steps.append("not reached")

    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt):
            work()
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()
    assert steps == ["held"]


def test_where_a_run_lets_interrupts_through_it_holds_them():
    steps = []

    @interrupts_held()
    def work():
        press()
        steps.append("held")

    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt), interrupts.allowed():
            work()
        assert interrupts.pressed
    assert steps == ["held"]


def test_other_threads_are_left_alone():
    steps = []

    def work():
        with interrupts_held():
            steps.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert steps == [signal.default_int_handler]


@pytest.mark.faults
@pytest.mark.parametrize("search", ["kriging", "random"])
@pytest.mark.parametrize("where", ["BEGIN", "INSERT", "UPDATE", "COMMIT"])
def test_interrupted_inside_a_transaction_memory_and_record_agree(where, search, tmp_path):
    """Ctrl-C at each statement of asking and telling: the study goes on as if it had not been, here and from its record."""
    path = tmp_path / "study.db"
    study = Study(SPACE, search, 0, path=path)
    pressed = []

    class Pressing:
        """A connection during whose statement Ctrl-C is pressed, once every five times."""

        def __init__(self, connection):
            self._connection = connection

        def __getattr__(self, name):
            return getattr(self._connection, name)

        def execute(self, statement, *values):
            result = self._connection.execute(statement, *values)
            if statement.startswith(where):
                pressed.append(statement)
                if len(pressed) % 5 == 2:
                    press()
            return result

    study._record._connection = Pressing(study._record._connection)
    interrupted = 0
    while study.n_finished < 12:
        try:
            trial = study.ask()
            study.tell(trial, objective(trial.params))
        except KeyboardInterrupt:
            interrupted += 1
            with closing(Record(path, read_only=True)) as record:
                assert [(t.number, t.state, t.value) for t in record.trials()] == [
                    (t.number, t.state, t.value) for t in study.trials
                ]
            running = [t for t in study.trials if t.state == "running"]
            study.hand_back(running)
    assert interrupted >= 2
    study.close()
    undisturbed = Study(SPACE, search, 0)
    while undisturbed.n_finished < 12:
        trial = undisturbed.ask()
        undisturbed.tell(trial, objective(trial.params))
    assert facts(study) == facts(undisturbed)
    with Study(SPACE, search, 0, path=path) as again:
        assert facts(again) == facts(study)


@pytest.mark.faults
def test_interrupted_while_the_search_thinks_nothing_of_it_is_left(tmp_path, monkeypatch):
    path = tmp_path / "study.db"
    with Study(SPACE, "kriging", 0, path=path) as study:
        study.run(objective, 8)
        with monkeypatch.context() as patch:

            def interrupted(*args, **options):
                raise KeyboardInterrupt

            patch.setattr("spotsvm.solvers.search.kriging.kriging_search.maximize_acquisition", interrupted)
            for _ in range(2):
                with pytest.raises(KeyboardInterrupt):
                    study.ask()
        study.run(objective, 12)
    assert facts(study) == facts(Study(SPACE, "kriging", 0).run(objective, 12))


@pytest.mark.faults
def test_an_objective_that_is_interrupted_leaves_its_trial_to_be_asked_for_again(tmp_path):
    calls = []

    def once(p):
        calls.append(p)
        if len(calls) == 4:
            press()
        return objective(p)

    path = tmp_path / "study.db"
    with Study(SPACE, "random", 0, path=path) as study:
        with pytest.raises(KeyboardInterrupt):
            study.run(once, 9)
        states = [t.state for t in study.trials]
        with closing(Record(path, read_only=True)) as record:
            assert [t.state for t in record.trials()] == states
        study.run(objective, 9)
    assert states.count("ok") in (3, 4)
    assert facts(study) == facts(Study(SPACE, "random", 0).run(objective, 9))
    assert np.isfinite([t.value for t in study.trials]).all()
