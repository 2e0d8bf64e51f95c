"""Draw the pictures of the guide: `python docs/pictures.py [PAGE ...]` runs the code of these pages (default: of all).

The picture that a page shows as `pictures/NAME.svg` is the file that a block of code on the same page saves as `NAME.svg`. The
form for narrow screens is the same figure, drawn again.
"""

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import themes
from matplotlib.figure import Figure

GUIDE = Path(__file__).parent / "guide"
BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.S | re.M)
SHOWN = re.compile(r"pictures/([\w-]+\.svg)")
SAVE = Figure.savefig


def save_forms(figure: Figure, name: Any, **options: Any) -> None:
    """Save the forms of a figure for wide and narrow screens; a figure of a report, which is no file, as it is."""
    if not isinstance(name, str):
        SAVE(figure, name, **options)
        return
    for screens, size in themes.sizes_of(figure).items():
        figure.set_size_inches(size)
        SAVE(figure, themes.form(Path(name), screens, "light"), **options)


def main(names: list[str]) -> None:
    """Run the pages with these names, and keep the pictures that they show."""
    # the same file from the same numbers: no date, no random names
    mpl.rcParams.update({"svg.hashsalt": "spotsvm", "figure.constrained_layout.use": True, "savefig.bbox": "tight"})
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    for page in sorted(GUIDE.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        shown = set(SHOWN.findall(text))
        if not shown or (names and page.stem not in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            home = Path.cwd()
            os.chdir(folder)
            try:
                exec(compile("\n".join(BLOCK.findall(text)), page.name, "exec"), {"__name__": "__main__"})
            finally:
                os.chdir(home)
            for name in shown:
                for picture in (Path(folder) / name, themes.form(Path(folder) / name, "narrow", "light")):
                    if picture.exists():
                        (GUIDE / "pictures" / picture.name).write_bytes(picture.read_bytes())
                        print(f"{page.stem}: {picture.name}")


if __name__ == "__main__":
    mpl.use("Agg")
    Figure.savefig = save_forms  # type: ignore[method-assign]
    main(sys.argv[1:])
