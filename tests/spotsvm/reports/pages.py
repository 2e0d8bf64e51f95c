"""The outline of a page, and what holds for every page."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

#: headings of the sections of a study with one objective
SECTIONS = [
    "Result", "Recommended parameters", "How optimistic is it", "Convergence", "What matters", "Trials",
    "How to repeat it", "Settings, times and versions",
]  # fmt: skip
VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}


class Outline(HTMLParser):
    """What a page is made of; fails where its tags do not close."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.headings, self.texts = [], [], []
        self.open = []
        self.feed(text)
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("h1", "h2", "h3", "h4"):
            self.headings.append([int(tag[1]), ""])

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes), tuple(self.open)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))
        if self.open and self.open[-1] in ("h1", "h2", "h3", "h4"):
            self.headings[-1][1] += data

    def all(self, tag):
        """Attributes of all such elements."""
        return [attributes for name, attributes, _ in self.tags if name == tag]

    def values(self, attribute):
        return [attributes[attribute] for _, attributes, _ in self.tags if attribute in attributes]

    def text(self, *within):
        return " ".join(" ".join(data.split()) for tag, data in self.texts if not within or tag in within)


def without_predictions(text):
    """Return a page as that of the record alone, which has no answers for rows; figures and tables have no numbers."""
    text = re.sub(r'<li><a href="#predictions">.*?</li>\n?', "", text, flags=re.DOTALL)
    text = re.sub(r'<section aria-labelledby="predictions">.*?</section>\n*', "", text, flags=re.DOTALL)
    return re.sub(r"\b(figure|table|code|picture)-\d+", r"\1", re.sub(r"\n+", "\n", text))


def check_page(text):
    """Check what holds for every page, and return its outline."""
    page = Outline(text)
    assert text.startswith("<!DOCTYPE html>")
    assert [h[0] for h in page.headings].count(1) == 1
    ranks = [h[0] for h in page.headings]
    assert ranks[0] == 1
    assert all(b - a <= 1 for a, b in zip(ranks, ranks[1:], strict=False)), "a rank of headings is left out"
    assert all(h[1].strip() for h in page.headings)
    # self-contained: nothing that is fetched, and one script, the page's own, which its policy knows by its hash
    assert page.all("script") == [{}]
    (script,) = (data for tag, data in page.texts if tag == "script")
    digest = b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")
    (policy,) = (a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    rules = [f"script-src 'sha256-{digest}'", "style-src 'unsafe-inline'", "img-src data:"]
    assert policy == "; ".join(["default-src 'none'", *rules])
    for word in (
        "http",
        "fetch(",
        "XMLHttp",
        "import",
        "eval(",
        "innerHTML",
        "insertAdjacentHTML",
        "document.write",
        "WebSocket",
    ):
        assert word not in script
    for tag, attributes, _ in page.tags:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:")), (tag, attributes)
    assert "@import" not in text
    assert "url(http" not in text
    assert "url(//" not in text
    # names are given once, and what refers to one finds it
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    for reference in page.values("aria-labelledby"):
        assert reference in ids
    for attributes in [*page.all("a"), *page.all("use")]:
        assert attributes["href"].removeprefix("#") in ids
    for value in page.values("clip-path"):
        assert value.removeprefix("url(#").removesuffix(")") in ids
    # landmarks, language, skip link
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("main")) == 1
    assert page.all("a")[0] == {"class": "skip", "href": "#content"}
    assert page.all("main")[0]["id"] == "content"
    # tables: a caption, heads with a scope, and a box that can be scrolled by keyboard
    assert len(page.all("caption")) == len(page.all("table"))
    assert all(th.get("scope") in ("col", "row") for th in page.all("th"))
    boxes = [a for a in page.all("div") if a.get("class") == "scroll"]
    assert len(boxes) == len(page.all("table")) + len(page.all("svg"))
    # what the script adds is for the script alone: without it nothing is hidden
    assert not page.all("button")
    assert not any("hidden" in attributes for _, attributes, _ in page.tags)
    assert all(box["tabindex"] == "0" and box["aria-labelledby"] for box in boxes)
    # pictures: a text for those who do not see them, and no colour that only one scheme can show
    for svg in page.all("svg"):
        assert svg["role"] == "img"
        assert len(svg["aria-label"]) > 3
    assert not any("<metadata" in line or "dc:date" in line for line in text.splitlines())
    return page
