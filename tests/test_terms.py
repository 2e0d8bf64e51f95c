"""On each page of prose, the first use of a term of the glossary is a link to its definition, and no other use is one."""

import importlib
import io
import re
import sys
import tomllib
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TEXTS = [path for folder in (DOCS, DOCS / "guide", DOCS / "method") for path in sorted(folder.glob("*.md"))]
EXAMPLES = sorted((DOCS / "examples").glob("*/plot_*.py"))
PAGES = [path.relative_to(DOCS).with_suffix("").as_posix() for path in TEXTS]
PAGES = [page for page in PAGES if page not in ("glossary", "method/references")] + [f"gallery/{path.stem}" for path in EXAMPLES]


def prose_of(example):
    """Return the texts of an example of the gallery."""
    code = example.read_text()
    blocks = re.findall(r"^# %%\n((?:#.*\n)+)", code, flags=re.M)
    return "\n\n".join(
        [re.match(r'"""(.*?)"""', code, flags=re.S)[1], *(re.sub("^# ?", "", block, flags=re.M) for block in blocks)]
    )


@pytest.fixture(scope="module")
def terms():
    pytest.importorskip("myst_parser", reason='needs myst-parser: pip install "spotsvm[test]"')
    sys.path.append(str(DOCS))
    yield importlib.import_module("terms")
    sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def read(terms, tmp_path_factory):
    """Return the function that reads pages, by name and text, and gives their doctrees."""
    from sphinx.application import Sphinx

    def read(pages):
        home = tmp_path_factory.mktemp("pages")
        for name, text in pages.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text)
        settings = {
            "extensions": ["myst_parser", "terms"],
            "myst_enable_extensions": ["dollarmath", "substitution"],
            "myst_substitutions": tomllib.loads((DOCS / "figures.toml").read_text()),
        }
        folders = home, None, home / "_out", home / "_doctrees"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what MyST uses of Sphinx
            app = Sphinx(*folders, "dummy", confoverrides=settings, status=None, warning=io.StringIO())
            app.build()
        return {name: app.env.get_doctree(name) for name in (file.rpartition(".")[0] for file in pages)}

    return read


@pytest.fixture(scope="module")
def doctrees(read):
    """Return the doctrees of all pages of prose."""
    pages = {path.relative_to(DOCS).as_posix(): path.read_text() for path in TEXTS}
    pages["changelog.md"] = (ROOT / "CHANGELOG.md").read_text()
    pages["architecture.md"] = (ROOT / "ARCHITECTURE.md").read_text()
    return read(pages | {f"gallery/{path.stem}.rst": prose_of(path) for path in EXAMPLES})


@pytest.fixture(scope="module")
def glossary(terms):
    return terms.defined_terms((DOCS / "glossary.md").read_text())


def running_text(document, terms):
    """Return the text in which terms are linked, with each link as a term in double brackets."""
    from docutils import nodes

    parts = []
    for text in document.findall(nodes.Text):
        above = terms.ancestors(text)
        targets = [node["reftarget"] for node in above if node.get("reftype") == "term"]
        if targets:
            parts.append(f"[[{targets[0]}]]")
        elif not any(isinstance(node, terms.NO_LINKS) for node in above):
            parts.append(text.astext())
    return re.sub(terms.OTHER_SENSES, "", "\n\n".join(parts))


def uses(term, longer, text):
    """Return the uses of a term in a text from the first to the last; those in longer terms and their links are not its own."""

    def plural(term):
        return term.replace("-", "[- ]").replace(" ", r"\s") + ("" if term.endswith("y") else "(s|es)?")

    for other in longer:
        text = re.sub(plural(other), "", text, flags=re.I)
    text = re.sub(rf"\[\[(?!{term}\]\]).*?\]\]", "", text)
    return [use[0] for use in re.finditer(rf"\[\[{term}\]\]|(?<![\w-]){plural(term)}(?![\w-])", text, flags=re.I)]


def test_the_first_use_of_each_term_is_its_only_link(doctrees, terms, glossary):
    wrong = []
    for page in PAGES:
        text = running_text(doctrees[page], terms)
        for term in {*glossary} - terms.KNOWN:
            first, *further = uses(term, [other for other in glossary if term in other and term != other], text) or [
                f"[[{term}]]"
            ]
            if first != f"[[{term}]]" or f"[[{term}]]" in further:
                wrong.append((page, term))
    assert wrong == []


def test_every_term_is_used(doctrees, terms, glossary):
    """A term that no page uses needs no definition, and a phrase with another sense that no page has needs no exception."""
    text = " ".join(" ".join(document.astext().split()) for name, document in doctrees.items() if name in PAGES)
    assert [term for term in glossary if re.search(terms.pattern_of(term), text, flags=re.I) is None] == []
    assert [phrase for phrase in terms.OTHER_SENSES.split("|") if re.search(phrase, text) is None] == []
    assert terms.KNOWN - {*glossary} == set()
    assert glossary == sorted(glossary, key=str.lower)


def test_what_becomes_a_link(read, terms):
    page = """# A trial

`trial`, **trials**, [a trial](other.md), a retrial and trial-based work are none. Trials are, once: a trial, a pending trial.

```text
sweep
```

| fold |
| --- |
| By design, the score out of fold of a design, in two studies |

Out of fold, 2-fold, folds.
"""
    defined = "design", "fold", "out-of-fold", "pending trial", "study", "sweep", "trial"
    glossary = "```{glossary}\n" + "".join(f"{term}\n  Text.\n\n" for term in defined) + "```\n"
    text = running_text(read({"index.md": page, "other.md": "# Other\n", "glossary.md": glossary})["index"], terms)
    assert re.findall(r"\[\[(.*?)\]\]", text) == ["trial", "pending trial", "out-of-fold", "design", "study", "fold"]
