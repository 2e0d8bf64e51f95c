"""Installations for tests, made without a network: wheels are built by setuptools itself and unpacked."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from shutil import copytree, ignore_patterns

import numpy

ROOT = Path(__file__).parents[2]
SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "conftest.py")
FOLDERS = ("surrogates", "solvers", "spotsvm", "studies")
#: what the environments of these tests see of a user's settings
SETTINGS = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "NUMBA"))}


def copy_sources(project):
    """Copy what a wheel is made of, as a fresh clone has it."""
    project.mkdir()
    for name in SOURCES:
        (project / name).write_bytes((ROOT / name).read_bytes())
    for folder in FOLDERS:
        copytree(ROOT / folder, project / folder, ignore=ignore_patterns("__pycache__"))
    return project


def build(project, kind, target):
    """Build "wheel", "editable" (a wheel for an editable installation) or "sdist", and return its path."""
    code = f"from setuptools import build_meta; print(build_meta.build_{kind}({str(target)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=project, check=True, capture_output=True, text=True)
    return target / done.stdout.splitlines()[-1]


def environment(folder, wheel=None):
    """Return the Python of a new environment with a wheel and with the other packages that the tests run with.

    Those come last, so that they hide nothing that is in the environment.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    site = next(folder.rglob("site-packages"))
    # a line in a .pth file adds a folder whose own .pth files, such as that of an editable spotsvm, are not read
    (site / "others.pth").write_text(f"{Path(numpy.__file__).parents[1]}\n")
    if wheel is not None:
        zipfile.ZipFile(wheel).extractall(site)
    return folder / "bin" / "python" if (folder / "bin").is_dir() else folder / "Scripts" / "python.exe"


def run(python, *arguments, cwd):
    """Return what a process prints that must succeed and say nothing on standard error."""
    done = subprocess.run([python, *arguments], cwd=cwd, env=SETTINGS, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout
