import pandas as pd
import pytest

from spotsvm.errors import StorageError
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
    assert [f.name for f in files] == ["doubling_runs.csv", "doubling_table.csv", "doubling.md"]
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
    assert [f.name for f in files][3:] == ["note.txt"]
    assert files[3].read_text() == "so much"
