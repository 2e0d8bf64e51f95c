"""Arguments of which nothing can be made: each is one line that names the argument, its value, and what would be right."""

import math
import os
import re
import subprocess
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from completed_trials import refused
from installed_command import main
from scipy.stats import randint, rv_histogram, uniform
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, Study, load_study
from spotsvm.errors import (
    ArgumentError,
    NoCompletedTrialError,
    SpaceError,
    WorkersError,
)

SPACE = {"x": uniform(0, 1)}
HUGE = 10**400


def script(*arguments, **options):
    command = [Path(sys.executable).with_name("spotsvm"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


@pytest.fixture
def study():
    return Study(SPACE, "random", 0)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (HUGE, "the objective returned 1000.*…, which is too large for a float"),
        (-HUGE, "the objective returned -1000.*…, which is too large for a float"),
        (10**5000, "the objective returned a value of type int, which is too large for a float"),
        (Fraction(HUGE, 3), r"the objective returned Fraction\(1000.*…, which is too large for a float"),
        ({"value": HUGE, "n": 1}, "the objective returned 1000.*…, which is too large for a float"),
        ([HUGE, 1], r"the objective returned \[inf, 1.0\]"),
    ],
    ids=["large", "small", "no text", "fraction", "mapping", "several"],
)
def test_a_value_beyond_all_floats_is_a_failure_as_an_infinite_one_is(value, reason, tmp_path):
    path = tmp_path / "study.db"
    with Study(SPACE, "random", 0, path=path) as study:
        told = study.tell(study.ask(), value)
        ran = study.run(lambda p: value, n_trials=2, max_failures=None).trials[1]
    for trial in (told, ran):
        assert trial.state == "failed"
        assert re.fullmatch(reason, trial.reason)
    assert load_study(path).trials == study.trials


def test_a_further_number_beyond_all_floats_is_infinite(study):
    assert study.tell(study.ask(), {"value": 1, "n": HUGE, "m": -HUGE}).extra == {"n": math.inf, "m": -math.inf}


@pytest.mark.parametrize(
    "given", [HUGE, 10**5000, -1e-9, "2.5", [1], 1j, math.nan, math.inf, True, np.bool_(True)], ids=lambda s: type(s).__name__
)
@pytest.mark.parametrize("how", ["tell", "fail"])
def test_seconds_that_are_no_time(given, how, study):
    trial = study.ask()
    refused(
        ArgumentError,
        "^seconds=.* is not a time; use a finite number of at least 0, or None$",
        lambda: getattr(study, how)(trial, 1.0, seconds=given),
    )
    assert study.trials[0].state == "running"
    told = getattr(study, how)(trial, 1.0, seconds=np.float32(2.5))
    assert (type(told.seconds), told.seconds) == (float, 2.5)


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"a": "b"}, r"^extra has 'a': 'b', which is not a named number; use text and a number"),
        ({1: 2}, "^extra has 1: 2, which is not a named number"),
        ([1], r"^extra=\[1\] is not a mapping; use names and numbers"),
    ],
)
def test_further_numbers_that_are_none(extra, said, study):
    trial = study.ask()
    refused(ArgumentError, said, lambda: study.fail(trial, "no", extra=extra))
    assert study.fail(trial, "no", extra={"a": np.float32(2)}).extra == {"a": 2.0}


def nested(levels):
    return {"a": nested(levels - 1)} if levels else {}


@pytest.mark.parametrize(
    ("context", "said"),
    [
        (3, "^context=3 is int; use a mapping from text to JSON values$"),
        ("", "^context='' is str; use a mapping"),
        ({"a": {1, 2}}, r"^context: a is set, which is not JSON \({1, 2}\); use text, Python's own numbers"),
        ({"a": [np.int64(3)]}, r"^context: a\[0\] is int64, which is not JSON"),
        ({1: "a"}, "^context: the key 1 is int; use text$"),
        ({"a": HUGE}, "^context: a whole number in it has more than 300 digits, so it cannot be stored"),
        ({"a": 10**5000}, "^context: .*, so it cannot be stored"),
        (nested(60), "^context: its lists and mappings are nested too deep"),
        (nested(900), "^context: its lists and mappings are nested too deep"),
    ],
)
def test_a_context_that_cannot_be_kept(context, said, tmp_path):
    refused(ArgumentError, said, lambda: Study(SPACE, "random", 0, context=context, path=tmp_path / "study.db"))
    assert not list(tmp_path.iterdir())


def test_a_context_is_read_back_as_it_is_kept(tmp_path):
    context = {"data": "abc", "split": (3, [None, True, 0.5]), "none": math.nan}
    for _ in range(2):
        with Study(SPACE, "random", 0, context=context, path=tmp_path / "study.db") as study:
            assert study.about["context: split"] == [3, [None, True, 0.5]]
            assert math.isnan(study.about["context: none"])


@pytest.mark.parametrize("path", [3, "", "a\x00b", b"x", [], "\ud800"])
def test_a_file_to_write_that_is_none(path, study, tmp_path):
    study.run(lambda p: p["x"], n_trials=2)
    for write in (
        study.report,
        study.to_csv,
        study.folds_to_csv,
        lambda path: study.report(tmp_path / "report.html", tables=path),
    ):
        refused(ArgumentError, '^(path|tables)=.* is not the path of a file; use text, such as ".*", or a', partial(write, path))
    assert not list(tmp_path.iterdir())


def test_an_absolute_path_where_the_working_directory_has_been_removed(no_folder):
    with Study(SPACE, "random", 0, path=no_folder.with_name("study.db")) as study:
        study.run(lambda p: p["x"], n_trials=3).to_csv(no_folder.with_name("trials.csv"))
    assert len(load_study(study.path).trials) == 3


@pytest.mark.parametrize("how", [{"n_jobs": 2}, {"trial_timeout": 9.0}])
@pytest.mark.usefixtures("no_folder")
def test_worker_processes_where_the_working_directory_has_been_removed(how, study):
    refused(WorkersError, "^the working directory has been removed, and worker", lambda: study.run(lambda p: 1.0, 3, **how))


def test_a_command_where_the_working_directory_has_been_removed(no_folder):
    no_folder.mkdir()
    ended = script("report", "a.db", "--out", "b.html", cwd=no_folder, preexec_fn=no_folder.rmdir)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "spotsvm: error: the working directory has been removed; change to an existing directory\n"


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        (randint(-(2**62), 2**62), r"^x=randint\(.*\) has a range whose width overflows \(9.22e\+18 whole numbers\)"),
        (randint(0, 2**63), "has a range whose width overflows"),
        (randint(-HUGE, HUGE), "cannot be used as a distribution: "),
        (uniform(0, HUGE), "cannot be used as a distribution: "),
        (uniform(-1.7e308, 1.79e308), r"^x=uniform\(.*\) has a range whose width overflows \(\[-1.7e\+308, 9e\+306\]\)"),
        (uniform(8.9e307, 8.9e307), "has a range whose width overflows"),
        (rv_histogram(([1, 1], [-1.7e308, 0, 1.7e308]), density=False), "has a range whose width overflows"),
    ],
)
def test_a_distribution_whose_width_overflows(definition, said):
    refused(SpaceError, said, lambda: Study({"x": definition}, "random", 0))


@pytest.mark.parametrize(
    "definition", [randint(0, 2**62), uniform(0, 1.4e308), uniform(-7e307, 1.4e308), uniform(1.3e308, 1e306)]
)
def test_a_distribution_that_is_almost_too_wide_is_searched(definition, tmp_path):
    study = Study({"x": definition, "y": uniform(0, 1)}, "random", 0, path=tmp_path / "study.db")
    with study:
        study.run(lambda p: p["y"], n_trials=9)
    with Study({"x": definition, "y": uniform(0, 1)}, "random", 0, path=study.path) as resumed:
        assert resumed.trials == study.trials
    low, high = definition.support()
    assert all(low <= t.params["x"] <= high for t in study.trials)
    assert len({t.params["x"] for t in study.trials}) == 9


@pytest.mark.parametrize("definition", [uniform(0, 1), randint(0, 5)])
def test_a_start_beyond_all_floats(definition):
    refused(SpaceError, r"^start is not in the space: x=1000.*… is not an? ", lambda: Study({"x": definition}, start={"x": HUGE}))


@pytest.mark.parametrize(
    ("name", "given"),
    [("memory_limit", HUGE), ("trial_timeout", 10**5000), ("batch_size", HUGE), ("retries", 10**5000)],
    ids=["memory", "time", "batch", "attempts"],
)
def test_limits_beyond_all_floats(name, given, study):
    if name in ("batch_size", "retries"):
        given = -given
    refused(ArgumentError, f"^{name}=.* is not a", lambda: study.run(lambda p: 1.0, 3, **{name: given}))


needs_fifos = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


@needs_fifos
@pytest.mark.parametrize("options", [[], ["--model", "stormwater"]])
def test_tune_does_not_wait_for_a_pipe(options, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    ended = CliRunner().invoke(main, ["tune", str(tmp_path / "pipe"), "--target", "y", *options])
    assert (ended.exit_code, ended.stderr.count("\n")) == (2, 1)
    assert "is a named pipe" in ended.stderr


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="this system has no /dev/stdin")
def test_what_a_shell_pipes_is_read():
    code = "import sys; from spotsvm.common.csv_files import read_csv; print(read_csv('/dev/stdin')['a'].tolist())"
    ended = subprocess.run([sys.executable, "-c", code], input="a,b\n1,2\n3,4\n", capture_output=True, text=True, timeout=60)
    assert ended.stdout == "[1, 3]\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux holds a process to a limit")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_memory_limit_below_the_kernel_matrix_fails_each_candidate_and_says_so():
    X, y = make_classification(3000, random_state=0)
    search = SpotSearchCV(SVC(), {"C": [1.0, 2.0]}, n_iter=2, search="random", memory_limit="40MB", cv=2, random_state=0)
    refused(
        NoCompletedTrialError,
        "^All the 2 candidates failed: .* it took more than memory_limit=40 MB: MemoryError",
        lambda: search.fit(X, y),
    )
