import json
import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import settings
from killable_runs import (
    ASYNCHRONOUS,
    KINDS,
    ONE_OBJECTIVE,
    SEVERAL_OBJECTIVES,
    Ended,
    kinds_of,
    run_job,
    run_to_end,
)
from kills import MOMENTS, chosen_runs, is_sound, killed_run

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


def pytest_generate_tests(metafunc):
    """Kill each search once; with `--hypothesis-profile long` 230 runs, as often in each kind."""
    if metafunc.function is test_a_killed_run_ends_as_if_it_had_not_been:
        short = [(search, kind, SEED, MOMENTS[k % len(MOMENTS)]) for k, (search, kind) in enumerate(RUNS)]
        long = settings().max_examples >= 10_000
        metafunc.parametrize(("search", "kind", "seed", "first"), list(chosen_runs(200, 30, SEED)) if long else short)


def test_a_killed_run_ends_as_if_it_had_not_been(search, kind, seed, first, tmp_path):
    run = killed_run(search, kind, seed, first, tmp_path)
    repeat = f"killed_run({search!r}, {kind!r}, {seed}, {first!r}, folder), killed at {run.moments}: {run}"
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
    """Runs each job in this process, and once loses what the record holds."""

    def __init__(self, statement):
        self.statement, self.calls = statement, 0

    def __call__(self, target, arguments, *, kill_after=None, at_most=120.0, patience=1.0):
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
        ("DELETE FROM events WHERE number = 13", 1, "events: 29 rows instead of 31"),
        ("UPDATE events SET content = replace(content, '\"value\":', '\"value\":1') WHERE number = 3", 1, "events, row 10"),
        ("UPDATE events SET content = replace(content, '\"seconds\":', '\"seconds\":1')", 0, ""),
    ],
)
def test_what_a_record_loses_is_seen(monkeypatch, tmp_path, statement, lost, wrong):
    monkeypatch.setattr(sqlite3, "connect", sqlite3.connect)  # which the job replaces in its own process
    run = killed_run("random", "sequential", 0, "statement", tmp_path, Tampering(statement))
    assert (run.kills, run.lost) == (1, lost)
    assert run.wrong.startswith(wrong)
    assert bool(run.wrong) == bool(wrong)
    path = tmp_path / "killed_0.db"
    assert is_sound(path)
    content = bytearray(path.read_bytes())
    for head in range(4096, len(content), 4096):  # of each page but the first
        content[head : head + 100] = bytes(100)
    path.write_bytes(content)
    assert not is_sound(path)


@pytest.mark.parametrize(
    ("codes", "wrong"), [((0, -9, 1), "run ended with 1"), ((0, 0), "it was never killed"), ((0, 1), "the run ended with 1")]
)
def test_a_run_that_is_not_killed_or_not_resumed_is_wrong(monkeypatch, tmp_path, codes, wrong):
    monkeypatch.setattr(sqlite3, "connect", sqlite3.connect)
    left = list(codes)

    def run_job(target, arguments, **options):
        run_to_end(**{name: value for name, value in arguments.items() if name not in ("at_statement", "at_byte")})
        return Ended(left.pop(0) if left else 0, 0.1, False, 0)

    assert wrong in killed_run("random", "sequential", 0, "statement", tmp_path, run_job).wrong


def test_jobs_end_raise_are_killed_or_hang(tmp_path):
    ended = run_job(os.mkdir, {"path": str(tmp_path / "a")})
    assert (ended.code, ended.hung, ended.left) == (0, False, 0)
    assert (tmp_path / "a").exists()
    assert run_job(json.loads, {"s": "no json"}).code == 1
    killed = run_job(subprocess.call, {"args": ["sleep", "60"]}, kill_after=2.0)
    assert (killed.code, killed.hung) == (-9, False)
    assert 2.0 <= killed.seconds < 30
    assert killed.left == 1 or not Path("/proc/self/stat").exists()
    hung = run_job(subprocess.call, {"args": ["sleep", "60"]}, at_most=0.3)
    assert (hung.code, hung.hung) == (-9, True)
