"""The page's script in a real browser; skipped where there is none."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import unescape

import numpy as np
import pytest
from scipy.stats import loguniform

from spotsvm import Study
from tests.spotsvm.reports.test_browser import BROWSER, browse

pytestmark = pytest.mark.skipif(BROWSER is None, reason="reports are opened in chromium, which is not installed")

#: what a reader does, and what the page then shows
DRIVER = """
const table = document.querySelector("table.trials"), head = [...table.tHead.rows[0].cells];
const rows = () => [...table.tBodies[0].rows];
const column = (name) => head.findIndex((th) => th.textContent === name);
const texts = (name) => rows().map((row) => row.cells[column(name)].textContent);
const found = {};
head[column("value")].querySelector("button").click();
found.up = texts("value");
found.sign = head[column("value")].getAttribute("aria-sort");
head[column("value")].querySelector("button").click();
found.down = texts("value");
const input = document.querySelector("input[type=search]");
input.value = "kernel = rbf, C > 1";
input.dispatchEvent(new Event("input"));
found.kept = rows().filter((row) => !row.hidden).map((row) => row.dataset.trial);
found.faded = [...new Set([...document.querySelectorAll("svg .off")].map((one) => one.dataset.trial))];
found.count = document.querySelector(".filter output").textContent;
input.value = "";
input.dispatchEvent(new Event("input"));
found.faded_after = document.querySelectorAll("svg .off").length;
const point = document.querySelector('svg use[data-trial="7"]');
point.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
found.tip = document.querySelector(".tip").textContent;
found.rings = document.querySelectorAll("svg .ring").length;
found.rows = [...document.querySelectorAll("tr.on")].map((row) => row.dataset.trial);
found.figures = [...document.querySelectorAll("figure")].filter((one) => one.querySelector(".ring, .on")).length;
document.body.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
found.rings_after = document.querySelectorAll("svg .ring").length;
point.dispatchEvent(new MouseEvent("click", { bubbles: true }));
found.pinned = document.querySelectorAll("svg .ring").length;
const second = rows().find((row) => row.tabIndex === 0), third = second.nextElementSibling;
second.focus();
second.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
found.focused = document.activeElement === third;
found.marked = document.querySelector("tr.on").dataset.trial === third.dataset.trial;
found.stops = rows().filter((row) => row.tabIndex === 0).length;
const tools = document.querySelector(".zoomable .tools button");
tools.click();
found.large = document.querySelectorAll(".zoomable .large").length;
const svg = document.querySelector(".zoomable svg"), box = svg.getBoundingClientRect();
const at = (x, y) => ({ bubbles: true, pointerType: "mouse", button: 0, clientX: box.left + x, clientY: box.top + y });
found.whole = svg.getAttribute("viewBox");
svg.dispatchEvent(new PointerEvent("pointerdown", at(60, 60)));
svg.dispatchEvent(new PointerEvent("pointermove", at(160, 140)));
found.frames = document.querySelectorAll(".frame").length;
svg.dispatchEvent(new PointerEvent("pointerup", at(160, 140)));
found.part = svg.getAttribute("viewBox");
found.scale = box.width / Number(found.whole.split(" ")[2]);
svg.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
found.back = svg.getAttribute("viewBox");
document.body.dataset.found = JSON.stringify(found);
"""


@pytest.fixture(scope="module")
def study():
    space = {"svc__C": loguniform(0.01, 100), "svc__gamma": loguniform(1e-3, 10), "svc__kernel": ["rbf", "poly"]}

    def objective(p):
        if p["svc__C"] > 90:
            raise ValueError("too large")
        return np.log10(p["svc__C"]) ** 2 + abs(np.log10(p["svc__gamma"])) / 3 + len(p["svc__kernel"])

    return Study(space, "random", 0, noise=False).run(objective, n_trials=30)


def driven(file, text, folder):
    """Let the driver run in a copy of a page, whose policy names it as well; return what it has found."""
    digest = b64encode(sha256(DRIVER.encode("utf-8")).digest()).decode("ascii")
    text = text.replace("script-src ", f"script-src 'sha256-{digest}' ").replace("script-src &#39;", "script-src &#39;")
    file.write_text(text.replace("</body>", f"<script>{DRIVER}</script></body>"), encoding="utf-8")
    dom, console = browse(file, folder, "--dump-dom")
    assert console == []
    return json.loads(unescape(re.search(r'data-found="([^"]*)"', dom)[1]))


def test_trials_are_sorted_filtered_and_marked_in_all_pictures(study, tmp_path):
    text = study.report(tmp_path / "report.html").read_text(encoding="utf-8")
    found = driven(tmp_path / "driven.html", text, tmp_path)
    known = [float(value) for value in found["up"] if value != "–"]
    assert known == sorted(known)
    assert len(known) == sum(t.value is not None for t in study.trials)
    assert [float(value) for value in found["down"] if value != "–"] == known[::-1]
    assert found["sign"] == "ascending"
    missing = len(study.trials) - len(known)
    assert [value == "–" for value in found["up"]] == [value == "–" for value in found["down"]]  # at the end in both
    assert all(value == "–" for value in found["up"][len(found["up"]) - missing :])
    kept = {str(t.number) for t in study.trials if t.params["svc__kernel"] == "rbf" and t.params["svc__C"] > 1}
    assert set(found["kept"]) == kept
    assert 0 < len(kept) < 30
    assert found["count"] == f"{len(kept)} of 30 rows"
    assert set(found["faded"]) == {str(t.number) for t in study.trials} - kept
    assert found["faded_after"] == 0
    params = study.trials[7].params
    assert f"C: {params['svc__C']:.4g}" in found["tip"]
    assert "number: 7" in found["tip"]
    assert set(found["rows"]) == {"7"}
    # convergence, three effects, three slices, three pairs of the matrix and the timeline have a point each, a line the parallel
    # coordinates
    assert found["rings"] == 11
    assert found["figures"] == 6
    assert found["rings_after"] == 0
    assert found["pinned"] == 11
    assert found["focused"]
    assert found["marked"]
    assert found["stops"] == 1
    assert found["large"] == 1
    assert found["frames"] == 1
    width, height = (float(number) for number in found["part"].split()[2:])
    assert [width, height] == pytest.approx([100 / found["scale"], 80 / found["scale"]], rel=0.02)
    assert found["back"] == found["whole"]


def test_everything_can_be_read_without_the_script(study, tmp_path):
    text = study.report(tmp_path / "report.html").read_text(encoding="utf-8")
    without = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    for t in study.trials:
        assert f'data-trial="{t.number}"' in without
    assert without.count("<svg") == text.count("<svg") == 12
    page = tmp_path / "plain.html"
    page.write_text(without, encoding="utf-8")
    dom, console = browse(page, tmp_path, "--dump-dom")
    assert console == []
    assert "<button" not in dom
    assert dom.count("<tr") == without.count("<tr")
