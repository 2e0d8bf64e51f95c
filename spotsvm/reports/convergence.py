"""The section on convergence: the best value so far, the values of random search, and whether the search did better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.drawing import BLUE, GREEN, ORANGE, count_axis, drawing, name_chosen, name_trials, plain
from spotsvm.common.text import counted, short
from spotsvm.errors import ArgumentError
from spotsvm.reports.html.findings import findings_of
from spotsvm.reports.html.page import Part, Picture, Section
from spotsvm.reports.model import Floats, against_random, best_of, random_values
from spotsvm.reports.view import StudyView
from spotsvm.space.description import same_parameter
from spotsvm.trials.findings import STOP, TIMEOUT
from spotsvm.trials.own_unit import in_own_unit
from spotsvm.trials.pareto import hypervolume_curve
from spotsvm.trials.recommendation import losses_of, why_none
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import FINISHED, Trial, holds_bounds, is_given

_PLACES = 300
_UNBOUNDED = (
    " The study's own model ignores the bounds, so it cannot predict random search: pass a random search as the baseline."
)


@dataclass(frozen=True)
class _Band:
    """The best value of random search after some numbers of trials: 10 %, 50 % and 90 % quantiles, and their source."""

    numbers: NDArray[np.intp]
    edges: Floats
    source: str

    @property
    def end(self) -> tuple[str, str, str]:
        """The low edge, the high edge and the median after all trials, as text."""
        best, middle, worst = (float(edge[-1]) for edge in self.edges)
        low, high = sorted((best, worst))
        return short(low), short(high), short(middle)


def checked_baseline(study: StudyResults, baseline: StudyResults | None) -> StudyResults | None:
    """Return the baseline of a study in the study's unit; raise ArgumentError if it cannot be the baseline."""
    if baseline is None:
        return None
    if not isinstance(baseline, StudyResults):
        raise ArgumentError(f"baseline={baseline!r} is not a study; use a Study, or None")
    mine, other = study.objectives.describe(), baseline.objectives.describe()
    if mine != other:
        raise ArgumentError(f"baseline has the direction {other!r}, and the study {mine!r}; use a study of the same objectives")
    if differs := _differing(study, baseline):
        raise ArgumentError(f"baseline has a different search space: {', '.join(differs)} differ; use a study of the same space")
    for what in ("data", "scoring"):
        a, b = (s.about.get(f"context: {what}") for s in (study, baseline))
        if a is not None and b is not None and a != b:
            raise ArgumentError(f"baseline has different {what} ({b}; the study has {a}); use a study with the same {what}")
    if not any(t.values is not None for t in baseline.trials):
        raise ArgumentError("baseline has no successful trial; use a study with at least one")
    return in_own_unit(baseline, of=study)


def _differing(study: StudyResults, baseline: StudyResults) -> list[str]:
    """Return the names of the parameters that differ between the spaces."""
    mine, other = study.space.describe(), baseline.space.describe()
    if len(mine) != len(other):
        return [f"the numbers of dictionaries, {len(other)} and {len(mine)},"]
    names = dict.fromkeys([*study.space.names, *baseline.space.names])
    pairs = [(name, a.get(name), b.get(name)) for a, b in zip(mine, other, strict=True) for name in names]
    return list(dict.fromkeys(name for name, a, b in pairs if not same_parameter(a, b) and not same_parameter(b, a)))


def convergence_section(view: StudyView, baseline: StudyResults | None) -> Section | None:
    """Return the section, or None if no trial has succeeded; without a baseline, the study's model predicts random search."""
    if not view.done:
        return None
    parts = _hypervolume(view, baseline) if view.study.objectives.several else _best_so_far(view, baseline)
    return Section("Convergence", [*parts, *findings_of(view.findings, STOP, TIMEOUT)])


def _ended(study: StudyResults) -> list[Trial]:
    return [t for t in study.trials if t.state in FINISHED]


def best_so_far(trials: Sequence[Trial], sign: float) -> Floats:
    """Return the best value after each trial, among trials that hold the bounds, shape (n,); nan before the first such trial."""
    best = np.minimum.accumulate(losses_of(trials, sign))
    return np.where(np.isfinite(best), sign * best, np.nan)


def _best_so_far(view: StudyView, baseline: StudyResults | None) -> list[Part]:
    band = _band(view, baseline)
    picture = _best_picture(view, baseline, band)
    if view.recommended is None:
        return [why_none(view.trials).capitalize() + ".", picture]
    curve = best_so_far(view.ended, view.sign)
    first = int(np.flatnonzero(curve == curve[-1])[0]) + 1
    reached = f"The best value is {short(float(curve[-1]), 6)}, first reached after {first} of {len(curve)} trials."
    compared = [] if _is_random(view.study) else [_verdict(view, baseline), _band_words(view, band)]
    return [*(text for text in (reached, *compared) if text), picture]


def convergence_picture(view: StudyView, baseline: StudyResults | None) -> Picture:
    """Draw the best value so far, or the hypervolume of several objectives, by trials."""
    if view.study.objectives.several:
        return _hypervolume_picture(view, baseline)
    return _best_picture(view, baseline, _band(view, baseline))


def _best_picture(view: StudyView, baseline: StudyResults | None, band: _Band | None) -> Picture:
    ended, sign = view.ended, view.sign
    numbers = np.arange(1, len(ended) + 1)
    curve = best_so_far(ended, sign)
    with drawing(4.4, 3.3) as figure:
        ax = figure.subplots()
        values = np.array([np.nan if t.value is None else t.value for t in ended])
        drawn = {t.number for t in view.drawn}
        beyond, limits = _limits(sign, values, curve, band)
        dots = np.array([t.number in drawn for t in ended]) & (values >= limits[0]) & (values <= limits[1])
        held = np.array([holds_bounds(t) for t in ended])
        for some, marker, label in ((held, ".", "each trial"), (~held, "x", "out of bounds")):
            if (at := np.flatnonzero(dots & some)).size:
                (points,) = ax.plot(numbers[at], values[at], marker, ls="", color="0.6", ms=5, label=label)
                name_trials(points, [ended[k].number for k in at])
        if band is not None:
            ax.fill_between(band.numbers, band.edges[0], band.edges[2], color=ORANGE, alpha=0.18, lw=0, step="mid")
            ax.plot(band.numbers, band.edges[1], "--", color=ORANGE, lw=1.2, label="random search, median and 80 % band")
        if baseline is not None:
            other = best_so_far(_ended(baseline), sign)
            at = _without_the_straight(other)
            ax.step(at, other[at - 1], where="post", color=GREEN, lw=1.2, label="baseline, best so far")
        at = _without_the_straight(curve)
        ax.step(at, curve[at - 1], where="post", color=BLUE, lw=1.8, label="best so far")
        _mark_chosen(ax, view)
        ax.set_ylim(*limits)
        count_axis(ax)
        ax.set_xlabel("finished trials")
        ax.set_ylabel(plain(view.study.objectives.labels[0]))
        figure.legend(*ax.get_legend_handles_labels(), loc="outside upper left", ncols=2)
    quarters = sorted({0, len(curve) // 4, len(curve) // 2, len(curve) - 1})
    told = ", ".join(f"{short(float(curve[k]), 4)} after {numbers[k]}" for k in quarters)
    ends = "" if band is None else " Band: random search ends between {} and {}, with the median {}.".format(*band.end)
    lie = "lies" if beyond == 1 else "lie"
    outside = f" {counted(beyond, 'much worse value')} {lie} outside the picture." if beyond else ""
    return Picture(
        figure,
        f"The best value so far, by trials.{view.thinned_words}{outside}",
        f"Line: best value so far {told}.{ends}",
    )


def _band(view: StudyView, baseline: StudyResults | None) -> _Band | None:
    """Return the band of random search; None if it is unknown, or its end at a limit of the values has no meaning."""
    band = None if _is_random(view.study) else _predicted_band(view) if baseline is None else _resampled_band(view, baseline)
    return None if band is None or len(set(band.end)) == 1 else band


def _resampled_band(view: StudyView, baseline: StudyResults) -> _Band | None:
    values = losses_of(_drawn(baseline), view.sign)
    if np.isfinite(values).sum() < 2:
        return None
    source = f"the {len(values)} values of the baseline, a random search, resampled; it cannot exceed the best of these values"
    numbers = _without_the_straight(best_so_far(view.ended, view.sign))
    edges = best_of(values, numbers.astype(float))
    return _Band(numbers, view.sign * np.where(np.isfinite(edges), edges, np.nan), source)


def _predicted_band(view: StudyView) -> _Band | None:
    model, sign = view.models[0], view.sign
    if isinstance(model, str) or not all(map(holds_bounds, view.trials)):
        return None
    noise = ", with its estimate of the noise" if model.noise > 0 else ""
    end = "" if model.noise > 0 else "; it cannot exceed the best value seen"
    source = f"the study's own Kriging model at random configurations{noise}: an estimate, as no random search was run{end}"
    curve = best_so_far(view.ended, sign)
    numbers = _without_the_straight(curve)
    # a random search would also begin with the starting points
    starts = np.where([is_given(t) for t in view.ended], losses_of(view.ended, sign), np.inf)
    started = np.minimum.accumulate(starts)[numbers - 1]
    if curve[-1] == sign * started[-1]:
        return None
    edges = np.minimum(best_of(random_values(model, view.study.seed), numbers.astype(float)), started)
    if model.noise <= 0:  # between the trials an interpolating model overshoots
        edges = np.maximum(edges, (sign * view.values()).min())
    return _Band(numbers, view.possible(sign * edges), source)


def _is_random(study: StudyResults) -> bool:
    """Return whether a study is itself a random search, so that a comparison with random search makes no sense."""
    return str(study.about.get("search", "")) in ("random", "lhs")


def _drawn(baseline: StudyResults | None) -> list[Trial]:
    """Return the randomly drawn trials of a baseline."""
    if baseline is None or not _is_random(baseline):
        return []
    ended = _ended(baseline)
    starts = {t.number for t in ended if is_given(t)}
    return [t for t in ended if t.number not in starts and t.sweep not in starts]


def _verdict(view: StudyView, baseline: StudyResults | None) -> str:
    study = view.study
    comparison = against_random(
        view.trials, study.space.domain, sign=view.sign, noise=study.noise, seed=study.seed, drawn=_drawn(baseline)
    )
    if view.recommended is None or view.recommended.basis != "predicted":
        return comparison.sentence()
    return (
        f"{comparison.sentence()} Under noise, both best values are too good: this compares values seen, not recommended "
        "configurations."
    )


def _band_words(view: StudyView, band: _Band | None) -> str:
    if band is None:
        model = view.models[0]
        if isinstance(model, str):
            return f"There is no band of random search. {model}"
        return "" if all(map(holds_bounds, view.trials)) else f"There is no band of random search.{_UNBOUNDED}"
    low, high, middle = band.end
    return (
        f"With as many trials, random search would reach {middle} in the median, and {low} to {high} in eight of ten cases. This "
        f"band comes from {band.source}."
    )


def _limits(sign: float, values: Floats, curve: Floats, band: _Band | None) -> tuple[int, tuple[float, float]]:
    """Return the number of values that are much worse than the others, and the limits of an axis without these values."""
    losses = sign * values[np.isfinite(values)]
    shown = [np.quantile(losses, 0.9), *(sign * curve[len(curve) // 10 :])]
    low = float(losses.min())
    if band is not None:
        shown += [*(sign * band.edges[:, band.numbers > len(curve) // 10]).ravel()]
        low = min(low, float(np.nanmin(sign * band.edges)))
    high = float(np.nanmax(shown))
    if losses.max() <= high + 0.5 * (high - low):
        high = float(losses.max())
    room = 0.05 * (high - low) or 1.0
    ends = sorted((sign * (low - room), sign * (high + room)))
    return int(np.sum(losses > high + room)), (ends[0], ends[1])


def _mark_chosen(ax: Any, view: StudyView) -> None:
    number = view.chosen_number
    if number is None or (value := view.trials[number].value) is None:
        return
    at = 1 + next(k for k, t in enumerate(view.ended) if t.number == number)
    (ring,) = ax.plot([at], [value], "o", ms=9, mfc="none", mec=ORANGE, mew=1.8, clip_on=False, zorder=5, label=view.chosen_words)
    name_chosen(ring, f"{view.chosen_words}: trial {number}, {short(value)}")


def _without_the_straight(curve: Floats) -> NDArray[np.intp]:
    """Return the numbers of trials, from 1, at which a line of steps is drawn: where it changes, up to some hundreds."""
    n = len(curve)
    changed = np.flatnonzero(np.diff(curve, prepend=np.nan) != 0)
    changed = changed[np.isfinite(curve[changed])]
    return np.unique(np.concatenate([changed, np.linspace(0, n - 1, min(n, _PLACES)).astype(int)])) + 1


def _hypervolume(view: StudyView, baseline: StudyResults | None) -> list[Part]:
    return [
        "The hypervolume is the volume that the front dominates, up to a point slightly worse than all trials; it grows as the "
        "front becomes better or wider. For several objectives there is no band of random search: pass a random search as the "
        "baseline.",
        _hypervolume_picture(view, baseline),
    ]


def _hypervolume_picture(view: StudyView, baseline: StudyResults | None) -> Picture:
    objectives = view.study.objectives
    every = [t for t in (*view.trials, *(() if baseline is None else baseline.trials)) if t.values is not None]
    losses = objectives.turned(np.array([t.values for t in every]))
    spread = np.ptp(losses, axis=0)
    reference = objectives.turned(losses.max(axis=0) + np.where(spread > 0, 0.1 * spread, 1.0)).tolist()
    numbers, curve = _hypervolumes(view.study, reference)
    with drawing(4.4, 3.0) as figure:
        ax = figure.subplots()
        if baseline is not None:
            ax.step(*_hypervolumes(baseline, reference), where="post", color=GREEN, lw=1.2, label="baseline")
        ax.step(numbers, curve, where="post", color=BLUE, lw=1.8, label="this study")
        count_axis(ax)
        ax.set_xlabel("finished trials")
        ax.set_ylabel("hypervolume (larger is better)")
        ax.set_ylim(0.0, None)
        ax.legend(loc="lower right")
    return Picture(
        figure,
        f"The hypervolume by trials, from the reference {', '.join(short(one) for one in reference)}.",
        f"Line: the hypervolume is {short(float(curve[len(curve) // 2]))} after half of the trials and "
        f"{short(float(curve[-1]))} in the end.",
    )


def _hypervolumes(study: StudyResults, reference: list[float]) -> tuple[NDArray[np.intp], Floats]:
    """Return up to some hundred numbers of finished trials, and the hypervolume after each."""
    n = len(_ended(study))
    at = np.linspace(0, n - 1, min(n, _PLACES)).astype(int)
    return at + 1, np.asarray(hypervolume_curve(study.trials, study.objectives, reference, at.tolist()), dtype=float)
