"""Decisions of a machine that its own library trains, for each pair of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from spotsvm.stand_in import NotSharedError

Floats = NDArray[np.float64]


def own_decisions(machine: Any, X: Floats, y: NDArray[Any], rows: Floats) -> tuple[NDArray[Any] | None, Floats]:
    """Train a machine, and return its decisions for rows.

    Parameters
    ----------
    machine : SVC, SVR, NuSVC, NuSVR or EvoSVC
        It is changed.
    X, y : ndarray of shape (n, d) and (n,)
        Training data; kernel values with the kernel "precomputed".
    rows : ndarray of shape (m, d)
        What it is asked about; kernel values with the training data with the kernel "precomputed".

    Returns
    -------
    classes : ndarray of shape (n_classes,) or None
        The classes, None in regression.
    decisions : ndarray of shape (m, n_pairs)
        Decision of each pair's classifier; predictions in regression.

    Raises
    ------
    NotSharedError
        If it cannot be trained; scikit-learn's own way meets that again and reports it.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> X = np.array([[0.0], [1.0]])
    >>> own_decisions(SVC(kernel="linear"), X, np.array([3, 4]), X)
    (array([3, 4]), array([[-0.5],
           [ 0.5]]))
    """
    regression = is_regressor(machine)
    if not regression:
        machine.set_params(decision_function_shape="ovo", break_ties=False)
    try:
        machine.fit(X, y)
    except ValueError as error:
        raise NotSharedError(str(error)) from error
    if regression:
        return None, machine.predict(rows)[:, None]
    values = machine.decision_function(rows)
    return machine.classes_, values[:, None] if values.ndim == 1 else values
