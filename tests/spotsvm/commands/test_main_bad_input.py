import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from spotsvm.commands.main import main
from spotsvm.study.record.record import Record
from spotsvm.study.record.schema import sign

SCRIPT = str(Path(sys.executable).with_name("spotsvm"))


def table(n=40, header="a,b,kind", feature="{k}", target="{c}"):
    lines = [f"{np.sin(k):.3f},{feature.format(k=k)},{target.format(k=k, c='xy'[k % 2], t=k / 7)}" for k in range(n)]
    return "\n".join([header, *lines]) + "\n"


def one_line(result):
    """What a refused command says: one line on stderr, after the warnings if there are any, and nothing on stdout."""
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 2
    assert result.stdout == ""
    *warnings, line, rest = result.stderr.split("\n")
    assert rest == ""
    assert all(one.startswith("spotsvm: warning: ") for one in warnings)
    assert line.startswith("spotsvm: error: ")
    assert "Traceback" not in line
    assert "np." not in line
    return line


def refused(*args):
    return one_line(CliRunner().invoke(main, [str(a) for a in args]))


@pytest.fixture
def write(tmp_path):
    def written(text, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


@pytest.fixture
def good(write):
    return write(table())


JUNK = np.random.default_rng(0).integers(256, size=3000, dtype=np.uint8).tobytes()

#: tables that are too small for the folds; `tests/spotsvm/tuning/tables` has others
TABLES = {
    "junk": (JUNK, ["not UTF-8 text"]),
    "rare class": (table() + "1,1,z\n" * 5, ["class 'z'", "4 of the training rows", "--cv 5"]),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_table_that_cannot_be_used(case, write, tmp_path):
    text, said = TABLES[case]
    line = refused("tune", write(text), "--target", "kind", "--out", tmp_path / "out")
    assert all(part in line for part in said), line
    assert any(part in line for part in ("table.csv", "--cv"))
    assert not (tmp_path / "out" / "comparison.csv").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--budget", "3"], ["--budget=3", "initial design of 6"]),
        (["--budget", "9", "--search", "koch2011"], ["--budget=9", "initial design of 10"]),
        (["--budget", "0"], ["--budget", ": 0 "]),
        (["--cv", "1"], ["--cv", ": 1 "]),
        (["--cv", "21"], ["--cv 21", "20 of the rows"]),
        (["--cv", "16"], ["--cv 16", "15 of the training rows"]),
        (["--cv", "41"], ["--cv 41", "there are 40"]),
        (["--workers", "0"], ["--workers", ": 0 "]),
        (["--seed", "-1"], ["--seed", ": -1 "]),
        (["--search", "bayes"], ["--search 'bayes'", "kriging, koch2011, vns, carrizosa2014, cmaes, lbfgsb, random, lhs"]),
        (["--search", "nsga2"], ["--search 'nsga2' is for several objectives", "kriging"]),
        (["--task", "ranking"], ["--task", "'ranking'"]),
        (["--task", "regression"], ["'kind'", "not numeric", "'x'"]),
        (["--scoring", "acuracy"], ["--scoring 'acuracy'", "accuracy"]),
        (["--pipeline", "wine"], ["--pipeline", "'wine'"]),
        (["--pipeline", "stormwater"], ["target 'kind'", "not numeric", "'x'"]),
        (["--pipeline", "stormwater", "--task", "classification"], ["--task classification", "regression"]),
        (["--pipeline", "spectra", "--region", "table9"], ["region 'table9'", "table7 or table8"]),
        (["--region", "table7"], ["region 'table7'", "pipeline table"]),
        (["--time", "a"], ["--time a", "--pipeline stormwater"]),
        (["--rows", "10"], ["--rows 10", "--pipeline stormwater"]),
        (["--horizon", "2"], ["--horizon 2", "--pipeline stormwater"]),
        (["--rows", "-1"], ["--rows", ": -1 "]),
        (["--pipeline", "spectra", "--scoring", "r2"], ["--scoring 'r2'"]),
        (["--bugdet", "9"], ["--bugdet"]),
        (["more.csv"], ["more.csv"]),
    ],
    ids=" ".join,
)
def test_an_argument_that_makes_no_sense(args, said, good):
    line = refused("tune", good, "--target", "kind", *args)
    assert all(part in line for part in said), line


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["tune"], "FILE"),
        (["tune", "table.csv"], "--target"),
        (["export"], "RECORD"),
        (["study", "nothing"], "study 'nothing' is unknown; use one of "),
        (["study", "overhead", "more"], "more"),
        (["study", "speed", "--quick", "--data", "nowhere"], "--data nowhere is not a folder; name the one that holds the data"),
        (["tone"], "'tone'"),
        (["--quick"], "--quick"),
        (["demo", "table.csv"], "table.csv"),
    ],
    ids=lambda a: " ".join(a) if isinstance(a, list) else "",
)
def test_a_command_that_is_incomplete_or_unknown(args, said):
    assert said in refused(*args)


def test_an_out_in_which_nothing_can_be_written(good, tmp_path):
    for out in (good, good / "out", Path("/proc/spotsvm")):
        assert f"--out {out}: cannot write to this folder" in refused("tune", good, "--target", "kind", "--out", out)
    (tmp_path / "out" / "comparison.csv").mkdir(parents=True)
    args = ["tune", good, "--target", "kind", "--search", "random", "--budget", 1, "--cv", 2, "--out", tmp_path / "out"]
    assert f"--out {tmp_path / 'out'}: cannot write to this folder" in refused(*args)


@pytest.fixture
def recorded(good, tmp_path):
    """The arguments of a run of 2 trials, and its record."""
    args = ["tune", good, "--target", "kind", "--search", "random", "--budget", 2, "--cv", 2, "--out", tmp_path / "out"]
    assert CliRunner().invoke(main, [str(a) for a in args]).exit_code == 0
    return args, tmp_path / "out" / "random.db"


def test_a_record_of_another_study(recorded, write):
    args, record = recorded
    before = record.read_bytes()
    other = write(table(feature="{k}5"), "other.csv")
    changes = {"data": ["tune", other, *args[2:]], "seed": [*args, "--seed", 1], "folds": [*args, "--cv", 3]}
    changes["scoring"] = [*args, "--scoring", "balanced_accuracy"]
    for word, changed in changes.items():
        line = refused(*changed)
        assert f"{record} holds a study with another {word}" in line
    assert record.read_bytes() == before


def changed(statement):
    """Return a function that changes a record as an SQLite database, with valid checksums."""

    def change(record):
        with closing(sqlite3.connect(record)) as connection, connection:
            connection.execute(statement)
            sign(connection)

    return change


def foreign(record):
    record.unlink()
    with closing(sqlite3.connect(record)) as connection, connection:
        connection.execute("CREATE TABLE mine (x)")


def a_folder(record):
    record.unlink()
    record.mkdir()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (changed("UPDATE about SET value = '99' WHERE key = 'schema_version'"), "schema version 99"),
        (changed("UPDATE trials SET params = '{', point = '[0.5' WHERE number = 1"), "is damaged"),
        (lambda record: record.write_bytes(record.read_bytes()[:1000]), "random.db"),
        (lambda record: record.write_bytes(JUNK), "random.db"),
        (foreign, "not a record of spotsvm"),
        (a_folder, "random.db"),
    ],
    ids=["version", "JSON", "cut off", "junk", "foreign", "folder"],
)
def test_a_record_that_cannot_be_used(damage, said, recorded):
    args, record = recorded
    damage(record)
    for command in (args, ["export", record]):
        line = refused(*command)
        assert str(record) in line
        assert said in line


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


@pytest.mark.parametrize(
    "args", [["tune", "missing.csv", "--target", "y"], ["tune", "missing.csv"], ["export", "missing.db"], ["study", "nothing"]]
)
def test_the_installed_script_says_one_line(args, tmp_path):
    process = subprocess.run([SCRIPT, *args], cwd=tmp_path, capture_output=True, text=True)
    assert (process.returncode, process.stdout, process.stderr.count("\n")) == (2, "", 1)
    assert process.stderr.startswith("spotsvm: error: ")
    assert list(tmp_path.iterdir()) == []
