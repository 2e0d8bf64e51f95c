"""Packages and folders, imported under one name so that they hide no package of the user's; README.md for an index page."""

import re
from pathlib import Path

from setuptools import find_packages, setup

FOLDERS = {f"spotsvm.{name}": name for name in ("surrogates", "solvers", "studies")}
README = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")

setup(
    package_dir={"spotsvm": "spotsvm", **FOLDERS},
    packages=[*find_packages(include=["spotsvm*"]), "spotsvm.reports.html.templates"]
    + [f"{name}{inside}" for name, folder in FOLDERS.items() for inside in ["", *(f".{p}" for p in find_packages(folder))]],
    # an index page has no files beside it: the texts of links and pictures stay
    long_description=re.sub(r"!?\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", README),
    long_description_content_type="text/markdown",
)
