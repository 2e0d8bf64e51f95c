import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from installed_command import main

RNG = np.random.default_rng(0)
GOOD = pd.DataFrame({"age": RNG.integers(18, 80, 30), "dose": RNG.normal(5, 2, 30).round(2), "kind": ["ill", "well"] * 15})


def written(frame):
    return frame.to_csv(index=False)


TEXT = written(GOOD)
#: of each kind of broken file its content, and words of the remedy
BROKEN = {
    "empty": ("", "name another one"),
    "header alone": ("age,dose,kind\n", "name a file with rows"),
    "binary": (bytes(range(256)) * 20, "save the table as CSV"),
    "another target": (written(GOOD.rename(columns={"kind": "Kind"})), "which has 'age', 'dose', 'Kind'"),
    "one class": (written(GOOD.assign(kind="ill")), "name another --target"),
    "constant": (written(GOOD.assign(age=1, dose=2.5)), "nothing to learn from"),
    "all missing": (written(GOOD.assign(age=np.nan, dose=np.nan)), "nothing to learn from"),
    "columns of one name": (TEXT.replace("age", "dose", 1), "rename or remove all but one"),
    "ragged": (f"{TEXT}1,2,3,4,5,ill\n", "line 32 has more fields than the header"),
    "open quote": (f'{TEXT}"40,5,ill\n41,6,well\n', "close or remove it"),
    "no target": (written(GOOD.assign(kind=None)), "the target 'kind' has 30 missing values"),
    "integers of 120 digits": (
        written(GOOD.assign(big=[str((k + 1) * 10**120) for k in range(30)])),
        "leave the column out by --drop",
    ),
    "a class of one row": (f"{TEXT}40,5,rare\n", "leave its rows out by --drop-classes rare"),
    "JSON": (GOOD.to_json(orient="records"), "pandas.read_json("),
    "nothing but a target": (written(GOOD[["kind"]]), "the target 'kind' is the only column"),
}


def message(path):
    """Return the one line that a refused command says."""
    result = CliRunner().invoke(main, ["tune", str(path), "--target", "kind"])
    assert (result.exit_code, result.stdout) == (2, "")
    line, rest = result.stderr.split("\n")
    assert rest == ""
    assert line.startswith("spotsvm: error: ")
    return line


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_told_in_one_line_with_a_remedy(kind, tmp_path):
    content, remedy = BROKEN[kind]
    (tmp_path / "table.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert remedy in message(tmp_path / "table.csv")


def test_what_is_no_file_or_not_compressed_is_told_so(tmp_path):
    assert "Is a directory; name a file in it" in message(tmp_path)
    assert "No such file or directory; check the path" in message(tmp_path / "none.csv")
    (tmp_path / "table.csv.gz").write_text(TEXT)
    assert "if it is not compressed, name it otherwise" in message(tmp_path / "table.csv.gz")


def test_integers_of_thirty_digits_are_numbers(tmp_path):
    from spotsvm.tables import read_table

    (tmp_path / "table.csv").write_text(written(GOOD.assign(big=[str(10**30 + 10**16 * k) for k in range(30)])))
    assert read_table(tmp_path / "table.csv", "kind").X["big"].iloc[1] == 1e30 + 1e16
