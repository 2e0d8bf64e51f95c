import json
import os
import re

from click.testing import CliRunner
from installed_command import main

from spotsvm import Study

SPACE = {"x": list(range(50))}


def call(*args):
    return CliRunner().invoke(main, ["status", *map(str, args)])


def said(*args):
    result = call(*args)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def made(path, n=3, budget=None):
    with Study(SPACE, "random", 0, path=path) as study:
        study.run(lambda params: 0.5 + params["x"], n_trials=n)
        if budget is not None:
            study._books.plan(budget)
    return path


def test_one_record_that_has_ended_was_broken_off_or_runs(tmp_path):
    path = made(tmp_path / "a.db")
    text = said(path)
    assert text.startswith(f"{path}: random, seed 0\nended: all trials of the budget are finished\ntrials        3 of 3 ")
    assert re.search(r"\nbest seen     .* in trial .*: x = ", text)
    assert re.search(r" trials per minute\n(.*\n)+ +evaluation ", text)
    text = said(made(path, budget=10))
    assert re.search(r"\nbroken off: no process is writing to it; last activity [\d.]+ s ago\n", text)
    assert "3 of 10 finished: 3 ok" in text
    assert "left for the rest of the budget" in text
    assert "to resume     run the same program, or the same spotsvm command with the same --out" in text
    with Study(SPACE, "random", 0, path=path) as study:
        trial = study.ask()
        text = said(path)
    assert f"running in process {os.getpid()} on " in text
    assert "3 of 10 finished: 3 ok; 1 running" in text
    assert re.search(rf"\nrunning       trial 3 for [\d.]+ s: x = {trial.params['x']}", text)


def test_a_line_each_of_several(tmp_path):
    one, two = made(tmp_path / "one.db"), made(tmp_path / "runs" / "two.db", n=4, budget=8)
    lines = said(one, two).splitlines()
    assert lines[0].split() == ["record", "state", "finished", "running", "failed", "best", "time", "left"]
    assert lines[1].split()[:5] == [str(one), "ended", "3/3", "0", "0"]
    assert lines[2].split()[:6] == [str(two), "broken", "off", "4/8", "0", "0"]
    assert said(tmp_path).splitlines()[1].split() == lines[1].split()
    assert said(tmp_path, one, one) == said(tmp_path)
    made(tmp_path / "runs" / "two\nlines.db")
    lines = said(tmp_path / "runs").splitlines()
    assert len({line.index(word) for line, word in zip(lines, ("state", "ended", "broken"), strict=True)}) == 1


def test_for_programs(tmp_path):
    one, two = made(tmp_path / "one.db"), made(tmp_path / "two.db", n=4, budget=8)
    found = json.loads(said(one, "--json"))
    assert (found["path"], found["state"], found["n_finished"], found["n_trials"]) == (str(one), "ended", 3, 3)
    assert set(found["time_spent"]) == {"asking", "evaluation"}
    assert [json.loads(line)["state"] for line in said(one, two, "--json").splitlines()] == ["ended", "broken off"]


def test_a_record_that_cannot_be_read(tmp_path):
    bad = tmp_path / "bad.db"
    bad.write_bytes(b"SQLite format 3\x00" + b"\xff" * 3000)
    result = call(bad)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"spotsvm: error: {bad} is damaged")
    good = made(tmp_path / "good.db")
    result = call(tmp_path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"spotsvm: error: 1 of 2 records cannot be read: {bad} is damaged")
    assert f"{good}  ended" in result.stdout
    errors = [json.loads(line) for line in call(tmp_path, "--json").stdout.splitlines()]
    assert errors[1]["path"] == str(bad)
    assert "damaged" in errors[1]["error"]


def test_nothing_there(tmp_path):
    assert said(tmp_path) == "no records found\n"
    assert said(tmp_path, "--json") == ""
    gone = f"{tmp_path / 'a.db'}: there is no such record\n"
    assert call(tmp_path / "a.db").stderr == f"spotsvm: error: {gone}"
    good = made(tmp_path / "good.db")
    result = call(tmp_path / "a.db", good)
    assert result.exit_code == 2
    assert f"{good}  ended" in result.stdout
    assert result.stderr == f"spotsvm: error: 1 of 2 records cannot be read: {gone}"


def test_no_escape_reaches_the_terminal(tmp_path):
    def fail(params):
        raise ValueError("\x1b]0;title\x07 \x1b[2J")

    with Study({"x\x1b[31m": ["\x1b[0m", "b"]}, "random", 0, path=tmp_path / "a.db") as study:
        study.run(fail, n_trials=1, max_failures=None)
        study.tell(study.ask(), 1.0)
        study._books.plan(5)
    for text in (said(tmp_path / "a.db"), said(tmp_path)):
        assert "\x1b" not in text
    assert "\\x1b[2J" in said(tmp_path / "a.db")
