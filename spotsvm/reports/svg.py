"""A matplotlib figure as SVG for a page, with the colours of the page, without dates, and with unique ids."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from spotsvm.common.drawing import variable_of
from spotsvm.common.text import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SETTINGS: Any = {"svg.hashsalt": "spotsvm", "svg.fonttype": "none", "svg.image_inline": True}
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))
_DRAWN = re.compile(r"-?\d+\.\d{3,}")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
_FONT = re.compile(r"'?DejaVu Sans'?(?:,[^;]*)?")


def inline_svg(figure: Figure, name: str, alt: str) -> str:
    """Return a figure as an SVG element whose ids begin with `name`, with `alt` as its description.

    Text remains text, and colours are CSS variables wherever `variable_of` knows one. Equal figures give equal SVG.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure(figsize=(2, 1))
    >>> _ = figure.subplots().plot([0, 1], [0, 1])
    >>> text = inline_svg(figure, "line", "A line")
    >>> text.startswith("<svg"), 'id="line-figure_1"' in text, "var(--series-0)" in text
    (True, True, True)
    """
    from matplotlib import rc_context  # on use: it takes half a second

    drawn = io.StringIO()
    with rc_context(_SETTINGS), warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
        # the browser has the characters that the font of matplotlib lacks
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        # long names may leave no room: the picture is crowded then, but correct
        warnings.filterwarnings("ignore", "constrained_layout not applied", UserWarning)
        figure.savefig(drawn, format="svg", metadata=_NO_METADATA)
    root = ElementTree.fromstring(printable(drawn.getvalue()))
    for parent in root.iter():
        # its rules would hold for the whole page
        for style in [child for child in parent if child.tag.endswith("}style") or child.tag.endswith("}metadata")]:
            parent.remove(style)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {key.rpartition("}")[2]: _changed(key, value, name) for key, value in element.attrib.items()}
    root.attrib |= {"role": "img", "aria-label": alt, "focusable": "false"}
    return ElementTree.tostring(root, encoding="unicode")


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
