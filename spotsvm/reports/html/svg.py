"""Figures of matplotlib as SVG inside a page: colours follow the page's colour scheme, and points have trial numbers."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from spotsvm.common.drawing import CHOSEN, ONE_TRIAL, TRIALS, variable_of
from spotsvm.common.text import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SETTINGS: Any = {"svg.hashsalt": "spotsvm", "svg.fonttype": "none", "svg.image_inline": True}
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))
_DRAWN = re.compile(r"-?\d+\.\d{3,}")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
_FONT = re.compile(r"'?DejaVu Sans'?(?:,[^;]*)?")
#: pixels per inch of a figure if there is room, and minimum pixels per inch at which its texts can be read
_PIXELS, _FEWEST = 128, 62


def inline_svg(figure: Figure, name: str, alt: str) -> str:
    """Return a figure as an SVG element whose ids begin with `name`, with `alt` as its description.

    Text remains text, and colours become CSS variables if `variable_of` has one for them. Equal figures give equal SVG.
    """
    from matplotlib import rc_context  # on use: it takes half a second

    drawn = io.StringIO()
    with rc_context(_SETTINGS), warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
        # the browser has the characters missing from matplotlib's font
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        # long names may leave no room: the picture is then crowded, but correct
        warnings.filterwarnings("ignore", "constrained_layout not applied", UserWarning)
        _lay_out(figure)
        figure.savefig(drawn, format="svg", metadata=_NO_METADATA)
    root = ElementTree.fromstring(printable(drawn.getvalue()))
    for parent in root.iter():
        # rules in the SVG would apply to the whole page
        for style in [child for child in parent if child.tag.endswith("}style") or child.tag.endswith("}metadata")]:
            parent.remove(style)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        _name(element)
        element.attrib = {key.rpartition("}")[2]: _changed(key, value, name) for key, value in element.attrib.items()}
    width = float(figure.get_figwidth())
    root.attrib |= {"role": "img", "aria-label": alt, "focusable": "false"}
    root.attrib["style"] = f"width:{width * _PIXELS:.0f}px;min-width:{width * _FEWEST:.0f}px"
    return ElementTree.tostring(root, encoding="unicode")


def _lay_out(figure: Figure) -> None:
    """Lay the figure out as SVG has it: `savefig` would draw all of it once more to do so."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    engine = figure.get_layout_engine()
    if engine is not None:
        FigureCanvasSVG(figure)
        figure.dpi = 72
        engine.execute(figure)
        figure.set_layout_engine(None)


def _name(element: ElementTree.Element) -> None:
    """Replace an id that `name_trials` or `name_chosen` has set by attributes and classes."""
    given = element.get("id", "")
    if given.startswith(ONE_TRIAL):
        element.set("data-trial", given.removeprefix(ONE_TRIAL))
    elif given.startswith(TRIALS):
        numbers, points = given.removeprefix(TRIALS).split(","), [one for one in element.iter() if one.tag.endswith("use")]
        # a point at infinity is not drawn, so markers and trials do not match: no trial is named
        for point, number in zip(points, numbers, strict=True) if len(points) == len(numbers) else ():
            point.set("data-trial", number)
    elif given.startswith(CHOSEN):
        element.set("class", "chosen")
        title = ElementTree.Element("title")
        title.text = given.removeprefix(CHOSEN)
        element.insert(0, title)
    else:
        return
    del element.attrib["id"]


def _changed(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key.endswith("href") and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    if key in ("d", "x", "y", "points"):
        return _DRAWN.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), value).replace("\n", " ")
    if key in ("style", "fill", "stroke"):
        value = _FONT.sub("var(--sans)", value)
        value = _COLOUR.sub(lambda colour: variable_of(colour[0]), value)
    return value.replace("url(#", f"url(#{name}-")
