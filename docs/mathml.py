"""Formulas as MathML, written when the documentation is built: a browser shows them without a script and without a network."""

from typing import Any

from docutils import nodes
from math_core import LatexToMathML
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

CHAPTER = "method/index"
_convert = LatexToMathML(fancy_error=False).convert_with_local_state


def inline(self: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    self.body.append(_convert(node.astext(), displaystyle=False))
    raise nodes.SkipNode


def display(self: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number if it has a label."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(_convert(node.astext(), displaystyle=True))
    if node.get("label"):
        number = self.builder.env.domains.math_domain.get_equation_number_for(node["label"])
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def number_through(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Give the chapter's equations one row of numbers, where Sphinx begins anew on each page; return the pages changed."""
    pages = env.toctree_includes.get(CHAPTER, [])
    equations = env.domains.math_domain.equations
    before = dict(equations)
    ordered = sorted(before, key=lambda label: (pages.index(before[label][0]), before[label][1]))
    equations.update({label: (before[label][0], number) for number, label in enumerate(ordered, 1)})
    return [page for label, (page, number) in equations.items() if before[label][1] != number]


def mark_lines_of_functions(app: Sphinx, document: nodes.document) -> None:
    """Give the line below an equation that names its function a class."""
    for equation in document.findall(nodes.math_block):
        line = equation.next_node(descend=False, siblings=True)
        if isinstance(line, nodes.paragraph) and line.astext().startswith("Computed by "):
            line["classes"].append("computed-by")


def setup(app: Sphinx) -> dict[str, bool]:
    """Make this the way in which formulas are shown."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    app.connect("doctree-read", mark_lines_of_functions)
    app.connect("env-updated", number_through)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
