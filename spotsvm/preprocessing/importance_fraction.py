"""ImportanceFraction: the features with a given share of a random forest's importance."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from threading import Lock
from typing import Any, Literal, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.common.checks import check_choice
from spotsvm.errors import ArgumentError
from spotsvm.solvers.checked_numbers import as_float

#: number of forests whose importances are cached: enough for many folds, at 8 bytes a feature
REMEMBERED = 256
_LOCK = Lock()
_KNOWN: OrderedDict[str, NDArray[np.float64]] = OrderedDict()


@dataclass(eq=False, repr=False)
class ImportanceFraction(SelectorMixin, BaseEstimator):
    """Select the fewest features that together have a given share of the importance in a random forest.

    The forest does not depend on `fraction`. With an integer `random_state` its importances are cached in the process, so that a
    search over many fractions grows one forest for each training set, not one for each trial.

    Parameters
    ----------
    fraction : float, default=0.5
        Share of the whole importance, above 0 and up to 1: the paper's XPERC. 1 leaves out only features that no tree splits by.
    task : {"auto", "classification", "regression"}, default="auto"
        The kind of forest; "auto" is regression for a target with values that are not integers.
    n_estimators : int, default=100
        Number of trees, 1 or more.
    max_samples : int, float or None, default=None
        Number or share of rows that each tree draws; None for all. Fewer are quicker.
    min_samples_leaf : int or float, default=1
        As in RandomForestClassifier. More is quicker.
    class_weight : {"balanced", "balanced_subsample"}, dict or None, default=None
        Weights of classes in the forest, as in RandomForestClassifier; not used in regression.
    random_state : int, RandomState or None, default=None
        Seed of the forest. With None each fit may select other features.
    n_jobs : int or None, default=None
        Trees grown at once. The result does not depend on it.

    Attributes
    ----------
    importances_ : ndarray of shape (n_features,)
        The importances, by the decrease of impurity; their sum is 1, or 0 if no tree splits.
    n_selected_ : int
        Number of selected features; `get_support` says which.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Raises
    ------
    ArgumentError
        In `fit`, if a parameter is not as above; a ValueError.

    See Also
    --------
    PrincipalMonomials : Features to choose from.
    CutoffClassifier : Classes decided by cutoffs.

    Notes
    -----
    The paper ranks by a random forest too, without naming the kind of importance. Where no tree splits (a constant target,
    constant features), all features are selected.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ImportanceFraction(0.8, random_state=0).fit(
    ...     X, y
    ... ).get_feature_names_out().tolist()
    ['petal length (cm)', 'petal width (cm)']
    """

    fraction: float = 0.5
    _: KW_ONLY
    task: Literal["auto", "classification", "regression"] = "auto"
    n_estimators: int = 100
    max_samples: int | float | None = None
    min_samples_leaf: int | float = 1
    class_weight: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the forest, and select.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Classes, or targets.

        Returns
        -------
        ImportanceFraction
            Itself.

        Raises
        ------
        ArgumentError
            If a parameter is invalid; a ValueError.

        See Also
        --------
        transform : Keeps the columns selected.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        fraction = as_float(self.fraction)
        if not 0 < fraction <= 1:
            raise ArgumentError(f"fraction={self.fraction!r}; use a share of the importance, above 0 and up to 1")
        classify = self._classify(y)
        if classify:
            check_classification_targets(y)
        self.importances_ = forest_importances(
            X,
            y if classify else np.asarray(y, dtype=np.float64),
            classify,
            self.random_state,
            self.n_jobs,
            n_estimators=self.n_estimators,
            max_samples=self.max_samples,
            min_samples_leaf=self.min_samples_leaf,
            **({"class_weight": self.class_weight} if classify else {}),
        )
        order = np.argsort(-self.importances_, kind="stable")
        held = np.cumsum(self.importances_[order])
        # sums of the same numbers in another order differ in their last digits
        enough = fraction * held[-1] * (1 - 1e-12)
        self.n_selected_ = len(order) if held[-1] == 0 else int(np.searchsorted(held, enough)) + 1
        self._mask = np.zeros(len(order), dtype=bool)
        self._mask[order[: self.n_selected_]] = True
        return self

    def _classify(self, y: NDArray[Any]) -> bool:
        check_choice("task", self.task, ("auto", "classification", "regression"))
        if self.task == "auto":
            return not str(type_of_target(y)).startswith("continuous")
        return self.task == "classification"

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self._mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def forest_importances(
    X: NDArray[np.float64], y: NDArray[Any], classify: bool, random_state: Any, n_jobs: int | None = None, **options: Any
) -> NDArray[np.float64]:
    """Return the importance of each feature in a random forest; with an integer seed the latest results are cached."""
    key = None
    if isinstance(random_state, Integral):
        key = joblib.hash((X, y, classify, int(random_state), options))
        with _LOCK:
            if key in _KNOWN:
                _KNOWN.move_to_end(key)
                return _KNOWN[key].copy()
    kind = RandomForestClassifier if classify else RandomForestRegressor
    forest = kind(random_state=random_state, n_jobs=n_jobs, max_features="sqrt", **options).fit(X, y)
    importances: NDArray[np.float64] = forest.feature_importances_
    if key is not None:
        with _LOCK:
            _KNOWN[key] = importances.copy()
            while len(_KNOWN) > REMEMBERED:
                _KNOWN.popitem(last=False)
    return importances
