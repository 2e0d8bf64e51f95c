"""Take the screenshots of "How to read a report": `python docs/screenshots.py` tunes an SVM and opens its report in Chromium.

Each section of the report becomes a page of its own, which is photographed and cut to its contents.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image, ImageChops
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, oversearching
from spotsvm.reports.html.page import Page, Section
from spotsvm.reports.study_page import study_page

STATIC = Path(__file__).parent / "_static"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
#: sections of the report, and the files of their screenshots
SHOTS = {
    "Result": "report-result.png",
    "Recommended parameters": "report-parameters.png",
    "How much of it is luck": "report-luck.png",
    "Convergence": "report-convergence.png",
    "What matters": "report-effects.png",
    "Slices": "report-slices.png",
    "Trials": "report-trials.png",
}
WIDTH, HEIGHT = 900, 2600
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


def shoot(section: Section, title: str, file: Path) -> None:
    """Write the picture of a section."""
    with tempfile.TemporaryDirectory() as folder:
        page = Page(title, [section]).write(Path(folder) / "page.html")
        raw = Path(folder) / "raw.png"
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile"]
        size = f"--window-size={WIDTH},{HEIGHT}"
        subprocess.run(
            [BROWSER, *flags, size, f"--screenshot={raw}", page.as_uri()], check=True, capture_output=True, timeout=300
        )
        with Image.open(raw) as shot:
            cut(shot.convert("RGB")).quantize(64).save(file, optimize=True)
    assert file.stat().st_size < LARGEST, file


def cut(shot: Image.Image, most: int = 2500) -> Image.Image:
    """Return a screenshot without the title of the page and the blank space below, `most` pixels high at most."""
    blank = Image.new("RGB", shot.size, shot.getpixel((2, HEIGHT - 3)))
    dark = np.asarray(ImageChops.difference(shot, blank)).any(axis=(1, 2))
    rows = np.flatnonzero(dark)
    return shot.crop((0, max(int(rows[0]) - 10, 0), WIDTH, min(int(rows[-1]) + 15, most)))


if __name__ == "__main__":
    if BROWSER is None:
        raise SystemExit("Chromium is not installed")
    report = study_page(tuned().study_)
    sections = []
    for section in report.sections:
        if section.heading == "What matters":  # its last part has the slices
            sections += [Section(section.heading, section.parts[:-1]), Section("Slices", section.parts[-1:])]
        else:
            sections.append(section)
    for section in sections:
        if section.heading in SHOTS:
            shoot(section, report.title, STATIC / SHOTS[section.heading])
            print(SHOTS[section.heading], (STATIC / SHOTS[section.heading]).stat().st_size)
