"""Options in sections of the help, hints at misspelt words, and rows that are split in time or lack a target."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from installed_command import main

N = 60
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "day": pd.date_range("2020-01-01", periods=N).strftime("%b %d %Y"),
        "size": RNG.normal(size=N),
        "kind": np.where(np.arange(N) % 3, "a", "b"),
    }
)


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_options_stand_in_sections():
    text = run("tune", "--help").output
    search = "Search of one SVM (--model svm, spectra or stormwater)"
    places = [text.index(f"\n{title}:\n") for title in ("Task and model", "Table", "Fit and results", search)]
    assert places == sorted(places)
    assert places[1] < text.index("--time-split") < places[2] < text.index("--timeout") < places[3] < text.index("--dask")
    assert places[3] < text.index("\nOther options:\n") < text.index("--help")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tune", "t.csv", "--target", "Kind"], "did you mean 'kind'?"),
        (
            ["tune", "t.csv", "--target", "kind", "--drop", "sise"],
            "--drop 'sise' is not a column; there are 'day', 'size', 'kind'; did you mean 'size'?",
        ),
        (["tune", "t.csv", "--target", "kind", "--task", "clasification"], "did you mean 'classification'?"),
        (["tune", "t.csv", "--target", "kind", "--model", "svm", "--search", "krigging"], "did you mean 'kriging'"),
        (["tuen", "t.csv"], "No such command 'tuen'; did you mean 'tune'?"),
    ],
)
def test_misspelt_words_have_a_hint(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("t.csv", index=False)
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_split_in_time_a_row_without_target_and_another_table(tmp_path, no_pictures):
    TABLE.assign(kind=TABLE["kind"].where(TABLE.index != 4)).to_csv(tmp_path / "t.csv", index=False)
    tune = [
        "tune",
        tmp_path / "t.csv",
        "--target",
        "kind",
        "--model",
        "svm",
        "--trials",
        1,
        "--no-compare",
        "--out",
        tmp_path / "out",
    ]
    result = run(*tune, "--time-split", "day")
    assert result.exit_code == 0, result.output
    assert "15 are held out, and no search uses them; they are the latest by 'day'" in result.stderr
    assert "notice: 1 row has no target, the first in line 6; left out here, and predicted into --out" in result.stderr
    found = pd.read_csv(tmp_path / "out" / "predictions.csv")
    assert found["row"].tolist() == [5]
    assert found["prediction"].isin(["a", "b"]).all()
    assert pd.read_csv(tmp_path / "out" / "columns.csv")["kind"].tolist() == ["date", "number"]
    TABLE.assign(size=-TABLE["size"]).to_csv(tmp_path / "t.csv", index=False)
    result = run(*tune, "--time-split", "day")
    assert result.exit_code == 2
    assert result.stderr.endswith("out belongs to another table; use a new --out\n")
