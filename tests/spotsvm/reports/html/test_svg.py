from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from spotsvm.common.drawing import COLOURS, LEVELS, colour_variables, variable_of
from spotsvm.reports.html.svg import inline_svg


def luminance(colour):
    """Relative luminance (WCAG 2.1)."""
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1])
@pytest.mark.parametrize(
    ("name", "ground", "least"),
    [("ink", "paper", 7), ("quiet", "paper", 4.5), ("quiet", "panel", 4.5), ("link", "paper", 4.5), ("ink", "warn-panel", 7)]
    + [(f"series-{k}", "paper", 3) for k in range(6)]
    + [("red", "paper", 3), ("link", "paper", 3), ("good", "panel", 3), ("warn", "warn-panel", 3)],
)
def test_what_is_read_stands_out_in_both_schemes(name, ground, least, scheme):
    colours = colour_variables()
    assert contrast(colours[name][scheme], colours[ground][scheme]) >= least


@pytest.mark.parametrize("scheme", [0, 1])
def test_levels_go_one_way_in_both_schemes(scheme):
    shades = [luminance(colour_variables()[f"level-{k}"][scheme]) for k in range(len(LEVELS))]
    assert shades == sorted(shades, reverse=scheme == 0)


def test_colours_that_a_picture_is_drawn_in_have_a_variable():
    assert [variable_of(colour) for colour in COLOURS[:6]] == [f"var(--series-{k})" for k in range(6)]
    assert [variable_of(colour) for colour in LEVELS] == [f"var(--level-{k})" for k in range(len(LEVELS))]
    assert variable_of("#ffffff") == "var(--grey-20)"
    assert variable_of("#e5e5e5") == "var(--grey-18)"
    assert variable_of("#ABCDEF") == "#abcdef"


def clipped():
    figure = Figure(figsize=(2, 2))
    ax = figure.subplots()
    ax.plot([0, 1], [0, 5])
    ax.set_ylim(0, 1)
    return figure


def test_two_pictures_share_no_name_and_refer_to_their_own():
    one, other = inline_svg(clipped(), "one", "x"), inline_svg(clipped(), "other", "x")
    for name, text in (("one", one), ("other", other)):
        root = ElementTree.fromstring(text)
        ids = [element.get("id") for element in root.iter() if element.get("id")]
        assert ids
        assert all(one_id.startswith(f"{name}-") for one_id in ids)
        assert f"url(#{name}-" in text
        assert not [element for element in root.iter() if element.tag in ("style", "metadata")]


def test_an_id_in_a_text_stays_as_it_is():
    figure = Figure(figsize=(2, 2))
    figure.text(0.1, 0.5, 'id="a" url(#b) #0072b2')
    text = inline_svg(figure, "one", "x")
    assert [e.text for e in ElementTree.fromstring(text).iter("text")] == ['id="a" url(#b) #0072b2']
