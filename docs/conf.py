"""Settings of Sphinx: `python -m sphinx -W docs docs/_build` builds the documentation, with all examples of the gallery.

`SPOTSVM_GALLERY=quick` runs the quick examples only, and shows the others without their pictures.
"""

import importlib
import inspect
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

import spotsvm

sys.path.insert(0, str(Path(__file__).parent))
from reference_pages import HOMES, OPTIONAL

project = "spotsvm"
author = "The spotsvm developers"
copyright = author
version = release = spotsvm.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_build", "examples", "gallery/*/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
nitpicky = True
#: what only the inventories of other projects could resolve, and methods that estimators have from scikit-learn
nitpick_ignore_regex = [
    ("py:.*", r"(sklearn|numpy|scipy|pandas|matplotlib|optuna|distributed|concurrent)(\..*)?"),
    ("py:obj", "predict|transform"),
]
highlight_language = "text"
default_role = "public"

autosummary_generate = True
autodoc_typehints = "none"
autodoc_mock_imports = [name for name in OPTIONAL if importlib.util.find_spec(name) is None]
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = "spotsvm"
html_static_path = ["_static"]
html_css_files = ["page.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}

QUICK = "plot_(conditions|nugget|resume|first_search|noisy_function|own_search)"
quick = os.environ.get("SPOTSVM_GALLERY") == "quick"
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": QUICK if quick else "plot_",
    "abort_on_example_error": True,
    "doc_module": ("spotsvm",),
    "backreferences_dir": "reference/examples",
    "inspect_global_variables": False,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "plot_gallery": "True",
}
# a finding that an example shows is text on the page, and no warning of the build
warnings.filterwarnings("default", module="spotsvm")


def public_role(name: str, rawtext: str, text: str, *_: Any, **__: Any) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Show what is between single backticks as code, with a link where it is a public name."""
    literal = nodes.literal(rawtext, text, classes=["code"])
    first, _, attribute = text.removesuffix("()").partition(".")
    home = next((home for home in HOMES if first in importlib.import_module(home).__all__), None)
    if home is None:
        return [literal], []
    thing = getattr(importlib.import_module(home), first)
    if attribute and not (inspect.isclass(thing) and inspect.isfunction(getattr(thing, attribute, None))):
        return [literal], []
    target = f"{home}.{text.removesuffix('()')}"
    link = addnodes.pending_xref(rawtext, literal, refdomain="py", reftype="obj", reftarget=target, refexplicit=True)
    return [link], []


def skip_inherited(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class has from scikit-learn and others, whose documentation has it."""
    thing = getattr(thing, "fget", None) or getattr(thing, "func", None) or thing
    ours = str(getattr(thing, "__module__", "")).startswith("spotsvm")
    return None if ours else True


def setup(app: Sphinx) -> None:
    """Add the role of single backticks, and what chooses the members of a class."""
    app.add_role("public", public_role)
    app.connect("autodoc-skip-member", skip_inherited)
