"""The examples of the gallery: what each has, and that the quick ones run; all run when the documentation is built."""

import ast
import importlib
import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib import rc_context

GALLERY = Path(__file__).parent.parent / "docs" / "examples"
EXAMPLES = sorted(GALLERY.glob("*/plot_*.py"))
PUBLIC = (
    "spotsvm",
    "spotsvm.acquisition",
    "spotsvm.errors",
    "spotsvm.kernels",
    "spotsvm.plots",
    "spotsvm.searches",
    "spotsvm.solvers.dual",
    "spotsvm.tables",
)
QUICK = ("functions/plot_conditions.py", "searches/plot_nugget.py", "functions/plot_failures.py")
#: examples on real rows where the folder of data sets is there, with the numbers of rows, real and simulated
REAL = {"field/plot_spectra.py": [(158, 35), (120, 880)], "field/plot_streamflow.py": [(365, 366), (1095, 730)]}


def name(path):
    return path.relative_to(GALLERY).as_posix()


def spotsvm_imports(tree):
    """Yield module and name of each import of the library."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "spotsvm":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names if alias.name.split(".")[0] == "spotsvm")


def test_there_are_enough_and_every_folder_has_a_header():
    assert len(EXAMPLES) >= 20
    for folder in [GALLERY, *{path.parent for path in EXAMPLES}]:
        title, line, _, text = (folder / "GALLERY_HEADER.rst").read_text().splitlines()
        assert len(title) == len(line), folder
        assert text.endswith("."), folder


@pytest.mark.parametrize("path", EXAMPLES, ids=name)
def test_an_example_is_short_and_ends_in_a_sentence_that_it_asserts(path):
    """Title, text, cells and a picture; no line has a scroll bar; names are public; no network or further data is needed."""
    code = path.read_text()
    tree = ast.parse(code)
    title, line, empty, *text = ast.get_docstring(tree).splitlines()
    assert re.fullmatch("=+", line)
    assert len(line) == len(title)
    assert empty == ""
    assert 1 <= " ".join(text).count(". ") + 1 <= 3
    assert len(code.splitlines()) <= 100
    assert max(len(line) for line in code.splitlines()) <= 79
    assert code.count("plt.show()") >= 1
    assert [word for word in ("fetch_", "http", "urllib") if word in code] == []
    assert ("SPOTSVM_DATA" in code) == ("read_csv" in code) == (name(path) in REAL)
    used = list(spotsvm_imports(tree))
    assert used
    private = [(home, name) for home, name in used if home not in PUBLIC or name not in importlib.import_module(home).__all__]
    assert private == []
    text, code = code.rsplit("\n# %%\n", 1)[1].split("\n\n", 1)
    assert all(line.startswith("# ") for line in text.splitlines())
    assert text.endswith(".")
    assert any(isinstance(node, ast.Assert) for node in ast.parse(code).body)


def test_public_names_are_told_from_others():
    code = "from spotsvm.study.study import Study\nimport spotsvm.solvers\nfrom scipy.stats import uniform"
    assert list(spotsvm_imports(ast.parse(code))) == [("spotsvm.study.study", "Study"), ("spotsvm.solvers", None)]


@pytest.mark.parametrize("path", QUICK)
def test_quick_examples_run_without_warnings_and_draw(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    plt.close("all")
    with rc_context({"backend": "agg"}):
        runpy.run_path(str(GALLERY / path))
        assert len(plt.get_fignums()) >= 1
        plt.close("all")
    assert capsys.readouterr().err == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.data
@pytest.mark.parametrize("path", REAL)
def test_real_rows_take_the_place_of_simulated_ones(path, monkeypatch):
    """The cells before the first model, with the folder of data sets and without."""
    cells = (GALLERY / path).read_text().split("\n# %%\n")[:2]
    for expected in REAL[path]:
        names = {"__name__": "__main__"}
        exec(compile("\n".join(cells), path, "exec"), names)
        assert (len(names["X"]), len(names["X_new"])) == expected
        assert (len(names["y"]), len(names["y_new"])) == expected
        assert np.isfinite(names["X"]).all(axis=None)
        assert np.isfinite(names["y"]).all()
        monkeypatch.delenv("SPOTSVM_DATA", raising=False)


def test_a_picture_without_panels_beside_each_other_has_a_form_for_narrow_screens(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(GALLERY.parent)
    themes = importlib.import_module("themes")
    plt.close("all")
    figure, axes = plt.subplots(2, 1, figsize=(7, 3), layout="constrained")
    figure.colorbar(plt.cm.ScalarMappable(), ax=axes)
    path = tmp_path / "plot_001.png"
    text = themes.scraper(None, {"image_path_iterator": iter([str(path)])}, {"src_dir": str(tmp_path)})
    names = [f"plot_001{ending}.png" for ending in ("", "_narrow", "_dark", "_narrow_dark")]
    assert re.findall(r"image:: /(.*)", text) == names
    assert re.findall(r":class: (only-\w+ on-\w+) ", text) == [
        f"only-{t} on-{s}" for t in ("light", "dark") for s in ("wide", "narrow")
    ]
    assert [plt.imread(tmp_path / name).shape[1] for name in names] == [1400, 960] * 2
    assert "wide-picture" not in text
