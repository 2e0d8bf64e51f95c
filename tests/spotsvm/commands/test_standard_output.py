"""A standard output that is closed, full or left by its reader, and warnings of other libraries: one line each."""

import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from installed_command import main
from scipy.stats import uniform

from spotsvm import Study

SCRIPT = str(Path(sys.executable).with_name("spotsvm"))
REMEDY = "redirect it to another file, or to /dev/null"
FULL = f"spotsvm: error: standard output cannot be written to: No space left on device; {REMEDY}\n"
CLOSED = f"spotsvm: error: standard output is closed; {REMEDY}\n"
OF_CSV = "spotsvm: error: --csv standard output: cannot write the trials: No space left on device\n"


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "study.db"
    with Study({"x": uniform(0, 1)}, "random", seed=0, path=path) as study:
        study.run(lambda params: params["x"], 3)
    return shlex.quote(str(path))


def shell(command):
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("command", "where", "code", "said"),
    [
        ("--version", "> /dev/full", 2, FULL),
        ("--version", ">&-", 2, CLOSED),
        ("export {record}", "> /dev/full", 2, OF_CSV),
    ],
)
def test_what_cannot_be_written_to_is_told_in_one_line(command, where, code, said, record):
    if "/dev/full" in where and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    assert shell(f"{SCRIPT} {command.format(record=record)} {where}") == (code, "", said)


def test_a_record_does_not_get_the_number_of_a_closed_stream(record):
    code, told, said = shell(f"{SCRIPT} export {record} <&- 2>&-")
    assert (code, told.count("\n"), said) == (0, 4, "")


def test_an_error_of_another_file_is_none_of_standard_output(monkeypatch):
    def failing(name):
        click.echo("begun")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(main.commands, "warmup", click.Command("warmup", callback=lambda: failing("a")))
    result = CliRunner().invoke(main, ["warmup"])
    assert isinstance(result.exception, OSError)
    assert (result.stdout, result.stderr) == ("begun\n", "")


def test_a_warning_of_another_library_is_one_line(monkeypatch):
    warn = click.Command("warmup", callback=lambda: warnings.warn("two\nlines\x07", UserWarning, stacklevel=1))
    monkeypatch.setitem(main.commands, "warmup", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = CliRunner().invoke(main, ["warmup"])
    assert (result.exit_code, result.stderr) == (0, "spotsvm: warning: two lines\\x07\n")
