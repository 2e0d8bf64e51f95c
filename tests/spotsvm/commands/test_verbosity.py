import logging
import re

import click
import pytest
from click.testing import CliRunner

from spotsvm.commands import main as command_line
from spotsvm.commands.session import logs_shown, verbose_option

LOG = logging.getLogger("spotsvm.some.module")


@pytest.fixture
def logging_command(monkeypatch):
    @click.command()
    @verbose_option
    def chat():
        LOG.warning("a warning of\nthree %s", "lines\n")
        LOG.info("an event")
        LOG.debug("a detail")
        logging.getLogger("other").error("of another library")

    monkeypatch.setitem(command_line.main.commands, "chat", chat)


def heard(*args):
    result = CliRunner().invoke(command_line.main, list(args))
    assert (result.exit_code, result.stdout) == (0, "")
    lines = result.stderr.splitlines()
    assert all(line.startswith("spotsvm: ") for line in lines)
    return [line.split(maxsplit=2)[1:] for line in lines]


@pytest.mark.usefixtures("logging_command")
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["chat"], ["a warning of three lines"]),
        (["-v", "chat"], ["a warning of three lines", "an event"]),
        (["chat", "-v"], ["a warning of three lines", "an event"]),
        (["--verbose", "--verbose", "chat"], ["a warning of three lines", "an event", "a detail"]),
        (["chat", "-vv"], ["a warning of three lines", "an event", "a detail"]),
        (["-v", "chat", "-vvv"], ["a warning of three lines", "an event", "a detail"]),
        (["-vv", "chat"], ["a warning of three lines", "an event", "a detail"]),
    ],
)
def test_each_level_and_afterwards_all_is_as_it_was(args, expected):
    logger = logging.getLogger("spotsvm")
    before = (logger.level, list(logger.handlers))
    lines = heard(*args)
    assert (logger.level, list(logger.handlers)) == before
    assert [text for _, text in lines] == expected
    assert lines[0][0] == "warning:"
    assert all(len(mark) == 8 and mark.count(":") == 2 for mark, _ in lines[1:])


def test_compilation_is_shown_without_being_asked_for(monkeypatch):
    @click.command()
    @verbose_option
    def work():
        logging.getLogger("spotsvm.surrogates.compiled").info("compiling")
        LOG.info("an event")

    monkeypatch.setitem(command_line.main.commands, "work", work)
    assert heard("work") == [["notice:", "compiling"]]


def test_what_cannot_be_shown_ends_nothing(capsys, monkeypatch):
    monkeypatch.setattr(logging, "raiseExceptions", False)
    with logs_shown(0):
        LOG.warning("two %s %s", "numbers")
        LOG.warning("goes on")
    assert capsys.readouterr().err == "spotsvm: warning: goes on\n"


def test_a_run_is_shown_trial_by_trial(tmp_path):
    rows = "\n".join(f"{k % 7},{k % 5},{'ab'[k % 2]}" for k in range(40))
    (tmp_path / "a.csv").write_text(f"x,y,kind\n{rows}\n")
    args = ["tune", str(tmp_path / "a.csv"), "--target", "kind", "--model", "svm", "--trials", "2", "--cv", "3"]
    args += ["--search", "random", "--no-compare"]
    result = CliRunner().invoke(command_line.main, [*args, "-v"])
    assert result.exit_code == 0, result.stderr
    quiet = CliRunner().invoke(command_line.main, args)
    decided = quiet.stderr.splitlines()  # what is decided, and the progress, whose lines depend on the time that it takes
    said = [line for line in result.stderr.splitlines() if " is ok after " in line or "a run starts" in line]
    assert "a run starts, to have 2 trials" in said[0]
    assert sum(" is ok after " in line for line in said[1:]) == len(said[1:]) == 2
    assert not any(" is ok after " in line or "a run starts" in line for line in decided)
    untimed = [re.sub(r" +\d[^ ]* (s|min \d+ s)$", "", text, flags=re.MULTILINE) for text in (quiet.stdout, result.stdout)]
    assert untimed[0] == untimed[1]
