import os

import pandas as pd
import pytest

from spotsvm.errors import DataError, StorageError
from studies.data_folder import data_folder, read_table
from studies.experiment import Experiment


class Doubling(Experiment):
    """Numbers and their doubles.

    More of it.
    """

    name = "doubling"

    def _measure(self):
        return pd.DataFrame({"n": range(3 if self.quick else 5)})

    def table(self):
        return pd.DataFrame({"largest": [2 * self.frame().n.max()]})

    def conclusion(self):
        return "Doubled."


def test_report_and_files(tmp_path):
    experiment = Doubling()
    files = experiment.write(tmp_path / "new")
    endings = ("_runs.csv", "_table.csv", ".md", ".png", ".html")
    assert [f.name for f in files] == [f"doubling{ending}" for ending in endings]
    assert len(pd.read_csv(files[0])) == 5
    assert pd.read_csv(files[1]).largest.tolist() == [8]
    text = files[2].read_text()
    assert text.startswith("## Numbers and their doubles\n")
    assert text.endswith("Doubled.\n")
    assert "quick form" not in text


def test_the_quick_form_says_so():
    assert "quick form" in Doubling(quick=True).to_markdown()


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file/out: cannot write there"):
        Doubling().write(tmp_path / "file" / "out")


class WithNotes(Doubling):
    """Numbers, their doubles, and a note."""

    def _write_further(self, folder):
        (folder / "note.txt").write_text("so much")
        return [folder / "note.txt"]


def test_further_files(tmp_path):
    files = WithNotes().write(tmp_path / "new")
    assert [f.name for f in files][3:] == ["note.txt", "doubling.png", "doubling.html"]
    assert files[3].read_text() == "so much"


def test_measurements_as_csv_in_a_file_or_a_folder(tmp_path):
    experiment = Doubling()
    assert experiment.to_csv(tmp_path / "mine.csv") == tmp_path / "mine.csv"
    assert experiment.to_csv(tmp_path) == tmp_path / "doubling_runs.csv"
    assert pd.read_csv(tmp_path / "mine.csv").equals(experiment.frame())
    with pytest.raises(StorageError, match=r"missing/mine\.csv: cannot write the measurements"):
        experiment.to_csv(tmp_path / "missing" / "mine.csv")


class Reading(Doubling):
    """A study of one file."""

    name = "reading"

    def _measure(self):
        return read_table("numbers")


def test_data_come_from_the_folder_that_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("SPOTSVM_DATA", str(tmp_path / "elsewhere"))
    pd.DataFrame({"n": [7, 9]}).to_csv(tmp_path / "numbers.csv", index=False)
    study = Reading().use_data(tmp_path)
    assert study.table().largest.tolist() == [18]
    assert data_folder() == tmp_path / "elsewhere"
    assert os.environ["SPOTSVM_DATA"] == str(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="SPOTSVM_DATA=.*elsewhere: there is no numbers.csv in it"):
        Reading().run()


def test_a_data_folder_that_is_not_there_or_lacks_the_set(tmp_path):
    with pytest.raises(DataError, match="--data .*nowhere is not a folder; name the one that holds the data sets"):
        Reading().use_data(tmp_path / "nowhere")
    with pytest.raises(DataError, match="--data .*: there is no numbers.csv in it, nor numbers.csv.gz"):
        Reading().use_data(tmp_path).run()
    assert data_folder() is None or data_folder() != tmp_path
