"""Pictures of a fitted model, as its report shows them, from its answers for rows that it was not fitted on.

Each function takes a fitted `TunedSVC`, `TunedSVR` or `SpotSearchCV`, or what its `explain` returns, and returns a figure of
matplotlib, which a notebook shows and `figure.savefig("picture.png")` saves. Nothing is fitted again.

Examples
--------
>>> from sklearn.datasets import load_breast_cancer
>>> from spotsvm import TunedSVC
>>> from spotsvm.plots import plot_confusion
>>> X, y = load_breast_cancer(return_X_y=True)
>>> model = TunedSVC(budget=2, random_state=0).fit(X[:200], y[:200])
>>> plot_confusion(model).axes[0].get_xlabel()
'predicted class'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spotsvm.common.drawing import drawing, panels
from spotsvm.errors import ArgumentError
from spotsvm.luck.explanation import Explanation
from spotsvm.reports.explained import draw_dependence, draw_importance, draw_learning_curve, importance_height, strongest
from spotsvm.reports.fitted_model import Array, FittedModel, JudgedAnswers
from spotsvm.reports.judged_classes import (
    crowds,
    draw_calibration,
    draw_confusion,
    draw_precision_recall,
    draw_roc,
    observed,
    shown_classes,
)
from spotsvm.reports.judged_numbers import draw_predictions, draw_residuals
from spotsvm.reports.members import draw_kinds, kind_weights, kinds_of
from spotsvm.search_cv.fitted import fitted_model as fitted_search
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.tuned.fitted import fitted_model as fitted_tuned
from spotsvm.tuned.tuned_svc import TunedSVC
from spotsvm.tuned.tuned_svr import TunedSVR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "plot_calibration",
    "plot_confusion",
    "plot_dependence",
    "plot_importance",
    "plot_learning_curve",
    "plot_members",
    "plot_precision_recall",
    "plot_predictions",
    "plot_residuals",
    "plot_roc",
]
_WIDTH, _HEIGHT = 4.5, 4.0


def plot_confusion(model: Any) -> Figure:
    """Return the confusion matrix of the predictions, coloured by the shares of each true class.

    Parameters
    ----------
    model : TunedSVC or SpotSearchCV
        A fitted classifier.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, made by `sklearn.metrics.ConfusionMatrixDisplay`.

    Raises
    ------
    ArgumentError
        If the model is none of these, is no classifier, or keeps no out-of-fold table; a ValueError.

    See Also
    --------
    spotsvm.OutOfFold.confusion : The matrix as a frame.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from spotsvm import TunedSVC
    >>> from spotsvm.plots import plot_confusion
    >>> X, y = load_wine(return_X_y=True)
    >>> figure = plot_confusion(TunedSVC(budget=2).fit(X, y))
    >>> figure.axes[0].get_ylabel()
    'true class'
    """
    _, judged, _ = _classifier(model, "plot_confusion")
    matrix = judged.confusion
    if matrix is None:
        raise ArgumentError("plot_confusion: the model keeps no out-of-fold table; fit it with keep_out_of_fold=True")
    return _figure([lambda ax: draw_confusion(ax, matrix)], max(_WIDTH, 0.3 * len(matrix) + 1.5))


def plot_roc(model: Any) -> Figure:
    """Return the ROC curve of the positive class, or of each of several classes against all others.

    Parameters
    ----------
    model : TunedSVC or SpotSearchCV
        A fitted classifier.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, made by `sklearn.metrics.RocCurveDisplay`. A dot is at the predictions of the model; of more than eight
        classes the most frequent are shown.

    Raises
    ------
    ArgumentError
        If the model is none of these, is no classifier, or has votes alone; a ValueError.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from spotsvm import TunedSVC
    >>> from spotsvm.plots import plot_roc
    >>> X, y = load_wine(return_X_y=True)
    >>> plot_roc(TunedSVC(budget=2).fit(X, y)).axes[0].get_xlabel()
    'false positive rate'
    """
    return _curve(model, "plot_roc", draw_roc)


def plot_precision_recall(model: Any) -> Figure:
    """Return the precision-recall curve of the positive class, or of each of several classes against all others.

    Parameters
    ----------
    model : TunedSVC or SpotSearchCV
        A fitted classifier.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, made by `sklearn.metrics.PrecisionRecallDisplay`. A dot is at the predictions of the model; of more than
        eight classes the most frequent are shown.

    Raises
    ------
    ArgumentError
        If the model is none of these, is no classifier, or has votes alone; a ValueError.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from spotsvm import TunedSVC
    >>> from spotsvm.plots import plot_precision_recall
    >>> X, y = load_wine(return_X_y=True)
    >>> plot_precision_recall(TunedSVC(budget=2).fit(X, y)).axes[0].get_ylabel()
    'precision'
    """
    return _curve(model, "plot_precision_recall", draw_precision_recall)


def plot_calibration(model: Any) -> Figure:
    """Return the observed shares against the probabilities, in bins with equally many rows, with their intervals.

    Parameters
    ----------
    model : TunedSVC or SpotSearchCV
        A fitted classifier with probabilities.

    Returns
    -------
    matplotlib.figure.Figure
        The picture. Where bins are close to each other, further axes enlarge them.

    Raises
    ------
    ArgumentError
        If the model is none of these, is no classifier, or has no probabilities; a ValueError.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from spotsvm import TunedSVC
    >>> from spotsvm.plots import plot_calibration
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TunedSVC(budget=2, random_state=0).fit(X[:200], y[:200])
    >>> plot_calibration(model).axes[0].get_xlabel()
    'probability of class 1'
    """
    fitted, judged, classes = _classifier(model, "plot_calibration")
    if judged.probabilities is None:
        raise ArgumentError("plot_calibration: the model has no probabilities; tune it with calibrate=True")
    what, table = observed(fitted, judged, classes)
    ranges = [(0.0, 1.0), *crowds(table)]
    return _figure([lambda ax, ends=ends: draw_calibration(ax, what, table, ends) for ends in ranges])  # type: ignore[misc]


def plot_predictions(model: Any) -> Figure:
    """Return the targets against the predictions.

    Parameters
    ----------
    model : TunedSVR or SpotSearchCV
        A fitted regression of one target.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, made by `sklearn.metrics.PredictionErrorDisplay`; between dashed lines are intervals for 90 % of new rows. At
        most 2,000 rows are drawn.

    Raises
    ------
    ArgumentError
        If the model is none of these, is no regression of one target, or keeps no out-of-fold table; a ValueError.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spotsvm import TunedSVR
    >>> from spotsvm.plots import plot_predictions
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = TunedSVR(budget=2, random_state=0).fit(X[:100], y[:100])
    >>> plot_predictions(model).axes[0].get_ylabel()
    'target'
    """
    judged = _regression(model, "plot_predictions")
    return _figure([lambda ax: draw_predictions(ax, judged)])


def plot_residuals(model: Any) -> Figure:
    """Return the targets less the predictions, against the predictions.

    Parameters
    ----------
    model : TunedSVR or SpotSearchCV
        A fitted regression of one target.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, made by `sklearn.metrics.PredictionErrorDisplay`; between dashed lines are intervals for 90 % of new rows. At
        most 2,000 rows are drawn.

    Raises
    ------
    ArgumentError
        If the model is none of these, is no regression of one target, or keeps no out-of-fold table; a ValueError.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spotsvm import TunedSVR
    >>> from spotsvm.plots import plot_residuals
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = TunedSVR(budget=2, random_state=0).fit(X[:100], y[:100])
    >>> plot_residuals(model).axes[0].get_ylabel()
    'target less prediction'
    """
    judged = _regression(model, "plot_residuals")
    return _figure([lambda ax: draw_residuals(ax, judged)])


def plot_members(model: Any) -> Figure:
    """Return the weights of the members of an average by their kind, such as their kernel.

    Parameters
    ----------
    model : TunedSVC, TunedSVR or SpotSearchCV
        A fitted average.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Raises
    ------
    ArgumentError
        If the model is none of these, is no average, or its members differ in numbers alone; a ValueError.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from spotsvm import TunedSVC
    >>> from spotsvm.plots import plot_members
    >>> X, y = load_wine(return_X_y=True)
    >>> plot_members(TunedSVC(budget=2).fit(X, y)).axes[0].get_xlabel()
    'weight'
    """
    fitted = _fitted(model, "plot_members")
    if fitted.members is None or not kinds_of(fitted):
        what = "no average" if fitted.members is None else "an average of one kind"
        raise ArgumentError(
            f"plot_members: the model is {what}; tune one with several kernels and average=True or refit='average'"
        )
    weights = kind_weights(fitted)
    return _figure([lambda ax: draw_kinds(ax, weights)], _WIDTH, 0.75 + 0.28 * len(weights))


def plot_importance(explanation: Explanation) -> Figure:
    """Return the importance of the columns with intervals: by how much the score falls if a column is permuted.

    Parameters
    ----------
    explanation : Explanation
        What `explain()` of a fitted model returns.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, of at most 15 columns.

    Raises
    ------
    ArgumentError
        If it is none, or of sparse rows; a ValueError.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spotsvm import TunedSVR
    >>> from spotsvm.plots import plot_importance
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TunedSVR(budget=2, random_state=0).fit(X[:100], y[:100])
    >>> plot_importance(model.explain()).axes[0].get_xlabel()
    'fall of R2'
    """
    found = _explanation(explanation, "plot_importance")
    _with_columns(found, "plot_importance")
    return _figure([lambda ax: draw_importance(ax, found)], _WIDTH, importance_height(found))


def plot_dependence(explanation: Explanation) -> Figure:
    """Return the partial dependence of the four strongest columns: the mean prediction if all rows had the same value.

    Parameters
    ----------
    explanation : Explanation
        What `explain()` of a fitted model returns.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, with a thin line for each fold.

    Raises
    ------
    ArgumentError
        If it is none, or of sparse rows; a ValueError.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spotsvm import TunedSVR
    >>> from spotsvm.plots import plot_dependence
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TunedSVR(budget=2, random_state=0).fit(X[:100], y[:100])
    >>> len(plot_dependence(model.explain()).axes)
    4
    """
    found = _explanation(explanation, "plot_dependence")
    columns = _with_columns(found, "plot_dependence")
    return _figure([lambda ax, one=one: draw_dependence(ax, found, one) for one in columns], 3.4, 3.0)  # type: ignore[misc]


def plot_learning_curve(explanation: Explanation) -> Figure:
    """Return the score by the number of training rows, with intervals.

    Parameters
    ----------
    explanation : Explanation
        What `explain()` of a fitted model returns.

    Returns
    -------
    matplotlib.figure.Figure
        The picture.

    Raises
    ------
    ArgumentError
        If it is none; a ValueError.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from spotsvm import TunedSVR
    >>> from spotsvm.plots import plot_learning_curve
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TunedSVR(budget=2, random_state=0).fit(X[:100], y[:100])
    >>> plot_learning_curve(model.explain()).axes[0].get_xlabel()
    'training rows'
    """
    found = _explanation(explanation, "plot_learning_curve")
    return _figure([lambda ax: draw_learning_curve(ax, found)])


def _explanation(explanation: Any, what: str) -> Explanation:
    if not isinstance(explanation, Explanation):
        raise ArgumentError(
            f"{what}: {type(explanation).__name__} is no explanation; pass that of model.explain(), once for all pictures"
        )
    return explanation


def _with_columns(found: Explanation, what: str) -> list[str]:
    """Return the strongest columns."""
    if not len(found.importance):
        raise ArgumentError(f"{what}: the columns of sparse rows are not permuted; use X.toarray() for few columns")
    return strongest(found)


def _figure(draws: Sequence[Callable[[Axes], object]], width: float = _WIDTH, height: float = _HEIGHT) -> Figure:
    """Return a figure with axes beside each other, of which each is drawn by a function."""
    import matplotlib.pyplot  # noqa: F401  which tells a notebook how to show figures

    with drawing(width * len(draws), height) as figure:
        for ax, draw in zip(panels(figure, len(draws), len(draws)), draws, strict=True):
            draw(ax)
    return figure


def _fitted(model: Any, what: str) -> FittedModel:
    if not isinstance(model, SpotSearchCV | TunedSVC | TunedSVR):
        raise ArgumentError(f"{what}: model={type(model).__name__} is no fitted model; pass a TunedSVC, TunedSVR or SpotSearchCV")
    check_is_fitted(model)
    return fitted_search(model) if isinstance(model, SpotSearchCV) else fitted_tuned(model)


def _judged(model: Any, what: str, classifies: bool) -> tuple[FittedModel, JudgedAnswers]:
    fitted = _fitted(model, what)
    if fitted.classifies != classifies:
        kinds = ("a classifier", "a regression") if classifies else ("a regression", "a classifier")
        raise ArgumentError(f"{what} is of {kinds[0]}, and the model is {kinds[1]}")
    judged = fitted.judged()
    if judged is None:
        raise ArgumentError(
            f"{what}: the model has no answers for rows that it was not fitted on; fit it with keep_out_of_fold=True, and a "
            "target of one column"
        )
    return fitted, judged


def _classifier(model: Any, what: str) -> tuple[FittedModel, JudgedAnswers, Array]:
    fitted, judged = _judged(model, what, True)
    assert fitted.classes is not None
    return fitted, judged, np.asarray(fitted.classes)


def _regression(model: Any, what: str) -> JudgedAnswers:
    return _judged(model, what, False)[1]


def _curve(model: Any, what: str, draw: Callable[[Axes, FittedModel, JudgedAnswers, Array], None]) -> Figure:
    fitted, judged, classes = _classifier(model, what)
    if judged.ranks is None:
        raise ArgumentError(f"{what}: the model has votes alone; tune an estimator with predict_proba or decision_function")
    if not shown_classes(fitted, judged, classes):
        raise ArgumentError(f"{what}: the judged rows are of one class")
    return _figure([lambda ax: draw(ax, fitted, judged, classes)])
