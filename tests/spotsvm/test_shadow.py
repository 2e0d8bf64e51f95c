import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import spotsvm
from spotsvm._shadow import PACKAGES, check_not_shadowed

HOME = Path(spotsvm.__file__).parent.parent


def run(script):
    return subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, cwd=script.parent)


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "tune.py"
    path.write_text("import spotsvm\nspotsvm.Space\nprint('ready')\n")
    return path


def test_nothing_is_hidden_here():
    check_not_shadowed(HOME)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_file_of_the_users_that_hides_a_package_is_named(script, name):
    hiding = script.with_name(f"{name}.py")
    hiding.write_text("x = 1\n")
    done = run(script)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: {hiding} hides the package {name!r}, which spotsvm is made of; rename that file")
    assert done.stderr.count("Traceback") == 1
    hiding.unlink()
    assert run(script).stdout == "ready\n"


def test_a_package_of_the_users_hides_as_well(script):
    folder = script.with_name("solvers")
    folder.mkdir()
    (folder / "__init__.py").touch()
    done = run(script)
    assert f"{folder / '__init__.py'} hides the package 'solvers'" in done.stderr


def test_a_file_that_is_already_imported_is_named(script):
    script.with_name("studies.py").write_text("")
    script.write_text("import studies\n" + script.read_text())
    assert "studies.py hides the package 'studies'" in run(script).stderr


def test_a_folder_of_results_hides_nothing(script):
    """A folder without __init__.py gives way to a package that comes later in the search path."""
    for name in PACKAGES:
        script.with_name(name).mkdir()
        (script.with_name(name) / "notes.txt").touch()
    assert run(script).stdout == "ready\n"


def test_other_files_beside_the_script_do_not_matter(script):
    for name in ("solver.py", "study.py", "space.py", "record.py", "my_solvers.py"):
        script.with_name(name).write_text("raise RuntimeError\n")
    assert run(script).stdout == "ready\n"


def test_a_module_that_was_made_by_hand_is_found_out_too(monkeypatch, tmp_path):
    made = ModuleType("solvers")
    made.__file__ = str(tmp_path / "solvers.py")
    monkeypatch.setitem(sys.modules, "solvers", made)
    with pytest.raises(ImportError, match="solvers.py hides the package 'solvers'"):
        check_not_shadowed(HOME)
