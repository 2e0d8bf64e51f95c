"""The methods section of a study, written from its record, and of the model that a search has fitted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from spotsvm.common.text import counted, headings_apart, short
from spotsvm.errors import ArgumentError
from spotsvm.luck.estimate import ExpectedScore
from spotsvm.luck.intervals import NO_INTERVAL
from spotsvm.luck.optimism import Optimism
from spotsvm.reports.fitted_methods import LEARNED, folds_words, luck_words, methods_section, params_words, score_rows
from spotsvm.reports.fitted_model import FittedModel
from spotsvm.reports.methods import MethodsSection, code, listed, plain
from spotsvm.reports.trials import space_table
from spotsvm.reports.verdict import verdict_table
from spotsvm.reports.view import StudyView
from spotsvm.trials.findings import OVERSEARCHING
from spotsvm.trials.ledger import finished_counts, suggested
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.trials.recommendation import commonest_reasons, why_none
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import FINISHED, START, Trial, holds_bounds, is_given

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
    "keerthi_lin": (
        "the method of Keerthi and Lin [@keerthi2003]: linear support vector machines for a line of costs, then Gaussian ones on "
        "the line of C and gamma that tends to the best of them"
    ),
    "random": "random search",
    "lhs": "a Latin hypercube design",
    "nsga2": (
        "a Kriging model of each objective, whose front the evolutionary algorithm NSGA-II searches [@deb2002]. After an initial "
        "design each configuration maximises the expected improvement of the hypervolume [@emmerich2006]"
    ),
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
    "cost": ("was on the line of linear machines", "were on the line of linear machines"),
    "width": ("was on the line of Gaussian machines", "were on the line of Gaussian machines"),
    "difference": ("was for a gradient", "were for gradients"),
}
_OF_OPTIMISM = {
    "nested": "It was estimated by nested resampling: in each of {rows} outer folds the whole search was repeated without "
    "the rows of the fold, and its winner was scored on them.",
    "folds": "It was estimated from the scores of all candidates on each fold, without a further fit [@tibshirani2009]; this is "
    "a rough estimate.",
}  # fmt: skip
_EXPECTED = "to expect on new rows"
_DONE = {"minimize": "minimised", "maximize": "maximised"}
_OF_RULE = {
    "jackknife": "a jackknife over the outer folds",
    "nadeau-bengio": "the corrected resampled t interval [@nadeau2003]",
}


def study_methods(
    study: StudyResults, luck: Optimism | ExpectedScore | None = None, model: FittedModel | None = None
) -> MethodsSection:
    """Return the methods section of a study or of its record, and of the `model` that a search has fitted.

    `luck` takes the place of the model's expected score; without both, the study's own finding says how much of it is luck.
    """
    if luck is not None and not isinstance(luck, Optimism | ExpectedScore):
        raise ArgumentError(f"luck={luck!r} is no estimate; use the result of expected_score or oversearching, or None")
    view = StudyView(study)
    if model is not None and isinstance(luck, ExpectedScore):
        model, luck = replace(model, expected=luck), None
    judged = model if model is not None and model.expected is not None and luck is None else None
    if luck is None and judged is None and OVERSEARCHING in view.findings and isinstance(view.luck, Optimism):
        luck = view.luck
    beside = judged is not None and len(judged.expected_scores) > 1
    before = [_space_words(view), _trial_words(view), _score_words(view, model), _result_words(view, beside)]
    confidence = (
        luck.confidence if luck is not None else 0.95 if judged is None or judged.expected is None else judged.expected.confidence
    )
    return methods_section(
        before,
        model,
        view.study.about.get("versions"),
        space_table(view.study.space),
        _results_table(view, luck, judged, confidence),
        luck=None if judged is not None else _luck_words(view, luck),
        confidence=confidence,
    )


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
    if view.search not in ("kriging", "kriging_per_second", "parego", "nsga2"):
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


def _score_words(view: StudyView, model: FittedModel | None) -> str:
    study, about = view.study, view.source.about
    folds = folds_words(view.n_folds, model is not None and model.whole_groups) if view.n_folds else ""
    folds += f" on {model.n_judged} rows{model.of_distinct}" if folds and model is not None and model.n_judged else ""
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
            parts.append(f"Each is a mean over the same {folds}{of}.")
        else:
            unit = view.own_units.units[0]
            named = "the estimator's own score" if unit.metric == "score" else f"the {plain(unit.title)}"
            way = _DONE[study.objectives.directions[0]]
            parts.append(f"The value that was {way} is the mean of {named}{of} over {folds}, the same for all configurations.")
    elif not study.objectives.several:
        parts.append(f"The value of the objective was {_DONE[study.objectives.directions[0]]}.")
    if model is not None and model.prepares_columns:
        parts.append(LEARNED)
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


def _result_words(view: StudyView, beside: bool) -> str:
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
        return " ".join(
            plain(part, 2000) for part in (view.verdict.sentence, view.verdict.expectation, *view.verdict.warnings) if part
        )
    params = params_words(view.params)
    name, first = _value_name(view), _starting_point(view)
    before = f" The starting point, trial {first.number}, has {short(float(first.value or 0.0))}." if first is not None else ""
    compared = before + " The record holds no comparison with another model or method." * (not beside)
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
            return f"The optimism of the tuned {unit.title} is unknown, as the rows are too few for {unit.title}."
        optimism, score = short(abs(luck.optimism)), short(unit.value(luck.expected_score.value))
        too = "good" if luck.optimism >= 0 else "bad"
        rule, title = _OF_RULE.get(luck.variance, plain(luck.variance)), plain(unit.title)
        return (
            f"The tuned {title} is estimated to be too {too} by {optimism}{_interval(luck.interval, luck.confidence)}; on "
            f"new rows {score} is to be expected. {_OF_OPTIMISM[luck.how].format(rows=len(luck.rows))}"
            + (f" The interval is {rule}." if isfinite(luck.interval[0]) else "")
        )
    return luck_words(luck)


def _interval(interval: tuple[float, float], confidence: float) -> str:
    low, high = interval
    return f" ({100 * confidence:g} % interval {short(low)} to {short(high)})" if isfinite(low) else ""


def _results_table(
    view: StudyView, luck: Optimism | ExpectedScore | None, model: FittedModel | None, confidence: float
) -> pd.DataFrame:
    study = view.study
    if study.objectives.several:
        values = headings_apart(study.objectives.names, ["trial"], "value_")
        names = headings_apart(study.space.names, ["trial", *values.values()], "param_")
        columns = ["trial", *values.values(), *names.values()]
        rows = [
            {"trial": t.number, **dict(zip(values.values(), t.values or (), strict=True)), **_named(t.params, names)}
            for t in view.front
        ]
        return pd.DataFrame(rows, columns=None if rows else columns)
    if view.verdict is not None:
        return verdict_table(view.verdict)
    own = ["what", "trial", _value_name(view), "low", "high"]
    names = headings_apart(study.space.names, own, "param_")
    rows = []

    def add(what: str, trial: int | None, value: float, ends: tuple[float, float], params: Mapping[str, Any]) -> None:
        cells = (what, "" if trial is None else str(trial), value, *ends)
        rows.append(dict(zip(own, cells, strict=True)) | _named(params, names))

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
        add(_EXPECTED, None, unit.value(expected.value), unit.interval(expected.interval), {})
    elif model is not None:
        for k, (what, value, low, high) in enumerate(score_rows(model)):
            add(f"{what}, {_EXPECTED}" if k else _EXPECTED, None, value, (low, high), {})
    return pd.DataFrame(rows, columns=None if rows else [*own, *names.values()])


def _named(params: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in params.items()}
