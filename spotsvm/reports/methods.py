"""The methods section of a paper: text, two tables, and the literature to cite, as Markdown and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import Any

import pandas as pd

from spotsvm.common.checkout import library_version
from spotsvm.common.text import printable_line, short

_CITED = re.compile(r"\[(@\w+(?:; @\w+)*)\]")
_CODE = re.compile(r"`([^`]*)`")
#: what Markdown, with pandoc's extensions, takes for more than text: code, links, HTML, LaTeX, formulae, citations, tables
_MARKUP = re.compile(r"[\\`\[\]<>$|{}@]")
_ESCAPED = re.compile(rf"\\({_MARKUP.pattern})")
_PARTS = re.compile(rf"(\[@\w+(?:; @\w+)*\]|`[^`]*`|\\{_MARKUP.pattern})")
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", '"': "''", "<": r"\textless{}", ">": r"\textgreater{}",
    "[": "{[}", "]": "{]}",  # in the first cell of a row they would be an argument of the line break before
}  # fmt: skip
_LONGEST = 300


@dataclass(frozen=True, repr=False)
class MethodsSection:
    r"""Text for the methods section of a paper, with tables and references, as `Study.methods_section` returns it.

    `print` shows the text, with citations in pandoc's syntax, `[@jones1998]`; in `latex` they are `\cite{jones1998}`.

    Attributes
    ----------
    paragraphs : tuple of str
        The text.
    space : DataFrame
        A row for each parameter: name, type, range, scale.
    results : DataFrame
        A row for each model or configuration with its score, and the ends of its interval, low and high, if known. For several
        objectives, a row for each trial of the front.
    confidence : float
        The confidence level of these intervals.
    references : dict of str to str
        The BibTeX entries of the cited works, by key.

    See Also
    --------
    Study.methods_section : Makes the section.

    Examples
    --------
    >>> from spotsvm import Study
    >>> study = Study({"x": (0.0, 1.0)}, "random", seed=0, noise=False).run(
    ...     lambda p: p["x"], n_trials=3
    ... )
    >>> section = study.methods_section()
    >>> section.paragraphs[2]
    'The value of the objective was minimised. Two evaluations of one configuration were taken to be equal.'
    >>> list(section.references)
    ['spotsvm']
    """

    paragraphs: tuple[str, ...]
    space: pd.DataFrame
    results: pd.DataFrame
    confidence: float = 0.95
    references: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        cited = [part for part in _PARTS.split("\n".join(self.paragraphs)) if _CITED.fullmatch(part)]
        keys = dict.fromkeys(key for together in cited for key in re.findall(r"\w+", together))
        object.__setattr__(self, "references", {key: literature()[key] for key in keys})
        for name in ("space", "results"):
            object.__setattr__(self, name, getattr(self, name).map(_printed).rename(columns=_printed))

    def __repr__(self) -> str:
        return "\n\n".join(self.paragraphs)

    @property
    def bibtex(self) -> str:
        """The BibTeX entries of the cited works."""
        return "\n\n".join(self.references.values()) + "\n"

    def markdown(self) -> str:
        """Return the text and both tables as Markdown, with citations in pandoc's syntax.

        Returns
        -------
        str
            The text, "Table 1" with the space and "Table 2" with the results.
        """
        tables = [
            f"Table {k}: {caption}\n\n{frame.map(_cell).map(plain).rename(columns=plain).to_markdown(index=False)}"
            for k, caption, frame in self._tables()
        ]
        return "\n\n".join([*self.paragraphs, *tables]) + "\n"

    def latex(self) -> str:
        r"""Return the text and both tables as LaTeX; it needs the packages booktabs and a bibliography with `bibtex`.

        Returns
        -------
        str
            Paragraphs, and two tables with the labels tab:space and tab:results, to include in a document by \input.
        """
        paragraphs = [_as_latex(text).replace("(Table 1)", r"(Table~\ref{tab:space})") for text in self.paragraphs]
        paragraphs = [text.replace("(Table 2)", r"(Table~\ref{tab:results})") for text in paragraphs]
        tables = [
            frame.map(_cell)
            .map(_letters)
            .rename(columns=_letters)
            .to_latex(index=False, caption=_letters(caption), label=f"tab:{name}", position="htbp")
            for (_, caption, frame), name in zip(self._tables(), ("space", "results"), strict=True)
        ]
        return "\n\n".join([*paragraphs, *tables])

    def _tables(self) -> Iterator[tuple[int, str, pd.DataFrame]]:
        yield 1, "The search space.", self.space
        level = f"; low and high are the ends of {100 * self.confidence:g} % intervals" * ("low" in self.results)
        yield 2, f"Results{level}.", self.results


@cache
def literature() -> dict[str, str]:
    """Return the BibTeX entries of all works that a methods section can cite, by key; that of the library has its version."""
    text = (files("spotsvm.reports") / "literature.bib").read_text(encoding="utf-8").replace("VERSION", library_version())
    return {entry.partition("{")[2].partition(",")[0]: entry for entry in text.strip().split("\n\n")}


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return short(value) if isfinite(value) else ""
    return "" if value is None else str(value)


def _printed(value: Any) -> Any:
    return printable_line(value) if isinstance(value, str) else value


def _as_latex(text: str) -> str:
    """Return text with its citations, code and special characters as LaTeX."""
    return "".join(_part_as_latex(part) for part in _PARTS.split(text))


def _part_as_latex(part: str) -> str:
    if _CITED.fullmatch(part):
        keys = ", ".join(re.findall(r"\w+", part))
        return rf"\cite{{{keys}}}"
    if code := _CODE.fullmatch(part):
        return rf"\texttt{{{_letters(code[1])}}}"
    return _letters(_ESCAPED.sub(r"\1", part))


def _letters(text: str) -> str:
    """Return text as LaTeX that shows it as it is."""
    return "".join(_LATEX.get(sign, sign) for sign in text)


def plain(text: Any, longest: int = _LONGEST) -> str:
    """Return a text of a record as Markdown that shows it as it is, in one line."""
    return _MARKUP.sub(lambda sign: f"\\{sign[0]}", printable_line(str(text), longest))


def code(text: Any) -> str:
    """Return a text as code, in one line."""
    line = printable_line(str(text), _LONGEST).replace("`", "'")
    return f"`{line}`"


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
