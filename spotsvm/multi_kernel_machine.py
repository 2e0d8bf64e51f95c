"""The base class of the multiple-kernel classifier and regressor: their kernels, and parameters inside of dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from solvers.kernels.multi_gram import multi_gram_matrix, multi_kernel_blocks
from spotsvm.entry_parameters import EntryParametersMixin
from spotsvm.errors import ArgumentError
from spotsvm.kernel_machine import KernelMachine
from spotsvm.kernel_settings import KernelSettings
from spotsvm.svm_arguments import check_cache_size

if TYPE_CHECKING:
    from spotsvm.spot_search_cv import SpotSearchCV

Floats = NDArray[np.float64]


class MultiKernelMachine(EntryParametersMixin, KernelMachine):
    """Base class of MultiKernelSVC and MultiKernelSVR.

    Beside `weights`, a dict from kernels to numbers, there is `weights__<kernel>` for each of them, and beside `gamma`
    `gamma__<group>`. Setting one makes a new dict, in which the others stay what they were.
    """

    groups: Any
    scales: Any
    weights: Any
    combine: Any
    tune: Any
    n_trials: Any
    cv: Any
    scoring: Any
    random_state: Any
    tuning_: SpotSearchCV
    _calls_to_warn = 4
    _with_entries = ("weights", "gamma")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to training data; with `tune`, search the parameters of the kernels first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Classes, or targets.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C, 0 or more. A row of weight 2 counts as two rows, one of weight 0 as none; only to gamma="scale" each row
            counts once, as in scikit-learn.

        Returns
        -------
        estimator
            Itself.

        Raises
        ------
        ArgumentError
            If a parameter or a weight makes no sense, or `n_trials` is no budget for the search; a ValueError.
        SolverError
            If the kernel or the search does not; a ValueError.
        """
        if self.tune is None:
            if hasattr(self, "tuning_"):
                del self.tuning_
            # the machine beside this class in a subclass's bases
            fitted: Self = cast("Any", super()).fit(X, y, sample_weight)
            return fitted
        from spotsvm.kernel_tuning import take_fitted, tuned

        take_fitted(self, tuned(self, X, y, sample_weight))
        return self

    @property
    def _settings(self) -> KernelSettings:
        return KernelSettings(
            groups=self.groups,
            kernel=self.kernel,
            gamma=self.gamma,
            scales=self.scales,
            weights=self.weights,
            combine=self.combine,
            degree=self.degree,
            coef0=self.coef0,
        )

    def _replaced(self, parameter: str, entries: Mapping[str, Any]) -> dict[Any, Any]:
        whole = self._settings.named_weights() if parameter == "weights" else self._settings.named_gamma()
        unknown = next((inner for inner in entries if inner not in whole), None)
        if unknown is not None:
            raise ArgumentError(
                f"{parameter}__{unknown} is not a parameter; there are {', '.join(f'{parameter}__{name}' for name in whole)}"
            )
        return {**whole, **entries}

    def _set_kernel(self, X: Floats) -> None:
        settings = self._settings
        self.kernel_names_ = settings.kernel_names
        columns = settings.columns(X.shape[1], getattr(self, "feature_names_in_", None))
        self.groups_ = {name: np.array(chosen, dtype=np.intp) for name, chosen in columns.items()}
        self.gamma_ = settings.gammas(X, columns)
        self.weights_ = settings.weight_table(self._n_problems)
        bases = settings.bases(columns, self.gamma_)
        self.kernels_ = tuple(settings.combined(bases, row) for row in self.weights_)

    @property
    def _n_problems(self) -> int:
        classes = len(getattr(self, "classes_", ()))
        return max(classes * (classes - 1) // 2, 1)

    @property
    def _pairwise_data(self) -> bool:
        return False

    @property
    def _one_kernel(self) -> bool:
        return bool((self.weights_ == self.weights_[0]).all())

    def _gram(self, X: Floats, rows: NDArray[np.intp], problem: int = 0) -> Floats:
        return multi_gram_matrix(self.kernels_[problem], X[rows], max_bytes=check_cache_size(self.cache_size))

    def _support_columns(self, X: Any, problem: int = 0) -> Iterator[tuple[slice, Floats]]:
        if not len(self.support_):
            yield slice(0, len(X)), np.empty((len(X), 0))
            return
        yield from multi_kernel_blocks(
            self.kernels_[problem], X, self.support_vectors_, max_bytes=check_cache_size(self.cache_size)
        )

    def _weighted(self, plain: Floats) -> Floats:
        """Return the weights of the features from those with the plain linear kernel: times their groups' weights."""
        factors = np.empty_like(plain)
        for k, name in enumerate(self.kernel_names_):
            factors[:, self.groups_[name]] = self.weights_[:, [k]]
        return plain * factors
