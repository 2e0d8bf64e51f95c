"""Kernel matrices of a model on given rows; shared parts are computed once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spotsvm.estimators import Floats
from spotsvm.multi_kernel.models.column_groups import column_names
from spotsvm.solvers.kernels.functions.multi_kernel import BaseKernel
from spotsvm.solvers.kernels.matrices.gram import GramCache, check_rows


class KernelMatrices:
    """Kernel matrices of one model on some rows, for any parameters.

    For fixed kernels the matrices are computed once, and for kernels with a tuned gamma the squared distances: 8 n^2 bytes are
    cached for each. At most 200 MiB of distances are cached for a group; larger distances are computed anew.

    Parameters
    ----------
    model : KernelModel
        The model.
    X : array-like of shape (n, d)
        Rows; gamma="scale" is computed from them.

    Raises
    ------
    SolverError
        If X is invalid.

    See Also
    --------
    KernelModel : Creates it.

    Examples
    --------
    >>> from spotsvm.kernels import ConicModel
    >>> matrices = ConicModel({"a": [0], "b": [1]}, kernel="linear").matrices(
    ...     [[1.0, 2.0], [3.0, 4.0]]
    ... )
    >>> matrices.gram({"weights__a": 1.0, "weights__b": 0.5})
    array([[ 3.,  7.],
           [ 7., 17.]])
    """

    def __init__(self, model: Any, X: Any):
        self.model = model
        self._names = column_names(X)
        self._rows = check_rows(X)
        self._tuned = any(name.split("__")[0] == "gamma" for name in model.names)
        self._caches: dict[tuple[int, ...], GramCache] = {}
        self._fixed: dict[BaseKernel, Floats] = {}

    def gram(self, params: Mapping[str, float]) -> Floats:
        """Compute the kernel matrix, C or the weights included.

        Parameters
        ----------
        params : dict
            The model's parameters.

        Returns
        -------
        ndarray of shape (n, n)
            A new matrix.

        Raises
        ------
        ArgumentError, SolverError
            If the parameters are invalid; ValueErrors.
        """
        kernel, C = self.model.combined(self._rows, self._names, params)
        n = len(self._rows)
        if kernel.product:
            matrix = np.full((n, n), C * kernel.weights[0])
            for base in kernel.bases:
                matrix *= self._base(base)
            return matrix
        matrix = np.zeros((n, n))
        for base, weight in kernel.terms:
            matrix += C * weight * self._base(base)
        return matrix

    def _base(self, base: BaseKernel) -> Floats:
        """Return the matrix of one kernel, not to be written to."""
        known = self._fixed.get(base)
        if known is not None:
            return known
        cache = self._caches.get(base.columns)
        if cache is None:
            cache = self._caches[base.columns] = GramCache(base.of(self._rows))
        matrix: Floats = cache.gram(base.kernel)
        if not self._tuned:
            self._fixed[base] = matrix
        return matrix
