import errno
import itertools
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import njit

from spotsvm.surrogates import compiled as module
from spotsvm.surrogates.compiled import compiled


def double(x):
    return 2.0 * x


def test_options_are_those_of_numba():
    divide = compiled(error_model="python")(lambda x: 1.0 / x)
    with pytest.raises(ZeroDivisionError):
        divide(0.0)
    assert compiled(lambda x: 1.0 / x)(0.0) == float("inf")


@pytest.fixture
def said(caplog, monkeypatch):
    """Return what holds the messages of a process that has compiled nothing yet."""
    monkeypatch.setattr(module._ANNOUNCEMENT, "made", False)
    caplog.set_level(logging.INFO, "spotsvm")
    return caplog


def test_compilation_is_announced_once_and_only_where_it_takes_place(said, tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    function = compiled(double)
    assert said.messages == []
    function(1.0)
    function(1)  # of another type, and so compiled again
    assert len(said.messages) == 1
    assert said.messages[0].endswith("half a minute once; `spotsvm warmup` does it in advance")
    monkeypatch.setattr(module._ANNOUNCEMENT, "made", False)
    compiled(double)(1.0)  # as another process would find it
    njit(lambda x: x)(1.0)  # of somebody else
    assert len(said.messages) == 1


LOOPS = """
import logging
from spotsvm.surrogates.compiled import compiled

logging.basicConfig(level=logging.INFO, format="%(message)s")


@compiled
def double(x):
    return 2.0 * x


print(double(1.5), double.stats.cache_path)
"""


@pytest.mark.parametrize("home", ["has a folder", "has none"])
def test_in_an_installation_that_cannot_be_written_it_works_all_the_same(home, tmp_path):
    """A file has the folder's name, which stops root as well."""
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed" / "__pycache__").touch()
    (tmp_path / "installed" / "loops.py").write_text(LOOPS)
    cache = tmp_path / "cache" if home == "has a folder" else tmp_path / "installed" / "loops.py"
    env = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    env |= {name: str(cache) for name in ("HOME", "USERPROFILE", "XDG_CACHE_HOME", "LOCALAPPDATA")}
    code = ["-c", f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r}); import loops"]
    done = subprocess.run([sys.executable, *code], env=env, capture_output=True, text=True, check=True)
    doubled, kept = done.stdout.split(maxsplit=1)
    assert doubled == "3.0"
    assert len(done.stderr.splitlines()) == 1
    if home == "has a folder":
        assert cache in Path(kept.strip()).parents
        assert done.stderr.endswith("half a minute once; `spotsvm warmup` does it in advance\n")
    else:
        assert kept == "None\n"
        assert done.stderr.endswith("no cache folder is writable; set NUMBA_CACHE_DIR to a writable folder\n")


DAMAGE = {
    "empty": lambda content: b"",
    "cut in the first bytes": lambda content: content[:5],
    "cut in the middle": lambda content: content[: len(content) // 2],
    "without its end": lambda content: content[:-1],
    "a changed bit": lambda content: bytes(sign ^ (k == len(content) // 2) for k, sign in enumerate(content)),
    "of another program": lambda content: b"no pickle at all\n" * 99,
    "zeros": lambda content: bytes(len(content)),
}


@pytest.mark.parametrize(("damage", "ending"), list(zip(DAMAGE, itertools.cycle(["*.nbi", "*.nbc"]), strict=False)))
def test_a_damaged_cache_is_compiled_anew_and_replaced(damage, ending, tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    assert compiled(double)(1.5) == 3.0
    files = list(tmp_path.rglob(ending))
    assert files
    for file in files:
        file.write_bytes(DAMAGE[damage](file.read_bytes()))
    again = compiled(double)
    assert again(1.5) == 3.0
    assert (sum(again.stats.cache_hits.values()), sum(again.stats.cache_misses.values())) == (0, 1)
    third = compiled(double)
    assert third(1.5) == 3.0
    assert sum(third.stats.cache_hits.values()) == 1


def test_a_cache_that_cannot_be_written_any_more_is_done_without(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    function = compiled(double)
    monkeypatch.setattr(module._CheckedFiles, "_open_for_write", full)
    assert function(1.5) == 3.0
    assert list(tmp_path.rglob("*.nb?")) == []


def test_every_loop_is_compiled_this_way():
    root = Path(__file__).parents[2]
    folders = ("public", "surrogates", "solvers", "spotsvm", "studies")
    files = [path for folder in folders for path in (root / folder).rglob("*.py")]
    users = [path.relative_to(root).as_posix() for path in files if "njit" in path.read_text(encoding="utf-8")]
    assert users == ["surrogates/compiled.py"]
