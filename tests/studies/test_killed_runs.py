import os
import sqlite3
from contextlib import closing

import pytest

from studies.durability_kills import chosen_runs
from studies.fork_server import Ended, ForkServer
from studies.kill_child import run_to_end
from studies.killable_runs import ASYNCHRONOUS, KINDS, ONE_OBJECTIVE, SEVERAL_OBJECTIVES, kinds_of
from studies.killed_runs import MOMENTS, killed_run

pytestmark = [pytest.mark.faults, pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")]

SEARCHES = (*ONE_OBJECTIVE, *SEVERAL_OBJECTIVES)
#: each search once, and each kind of run
RUNS = [
    ("kriging", "sequential"),
    ("koch2011", "noisy"),
    ("cmaes", "failing"),
    ("lbfgsb", "noisy"),
    ("vns", "batches"),
    ("random", "killable"),
    ("lhs", "processes"),
    ("nested", "sequential"),
    ("nsga2", "failing"),
    ("parego", "batches"),
    ("random", ASYNCHRONOUS),
]
SEED = 11


@pytest.fixture(scope="module")
def server():
    with ForkServer("studies.kill_child:warm_up", SEARCHES) as server:
        yield server


@pytest.mark.parametrize(("search", "kind"), RUNS)
def test_a_killed_run_ends_as_if_it_had_not_been(server, search, kind, tmp_path):
    first = MOMENTS[RUNS.index((search, kind)) % len(MOMENTS)]
    run = killed_run(server, search, kind, SEED, first, tmp_path)
    repeat = f"killed_run(server, {search!r}, {kind!r}, {SEED}, {first!r}, folder), killed at {run.moments}: {run}"
    assert run.kills >= 1, repeat
    assert (run.wrong, run.lost, run.told_twice, run.unread) == ("", 0, 0, 0), repeat
    assert kind in ("processes", ASYNCHRONOUS) or run.left == 0, repeat


def test_a_search_and_kind_are_killed_as_often_as_any_other():
    runs = list(chosen_runs(200, 30, 0))
    assert len(set(runs)) == 230
    pairs = [(search, kind) for search, kind, *_ in runs if kind != ASYNCHRONOUS]
    assert {(search, kind) for search in SEARCHES for kind in kinds_of(search)} == set(pairs)
    assert {pairs.count(pair) for pair in pairs} == {3, 4}
    assert {kind for _, kind, *_ in runs} == {*KINDS, ASYNCHRONOUS}


class Tampering:
    """Stands for a fork server, and for a record that loses what it was told."""

    def __init__(self, statement):
        self.statement, self.calls = statement, 0

    def run(self, target, arguments, *, kill_after=None, at_most=120.0):
        self.calls += 1
        if self.calls <= 2:
            run_to_end(**{name: value for name, value in arguments.items() if name not in ("at_statement", "at_byte")})
        if self.calls == 2:
            with closing(sqlite3.connect(arguments["path"], isolation_level=None)) as connection:
                connection.execute(self.statement)
            return Ended(-9, 0.1, False, 0)
        return Ended(0, 0.1, False, 0)


@pytest.mark.parametrize(
    ("statement", "lost", "wrong"),
    [
        ("DELETE FROM trials WHERE number = 13", 1, "trials: 13 rows instead of 14"),
        ("UPDATE trials SET state = 'running', told = NULL WHERE number > 11", 2, "trials, row 12"),
        ("UPDATE trials SET value = value + 1e-9 WHERE number = 3", 1, "trials, row 3"),
        ("UPDATE trials SET note = 'another' WHERE number = 3", 0, "trials, row 3"),
        ("UPDATE trials SET ask_seconds = 7", 0, ""),
    ],
)
def test_what_a_record_loses_is_seen(monkeypatch, tmp_path, statement, lost, wrong):
    monkeypatch.setattr(sqlite3, "connect", sqlite3.connect)  # which the job replaces in its own process
    run = killed_run(Tampering(statement), "random", "sequential", 0, "statement", tmp_path)
    assert (run.kills, run.lost) == (1, lost)
    assert run.wrong.startswith(wrong)
    assert bool(run.wrong) == bool(wrong)


def test_what_is_told_twice_is_seen(monkeypatch, tmp_path):
    monkeypatch.setattr(sqlite3, "connect", sqlite3.connect)
    server = Tampering("SELECT 1")
    again = server.run

    def twice(target, arguments, **options):
        ended = again(target, arguments, **options)
        if server.calls == 2:
            with open(f"{arguments['path']}.told", "a") as file:  # noqa: PTH123
                file.write('[3, "ok", [0.0]]\n')
        return ended

    server.run = twice
    run = killed_run(server, "random", "sequential", 0, "statement", tmp_path)
    assert (run.told_twice, run.lost) == (1, 1)


def test_a_run_that_does_not_resume_is_wrong(monkeypatch, tmp_path):
    monkeypatch.setattr(sqlite3, "connect", sqlite3.connect)
    server = Tampering("SELECT 1")
    again = server.run
    server.run = lambda *a, **k: again(*a, **k) if server.calls < 2 else Ended(1, 0.1, False, 0)
    assert "run ended with 1" in killed_run(server, "random", "sequential", 0, "statement", tmp_path).wrong


@pytest.mark.parametrize(("code", "wrong"), [(0, "it was never killed"), (1, "the run ended with 1")])
def test_a_run_that_ends_before_it_is_killed_is_none_that_survived(monkeypatch, tmp_path, code, wrong):
    monkeypatch.setattr(sqlite3, "connect", sqlite3.connect)

    class NeverKills:
        calls = 0

        def run(self, target, arguments, *, kill_after=None, at_most=120.0):
            self.calls += 1
            run_to_end(**{name: value for name, value in arguments.items() if name not in ("at_statement", "at_byte")})
            # at a later attempt all would be well again
            return Ended(code if self.calls == 2 else 0, 0.1, False, 0)

    run = killed_run(NeverKills(), "random", "sequential", 0, "statement", tmp_path)
    assert run.kills == 0
    assert wrong in run.wrong
