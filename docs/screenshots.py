"""Take the screenshots of reports: `python docs/screenshots.py` tunes two SVMs and opens their reports in Chromium.

Each section of the report of a search becomes a page of its own, which is photographed and cut to its contents; of the report of
`spotsvm tune` the top is shown. Each picture is taken for light and dark pages, on a wide and on a narrow screen.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageChops, ImageOps
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, oversearching
from spotsvm.reports.html.page import Page, Section
from spotsvm.reports.report import study_page

STATIC = Path(__file__).parent / "_static"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
#: sections of the report, and the files of their screenshots
SHOTS = {
    "Result": "report-result.png",
    "Recommended parameters": "report-parameters.png",
    "How optimistic is it": "report-luck.png",
    "Convergence": "report-convergence.png",
    "What matters": "report-effects.png",
    "Slices": "report-slices.png",
    "Trials": "report-trials.png",
}
#: endings of file names with the widths of the screens, in pixels, and with Chromium's numbers of the colour schemes
SCREENS, SCHEMES = {"": 740, "_narrow": 390}, {"": 1, "_dark": 0}
HEIGHT, SCALE, COLOURS = 4000, 2, 128
FRAME = "#999999"
#: pixels of the top of a report on these screens, which has a frame
TOPS = {"": 1245, "_narrow": 1700}
LARGEST = 200_000  # bytes


def tuned() -> SpotSearchCV:
    """Return a search of C, gamma and the class weight of an SVM, with its luck measured by nested resampling."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200], y[:200]
    space = {
        "svc__C": loguniform(0.01, 1000),
        "svc__gamma": loguniform(1e-4, 1),
        "svc__class_weight": [None, "balanced"],
    }
    svm = make_pipeline(StandardScaler(), SVC())
    search = SpotSearchCV(svm, space, n_iter=25, sweep=None, scoring="accuracy", random_state=0).fit(X, y)
    search.study_.add_finding("oversearching", oversearching(search, X, y, random_state=0).to_dict())
    return search


def tuned_table(folder: Path) -> Path:
    """Return the report that `spotsvm tune` writes of scikit-learn's diabetes data."""
    load_diabetes(as_frame=True, scaled=False).frame.to_csv(folder / "diabetes.csv", index=False)
    command = [sys.executable, "-m", "spotsvm", "tune", "diabetes.csv", "--target", "target", "--out", "results"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "results" / "report.html"


def shoot(page: Path, file: Path, tops: dict[str, int] | None = None) -> None:
    """Write the pictures of a page: all of it without its header, or the pixels at its top."""
    for screen, width in SCREENS.items():
        for scheme, number in SCHEMES.items():
            shot = photograph(page, width, number)
            height = tops[screen] if tops else bottom(shot)
            shown = file.with_stem(file.stem + screen + scheme)
            shot = ImageOps.expand(shot.crop((0, 0, shot.width, SCALE * height)), SCALE if tops else 0, FRAME)
            shot.quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(shown, optimize=True)
            print(shown.name, shot.width // SCALE, height, shown.stat().st_size)
            assert shown.stat().st_size < LARGEST, shown


def photograph(page: Path, width: int, scheme: int) -> Image.Image:
    """Return a picture of a page in a window of this width, in a colour scheme."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile"]
        flags += [f"--window-size={width},{HEIGHT}", f"--force-device-scale-factor={SCALE}"]
        flags += [f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={folder}/shot.png"]
        subprocess.run([BROWSER, *flags, page.as_uri()], check=True, capture_output=True, timeout=300)
        with Image.open(f"{folder}/shot.png") as shot:
            return shot.convert("RGB")


def bottom(shot: Image.Image) -> int:
    """Return the height of the contents of a screenshot, in pixels of the screen."""
    blank = Image.new("RGB", shot.size, shot.getpixel((2, shot.height - 3)))
    rows = np.flatnonzero(np.asarray(ImageChops.difference(shot, blank)).any(axis=(1, 2)))
    return int(rows[-1]) // SCALE + 15


if __name__ == "__main__":
    if BROWSER is None:
        raise SystemExit("Chromium is not installed")
    report = study_page(tuned().study_)
    sections = []
    for section in report.sections:
        if section.heading == "What matters":  # the slices alone can be enlarged; the last parts are further pictures
            slices = [part for part in section.parts if getattr(part, "zoomable", False)]
            first = section.parts[: section.parts.index(slices[0])]
            sections += [Section(section.heading, first), Section("Slices", slices)]
        else:
            sections.append(section)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for section in sections:
            if section.heading in SHOTS:
                text = Page(report.title, [section]).html().replace("</style>", "header { display: none; }</style>")
                (folder / "page.html").write_text(text, encoding="utf-8")
                shoot(folder / "page.html", STATIC / SHOTS[section.heading])
        shoot(tuned_table(folder), STATIC / "report.png", TOPS)
