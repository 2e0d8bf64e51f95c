"""Reports in a real browser; skipped where there is none."""

import shutil
import subprocess

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform

from spotsvm import Study
from tests.spotsvm.reports.pages import SECTIONS

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --hide-scrollbars --enable-logging=stderr""".split()
SCHEMES = {"light": "1", "dark": "0"}

pytestmark = pytest.mark.skipif(BROWSER is None, reason="reports are opened in chromium, which is not installed")


def browse(file, folder, *options, scheme="light"):
    """Open a file in a fresh browser; return what it writes, and its console."""
    profile = folder / "profile"
    command = [BROWSER, *FLAGS, f"--user-data-dir={profile}", f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}"]
    done = subprocess.run([*command, *options, file.as_uri()], capture_output=True, text=True, timeout=180)
    shutil.rmtree(profile, ignore_errors=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    rng = np.random.default_rng(0)
    space = [
        {"kernel": ["rbf"], "C": loguniform(0.01, 100), "gamma": loguniform(1e-3, 10)},
        {"kernel": ["poly"], "C": loguniform(0.01, 100), "degree": randint(2, 6), "<script>x</script>": uniform(0, 1)},
    ]

    def objective(p):
        if p["C"] > 50:
            raise ValueError("<script>document.title = 'taken over'</script>")
        return np.log10(p["C"]) ** 2 + 0.1 * rng.normal() + len(p["kernel"])

    study = Study(space, "random", 0).run(objective, n_trials=40)
    study.add_finding("stop", {"sentence": "The search went on."})
    return study.report(tmp_path_factory.mktemp("report") / "report.html")


def test_every_section_is_there_and_the_console_is_silent(report, tmp_path):
    dom, console = browse(report, tmp_path, "--dump-dom")
    assert console == []
    for heading in SECTIONS:
        assert f'<h2 id="{heading.lower().replace(" ", "-").replace(",", "")}">{heading}</h2>' in dom
    assert "<title>Tuning kernel, C, gamma, degree, &lt;script&gt;x&lt;/script&gt;</title>" in dom
    assert dom.count("<svg") == report.read_text(encoding="utf-8").count("<svg")


def test_a_script_that_got_in_would_be_stopped(report, tmp_path):
    """Should an escape ever be forgotten, the page's own policy is the second lock."""
    page = tmp_path / "page.html"
    text = report.read_text(encoding="utf-8")
    page.write_text(text.replace("</main>", "<script>document.title = 'taken over'</script></main>"), encoding="utf-8")
    dom, console = browse(page, tmp_path, "--dump-dom")
    assert "<title>taken over</title>" not in dom
    assert any("Content Security Policy" in line for line in console)


def test_the_colours_follow_the_scheme(report, tmp_path):
    from PIL import Image

    found = {}
    for scheme in SCHEMES:
        picture = tmp_path / f"{scheme}.png"
        browse(report, tmp_path, f"--screenshot={picture}", "--window-size=1000,6000", scheme=scheme)
        with Image.open(picture) as image:
            pixels = np.asarray(image.convert("RGB"))
        found[scheme] = pixels
        assert pixels.shape == (6000, 1000, 3)
    assert found["light"][2, 2].tolist() == [255, 255, 255]
    assert found["dark"][2, 2].tolist() == [0x14, 0x17, 0x1C]
    for pixels, ground in ((found["light"], 255), (found["dark"], 0x17)):
        # the page, pictures included, is mostly its ground, and what is drawn on it is seen
        drawn = np.abs(pixels[:, :, 1].astype(int) - ground) > 100
        assert 0.005 < drawn.mean() < 0.3


def test_it_prints(report, tmp_path):
    paper = tmp_path / "report.pdf"
    browse(report, tmp_path, f"--print-to-pdf={paper}", scheme="dark")
    assert paper.read_bytes().startswith(b"%PDF")
    assert paper.stat().st_size > 20_000
