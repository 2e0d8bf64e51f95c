"""The packages and their folders: those at the top are imported under one name, so that they hide no package of the user's."""

from setuptools import find_packages, setup

FOLDERS = {f"spotsvm.{name}": name for name in ("surrogates", "solvers", "studies")}

setup(
    package_dir={"spotsvm": "spotsvm", **FOLDERS},
    packages=[*find_packages(include=["spotsvm*"]), "spotsvm.reports.html.templates"]
    + [f"{name}{inside}" for name, folder in FOLDERS.items() for inside in ["", *(f".{p}" for p in find_packages(folder))]],
)
