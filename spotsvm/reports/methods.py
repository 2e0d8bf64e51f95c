"""The methods section of a paper, written from a study's record: text, tables, and the literature to cite."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from spotsvm.common.checkout import library_version
from spotsvm.common.text import counted, printable_line, short, value_text
from spotsvm.errors import ArgumentError
from spotsvm.luck.estimate import ExpectedScore
from spotsvm.luck.intervals import NO_INTERVAL
from spotsvm.luck.optimism import Optimism
from spotsvm.reports.trials import space_table
from spotsvm.reports.verdict import verdict_table
from spotsvm.reports.view import StudyView
from spotsvm.trials.findings import OVERSEARCHING
from spotsvm.trials.ledger import finished_counts, suggested
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.trials.recommendation import commonest_reasons, why_none
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import FINISHED, START, Trial, holds_bounds, is_given

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
#: descriptions of searches, with citations, by their names in a record
_SEARCHES = {
    "kriging": (
        "sequential parameter optimisation with a Kriging model. After an initial design each configuration maximises the "
        "expected improvement [@jones1998], averaged over sampled hyperparameters of the model [@snoek2012]"
    ),
    "kriging_per_second": (
        "sequential parameter optimisation with a Kriging model. After an initial design each configuration maximises the "
        "expected improvement [@jones1998] per predicted second of its evaluation, averaged over sampled hyperparameters of the "
        "model [@snoek2012]; every sixth is chosen whatever it costs"
    ),
    "koch2011": "sequential parameter optimisation with a Kriging model in the setting of Koch et al. [@koch2011]",
    "cmaes": "the evolution strategy CMA-ES [@hansen2016]",
    "lbfgsb": "L-BFGS-B with restarts and gradients by finite differences [@byrd1995]",
    "vns": "variable neighbourhood search, after Carrizosa et al. [@carrizosa2014]",
    "carrizosa2014": "variable neighbourhood search in the setting of Carrizosa et al. [@carrizosa2014]",
    "random": "random search",
    "lhs": "a Latin hypercube design",
    "nsga2": "the evolutionary algorithm NSGA-II for several objectives [@deb2002]",
    "parego": (
        "ParEGO, a Kriging search for several objectives [@knowles2006]. Each configuration maximises the expected improvement "
        "for random weights of the objectives"
    ),
}
#: origins of trials, singular and plural
_ORIGINS = {
    "start": ("was a starting point", "were starting points"),
    "given": ("was evaluated elsewhere and added", "were evaluated elsewhere and added"),
    "design": ("belongs to the initial design", "belong to the initial design"),
    "improvement": ("was chosen by the expected improvement", "were chosen by the expected improvement"),
    "replicate": ("repeats an earlier configuration", "repeat an earlier configuration"),
    "random": ("was drawn at random", "were drawn at random"),
    "generation": ("belongs to a generation of the strategy", "belong to generations of the strategy"),
    "initial": ("was the first point", "were first points"),
    "shake": ("was drawn in a neighbourhood of the best", "were drawn in neighbourhoods of the best"),
    "step": ("was a step of the descent", "were steps of the descent"),
    "difference": ("was for a gradient", "were for gradients"),
}
_OF_OPTIMISM = {
    "nested": "It was estimated by nested resampling: in each of {rows} outer folds the whole search was repeated without "
    "the rows of the fold, and its winner was scored on them.",
    "folds": "It was estimated from the scores of all candidates on each fold, without a further fit [@tibshirani2009]; this is "
    "a rough estimate.",
}  # fmt: skip
_DONE = {"minimize": "minimised", "maximize": "maximised"}
_OF_RULE = {
    "jackknife": "a jackknife over the outer folds",
    "nadeau-bengio": "the corrected resampled t interval [@nadeau2003]",
}


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


def plain(text: Any) -> str:
    """Return a text of a record as Markdown that shows it as it is, in one line."""
    return _MARKUP.sub(lambda sign: f"\\{sign[0]}", printable_line(str(text), _LONGEST))


def code(text: Any) -> str:
    """Return a text as code, in one line."""
    line = printable_line(str(text), _LONGEST).replace("`", "'")
    return f"`{line}`"


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def study_methods(study: StudyResults, luck: Optimism | ExpectedScore | None = None, of_refit: str = "") -> MethodsSection:
    """Return the methods section of a study or of its record.

    Without `luck` the study's own finding says how much of the score is luck; `of_refit` is a sentence about the final fit.
    """
    if luck is not None and not isinstance(luck, Optimism | ExpectedScore):
        raise ArgumentError(f"luck={luck!r} is no estimate; use the result of expected_score or oversearching, or None")
    view = StudyView(study)
    if luck is None and OVERSEARCHING in view.findings and isinstance(view.luck, Optimism):
        luck = view.luck
    paragraphs = [_space_words(view), _trial_words(view), _score_words(view), _result_words(view)]
    paragraphs += [of_refit, _luck_words(view, luck), version_words(view.study.about.get("versions"))]
    confidence = 0.95 if luck is None else luck.confidence
    results = _results_table(view, luck, confidence)
    return MethodsSection(tuple(text for text in paragraphs if text), space_table(view.study.space), results, confidence)


def _space_words(view: StudyView) -> str:
    study = view.study
    names = [code(name) for name in study.space.names]
    many = f"{len(names)} parameters" if len(names) > 8 else f"parameter{'s' * (len(names) > 1)} {listed(names)}"
    how = _SEARCHES.get(view.search, f"the search {code(view.search)}")
    name, _, further = how.partition(". ")
    versions = study.about.get("versions")
    version = f" {plain(versions['spotsvm'])}" if isinstance(versions, Mapping) and "spotsvm" in versions else ""
    were = "were" if len(names) > 1 else "was"
    text = f"The {many} (Table 1) {were} tuned by {name}, as implemented in spotsvm{version} [@spotsvm]."
    text += f" {further}." if further else ""
    if study.about.get("prior") is not None:
        text += (
            " The criterion was multiplied by a prior of the optimum, whose weight falls with the evaluations [@hvarfner2022]."
        )
    if view.constraints:
        text += f" The search was subject to {listed([code(constraint) for constraint in view.constraints])}."
    return text


def _trial_words(view: StudyView) -> str:
    trials = suggested(view.trials)
    ended = [t for t in trials if t.state in FINISHED]
    n, values = finished_counts(view.trials)
    swept = view.study.about.get("sweep")
    text = f"The study has {counted(n, 'finished trial')}."
    if swept is not None:
        text = (
            f"The study has {counted(n, 'finished trial')}, each of which was scored with several values of {code(swept)} that "
            f"share their work: {counted(values, 'configuration')} in all, each with a number of its own."
        )
    if origins := Counter(t.origin for t in ended):
        parts = [f"{k} {_origin_words(origin, k > 1)}" for origin, k in origins.items()]
        text += f" Of the trials {listed(parts)}{_design_words(view, ended)}."
    if failed := len(view.failed):
        reasons = plain(commonest_reasons([t.reason for t in view.failed]))
        text += f" Of the configurations {failed} failed, without a value ({reasons})."
        text += " The search modelled where evaluations fail [@gelbart2014]." * (view.search == "kriging")
    if stopped := len(view.stopped):
        text += f" Of the trials {stopped} ended early, by the steps reported until then."
    if view.n_running:
        text += f" Trials without a result when this was written: {view.n_running}."
    if (out := sum(not holds_bounds(t) for t in view.done)) > 0:
        text += f" Of the configurations {out} did not hold the bounds."
    return f"{text} {_how_evaluated(view)}"


def _origin_words(origin: str, several: bool) -> str:
    one, many = _ORIGINS.get(origin, (f"came from {code(origin)}",) * 2)
    return many if several else one


def _design_words(view: StudyView, ended: Sequence[Trial]) -> str:
    """Return the initial design in words; empty if it is unknown or was not followed."""
    about = view.study.about
    design = [t for t in ended if t.origin == "design"]
    if not design or about.get("prior") is not None or any(t.note for t in design):
        return ""
    if view.search == "koch2011":
        return "; the design is a Latin hypercube"
    if view.search not in ("kriging", "kriging_per_second", "parego"):
        return ""
    # starting points replace the first points of the design, and the centre is the first of these
    centred = not any(is_given(t) for t in ended)
    return "; the design is the centre of the space and a Latin hypercube" if centred else "; the design is a Latin hypercube"


def _how_evaluated(view: StudyView) -> str:
    about, seed = view.study.about, f"The seed of the search was {view.study.seed}"
    size = about.get("batch_size", 1)
    if size is None:
        return (
            f"{seed}. Several workers took trials as they became free, or the size of the batches changed, so another run gives "
            "other trials."
        )
    if isinstance(size, int) and size > 1:
        believed = " [@ginsbourger2010]" if view.search.startswith("kriging") else ""
        return f"{seed}, and trials were suggested in batches of {size}{believed}."
    return f"{seed}, and trials were suggested one at a time."


def _score_words(view: StudyView) -> str:
    study, about = view.study, view.source.about
    folds = view.n_folds
    parts = []
    if study.objectives.several:
        ways = [
            f"{code(name)} was {_DONE[way]}"
            for name, way in zip(study.objectives.names, study.objectives.directions, strict=True)
        ]
        parts.append(f"Of {len(ways)} objectives {listed(ways)}.")
    if folds:
        estimator = about.get("context: estimator")
        of = f" of {code(estimator)}" if isinstance(estimator, str) else ""
        if study.objectives.several:
            parts.append(f"Each is a mean over the same {folds} folds of cross-validation{of}.")
        else:
            unit = view.own_units.units[0]
            named = "the estimator's own score" if unit.metric == "score" else f"the {plain(unit.title)}"
            way = _DONE[study.objectives.directions[0]]
            parts.append(
                f"The value that was {way} is the mean of {named}{of} over {folds} folds of cross-validation, the same for all "
                "configurations."
            )
    elif not study.objectives.several:
        parts.append(f"The value of the objective was {_DONE[study.objectives.directions[0]]}.")
    if view.done and not study.objectives.several:
        parts.append(_noise_words(view))
    return " ".join(parts)


def _noise_words(view: StudyView) -> str:
    return {
        "declared noisy": "Two evaluations of one configuration were taken to differ.",
        "declared deterministic": "Two evaluations of one configuration were taken to be equal.",
        "noisy": "Repeated evaluations of one configuration differed, so the objective is noisy.",
        "deterministic": "A repeated evaluation gave the same value, so the objective was taken to be deterministic.",
        "unknown": "No configuration was evaluated twice, so it is unknown whether the objective is noisy.",
    }[view.noise]


def _result_words(view: StudyView) -> str:
    if view.study.objectives.several:
        if not view.front:
            return "No trial has succeeded and holds the bounds, so there is no front."
        return (
            f"{counted(len(view.front), 'configuration')} of {len(view.done)} {'is' if len(view.front) == 1 else 'are'} not "
            "dominated by another one (Table 2)."
        )
    if (found := view.recommended) is None:
        return f"There is no recommended configuration: {plain(why_none(view.trials))}."
    if view.verdict is not None:
        return " ".join(plain(part) for part in (view.verdict.sentence, view.verdict.expectation, *view.verdict.warnings) if part)
    params = listed([f"{code(name)} = {plain(value_text(value))}" for name, value in view.params.items()])
    name, first = _value_name(view), _starting_point(view)
    before = f" The starting point, trial {first.number}, has {short(float(first.value or 0.0))}." if first is not None else ""
    compared = f"{before} The record holds no comparison with another model or method."
    if found.basis == "observed":
        return (
            f"The configuration with the best {name} seen, {short(found.value)} in trial {found.number}, is recommended "
            f"(Table 2): {params}.{compared}"
        )
    return (
        f"The configuration of trial {found.number} is recommended (Table 2): {params}. Among the evaluated configurations the "
        f"Kriging model predicts the best {name} for it, {short(found.value)} with a standard error of "
        f"{short(found.standard_error, 2)}; it was evaluated {_times(found.n_evaluations)}. The best {name} seen is "
        f"{short(found.best_seen_value)}, in trial {found.best_seen_number}.{compared}"
    )


def _value_name(view: StudyView) -> str:
    """Return the name of the values of a study of one objective: the score's name if they are means over folds."""
    if not view.n_folds:
        return plain(view.objective_name(0))
    metric = view.own_units.units[0]
    return "score" if metric.metric == "score" else plain(metric.title)


def _starting_point(view: StudyView) -> Trial | None:
    """Return the first trial if it is a starting point with a value; for a tuned estimator, by default its own parameters."""
    first = view.trials[0]
    return first if first.origin == START and first.value is not None else None


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def _luck_words(view: StudyView, luck: Optimism | ExpectedScore | None) -> str:
    folds = view.n_folds
    if luck is None:
        if view.verdict is not None or not folds or view.recommended is None:
            return ""
        _, n = finished_counts(view.trials)
        return (
            f"This score is the best of {counted(n, 'configuration')} on the same folds, and therefore biased upwards in "
            "favour of the tuned model. The score to expect on new rows was not estimated."
        )
    if isinstance(luck, Optimism):
        unit = ScoreUnit(luck.metric if view.unit is None else view.unit.metric)
        if luck.too_few or luck.expected_score.too_few:
            return f"How much of the tuned {unit.title} is luck is unknown, as the rows are too few for {unit.title}."
        optimism, score = short(abs(luck.optimism)), short(unit.value(luck.expected_score.value))
        too = "good" if luck.optimism >= 0 else "bad"
        rule, title = _OF_RULE.get(luck.variance, plain(luck.variance)), plain(unit.title)
        return (
            f"The tuned {title} is estimated to be too {too} by {optimism}{_interval(luck.interval, luck.confidence)}; on "
            f"new rows {score} is to be expected. {_OF_OPTIMISM[luck.how].format(rows=len(luck.rows))}"
            + (f" The interval is {rule}." if isfinite(luck.interval[0]) else "")
        )
    return expectation_words(luck)


def expectation_words(luck: ExpectedScore) -> str:
    """Return the score to expect on new rows, its interval, and how both were obtained."""
    title = plain(ScoreUnit(luck.metric).title)
    text = f"The {title} to expect on new rows is {plain(luck.text())}, as judged by {luck.n_rows} training rows out of fold. "
    if luck.how == "draws":
        return text + (
            "These rows were drawn with replacement; in each draw the choice among the best configurations was repeated on the "
            "drawn rows and scored on the rows left out [@tsamardinos2018]. The mean of the draws was corrected by the .632 rule "
            "[@efron1983], and the interval comes from their spread. So it covers the luck of the rows and of the choice."
        )
    return text + (
        "The chosen configuration was fitted on folds again, and the interval comes from the spread of the scores over draws of "
        "their rows. It covers the luck of the rows, but not of the choice, so the score is a little too good."
    )


def _interval(interval: tuple[float, float], confidence: float) -> str:
    low, high = interval
    return f" ({100 * confidence:g} % interval {short(low)} to {short(high)})" if isfinite(low) else ""


def version_words(versions: Any) -> str:
    """Return the versions of the software in a sentence; empty if they are unknown."""
    if not isinstance(versions, Mapping) or not versions:
        return ""
    names = {"python": "Python", "numpy": "NumPy", "scipy": "SciPy"}
    used = [f"{plain(names.get(name, name))} {plain(version)}" for name, version in versions.items()]
    return f"The computations used {listed(used)}."


def _results_table(view: StudyView, luck: Optimism | ExpectedScore | None, confidence: float) -> pd.DataFrame:
    study = view.study
    if study.objectives.several:
        rows = [
            {"trial": t.number, **dict(zip(study.objectives.names, t.values or (), strict=True)), **t.params} for t in view.front
        ]
        return pd.DataFrame(rows, columns=None if rows else ["trial", *study.objectives.names, *study.space.names])
    if view.verdict is not None:
        return verdict_table(view.verdict)
    name = _value_name(view)
    rows = []

    def add(what: str, trial: int | None, value: float, ends: tuple[float, float], params: Mapping[str, Any]) -> None:
        number = "" if trial is None else str(trial)
        rows.append({"what": what, "trial": number, name: value, "low": ends[0], "high": ends[1], **params})

    if view.trials and (first := _starting_point(view)) is not None:
        add("starting point", first.number, float(first.value or 0.0), NO_INTERVAL, first.params)
    if (found := view.recommended) is not None:
        half = float(norm.ppf(0.5 + confidence / 2)) * found.standard_error
        low, high = view.possible(np.array([found.value - half, found.value + half]))
        ends = (float(low), float(high)) if half else NO_INTERVAL
        add("recommended", found.number, found.value, ends, view.params)
        if found.best_seen_number != found.number:
            add("best seen", found.best_seen_number, found.best_seen_value, NO_INTERVAL, found.best_seen_params)
    if luck is not None:
        expected = luck.expected_score if isinstance(luck, Optimism) else luck
        unit = ScoreUnit(luck.metric)
        add("to expect on new rows", None, unit.value(expected.value), unit.interval(expected.interval), {})
    return pd.DataFrame(rows, columns=None if rows else ["what", "trial", name, "low", "high", *study.space.names])
