"""An export that cannot be read or written."""

import re

import numpy as np
import pytest
from click.testing import CliRunner
from installed_command import main

from spotsvm.study.record.record import Record


def table(scale=1):
    return "a,b,kind\n" + "".join(f"{np.sin(k):.3f},{scale * k},{'xy'[k % 2]}\n" for k in range(40))


def refused(*args):
    """What a refused command says: one line on stderr, after the warnings if there are any, and nothing on stdout."""
    result = CliRunner().invoke(main, [str(a) for a in args])
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 2
    assert result.stdout == ""
    *warnings, line, rest = result.stderr.split("\n")
    assert rest == ""
    assert all(
        re.match(r"spotsvm: (warning|reading|rows|features|task|score|plan|notice|baseline|expected time): ", w)
        or re.match(r"\w+: \d+ of \d+ trials", w)
        for w in warnings
    )
    assert line.startswith("spotsvm: error: ")
    assert "Traceback" not in line
    assert "np." not in line
    return line


@pytest.fixture
def good(tmp_path):
    (tmp_path / "table.csv").write_text(table())
    return tmp_path / "table.csv"


def test_an_export_that_cannot_be_read_or_written(tmp_path, good):
    Record(tmp_path / "new.db").close()
    before = (tmp_path / "new.db").read_bytes()
    assert "is the record itself" in refused("export", tmp_path / "new.db", "--csv", tmp_path / "new.db")
    assert (tmp_path / "new.db").read_bytes() == before
    for path in ("missing.db", "empty.db", "table.csv"):
        (tmp_path / "empty.db").write_bytes(b"")
        assert path in refused("export", tmp_path / path)
    for csv in (tmp_path, good / "out.csv", tmp_path / "none" / "out.csv", "/proc/out.csv"):
        assert f"--csv {csv}: cannot write the trials" in refused("export", tmp_path / "new.db", "--csv", csv)
