import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from completed_trials import SQUARE as SPACE
from completed_trials import Watched, bowl, facts
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.studies.common.virtual_workers import VirtualWorkers
from spotsvm.study.record.record import Record, read_ledger


def press():
    signal.raise_signal(signal.SIGINT)


def in_agreement(study):
    recorded = read_ledger(study.path)
    return recorded.trials == list(study.trials) and recorded.turns == study.ledger.turns


@pytest.mark.parametrize(
    ("where", "at", "batch_size"),
    [
        ("objective", 8, None),
        ("Asked", 8, 3),
        ("Told", 8, None),
        ("callback", 8, 3),
        ("objective", 1, 3),
        ("callback", 4, 3),
    ],
)
def test_wherever_ctrl_c_is_pressed_what_is_finished_is_recorded_and_the_rest_comes_first(
    where, at, batch_size, tmp_path, monkeypatch
):
    calls, again = [], []

    def press_at_its_time(right):
        def pressing(*arguments):
            calls.append(where)
            if len(calls) == at:
                press()
            return right(*arguments)

        return pressing

    options = {"callback": press_at_its_time(lambda s, t: None)} if where == "callback" else {}
    with Study(SPACE, "kriging", 0, path=tmp_path / "s.db") as study:
        if where in ("Asked", "Told"):
            right, pressing = Record.append, press_at_its_time(Record.append)
            at_its_time = lambda self, events: (pressing if type(events[-1]).__name__ == where else right)(self, events)  # noqa: E731
            monkeypatch.setattr(Record, "append", at_its_time)
        objective = press_at_its_time(bowl) if where == "objective" else bowl
        with pytest.raises(KeyboardInterrupt) as caught:
            study.run(objective, 12, batch_size=batch_size, **options)
        monkeypatch.undo()
        assert str(caught.value) == (
            f"{study.n_finished} of 12 trials are finished and recorded in {study.path}; the same call goes on from there"
        )
        assert study.n_finished == at - {"objective": 1, "Asked": 2 if batch_size else 1}.get(where, 0)
        assert in_agreement(study)
        unfinished = [t.params for t in study.trials if t.state == "running"]
        study.run(lambda params: again.append(params) or bowl(params), 12, batch_size=batch_size)
        assert again[: len(unfinished)] == unfinished
        assert in_agreement(study)
    assert facts(study) == facts(Study(SPACE, "kriging", 0).run(bowl, 12, batch_size=batch_size))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_a_record_the_message_says_that_the_study_can_be_run_on():
    with pytest.raises(KeyboardInterrupt) as caught:
        Study(SPACE, "random", 0).run(lambda params: press(), 3)
    assert str(caught.value) == (
        "0 of 3 trials are finished; call run() again to continue. A study with a path can also be resumed in another process"
    )


def test_an_objective_that_swallows_it_does_not_go_on_for_ever():
    def swallowing(params):
        try:
            press()
        except KeyboardInterrupt:
            return 1.0

    study = Study(SPACE, "random", 0)
    with pytest.raises(KeyboardInterrupt):
        study.run(swallowing, 5)
    assert [t.value for t in study.trials] == [1.0]


def test_a_second_ctrl_c_ends_the_keeping_too():
    class Stubborn(VirtualWorkers):
        def wait(self, timeout=None):
            press()
            return super().wait(timeout)

        def abandon(self):
            press()
            pytest.fail("it went on")

    study = Study(SPACE, "random", 0)
    with pytest.raises(KeyboardInterrupt):
        study.run(Stubborn(bowl, 2), 9)
    assert (study.n_finished, study._books.n_unfinished) == (0, len(study.trials))


@pytest.mark.parametrize("leaves", [SystemExit, GeneratorExit])
def test_what_ends_a_program_ends_the_run_and_the_trial_comes_first_when_it_goes_on(leaves, caplog):
    def leaving(params):
        raise leaves

    study = Study(SPACE, "random", 0)
    with pytest.raises(leaves):
        study.run(leaving, 3)
    assert [t.state for t in study.trials] == ["running"]
    assert f"the run ends, because {leaves()!r} was raised in it" in caplog.text
    assert facts(study.run(bowl, 3)) == facts(Study(SPACE, "random", 0).run(bowl, 3))


def test_a_study_within_an_objective_is_interrupted_with_the_one_around_it(tmp_path):
    inner = Study(SPACE, "random", 1)

    def objective(params):
        inner.run(lambda p: press() if inner.n_finished == 2 else bowl(p), 5)

    with Study(SPACE, "random", 0, path=tmp_path / "s.db") as study:
        with pytest.raises(KeyboardInterrupt) as caught:
            study.run(objective, 3)
        assert str(caught.value).startswith("0 of 3 trials are finished")


@pytest.mark.faults
@pytest.mark.parametrize(("where", "search"), [("BEGIN", "random"), ("INSERT", "kriging"), ("COMMIT", "random")])
def test_interrupted_inside_a_transaction_memory_and_record_agree(where, search, tmp_path):
    """Ctrl-C at each statement of asking and telling: the study goes on as if it had not been, here and from its record."""
    path = tmp_path / "study.db"
    study = Study(SPACE, search, 0, path=path)
    pressed = []

    def press_once_in_five(statement, cursor):
        if statement.startswith(where):
            pressed.append(statement)
            if len(pressed) % 5 == 2:
                press()

    store = study.ledger._store
    store._connection = Watched(store._connection, after=press_once_in_five)
    interrupted = 0
    while study.n_finished < 12:
        try:
            trial = study.ask()
            study.tell(trial, bowl(trial.params))
        except KeyboardInterrupt:
            interrupted += 1
            assert read_ledger(path).trials == list(study.trials)
            running = [t for t in study.trials if t.state == "running"]
            study._books.hand_back(running)
    assert interrupted >= 2
    study.close()
    undisturbed = Study(SPACE, search, 0)
    while undisturbed.n_finished < 12:
        trial = undisturbed.ask()
        undisturbed.tell(trial, bowl(trial.params))
    assert facts(study) == facts(undisturbed)
    with Study(SPACE, search, 0, path=path) as again:
        assert facts(again) == facts(study)


@pytest.mark.faults
def test_interrupted_while_the_search_thinks_nothing_of_it_is_left(tmp_path, monkeypatch):
    path = tmp_path / "study.db"
    with Study(SPACE, "kriging", 0, path=path) as study:
        study.run(bowl, 8)
        with monkeypatch.context() as patch:

            def interrupted(*args, **options):
                raise KeyboardInterrupt

            patch.setattr("spotsvm.solvers.search.kriging.kriging_search.maximize_acquisition", interrupted)
            for _ in range(2):
                with pytest.raises(KeyboardInterrupt):
                    study.ask()
        study.run(bowl, 12)
    assert facts(study) == facts(Study(SPACE, "kriging", 0).run(bowl, 12))


SCRIPT = """
    import sys, time
    from concurrent.futures import ThreadPoolExecutor
    from scipy.stats import uniform
    from spotsvm import Study

    def objective(params):
        time.sleep(0.05)
        return params["x"]

    if __name__ == "__main__":
        options = {
            "own": lambda: {"n_jobs": 2},
            "threads": lambda: {"executor": ThreadPoolExecutor(2)},
        }[sys.argv[2]]()
        study = Study({"x": uniform(0, 1)}, "random", 7, path=sys.argv[1])
        study.run(objective, 10**6, callback=lambda s, t: print(t.number, flush=True), **options)
"""


@pytest.mark.parametrize("how", ["own", "threads"])
def test_a_real_ctrl_c_goes_to_the_whole_group_and_fails_no_trial(how, tmp_path):
    script, path = tmp_path / "script.py", tmp_path / "s.db"
    script.write_text(textwrap.dedent(SCRIPT))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, str(script), str(path), how],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env=environment,
    ) as process:  # fmt: skip
        try:
            for _ in range(7):
                assert process.stdout.readline()
            os.killpg(process.pid, signal.SIGINT)
            began = time.monotonic()
            told, said = process.communicate(timeout=120)
            assert time.monotonic() - began < 60
        finally:
            process.kill()
    assert process.returncode in (130, -signal.SIGINT)
    told_at_last = rf"KeyboardInterrupt: \d+ of 1000000 trials are finished and recorded in {re.escape(str(path))}; "
    assert re.fullmatch(f"{told_at_last}the same call goes on from there\n", said), said
    trials = read_ledger(path).trials
    assert {t.state for t in trials} == {"ok", "running"}
    assert not any(t.lost for t in trials)
    assert sum(t.state == "ok" for t in trials) >= 7 + len(told.split())
    with Study({"x": uniform(0, 1)}, "random", 7, path=path) as study:
        study.run(lambda p: p["x"], len(trials) + 3)
        assert [t.state for t in study.trials] == ["ok"] * (len(trials) + 3)
