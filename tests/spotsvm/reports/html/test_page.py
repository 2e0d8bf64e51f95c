import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from spotsvm.errors import ArgumentError, StorageError
from spotsvm.reports.html.page import Code, Highlight, Page, Picture, Section, Table
from tests.spotsvm.reports.pages import check_page


def figure(label="a"):
    drawn = Figure(figsize=(3, 2))
    ax = drawn.subplots()
    ax.plot([0, 1], [0, 1], label=label)
    ax.fill_between([0, 1], [0, 0], [1, 1], color="#D55E00", alpha=0.2)
    ax.legend()
    return drawn


def page():
    frame = pd.DataFrame({"search": ["kriging", "random"], "score": [0.98765432, np.nan], "n": [3, 1234567]})
    return Page(
        "Title",
        [
            Section("One", ["A paragraph.", Table(frame, "Scores"), Picture(figure(), "Lines", "Two lines")]),
            Section("Two", [Code("print(1 < 2)", "Code"), Highlight("Mind.", "warning")]),
            Section("One", [Picture(figure(), "Lines", "Two lines"), Section("Below", [Section("Further below", ["Text."])])]),
        ],
        lead="What it is about.",
        footer="Made by hand.",
    )


def test_a_page_is_whole_and_accessible():
    found = check_page(page().html())
    assert found.headings == [[1, "Title"], [2, "One"], [2, "Two"], [2, "One"], [3, "Below"], [4, "Further below"]]
    assert {"header", "nav", "main", "footer", "section", "figure", "figcaption"} <= {tag for tag, _, _ in found.tags}
    assert [a["href"] for a in found.all("a")] == ["#content", "#one", "#two", "#one-2"]
    assert [th for th in found.all("th") if th["scope"] == "row"] == [{"scope": "row"}] * 2


def test_numbers_are_short_stand_to_the_right_and_what_is_missing_is_a_dash():
    text = page().html()
    check_page(text)
    assert page().html() == text
    assert '<td class="n">0.9877</td><td class="n">3</td>' in text
    assert '<td class="n">–</td><td class="n">1234567</td>' in text


def test_colours_follow_the_scheme():
    text = page().html()
    assert "@media screen and (prefers-color-scheme: dark)" in text
    for name in ("series-0", "series-1", "grey-0", "grey-20"):
        assert f"var(--{name})" in text
        assert text.count(f"  --{name}: #") == 2  # one a scheme
    svg = text[text.index("<svg") : text.index("</svg>")]
    assert "#0072b2" not in svg.lower()
    assert "#000000" not in svg
    assert "#ffffff" not in svg


def test_the_readers_own_settings_of_matplotlib_stay_as_they_are():
    with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "mine"}):
        assert "<text" in page().html()
        assert mpl.rcParams["svg.fonttype"] == "path"
        assert mpl.rcParams["svg.hashsalt"] == "mine"


def test_a_page_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"file/page.html: cannot write the report: "):
        page().write(tmp_path / "file" / "page.html")
    with pytest.raises(StorageError, match="cannot create the folder"):
        page().write_tables(tmp_path / "file" / "tables")
    with pytest.raises(ArgumentError, match="is not the path of a file"):
        page().write("a\0b.html")


def test_tables_are_written_in_full(tmp_path):
    files = page().write_tables(tmp_path / "tables")
    assert [file.name for file in files] == ["01-scores.csv"]
    assert pd.read_csv(files[0])["score"].tolist()[0] == 0.98765432


def test_a_picture_of_numbers_that_no_axis_can_show_says_so():
    drawn = Figure(layout="constrained")
    drawn.subplots().plot([0, 1], [-1.7e308, 1.7e308])
    text = Page("Title", [Section("One", [Picture(drawn, "Lines", "A line")])]).html()
    assert "<p>This picture cannot be drawn: " in text
