import os
import re
from dataclasses import dataclass
from html import unescape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from installed_command import main

from spotsvm.errors import ArgumentError, DataError, StorageError
from spotsvm.studies.common.data import data_folder, read_table
from spotsvm.studies.common.experiment import Experiment, Seeds, either
from spotsvm.studies.common.jobs import Job
from spotsvm.studies.common.table import draw_table, table_figures
from tests.spotsvm.reports.pages import check_page


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
    assert "quick form" in Doubling(quick=True).to_markdown()


def test_what_cannot_be_written_or_read_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file/out: cannot write there"):
        Doubling().write(tmp_path / "file" / "out")
    with pytest.raises(DataError, match="--data .*nowhere is not a folder; name the folder of the data sets"):
        Reading().use_data(tmp_path / "nowhere")
    with pytest.raises(DataError, match="--data .*: there is no numbers.csv in it, nor numbers.csv.gz"):
        Reading().use_data(tmp_path).run()
    assert data_folder() is None or data_folder() != tmp_path


def test_measurements_as_csv_in_a_file_or_a_folder(tmp_path):
    experiment = Doubling()
    assert experiment.to_csv(tmp_path / "mine.csv") == tmp_path / "mine.csv"
    assert experiment.to_csv(tmp_path) == tmp_path / "doubling_runs.csv"
    assert pd.read_csv(tmp_path / "mine.csv").equals(experiment.frame())
    with pytest.raises(StorageError, match=r"missing/mine\.csv: cannot write the measurements"):
        experiment.to_csv(tmp_path / "missing" / "mine.csv")
    with pytest.raises(StorageError, match=r"missing/page\.html: cannot write"):
        experiment.report(tmp_path / "missing" / "page.html")


@dataclass(kw_only=True)
class Powers(Experiment):
    """Powers of numbers."""

    name = "powers"
    shared = ("exponent",)
    seeds: Seeds = either(3, 2)
    exponent: int = either(2, least=1)
    kinds: tuple = either(("a", "b"), among=("a", "b", "c"))

    def _jobs(self):
        return [Job({"seed": seed}, power, (seed, self.exponent)) for seed in self.seeds]

    def table(self):
        return self.frame()

    def conclusion(self):
        return f"The largest is {self.frame().power.max()}."


def power(seed, exponent):
    return {"power": seed**exponent}


def test_arguments_have_a_value_for_each_form_and_are_checked():
    assert (Powers().seeds, Powers(True).seeds, Powers(seeds=[4]).seeds) == ([0, 1, 2], [0, 1], [4])
    assert Powers(kinds=["c"]).settings() == {"quick": False, "seeds": [0, 1, 2], "exponent": 2, "kinds": ("c",)}
    for arguments, message in (
        ({"exponent": 0}, "exponent=0 is too few; use 1 or more"),
        ({"kinds": ()}, "kinds is empty; use some of a, b, c"),
        ({"kinds": ("a", "d")}, "kinds: 'd' is unknown; use some of a, b, c"),
        ({"kinds": ("a", "a")}, "kinds: 'a' is there twice"),
        ({"seeds": 0}, "seeds=0 is not a number of runs"),
    ):
        with pytest.raises(ArgumentError, match=message):
            Powers(**arguments)


def test_the_command_resumes_from_a_file(tmp_path, monkeypatch):
    point = SimpleNamespace(name="powers", load=lambda: Powers)
    monkeypatch.setattr("spotsvm.commands.study.entry_points", lambda group: [point])
    command = ["study", "powers", "--path", str(tmp_path / "jobs.json"), "--jobs", "1", "--out", str(tmp_path)]
    assert "The largest is 4." in CliRunner().invoke(main, command).stdout
    lines = (tmp_path / "jobs.json").read_text().replace('"power": 4', '"power": 9')
    (tmp_path / "jobs.json").write_text(lines)
    assert "The largest is 9." in CliRunner().invoke(main, command).stdout
    page = (tmp_path / "powers.html").read_text()
    assert f"spotsvm study powers --jobs 1 --path {tmp_path / 'jobs.json'} --out powers" in " ".join(texts(page, "code"))
    result = CliRunner().invoke(main, [*command, "--quick"])
    assert "was written with quick=False, not True; name another file" in result.stderr


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


class Weights(Experiment):
    """Weights of <things> & others.

    First paragraph,
    in two lines.

    Second paragraph.

    Parameters
    ----------
    things : tuple of str
        What is weighed.

    References
    ----------
    Somebody 1999, "On weights".
    """

    name = "weights"

    def __init__(self, quick=False, *, things=("a", "b")):
        super().__init__(quick)
        self.things = things

    def _measure(self):
        return pd.DataFrame({"thing": list(self.things), "weight": [1.5, 250.0]})

    def table(self):
        return self.frame()

    def further_tables(self):
        return {"Sums": pd.DataFrame({"sum": [self.frame().weight.sum()]})}

    def notes(self):
        return "Weights are in <kg>."

    def conclusion(self):
        return "b is heavier.\n\na is lighter."


def texts(page, tag):
    """Return the texts of all elements of a kind."""
    found = re.findall(rf"<{tag}\b[^>]*>(.*?)</{tag}>", page, re.DOTALL)
    return [" ".join(unescape(re.sub(r"<[^>]+>", "", text)).split()) for text in found]


def test_what_the_page_holds_and_how_to_repeat_it(tmp_path):
    page = Weights(quick=True).run().report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert texts(page, "h1") == ["Weights of <things> & others"]
    assert texts(page, "h2") == ["Results", "Tables", "Method", "How to repeat it"]
    said = {"First paragraph, in two lines.", "Second paragraph.", "Weights are in <kg>.", 'Somebody 1999, "On weights".'}
    assert said <= set(texts(page, "p"))
    assert {"Finding: b is heavier.", "Finding: a is lighter."} <= set(texts(page, "p"))
    assert texts(page, "caption") == ["Results", "Sums", "Settings", "Versions"]
    assert {"1.50", "250.00", "251.5"} <= set(texts(page, "td") + texts(page, "th"))
    assert "What is weighed." not in page
    assert "quick form" in page
    assert "<svg" in page
    check_page(page)
    assert not [word for word in ("http://", "https://") if f'src="{word}' in page or f"url({word}" in page]
    assert "spotsvm study weights --quick --out weights" in page
    other = Weights(things=("b", "c")).use_data(tmp_path)
    command, code = texts(other.report(tmp_path).read_text(), "code")
    assert command == f"spotsvm study weights --things b,c --data {tmp_path} --out weights"
    assert "study = Weights( quick=False, things=('b', 'c'), )" in code
    assert f"study.use_data('{tmp_path}')" in code
    assert (tmp_path / "weights.html").is_file()


def test_the_default_figure_draws_what_differs():
    table = pd.DataFrame({"who": ["a", "b"], "n": [3, 3], "low": [1.0, 2.0], "wide": [1.0, 1e3], "met": [True, False]})
    figure = draw_table(table)
    assert [panel.get_title() for panel in figure.axes] == ["low", "wide"]
    assert [panel.get_xscale() for panel in figure.axes] == ["linear", "log"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["a", "b"]
    assert figure.axes[1].lines[0].get_xdata().tolist() == [1.0, 1e3]
    chosen = draw_table(table, ["n", "absent"])
    assert [panel.get_title() for panel in chosen.axes] == ["n"]
    unnamed = draw_table(table[["low", "wide"]])
    assert [label.get_text() for label in unnamed.axes[0].get_yticklabels()] == ["1.0", "2.0"]
    doubled = draw_table(table.assign(who="a", met=["x", "y"], kind=["p", "p"]))
    assert [label.get_text() for label in doubled.axes[0].get_yticklabels()] == ["x", "y"]


def test_a_column_with_an_interval_is_drawn_with_it_and_its_ends_are_not():
    table = pd.DataFrame({"who": ["a", "b"], "mean": [1.0, -2.0], "low": [0.5, np.nan], "high": [1.5, np.nan], "n": [3, 4]})
    (panel,) = draw_table(table).axes
    assert panel.get_title() == "mean"
    assert [line.tolist() for line in panel.collections[0].get_segments()] == [[[0.5, 0.0], [1.5, 0.0]]]  # b has none
    assert panel.lines[0].get_xdata().tolist() == [1.0, -2.0]
    assert panel.lines[1].get_xdata() == [0.0, 0.0]  # a line at 0
    quartiles = table.set_axis(["who", "median", "lower quartile", "upper quartile", "x"], axis=1)
    assert [panel.get_title() for panel in draw_table(quartiles, ["x", "median"]).axes] == ["x", "median"]


def test_long_labels_have_several_lines_within_the_figure():
    words = "a setting with a name of many words that would not fit on one line beside the panel"
    figure = table_figures(pd.DataFrame({"who": [words, "b"], "x": [1.0, 2.0]}))[0]
    figure.draw_without_rendering()
    label = figure.axes[0].get_yticklabels()[0]
    assert " ".join(label.get_text().split()) == words
    assert label.get_window_extent().x0 >= 0


@pytest.mark.parametrize("table", [pd.DataFrame({"who": ["a"]}), pd.DataFrame({"x": [np.nan, np.nan]}), pd.DataFrame({"x": [1]})])
def test_the_default_figure_of_meagre_tables(table, tmp_path):
    draw_table(table).savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000
