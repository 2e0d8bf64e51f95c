"""The pictures of the pages: each is there for the light and for the dark theme, those of the gallery in 200 dpi."""

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import Collection, PathCollection
from matplotlib.colors import to_hex, to_rgba, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

#: background and text of the theme's dark pages
BACKGROUND, INK = to_rgba("#14181e"), to_rgba("#ced6dd")
#: in a box that scrolls on a phone if the picture is WIDE
PICTURE = """
.. container:: {box}

   .. image:: /{path}
      :alt: {alt}
      :class: only-{theme} sphx-glr-single-img
      :width: {width}px

"""
WIDE = 800


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the open figures and return the text that shows them, as Sphinx-Gallery asks of its scrapers."""
    shown = ""
    for number, path in zip(plt.get_fignums(), block_vars["image_path_iterator"], strict=False):
        figure, light = plt.figure(number), Path(path)
        dark = light.with_name(f"{light.stem}_dark.png")
        alt, width = described(figure), round(100 * figure.get_figwidth())
        figure.savefig(light, dpi=200)
        darken(figure)
        figure.savefig(dark, dpi=200, facecolor=BACKGROUND)
        for theme, file in (("light", light), ("dark", dark)):
            relative = file.relative_to(gallery_conf["src_dir"]).as_posix()
            box = "wide-picture" if width > WIDE else "picture"
            shown += PICTURE.format(box=box, path=relative, alt=alt, theme=theme, width=width)
    plt.close("all")
    return shown


def described(figure: Figure) -> str:
    """Return the titles and the names of the axes as the text for readers who do not see the picture."""
    texts = [text for ax in figure.axes for text in (ax.get_title(), ax.get_ylabel(), ax.get_xlabel())]
    return "; ".join(dict.fromkeys(text.replace("\n", " ") for text in texts if text)) or "picture"


def darken(figure: Figure) -> None:
    """Swap the greys of a figure that was drawn: white becomes the dark page's background, black the colour of its text."""
    on_images = {text for ax in figure.axes if ax.images for text in ax.texts}
    for artist in figure.findobj():
        if isinstance(artist, Text) and artist not in on_images:
            artist.set_color(swapped([to_rgba(artist.get_color())])[0])
            if (box := artist.get_bbox_patch()) is not None:
                box.set_facecolor(swapped([box.get_facecolor()])[0])
        elif isinstance(artist, Line2D):
            # all are read before one is set, since the colour of a marker may be that of its line
            parts = ("color", "markerfacecolor", "markeredgecolor")
            artist.set(**{part: swapped([to_rgba(plt.getp(artist, part))])[0] for part in parts})
        elif isinstance(artist, Patch):
            artist.set(facecolor=swapped([artist.get_facecolor()])[0], edgecolor=swapped([artist.get_edgecolor()])[0])
        elif isinstance(artist, Collection) and artist.get_array() is None:
            artist.set(facecolor=swapped(artist.get_facecolor()), edgecolor=swapped(artist.get_edgecolor()))
        elif isinstance(artist, PathCollection):
            artist.set(edgecolor="0.5", linewidth=0.5)  # the low end of a colour map is nearly as dark as the page


def darkened(svg: str) -> str:
    """Return an SVG file of matplotlib with its greys swapped. What names no colour, such as text, is black there."""
    svg = re.sub(r"(?<=: )#[0-9a-f]{6}\b", lambda colour: to_hex(swapped(colour[0])[0]), svg)
    return svg.replace("<svg ", f'<svg fill="{to_hex(INK)}" ', 1)


def swapped(colours: Any) -> np.ndarray:
    """Return the colours with greys between BACKGROUND and INK in the place of those between white and black."""
    rgba = to_rgba_array(colours)
    grey = np.ptp(rgba[:, :3], axis=1) < 0.1
    light = rgba[grey, :3].mean(axis=1, keepdims=True)
    rgba[grey, :3] = light * BACKGROUND[:3] + (1 - light) * INK[:3]
    return rgba
