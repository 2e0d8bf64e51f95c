"""On each page of prose, the first use of a term of the glossary becomes a link to its definition."""

import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

GLOSSARY = "glossary"
#: the glossary itself, the docstrings, and a list of titles
NO_PROSE = rf"{GLOSSARY}|reference(/.*)?|method/(functions|references)"
#: terms without links, as pages use them in every paragraph
KNOWN = {"average", "candidate"}
#: phrases in which a word has another sense than in the glossary
OTHER_SENSES = r"by design|computing\s+budget|every\s+tenth\s+record"
#: the parts of a page in which no word becomes a link
NO_LINKS = (
    nodes.title, nodes.rubric, nodes.caption, nodes.thead, nodes.strong, nodes.literal, nodes.FixedTextElement, nodes.math,
    nodes.reference, addnodes.pending_xref, addnodes.only,
)  # fmt: skip


def defined_terms(glossary: str) -> list[str]:
    """Return the terms that the text of the glossary defines: the lines above indented ones."""
    return re.findall(r"^(\w.*)\n(?=  )", glossary, flags=re.M)


def pattern_of(term: str) -> str:
    """Return a regular expression of the singular and the plural of a term, with hyphens or without."""
    words = re.sub(r"[- ]", r"[-\\s]", term)
    return f"{words[:-1]}(?:y|ies)" if term.endswith("y") else f"{words}(?:e?s)?"


class FirstUses:
    """The terms of a glossary, for `link` to find their first uses on a page."""

    def __init__(self, terms: list[str]) -> None:
        longest_first = sorted(terms, key=len, reverse=True)
        alternatives = "|".join(f"(?P<t{terms.index(term)}>{pattern_of(term)})" for term in longest_first)
        self.terms = terms
        self.words = re.compile(rf"(?:{OTHER_SENSES})|(?<![\w-])(?:{alternatives})(?![\w-])", flags=re.I)

    def link(self, document: nodes.document) -> None:
        """Put links into the doctree of a page."""
        linked = set(KNOWN)
        for text in list(document.findall(nodes.Text)):
            if any(isinstance(above, NO_LINKS) for above in ancestors(text)):
                continue
            pieces, end = [], 0
            for use in self.words.finditer(text):
                term = use.lastgroup and self.terms[int(use.lastgroup[1:])]
                if term is None or term in linked:
                    continue
                linked.add(term)
                link = addnodes.pending_xref("", refdomain="std", reftype="term", reftarget=term, refexplicit=True, refwarn=True)
                link += nodes.inline("", use[0], classes=["std-term"])
                pieces += [nodes.Text(text[end : use.start()]), link]
                end = use.end()
            if pieces:
                text.parent.replace(text, [*pieces, nodes.Text(text[end:])])


def ancestors(node: nodes.Node) -> list[nodes.Node]:
    """Return the nodes that a node is in."""
    return [] if node.parent is None else [node.parent, *ancestors(node.parent)]


def link_terms(app: Sphinx, document: nodes.document) -> None:
    """Link the first uses on the page that was read."""
    if re.fullmatch(NO_PROSE, app.env.docname) is None:
        glossary = Path(app.srcdir, f"{GLOSSARY}.md").read_text(encoding="utf-8")
        FirstUses(defined_terms(glossary)).link(document)


def setup(app: Sphinx) -> dict[str, bool]:
    """Link the terms of each page when it was read."""
    app.connect("doctree-read", link_terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
