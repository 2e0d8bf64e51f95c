"""The pictures of the pages: each is there for the light and for the dark theme, and drawn again for narrow screens."""

import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import Collection, PathCollection
from matplotlib.colors import ListedColormap, to_hex, to_rgba, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from spotsvm.common.drawing import colour_variables, variable_of

#: background and text of the theme's dark pages
BACKGROUND, INK = np.array(to_rgba("#14181e")), np.array(to_rgba("#ced6dd"))
#: the colours of dark reports by the names of those of light ones
DARK = {name: to_rgba(dark)[:3] for name, (_, dark) in colour_variables().items() if "grey" not in name}
#: the text that shows a form of a picture; in a wide box it scrolls on a narrow screen
PICTURE = """
.. container:: {box}

   .. image:: /{path}
      :alt: {alt}
      :class: only-{theme} {screens} sphx-glr-single-img
      :width: {width}px

"""
THEMES = ("light", "dark")
#: inches of a picture on a narrow screen, where its text is still legible
NARROW = 4.8


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the open figures and return the text that shows them, as Sphinx-Gallery asks of its scrapers."""
    shown = ""
    for number, path in zip(plt.get_fignums(), block_vars["image_path_iterator"], strict=False):
        figure, alt = plt.figure(number), described(plt.figure(number))
        sizes = sizes_of(figure)
        box = "picture" if len(sizes) > 1 or figure.get_figwidth() <= NARROW else "wide-picture"
        for theme in THEMES:
            if theme == "dark":
                figure.set_size_inches(sizes["wide"])
                darken(figure)
            for screens, (width, height) in sizes.items():
                file = form(Path(path), screens, theme)
                figure.set_size_inches(width, height)
                figure.savefig(file, dpi=200, facecolor=BACKGROUND if theme == "dark" else "auto")
                shown += PICTURE.format(
                    box=box,
                    path=file.relative_to(gallery_conf["src_dir"]).as_posix(),
                    alt=alt,
                    theme=theme,
                    screens=f"on-{screens}" if len(sizes) > 1 else "",
                    width=round(100 * width),
                )
    plt.close("all")
    return shown


def form(picture: Path, screens: str, theme: str) -> Path:
    """Return the file of a picture for these screens and this theme, such as NAME_narrow_dark.png."""
    endings = [screens] * (screens == "narrow") + [theme] * (theme == "dark")
    return picture.with_stem("_".join([picture.stem, *endings]))


def sizes_of(figure: Figure) -> dict[str, tuple[float, float]]:
    """Return the size of a figure in inches on wide and, if its panels are not beside each other, on narrow screens."""
    width, height = figure.get_size_inches()
    grids = [ax.get_gridspec() for ax in figure.axes]
    beside = any(grid is not None and grid.ncols > 1 for grid in grids)
    return {"wide": (width, height)} | ({} if beside or width <= NARROW else {"narrow": (NARROW, height)})


def described(figure: Figure) -> str:
    """Return the titles and the names of the axes as the text for readers who do not see the picture."""
    texts = [text for ax in figure.axes for text in (ax.get_title(), ax.get_ylabel(), ax.get_xlabel())]
    return "; ".join(dict.fromkeys(text.replace("\n", " ") for text in texts if text)) or "picture"


def darken(figure: Figure) -> None:
    """Give a figure the colours of dark pages: white becomes the background, black the colour of the text."""
    figure.draw_without_rendering()  # which makes the ticks
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
        elif isinstance(artist, Collection) and isinstance(getattr(artist.cmap, "colors", [0])[0], str):
            # a list of colours, such as those of a report's maps or the one of contour lines
            artist.set_cmap(ListedColormap(swapped(artist.cmap.colors)))
        elif isinstance(artist, PathCollection):
            artist.set(edgecolor="0.5", linewidth=0.5)  # the low end of a colour map is nearly as dark as the page


def darkened(svg: str) -> str:
    """Return an SVG file of matplotlib with its greys swapped. What names no colour, such as text, is black there."""
    svg = re.sub(r"(?<=: )#[0-9a-f]{6}\b", lambda colour: to_hex(swapped(colour[0])[0]), svg)
    return svg.replace("<svg ", f'<svg fill="{to_hex(INK)}" ', 1)


def swapped(colours: Any) -> np.ndarray:
    """Return the colours for dark pages: those of dark reports, and greys between BACKGROUND and INK."""
    rgba = to_rgba_array(colours)
    for colour in rgba:
        name = variable_of(to_hex(colour)).removeprefix("var(--").removesuffix(")")
        if name in DARK:
            colour[:3] = DARK[name]
        elif np.ptp(colour[:3]) < 0.1:
            light = colour[:3].mean()
            colour[:3] = light * BACKGROUND[:3] + (1 - light) * INK[:3]
    return rgba
