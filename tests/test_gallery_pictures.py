"""Pictures of the gallery in both themes."""

import importlib
import re
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.colors import to_hex

from spotsvm.common.drawing import colour_variables, level_map

GALLERY = Path(__file__).parent.parent / "docs" / "examples"


def test_a_picture_is_saved_for_both_themes(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(GALLERY.parent)
    themes = importlib.import_module("themes")
    plt.close("all")  # of other tests, as the scraper saves all open figures
    figure, (left, right) = plt.subplots(1, 2, figsize=(4, 2))
    (line,) = left.plot([1, 2], color="tab:blue", mfc="none", label="blue")
    (cross,) = left.plot([1], [2], "kx")
    box = left.text(1, 1, "in a box", bbox={"facecolor": "white"}).get_bbox_patch()
    bars = left.barh([1, 2], [1, 2], color="black")
    label = left.set(xlabel="cost C", title="Two\nlines")[0]
    right.imshow([[0, 1]])
    levels = left.pcolormesh([[1, 2]], cmap=level_map(-1.0))
    on_image = right.text(0, 0, "0", color="white")
    left.scatter([1], [1], facecolors="none", edgecolors="0.5")
    mapped = left.scatter([1, 2], [1, 2], c=[0, 1])
    contour = left.contour([[0, 1], [1, 2]], colors="0.7")
    left.legend()
    path = tmp_path / "gallery" / "images" / "plot_001.png"
    path.parent.mkdir(parents=True)
    text = themes.scraper(None, {"image_path_iterator": iter([str(path)])}, {"src_dir": str(tmp_path)})
    assert plt.get_fignums() == []
    assert [plt.imread(file).shape for file in sorted(path.parent.iterdir())] == [(400, 800, 4)] * 2
    assert text.count(".. image:: /gallery/images/plot_001") == 2
    assert ":alt: Two lines; cost C" in text
    assert ":class: only-dark" in text
    assert ":width: 400px" in text
    assert to_hex(line.get_color()) == colour_variables()["series-0"][1]
    assert to_hex(bars[0].get_facecolor()) == to_hex(label.get_color()) == to_hex(themes.INK)
    assert to_hex(figure.get_facecolor()) == to_hex(left.get_facecolor()) == to_hex(themes.BACKGROUND)
    assert to_hex(cross.get_markeredgecolor()) == to_hex(themes.INK)
    assert to_hex(box.get_facecolor()) == to_hex(themes.BACKGROUND)
    assert on_image.get_color() == "white"
    assert to_hex(contour.get_edgecolor()[0]) == to_hex(themes.swapped("0.7")[0])
    assert to_hex(levels.cmap(1.0)) == colour_variables()["level-8"][1]
    assert to_hex(mapped.get_edgecolor()[0]) == to_hex("0.5")
    assert to_hex(mapped.get_facecolor()[0]) == to_hex(plt.get_cmap()(0.0))


def test_an_svg_picture_has_the_same_lines_in_the_colours_of_dark_pages(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(GALLERY.parent)
    themes = importlib.import_module("themes")
    figure, ax = plt.subplots(figsize=(4, 2))
    ax.plot([1, 2], color="tab:blue", label="blue")
    ax.bar([1, 2], [1, 2], color="black", edgecolor="white")
    ax.legend()
    figure.savefig(tmp_path / "light.svg")
    plt.close(figure)
    light = (tmp_path / "light.svg").read_text()
    dark = themes.darkened(light)
    colours = r"(?<=: )#\w+"
    assert set(re.findall(colours, dark)) == {
        to_hex(c) for c in (colour_variables()["series-0"][1], themes.INK, themes.BACKGROUND)
    } | {to_hex(themes.swapped("#cccccc")[0])}
    assert f'<svg fill="{to_hex(themes.INK)}"' in dark
    assert re.sub(colours, "", dark).replace(f' fill="{to_hex(themes.INK)}"', "", 1) == re.sub(colours, "", light)
