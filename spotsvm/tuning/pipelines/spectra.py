"""The pipeline "spectra": an SVM of important components and monomials for classes, of derivatives and PLS scores for numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.stats import loguniform, uniform
from sklearn.compose import TransformedTargetRegressor
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm.errors import ArgumentError
from spotsvm.estimators.class_entries import class_names
from spotsvm.estimators.cutoff.cutoff_classifier import CutoffClassifier
from spotsvm.luck.verdict import DISCRIMINANT, PLS, TUNED
from spotsvm.preprocessing.far_targets import TargetScaler
from spotsvm.preprocessing.importance_fraction import ImportanceFraction
from spotsvm.preprocessing.principal_monomials import PrincipalMonomials
from spotsvm.preprocessing.spectra.pls_scores import PLSScores
from spotsvm.preprocessing.spectra.savitzky_golay import SavitzkyGolay
from spotsvm.preprocessing.spectra.scatter_correction import ScatterCorrection
from spotsvm.trials.metrics import mean_class_accuracy_scorer
from spotsvm.tuned.tuned_svc import SCORES as CLASSIFICATION_SCORES
from spotsvm.tuned.tuned_svc import TunedSVC
from spotsvm.tuned.tuned_svr import SCORES as REGRESSION_SCORES
from spotsvm.tuned.tuned_svr import TunedSVR
from spotsvm.tuning.pipelines.default_spaces import default_space, iteration_cap, machine_space, voting_space
from spotsvm.tuning.tables.target import Task

_CLASSIFIER, _REGRESSOR = "cutoffclassifier", "transformedtargetregressor"

REGIONS = ("default", "table7", "table8")
#: numbers of scores of partial least squares among which the rivals choose
_N_SCORES = (1, 2, 4, 6, 8, 10, 12, 16, 20)
#: parameters to vary first in the default region of classification (see `opening`): the share of importance, C and gamma
FIRST = ("importancefraction__fraction", f"{_CLASSIFIER}__estimator__C", f"{_CLASSIFIER}__estimator__gamma")


def spectra_pipeline(
    task: Task,
    n_samples: int,
    classes: Sequence[Any] | None = None,
    *,
    region: Literal["default", "table7", "table8"] = "default",
    scale: bool = False,
    random_state: int | None = 0,
    n_estimators: int = 100,
) -> tuple[Pipeline, dict[str, Any]]:
    """Return the pipeline for spectra, and its search space.

    For K classes 2 K + 2 parameters are tuned: the share of importance, gamma, C, K class weights and K - 1 cutoffs. Only the
    ratios of the cutoffs matter. In regression seven are tuned: order and window of the derivative, whether each spectrum is
    scaled (standard normal variate), the number of scores of partial least squares, gamma, C and epsilon; the target is scaled.

    Parameters
    ----------
    task : {"classification", "regression"}
        The task.
    n_samples : int
        Number of training rows.
    classes : sequence, optional
        All classes, two or more; not used in regression.
    region : {"default", "table7", "table8"}, default="default"
        "default" has gamma in 2^-12 .. 1 and C in 2^-2 .. 2^12, class weights from 2/3 to 3/2 of the "balanced" ones, and
        cutoffs from 7/8 to 8/7 of equal shares, all log-uniform, so that the untuned weights and cutoffs are in the middle.
        "table7" and "table8" are the paper's regions; they differ in gamma and C. All are uniform, with absolute weights.
    scale : bool, default=False
        Whether each wavelength is first scaled to unit variance, in classification. The paper does not scale; the pipeline
        "spectra" does, because the mean tuned score over four splits of the Tecator spectra was higher with scaling.
    random_state : int or None, default=0
        Seed of the forest that ranks the features, in classification.
    n_estimators : int, default=100
        Number of trees of the forest.

    Returns
    -------
    pipeline : Pipeline
        With `scale` a StandardScaler; then PrincipalMonomials, ImportanceFraction, StandardScaler and CutoffClassifier of SVC. In
        regression SavitzkyGolay, ScatterCorrection, PLSScores, and SVR on a scaled target.
    space : dict
        Distributions by parameter name.

    Raises
    ------
    ArgumentError
        If the region is unknown or for another task, or there are fewer than two classes; a ValueError.

    Notes
    -----
    Table 8 prints 0 as the smallest C, which is not a valid C: the region begins at 0.01. The paper's last cutoff follows from
    the others, which may sum to more than 1; they are then scaled (see `CutoffClassifier`). Tables 7 and 8 are for five classes;
    for K classes the cutoffs range from 0.05 / K to 2 / K, which agrees for five.

    The paper has no regression on spectra. What is done there follows the practice of near-infrared spectroscopy.

    With few trials the many parameters are a disadvantage. `opening(space, FIRST)` makes a search that varies share, C and gamma
    first, with balanced weights and equal cutoffs, as `spotsvm tune` does.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.2.2,
    Tables 7 and 8.

    Examples
    --------
    >>> pipeline, space = spectra_pipeline(
    ...     "classification", 200, ["lean", "medium", "fat"]
    ... )
    >>> len(space), [name for name in space if "__cutoff__" in name]
    (8, ['cutoffclassifier__cutoff__fat', 'cutoffclassifier__cutoff__lean'])

    The pipeline is an estimator, with or without a search:

    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(
    ...     200, 50, n_informative=10, n_classes=3, random_state=0
    ... )
    >>> pipeline, space = spectra_pipeline(
    ...     "classification", 200, np.unique(y), n_estimators=10
    ... )
    >>> pipeline.fit(X, y).predict(X).shape
    (200,)
    """
    if not (isinstance(region, str) and region in REGIONS):
        raise ArgumentError(f"region={region!r}; use one of {', '.join(map(repr, REGIONS))}")
    own = _machine_region(region)
    if task == "regression":
        if region != "default":
            raise ArgumentError(f"region={region!r} is for classification; use region='default' in regression")
        return _regression(n_samples, own | {"epsilon": machine_space(epsilon=True)["epsilon"]})
    steps: list[tuple[str, Any]] = [("scale_spectra", StandardScaler())] if scale else []
    forest = ImportanceFraction(task=task, n_estimators=n_estimators, random_state=random_state)
    steps += [("principalmonomials", PrincipalMonomials()), ("importancefraction", forest), ("standardscaler", StandardScaler())]
    space = {"importancefraction__fraction": default_space(forest)["fraction"]}
    distinct = np.unique(np.asarray([] if classes is None else classes))
    if len(distinct) < 2:
        raise ArgumentError(f"classes={classes!r}; use two classes or more")
    labels = distinct.tolist()
    voter = CutoffClassifier(SVC(max_iter=iteration_cap(n_samples)), classes=labels, excess="scale")
    if region == "default":
        # all cutoffs are set, so that the last one does not follow from the others and their ratios are tuned
        neutral = {"class_weight": dict.fromkeys(labels, 1.0), "cutoff": dict.fromkeys(labels, 1.0 / len(labels))}
        voter.set_params(weight_unit="balanced", **neutral)
    voting = voting_space(labels) if region == "default" else _voting_region(labels)
    space |= _named(f"{_CLASSIFIER}__estimator", own) | _named(_CLASSIFIER, voting)
    return Pipeline([*steps, (_CLASSIFIER, voter)]), space


def _regression(n_samples: int, of_machine: dict[str, Any]) -> tuple[Pipeline, dict[str, Any]]:
    """Return the pipeline of regression, and its space."""
    machine = TransformedTargetRegressor(SVR(max_iter=iteration_cap(n_samples)), transformer=TargetScaler())
    filters = make_pipeline(SavitzkyGolay(deriv=2), ScatterCorrection(), PLSScores())
    pipeline = Pipeline([*filters.steps, (_REGRESSOR, machine)])
    return pipeline, default_space(filters) | _named(f"{_REGRESSOR}__regressor", of_machine)


def _machine_region(region: str) -> dict[str, Any]:
    """Return the distributions of C and gamma."""
    if region == "table7":
        return {"C": uniform(1.0, 9.0), "gamma": uniform(0.005, 0.295)}
    if region == "table8":
        return {"C": uniform(0.01, 99.99), "gamma": uniform(0.001, 0.799)}
    return {"C": loguniform(2.0**-2, 2.0**12), "gamma": loguniform(2.0**-12, 1.0)}


def _voting_region(labels: Sequence[Any]) -> dict[str, Any]:
    """Return the distributions of the paper's weights and cutoffs; the last cutoff follows from the others."""
    names, low, high = class_names(labels), 0.05 / len(labels), 2.0 / len(labels)
    space = {f"class_weight__{name}": uniform(0.05, 0.95) for name in names}
    return space | {f"cutoff__{name}": uniform(low, high - low) for name in names[:-1]}


class RivalModel(NamedTuple):
    """A model to compare with an SVM: its code and name, and the name of the argument of its `fit` that takes groups, if any."""

    code: str
    name: str
    model: Any
    groups: str = ""


def spectra_rivals(task: Task, n_samples: int, n_columns: int, cv: Any, scoring: Any, random_state: int) -> list[RivalModel]:
    """Return the models that spectra are usually given to, with settings by cross-validation, and an average of SVMs.

    The average gets second derivatives with the standard normal variate; its score is `scoring` if it knows it.
    """
    classify = task == "classification"
    # enough rows for nested folds
    most = max(1, min(n_columns, n_samples // 2))
    counts = [n for n in _N_SCORES if n <= most]
    as_they_are = {"savitzkygolay__deriv": [0], "scattercorrection__method": ["none"]}
    corrected = {"savitzkygolay__deriv": [1, 2], "scattercorrection__method": ["snv"]}
    filters = SavitzkyGolay(deriv=2), ScatterCorrection()
    code, name, steps, last = (
        (DISCRIMINANT, "linear discriminant analysis", (PLSScores(task=task), LinearDiscriminantAnalysis()), "plsscores")
        if classify
        else (PLS, "partial least squares", (PLSRegression(),), "plsregression")
    )
    grid = [one | {f"{last}__n_components": counts} for one in (as_they_are, corrected)]
    linear = GridSearchCV(make_pipeline(*filters, *steps), grid, cv=cv, scoring=scoring)
    metric = "balanced_accuracy" if scoring is mean_class_accuracy_scorer else scoring
    known = metric if metric in (CLASSIFICATION_SCORES if classify else REGRESSION_SCORES) else None
    average = (TunedSVC if classify else TunedSVR)(scoring=known, random_state=random_state)
    kind = type(average).__name__
    return [
        RivalModel(code, name, linear, "groups"),
        RivalModel(TUNED, kind, make_pipeline(*filters, average), f"{kind.lower()}__groups"),
    ]


def _named(prefix: str, space: dict[str, Any]) -> dict[str, Any]:
    return {f"{prefix}__{name}": distribution for name, distribution in space.items()}
