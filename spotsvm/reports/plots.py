"""The pictures of a report as axes of pyplot, and the importance of the parameters as a frame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.common.drawing import axes_array, in_pyplot
from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.reports.axes import StudyAxis
from spotsvm.reports.convergence import checked_baseline, convergence_picture
from spotsvm.reports.effects import importance_picture, left_out_picture
from spotsvm.reports.evaluations import evaluations_picture
from spotsvm.reports.html.page import Picture
from spotsvm.reports.model import StudyModel
from spotsvm.reports.slices import parallel_picture, slices_picture
from spotsvm.reports.timeline import timeline_picture
from spotsvm.reports.view import Importance, StudyView, main_effects
from spotsvm.trials.recommendation import summarise_failures
from spotsvm.trials.results import StudyResults


def plot_convergence(study: StudyResults, baseline: StudyResults | None = None) -> Any:
    """Return the axes of the best value so far; see `Study.plot_convergence`."""
    baseline = checked_baseline(study, baseline)
    with _view(study) as view:
        return _axes(convergence_picture(view, baseline))


def plot_slices(study: StudyResults) -> Any:
    """Return the axes of the slices of the model; see `Study.plot_slices`."""
    study.objectives.require_one("plot_slices()")
    with _view(study) as view:
        return _axes(slices_picture(view, _model(view, 0)))


def plot_parallel(study: StudyResults) -> Any:
    """Return the axes of the parallel coordinates of the trials; see `Study.plot_parallel`."""
    with _view(study) as view:
        return _axes(parallel_picture(view))


def plot_left_out(study: StudyResults, objective: int | str = 0) -> Any:
    """Return the axes of the leave-one-out predictions of the model; see `Study.plot_left_out`."""
    with _view(study) as view:
        k = _number(study, objective)
        return _axes(left_out_picture(_model(view, k), view.study.objectives.labels[k]))


def plot_timeline(study: StudyResults) -> Any:
    """Return the axes of the evaluations over time; see `Study.plot_timeline`."""
    with _view(study) as view:
        picture = timeline_picture(view)
        if picture is None:
            raise ArgumentError("there is no timeline to show: the trials have no times, or more than 64 were evaluated at once")
        return _axes(picture)


def plot_evaluations(study: StudyResults) -> Any:
    """Return the axes of the evaluation matrix; see `Study.plot_evaluations`."""
    with _view(study) as view:
        return _axes(evaluations_picture(view))


def plot_importance(study: StudyResults, objective: int | str = 0) -> Any:
    """Return the axes of the importance of the parameters; see `Study.plot_importance`."""
    with _view(study) as view:
        k = _number(study, objective)
        return _axes(importance_picture(view.axes, _shares(view, k)))


def importance_frame(study: StudyResults, objective: int | str = 0) -> pd.DataFrame:
    """Return the importance of the parameters and their main effects; see `Study.importance`."""
    with _view(study) as view:
        k = _number(study, objective)
        shares, model = _shares(view, k), _model(view, k)
        rows = []
        turned = float(study.objectives.signs[k] * view.study.objectives.signs[k])  # back to the study's own sign
        for effect in main_effects(model, view.axes, study.seed):
            mean = turned * effect.mean
            low, high = int(np.argmin(mean)), int(np.argmax(mean))
            j = effect.axis.column
            rows.append(
                (effect.axis.name, shares.first[j], shares.total[j], mean[low], _value(effect.axis, effect.places[low]))
                + (mean[high], _value(effect.axis, effect.places[high]))
            )
        columns = ["parameter", "alone", "with_others", "lowest", "lowest_at", "highest", "highest_at"]
        return pd.DataFrame([rows[j] for j in shares.order], columns=columns)


@contextmanager
def _view(study: StudyResults) -> Iterator[StudyView]:
    """Return the view of a study that can be drawn, in a context in which figures are pyplot's."""
    view = StudyView(study)
    if not view.done:
        raise NoCompletedTrialError(f"no trial has succeeded yet: {summarise_failures(study.trials)}")
    if view.too_large:
        raise ArgumentError(view.too_large)
    with in_pyplot():
        yield view


def _model(view: StudyView, k: int) -> StudyModel:
    model = view.models[k]
    if isinstance(model, str):
        raise ArgumentError(f"there is no model of the trials to show. {model}")
    return model


def _shares(view: StudyView, k: int) -> Importance:
    _model(view, k)
    shares = view.importances[k]
    if shares is None:
        raise ArgumentError("there is no importance to show. The model of the trials is flat.")
    return shares


def _number(study: StudyResults, objective: int | str) -> int:
    names = study.objectives.names
    if isinstance(objective, str) and objective in names:
        return names.index(objective)
    if isinstance(objective, int) and not isinstance(objective, bool) and 0 <= objective < len(study.objectives):
        return objective
    valid = f"one of {', '.join(names)}, or its index" if names else "0, as there is a single objective"
    raise ArgumentError(f"objective={shown_value(objective)} is no objective of the study; use {valid}")


def _value(axis: StudyAxis, place: float) -> Any:
    """Return the value of a parameter at a position, or the text of a choice between dictionaries."""
    return axis.value_at(place) if axis.parameter is None else axis.parameter.decode(place)


def _axes(picture: Picture) -> Any:
    """Return the axes of a picture, or an array of axes if there are several."""
    axes = [ax for ax in picture.figure.axes if ax.get_label() != "<colorbar>"]
    return axes[0] if len(axes) == 1 else axes_array(axes)
