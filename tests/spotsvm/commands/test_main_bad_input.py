import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from installed_command import main

from spotsvm.study.record.record import Record
from tests.spotsvm.study.record.records import edit

SCRIPT = str(Path(sys.executable).with_name("spotsvm"))


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


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--trials", "0"], ["--trials", ": 0 "]),
        (["--cv", "1"], ["--cv", ": 1 "]),
        (["--cv", "21"], ["--cv 21", "15 of the training rows", "use --cv 15"]),
        (["--workers", "0"], ["--workers", ": 0 "]),
        (["--seed", "-1"], ["--seed", ": -1 "]),
        (
            ["--model", "svm", "--search", "bayes"],
            ["--search 'bayes'", "kriging, koch2011, vns, carrizosa2014, keerthi_lin, cmaes, lbfgsb, random, lhs"],
        ),
        (["--task", "ranking"], ["--task", "'ranking'"]),
        (["--task", "regression"], ["'kind'", "not numeric", "'x'"]),
        (["--model", "wine"], ["--model", "'wine'"]),
        (["--model", "stormwater", "--task", "classification"], ["--task classification", "regression"]),
        (["--model", "svm", "--region", "table7"], ["region 'table7'", "pipeline svm"]),
        (["--model", "svm", "--time", "a"], ["--time a", "--model stormwater"]),
        (["--model", "svm", "--rows", "10"], ["--rows 10", "--model stormwater"]),
        (["--model", "svm", "--horizon", "2"], ["--horizon 2", "--model stormwater"]),
        (["--rows", "-1"], ["--rows", ": -1 "]),
        (["--bugdet", "9"], ["--bugdet"]),
        (["--model", "svm", "--memory-limit", "lots"], ["memory_limit='lots' is not an amount of memory"]),
        (["--trial-timeout", "0"], ["Invalid value for '--trial-timeout'"]),
        (["--trials", "9"], ["--trials is for a search of one SVM", "leave it out, or use --model svm"]),
        (["--scale", "power"], ["--scale is for a search of one SVM", "use --model svm"]),
        (
            ["--scoring", "precision"],
            ["--scoring 'precision' is no score of TunedSVC", "accuracy, balanced_accuracy", "--model svm"],
        ),
        (["--batch-size", "0"], ["Invalid value for '--batch-size'"]),
        (["--retries", "-1"], ["Invalid value for '--retries'"]),
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
        (["study", "speed", "--quick", "--data", "nowhere"], "--data nowhere is not a folder; name the folder of the data"),
        (["tone"], "'tone'"),
        (["--quick"], "--quick"),
        (["demo", "table.csv"], "table.csv"),
    ],
    ids=lambda a: " ".join(a) if isinstance(a, list) else "",
)
def test_a_command_that_is_incomplete_or_unknown(args, said):
    assert said in refused(*args)


def test_an_out_in_which_nothing_can_be_written(good, tmp_path, no_pictures):
    for out in (good / "out", Path("/proc/spotsvm")):
        assert f"--out {out}: cannot write to this folder" in refused("tune", good, "--target", "kind", "--out", out)
    (tmp_path / "out" / "comparison.csv").mkdir(parents=True)
    args = ["tune", good, "--target", "kind", "--model", "svm", "--search", "random"]
    args += ["--trials", 1, "--cv", 2, "--no-compare", "--out", tmp_path / "out"]
    assert f"--out {tmp_path / 'out'}: cannot write to this folder" in refused(*args)


@pytest.fixture
def recorded(good, tmp_path, no_pictures):
    """The arguments of a run of 2 trials, and its record."""
    args = ["tune", good, "--target", "kind", "--model", "svm", "--search", "random"]
    args += ["--trials", 2, "--cv", 2, "--no-compare", "--out", tmp_path / "out"]
    assert CliRunner().invoke(main, [str(a) for a in args]).exit_code == 0
    return args, tmp_path / "out" / "random.db"


def test_a_record_of_another_study(recorded, tmp_path):
    args, record = recorded
    before = record.read_bytes()
    (tmp_path / "other.csv").write_text(table(10))
    assert refused("tune", tmp_path / "other.csv", *args[2:]).endswith("out belongs to another table; use a new --out")
    changes = {"seed": [*args, "--seed", 1], "folds": [*args, "--cv", 3]}
    changes["scoring"] = [*args, "--scoring", "balanced_accuracy"]
    for word, changed in changes.items():
        line = refused(*changed)
        assert f"{record} holds a study with another {word}" in line
    assert record.read_bytes() == before


@pytest.mark.parametrize("damage", ["inside", "junk"])
def test_a_record_that_cannot_be_used(damage, recorded):
    args, record = recorded
    if damage == "junk":
        record.write_bytes(np.random.default_rng(0).bytes(3000))
    else:  # with valid checksums
        edit(record, "asked", lambda content: content["trial"].update(params="{", point="[0.5"), number=0)
    for command in (args, ["export", record]):
        assert f"{record} is damaged" in refused(*command)


def test_the_installed_script_says_one_line(tmp_path):
    process = subprocess.run([SCRIPT, "tune", "missing.csv", "--target", "y"], cwd=tmp_path, capture_output=True, text=True)
    assert (process.returncode, process.stdout, process.stderr.count("\n")) == (2, "", 1)
    assert process.stderr.startswith("spotsvm: error: ")
    assert list(tmp_path.iterdir()) == []


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
