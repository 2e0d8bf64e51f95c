"""A study's web page: what it is, what came out, its settings, and how to repeat it."""

from __future__ import annotations

import ast
import inspect
import platform
import re
import shlex
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from spotsvm.reports.page import Code, Notice, Page, Part, Picture, Section, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PACKAGES = ("spotsvm", "numpy", "scipy", "scikit-learn", "pandas", "numba", "cma")
_UNDERLINED = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


class Reported(Protocol):
    """What the page needs of a study; `spotsvm.studies.common.experiment.Experiment` describes each member."""

    name: str
    quick: bool
    data: Path | None
    seconds: float | None

    def __init__(self, quick: bool = False): ...
    def title(self) -> str: ...
    def conclusion(self) -> str: ...
    def notes(self) -> str: ...
    def table(self) -> pd.DataFrame: ...
    def table_caption(self) -> str: ...
    def further_tables(self) -> dict[str, pd.DataFrame]: ...
    def figure(self) -> Figure: ...
    def figure_caption(self) -> str: ...
    def figure_alt(self) -> str: ...
    def further_figures(self) -> dict[str, Figure]: ...
    def settings(self) -> dict[str, Any]: ...


def report_page(experiment: Reported) -> str:
    """Return the page of a study as HTML; runs the study if it has not run yet.

    Parameters
    ----------
    experiment : Reported
        The study.
    """
    parts = _described(experiment)
    what: list[Part] = [*_paragraphs(parts.get("", "")), *_paragraphs(parts.get("References", ""))]
    title = experiment.title()
    return Page(
        title,
        [
            Section("What was found", _findings(experiment)),
            Section("Figure", _figures(experiment)),
            Section("Tables", _tables(experiment)),
            Section("What was done", [*(what or [f"{title}."]), Table(_settings(experiment), "Settings")]),
            Section("How to repeat it", _repeat(experiment)),
        ],
        lead=f"Study {experiment.name!r} of spotsvm.",
        footer=f"Made by spotsvm {version('spotsvm')}.",
    ).html()


def _described(experiment: Reported) -> dict[str, str]:
    """Cut the study's docstring at its underlined headings; what stands before the first goes by ""."""
    body = (inspect.getdoc(type(experiment)) or "").partition("\n")[2]
    first, *rest = _UNDERLINED.split(body)
    return {"": first} | dict(zip(rest[::2], rest[1::2], strict=True))


def _paragraphs(text: str) -> list[str]:
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()]


def _findings(experiment: Reported) -> list[Part]:
    quick: list[Part] = [Notice("This is the quick form: it shows that the study works, and no more.", "warning")]
    return (quick if experiment.quick else []) + [Notice(text, "finding") for text in _paragraphs(experiment.conclusion())]


def _figures(experiment: Reported) -> list[Part]:
    first = Picture(experiment.figure(), experiment.figure_caption(), experiment.figure_alt())
    return [first, *(Picture(figure, caption, caption) for caption, figure in experiment.further_figures().items())]


def _tables(experiment: Reported) -> list[Part]:
    tables = {experiment.table_caption(): experiment.table(), **experiment.further_tables()}
    return [*_paragraphs(experiment.notes()), *(Table(table, caption) for caption, table in tables.items())]


def _settings(experiment: Reported) -> pd.DataFrame:
    settings = {name: _text(value) for name, value in experiment.settings().items()}
    if experiment.data is not None:
        settings["data sets from"] = str(experiment.data)
    if experiment.seconds is not None:
        settings["time of the run"] = f"{experiment.seconds:.1f} s"
    return pd.DataFrame({"setting": list(settings), "value": list(settings.values())})


def _text(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(str(entry) for entry in value)
    if isinstance(value, dict):
        return ", ".join(str(key) if key == entry else f"{key}: {entry}" for key, entry in value.items())
    return str(value)


def _repeat(experiment: Reported) -> list[Part]:
    parts: list[Part] = []
    if experiment.settings() == type(experiment)(quick=experiment.quick).settings():
        words = ["spotsvm", "study", experiment.name, *(["--quick"] if experiment.quick else [])]
        words += ["--data", str(experiment.data)] if experiment.data is not None else []
        parts.append(Code(shlex.join([*words, "--out", experiment.name]), "On the command line"))
    versions = {"Python": platform.python_version()} | {package: version(package) for package in _PACKAGES}
    table = pd.DataFrame({"package": list(versions), "version": list(versions.values())})
    return [*parts, Code(_code(experiment), "In Python"), Table(table, "Versions")]


def _value_code(value: object) -> str | None:
    """Return the code of a value; None of an object that has none, such as a series or a function."""
    code = repr(str(value)) if isinstance(value, PurePath) else repr(value)
    try:
        again = ast.literal_eval(code)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    return code if isinstance(value, PurePath) or type(again) is type(value) else None


def _code(experiment: Reported) -> str:
    kind = type(experiment)
    settings = experiment.settings()
    codes = {name: _value_code(value) for name, value in settings.items()}
    missing = [f"# {name}: {' '.join(_text(settings[name]).split())}" for name, code in codes.items() if code is None]
    lines = [f"from {kind.__module__} import {kind.__name__}", ""]
    lines += ["# to be filled in, no code can be written for it:", *missing, ""] if missing else []
    arguments = [f"    {name}={name if code is None else code}," for name, code in codes.items()]
    lines += [f"study = {kind.__name__}(", *arguments, ")"]
    if experiment.data is not None:
        lines.append(f"study.use_data({str(experiment.data)!r})")
    return "\n".join([*lines, f'study.run().report("{experiment.name}.html")'])
