"""Text of any kind in the parts of a page."""

import csv
import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.common.csv_files import write_csv
from spotsvm.reports.html.page import Code, Highlight, Page, Picture, Section, Table, script
from tests.fuzz.hostile_values import TEXTS
from tests.spotsvm.reports.pages import Outline

ANY = st.text(st.characters(exclude_categories=())) | st.sampled_from(TEXTS)
MARK = "<script>alert(1)</script><img src=x onerror=y>\"'><b \x1b[31m\u202e{{7*7}}"
TAGS = {
    "html", "head", "meta", "link", "title", "style", "body", "a", "header", "h1", "h2", "h3", "h4", "h5", "h6", "p", "nav", "ul",
    "li", "main", "section", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "pre", "code",
    "strong", "footer", "svg", "g", "path", "use", "defs", "clippath", "rect", "text", "tspan", "image", "polyline", "line",
    "circle", "script", "dl", "dt", "dd", "details", "summary",
}  # fmt: skip


def checked(html):
    """A page of the known elements alone, without handlers, scripts and control characters."""
    for tag, attributes, _ in Outline(html).tags:
        assert tag in TAGS
        assert not [name for name in attributes if name.startswith("on")]
    assert html.count("<style>") == html.count("<script>") == html.partition("</head>")[0].count("<title>") == 1
    assert html.rpartition("<script>")[2].startswith(script())
    assert not set("\x00\x07\x1b\u202e\ud800\ufffe") & set(html)
    html.encode("utf-8")


@given(ANY)
def test_text_in_every_part_of_a_page(text):
    table = Table(pd.DataFrame({text: [text, 1]}), text)
    parts = [text, table, Code(text, text), Highlight(text, "finding"), Section(text, [text])]
    checked(Page(text, [Section(text, parts)] * 3, lead=text, footer=text).html())


@pytest.mark.parametrize("text", [text for text in TEXTS if len(text) < 1000] + [MARK])
def test_text_in_a_picture(text):
    from spotsvm.common.drawing import drawing, plain, set_ticks

    with drawing(6, 4) as figure:
        ax = figure.subplots()
        ax.plot([0, 1], [0, 1], label=plain(f"its {text}"))
        ax.set_xlabel(plain(text))
        set_ticks(ax, "y", [0, 1], [text, text])
        ax.legend()
    page = Page("A page", [Section("A picture", [Picture(figure, text, text)])]).html()
    checked(page)
    assert "cannot be drawn" not in page
    assert "<svg" in page


@pytest.mark.parametrize("several", [False, True])
def test_a_study_full_of_it(tmp_path, several):
    direction = {MARK: "minimize", "$x": "maximize"} if several else "maximize"
    space = {MARK: [MARK, "=1+1", "$\\frac"], "C": uniform(0, 1)}
    with Study(space, "random", 0, path=tmp_path / "s.db", direction=direction, context={MARK: MARK, "estimator": MARK}) as study:
        for k in range(10):
            trial = study.ask()
            value = trial.params["C"]
            if k == 3:
                study.fail(trial, MARK, extra={MARK: 1.0})
            else:
                study.tell(trial, {"values": [value, -value], MARK: 1.0} if several else {"value": value, MARK: 1.0})
        study.add_finding("stop", {"sentence": MARK, MARK: MARK, "rows": [{MARK: MARK}]})
        study.add_finding(" ".join(MARK.split()), {"summary": MARK})
        html = study.report(tmp_path / "r.html", tables=tmp_path / "tables").read_text(encoding="utf-8")
        study.to_csv(tmp_path / "trials.csv")
    checked(html)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    files = [*(tmp_path / "tables").glob("*.csv"), tmp_path / "trials.csv"]
    assert len(files) > 5
    for file in files:
        assert file.resolve().parent in (tmp_path / "tables", tmp_path)
        for row in csv.reader(io.StringIO(file.read_text(encoding="utf-8"))):
            assert not [cell for cell in row if cell.lstrip().startswith(("=", "@"))]


@given(ANY)
def test_no_cell_is_a_formula_nor_steers_a_terminal(text):
    out = io.StringIO()
    write_csv(pd.DataFrame({text: [text, "x"], "b": [1, 2]}), out, "table")
    written = out.getvalue()
    written.encode("utf-8")
    assert not set("\x00\x07\x1b\r\u202e") & set(written)
    head, *rows = csv.reader(io.StringIO(written))
    for cell in (head[0], rows[0][0]):
        try:
            float(cell)
        except ValueError:
            assert not cell.lstrip().startswith(("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"))
            assert not cell.startswith(("\t", "\r", "\n"))
