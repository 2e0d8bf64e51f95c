"""Settings of Sphinx: `python -m sphinx -W docs docs/_build` builds the documentation, with all examples of the gallery.

`SPOTSVM_GALLERY=quick` runs the quick examples only, and shows the others without their pictures.
"""

import importlib
import inspect
import os
import re
import sys
import tomllib
import warnings
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx_gallery.utils import scale_image

# `python -m sphinx` puts the working directory first, whose folder spotsvm is without the folders beside it and would hide
# what is installed
SOURCES = Path(__file__).resolve().parent.parent
sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != SOURCES]
spotsvm = importlib.import_module("spotsvm")
sys.path.append(str(SOURCES / "docs"))  # mathml.py, terms.py, themes.py
themes = importlib.import_module("themes")

#: the modules that users import from
HOMES = (
    "spotsvm", "spotsvm.searches", "spotsvm.kernels", "spotsvm.acquisition", "spotsvm.plots", "spotsvm.tables",
    "spotsvm.errors", "spotsvm.solvers.dual",
)  # fmt: skip

project = "spotsvm"
author = "The spotsvm developers"
copyright = author
version = release = spotsvm.__version__

extensions = [
    "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.intersphinx", "numpydoc", "myst_parser", "mathml",
    "terms", "sphinx_gallery.gen_gallery",
]  # fmt: skip
exclude_patterns = ["_build", "examples", "gallery/*/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
nitpicky = True
#: the pages of other projects; the inventories hold the names that our pages use, as text, for a build has no network
intersphinx_mapping = {
    name: (url, f"inventories/{name}.inv")
    for name, url in {
        "scikit-learn": "https://scikit-learn.org/stable/",
        "optuna": "https://optuna.readthedocs.io/en/stable/",
        "scikit-optimize": "https://scikit-optimize.github.io/stable/",
        "scipy": "https://docs.scipy.org/doc/scipy/",
        "numpy": "https://numpy.org/doc/stable/",
        "pandas": "https://pandas.pydata.org/docs/",
    }.items()
}
#: their classes, functions and distributions by the last part of the name, such as SVC
OTHERS = {
    name.rpartition(".")[2]: name
    for project in intersphinx_mapping
    for name in re.findall(
        r"^(\w\S+) (?!mod )", (SOURCES / "docs" / "inventories" / f"{project}.inv").read_text(encoding="utf-8"), flags=re.M
    )
}
#: what the inventories of other projects do not hold, and what estimators have from scikit-learn
nitpick_ignore_regex = [
    ("py:.*", r"(sklearn|numpy|scipy|pandas|matplotlib|optuna|distributed|concurrent)(\..*)?"),
    ("py:obj", "predict|transform"),
]
highlight_language = "text"
default_role = "literal"
smartquotes = False

autosummary_generate = True
autodoc_typehints = "none"
autodoc_mock_imports = ["optuna"]  # so that its part is described without it
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath", "substitution"]
#: the measured numbers that pages cite as {{ table.name }}
myst_substitutions = tomllib.loads((SOURCES / "docs" / "figures.toml").read_text(encoding="utf-8"))
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
html_title = "spotsvm"
html_static_path = ["_static"]
html_css_files = ["page.css"]
html_copy_source = False
html_show_sourcelink = False
#: pages without others beside them
html_sidebars = {name: [] for name in ("index", "getting_started", "papers", "benchmarks", "design", "changelog")}
html_theme_options = {
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}

QUICK = "plot_(conditions|nugget|failures|first_search|noisy_function)"
quick = os.environ.get("SPOTSVM_GALLERY") == "quick"
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "subsection_order": [f"examples/{name}" for name in ("svm", "field", "functions", "luck", "studies", "kernels", "searches")],
    "within_subsection_order": "ExampleTitleSortKey",
    "image_scrapers": "themes.scraper",
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
    "thumbnail_size": (400, 280),
}
# a finding that an example shows is text on the page, and no warning of the build
warnings.filterwarnings("default", module="spotsvm")


def show_forms(app: Sphinx, document: nodes.document) -> None:
    """Show a picture in the form for the theme of the page and the width of the screen; without a narrow form it scrolls."""
    for image in list(document.findall(nodes.image)):
        light = Path(app.env.relfn2path(image["uri"])[1])
        narrow = themes.form(light, "narrow", "light").exists()
        if light.parent.name == "thumb":
            make_dark_thumbnail(light)
        elif "gallery" in light.parts:
            continue  # its forms are there
        if light.suffix != ".svg" and not themes.form(light, "wide", "dark").exists():
            continue
        forms = []
        for screens in ("wide", "narrow") if narrow else ("wide",):
            for theme in themes.THEMES:
                shown = image.deepcopy()
                shown["uri"] = "/" + file_of(app, light, screens, theme).relative_to(app.srcdir).as_posix()
                shown["classes"] = [*image["classes"], f"only-{theme}", *([f"on-{screens}"] if narrow else [])]
                forms.append(shown)
        if not narrow and light.suffix == ".svg":
            image.parent["classes"] = [*image.parent["classes"], "wide-picture"]
        image.parent[image.parent.index(image) : image.parent.index(image) + 1] = forms


def make_dark_thumbnail(light: Path) -> None:
    """Scale the dark form of an example's first picture, if there is one."""
    picture = light.parent.parent / f"{light.stem.removesuffix('_thumb')}_001_dark.png"
    if picture.exists():
        scale_image(picture, themes.form(light, "wide", "dark"), *sphinx_gallery_conf["thumbnail_size"])


def file_of(app: Sphinx, light: Path, screens: str, theme: str) -> Path:
    """Return the file of a form of a picture; the dark form of an SVG picture is made of the light one."""
    if light.suffix != ".svg" or theme == "light":
        return themes.form(light, screens, theme)
    light = themes.form(light, screens, "light")
    dark = Path(app.srcdir) / "dark" / light.name
    dark.parent.mkdir(exist_ok=True)
    dark.write_text(themes.darkened(light.read_text(encoding="utf-8")), encoding="utf-8")
    return dark


def link_public_names(app: Sphinx, document: nodes.document) -> None:
    """Make a link of each public name, ours or in an inventory, that is shown as code, such as `Study.run` or `SVC()`."""
    for literal in list(document.findall(nodes.literal)):
        target = target_of(literal.astext())
        if target is None or isinstance(literal.parent, nodes.reference | addnodes.pending_xref | nodes.title):
            continue
        link = addnodes.pending_xref("", refdomain="py", reftype="obj", reftarget=target, refexplicit=True)
        literal.replace_self(link)
        link += literal


def target_of(text: str) -> str | None:
    """Return the dotted name of a public class, function or method, which text is or calls; None of anything else."""
    path = re.sub(r"\(.*\)$", "", text, flags=re.S)
    for home in HOMES:
        first, _, attribute = path.removeprefix(f"{home}.").partition(".")
        if first not in importlib.import_module(home).__all__:
            continue
        thing = getattr(importlib.import_module(home), first)
        method = getattr(thing, attribute, None) if attribute and inspect.isclass(thing) else None
        if not attribute or (inspect.isfunction(method) and method.__module__.startswith("spotsvm")):
            return f"{home}.{first}.{attribute}".removesuffix(".")
    last = path.rpartition(".")[2]
    return OTHERS.get(last) if path in (last, OTHERS.get(last)) else None


def skip_inherited(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class has from scikit-learn and others, whose documentation has it."""
    thing = getattr(thing, "fget", None) or getattr(thing, "func", None) or thing
    ours = str(getattr(thing, "__module__", "")).startswith("spotsvm")
    return None if ours else True


def check_that_pages_need_no_network(app: Sphinx, error: Exception | None) -> None:
    """Raise an error if a page loads a script, a style, a font or a picture from elsewhere."""
    loads = r'(?:<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=|@import\s*|url\()["\']?(?:https?:)?//'
    for page in [*app.outdir.rglob("*.html"), *app.outdir.rglob("*.css")]:
        if found := re.search(loads, page.read_text(encoding="utf-8")):
            raise ExtensionError(f"{page} loads something from a network: {found[0]}")


def setup(app: Sphinx) -> None:
    """Choose the members of a class, link names, and check the pages."""
    app.connect("doctree-read", show_forms, priority=400)  # before Sphinx collects the pictures
    app.connect("doctree-read", link_public_names)
    app.connect("autodoc-skip-member", skip_inherited)
    app.connect("build-finished", check_that_pages_need_no_network)
