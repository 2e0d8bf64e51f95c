"""What the library says while it works: nothing, unless somebody listens at the logger `spotsvm`."""

import ast
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest
from parsed import parsed

from spotsvm import Study

PACKAGES = ("surrogates", "solvers", "spotsvm", "studies")
ROOT = Path(__file__).parent.parent


def calls(tree):
    """What `logging.getLogger` is called with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "getLogger":
            yield ast.unparse(node)


@pytest.mark.parametrize("package", PACKAGES)
def test_loggers_are_named_by_their_modules(package):
    # the last: of other libraries, to quiet them
    by_hand = ["logging.getLogger('spotsvm')", "logging.getLogger(_WAITS)", "logging.getLogger(talker)"]
    for path in (ROOT / package).rglob("*.py"):
        code = path.read_text(encoding="utf-8")
        for call in calls(parsed(code)) if "getLogger" in code else ():
            assert call.replace("_logging", "logging") in ["logging.getLogger(__name__)", *by_hand], path


def test_a_logger_of_another_name_is_found():
    assert list(calls(ast.parse("import logging\nLOG = logging.getLogger('solvers.x')"))) == ["logging.getLogger('solvers.x')"]


QUIET = """
    import logging
    import spotsvm.surrogates
    from spotsvm import Study
    logging.getLogger("spotsvm.surrogates.kriging").warning("nobody listens")
    study = Study({"x": [1, 2]}, "random", 0).run(lambda params: params["x"], n_trials=5)  # ends early, which is a warning
    assert study.n_finished == 2
    assert logging.getLogger().handlers == []
    logging.getLogger("mine").warning("mine is heard")
"""


def test_a_program_that_does_not_listen_hears_nothing(tmp_path):
    code = "\n".join(line[4:] for line in QUIET.splitlines())
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert (result.stdout, result.stderr) == ("", "mine is heard\n")


COMPILING = """
    import logging
    import sys
    from spotsvm import Study
    def objective(params):
        logging.getLogger("spotsvm.surrogates.compiled").info("compiling")
        return 0.0
    for level in ("WARNING", "INFO"):
        print(level, file=sys.stderr)
        logging.getLogger("spotsvm.surrogates.compiled").setLevel(level)
        Study({"x": (0.0, 1.0)}, "random", 0).run(objective, n_trials=1, executor="loky", n_jobs=1)
"""


def test_a_program_that_listens_hears_that_a_worker_compiles(tmp_path):
    code = "\n".join(line[4:] for line in COMPILING.splitlines())
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert (result.stdout, result.stderr) == ("", "WARNING\nINFO\nspotsvm: notice: a worker process is compiling\n")


def told(caplog):
    return [(r.levelname, r.getMessage()) for r in caplog.records if r.name.startswith("spotsvm.")]


def test_info_tells_of_runs_and_trials(caplog):
    def objective(params):
        if params["x"] == 1:
            raise ValueError("no one")
        return params["x"]

    with caplog.at_level(logging.INFO, "spotsvm"):
        Study({"x": [1, 0]}, "random", 0).run(objective, n_trials=2)
    lines = told(caplog)
    assert [level for level, _ in lines] == ["INFO"] * 4
    assert lines[0][1] == "a run starts, to have 2 trials: <Study of x by 'random': 0 of 0 trials finished>"
    assert lines[-1][1] == "the run ends: <Study of x by 'random': 2 of 2 trials finished>"
    texts = sorted(text.partition(" is ")[2] for _, text in lines[1:-1])
    assert re.match(r"failed after \S+ s: ValueError: no one", texts[0])
    assert "(test_logging.py, line " in texts[0]
    assert texts[1].startswith("ok after ")
    assert texts[1].endswith(" s: 0.0")


def test_a_resume_is_told_of(caplog, tmp_path):
    space = {"x": list(range(9))}
    with Study(space, "random", 0, path=tmp_path / "a.db") as study:
        study.run(lambda params: 1.0, n_trials=2)
        study.ask()
    assert not any("goes on" in text for _, text in told(caplog))
    with caplog.at_level(logging.INFO, "spotsvm"), Study(space, "random", 0, path=tmp_path / "a.db"):
        assert told(caplog) == [("INFO", f"{tmp_path / 'a.db'} goes on after 3 trials, 1 of them unfinished")]


def test_debug_tells_of_suggestions_too_and_by_default_nobody_hears_of_trials(caplog):
    study = Study({"x": [4, 5]}, "random", 0).run(lambda params: 1.0, n_trials=1)
    assert told(caplog) == []
    with caplog.at_level(logging.DEBUG, "spotsvm"):
        study.run(lambda params: 1.0, n_trials=2)
    assert ("DEBUG", f"trial 1 is asked for (random): {study.trials[1].params}") in told(caplog)
