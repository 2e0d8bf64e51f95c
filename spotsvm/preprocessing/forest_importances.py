"""The importances of a random forest, remembered by what they were computed from."""

from __future__ import annotations

from collections import OrderedDict
from numbers import Integral
from threading import Lock
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

Floats = NDArray[np.float64]

#: how many forests' importances are kept: those of many folds, at 8 bytes a feature
REMEMBERED = 256

_LOCK = Lock()
_KNOWN: OrderedDict[str, Floats] = OrderedDict()


def forest_importances(
    X: Floats, y: NDArray[Any], classify: bool, random_state: Any, n_jobs: int | None = None, **options: Any
) -> Floats:
    """Give the importance of each feature in a random forest.

    With a whole number as seed the result is a function of the arguments alone, and the last ones are remembered.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Training data.
    y : ndarray of shape (n_samples,)
        Classes, or targets.
    classify : bool
        Whether it is a forest of classifiers.
    random_state : int, RandomState or None
        Seed of the forest.
    n_jobs : int or None, default=None
        Trees grown at once.
    **options : dict
        Parameters of the forest.

    Returns
    -------
    ndarray of shape (n_features,)
        The importances.

    Examples
    --------
    >>> X = np.arange(20.0).reshape(10, 2) * [1, 0]
    >>> forest_importances(X, X[:, 0], False, 0, n_estimators=3).tolist()
    [1.0, 0.0]
    """
    key = None
    if isinstance(random_state, Integral):
        key = joblib.hash((X, y, classify, int(random_state), options))
        with _LOCK:
            if key in _KNOWN:
                _KNOWN.move_to_end(key)
                return _KNOWN[key].copy()
    kind = RandomForestClassifier if classify else RandomForestRegressor
    forest = kind(random_state=random_state, n_jobs=n_jobs, max_features="sqrt", **options).fit(X, y)
    importances: Floats = forest.feature_importances_
    if key is not None:
        with _LOCK:
            _KNOWN[key] = importances.copy()
            while len(_KNOWN) > REMEMBERED:
                _KNOWN.popitem(last=False)
    return importances
