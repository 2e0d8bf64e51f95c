"""TunedSVR: an average of support vector regressions of several kinds, tuned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils.validation import check_is_fitted

from spotsvm.common.notices import Notice
from spotsvm.cross_validation.fast_machines import Machines
from spotsvm.errors import ArgumentError, DataError
from spotsvm.luck.calibration import conformal_limit
from spotsvm.luck.scores import Score, score_called
from spotsvm.out_of_fold.combination import Combination
from spotsvm.out_of_fold.judged_rows import JudgedRows
from spotsvm.preprocessing.far_targets import ordinary_range, target_notices
from spotsvm.preprocessing.kept_digits import ROUNDING, factors, lost_digits
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.tuned.base import Array, Floats, TunedModel, check_coverage
from spotsvm.tuned.default_models import default_svm
from spotsvm.tuned.families import FAMILIES
from spotsvm.tuned.power_target import PowerScale
from spotsvm.tuned.sweeps import Setting
from spotsvm.tuned.task import Task

#: allowed values of `scoring`
SCORES = ("r2", "neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error")
_EPSILON = 0.02  # in standard deviations of the target
_FOLLOWS = "; scale, settings and limits of predictions follow the others"
_LARGEST, _FARTHEST = 1e100, 1e70  # of a target, and in standard deviations of the target: fourth powers are floats


@dataclass(eq=False, repr=False, kw_only=True)
class TunedSVR(RegressorMixin, TunedModel):
    """An average of support vector regressions of several kinds: tuned and judged in one fit.

    As `TunedSVC`, with five widths for each family with squared loss. These families predict the target and, unless this is
    hardly another scale, the target after a Yeo-Johnson power that brings it nearer to a normal distribution; the mean target for
    such a prediction is that of the targets which it and the out-of-fold residuals make (smearing, Duan 1983). The settings of
    the average are selected greedily with replacement, each to minimise the squared out-of-fold error of the average.

    A few targets that are far from all others, as by a mistake, do not decide the fit: the scale of the target, the settings, the
    relevance and models with squared loss take a far target as the farthest of the others. A target is far if its distance from
    the median is more than 10 robust standard deviations (of the middle half of the targets; if these are equal, of the middle
    90 %), and 5 times the largest of the others, which are at least 90 % of the rows. A `DataWarning` names these rows. The
    scores have all targets as they are.

    Parameters
    ----------
    families, budget, timeout, rows, average, categorical, path, n_jobs, random_state, verbose, keep_out_of_fold
        As in `TunedSVC`; beyond the grid, epsilon is searched too.
    space : dict or None, default=None
        As in `TunedSVC`, without class weights and with "epsilon", in standard deviations of the target: the grid has 0.02, and
        the search range is 0.002 to 0.5 unless the space sets another.
    scoring : str or None, default=None
        The score for the estimates, and of the method `score`: None or "r2", "neg_mean_squared_error" or
        "neg_root_mean_squared_error", with the same weights; or "neg_mean_absolute_error", for which the weight of a setting is
        how often it is the best when rows are drawn again.
    cv : int, splitter or iterable, default=5
        Number of shuffled folds (with groups, of whole groups), or folds in scikit-learn's forms. A `DataWarning` tells if groups
        or rows allow fewer.

    Attributes
    ----------
    expected_score_, default_score_, constant_score_, verdict_
        As in `TunedSVC`; the default is `SVR()` on standardised numbers, with a target scaled to mean 0 and
        variance 1; the constant is the mean.
    members_, settings_, best_params_, best_index_
        As in `TunedSVC`, with epsilon in units of the target, nan for squared loss, and `target`, "own" or "power", the scale on
        which the target was predicted, if there are two.
    out_of_fold_ : OutOfFold
        As in `TunedSVC`; the answers are predictions in the unit of the target.
    average_oof_ : ndarray of shape (n,)
        Out-of-fold predictions; nan for rows of weight 0 or in no test fold.
    columns_, relevance_, support_, support_vectors_, dual_coef_, complete_, n_rows_, seed_, fit_seconds_
        As in `TunedSVC`.
    n_features_in_, feature_names_in_
        scikit-learn's attributes.

    Raises
    ------
    ArgumentError
        In `fit`, if a parameter is invalid; a ValueError.

    See Also
    --------
    TunedSVC : The estimator for classification.
    SpotSearchCV : Tunes any estimator.

    References
    ----------
    Caruana, Niculescu-Mizil, Crew, Ksikes 2004, "Ensemble Selection from Libraries of Models".

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = TunedSVR(random_state=0).fit(X[:200], y[:200])
    >>> model.verdict_.decision
    'no difference seen'
    >>> low, high = model.predict_interval(X[200:], coverage=0.9).T
    >>> round(float(((low <= y[200:]) & (y[200:] <= high)).mean()), 2)
    0.84
    """

    _log_gammas = (-3.0, -7.0, 1.0, -5.0, -1.0)
    _log_costs = (-4.0, 0.0, 4.0, 8.0)

    def _score(self) -> Score:
        return score_called("r2" if self.scoring is None else self.scoring, SCORES)

    def _task(self, y: Any, weights: Floats) -> Task:
        y = np.asarray(y, dtype=np.float64)
        self._least, self._most = float(y.min()), float(y.max())
        low, high = ordinary_range(y, weights)
        aim = np.clip(y, low, high)
        # the middle is subtracted, and a power of two taken out, before any sum or square, which would cost digits
        middle, factor = 0.5 * low + 0.5 * high, float(factors(np.array(0.5 * high - 0.5 * low)))
        shift = float(np.average((aim - middle) * factor, weights=weights))
        deviation = float(np.sqrt(np.average(((aim - middle) * factor - shift) ** 2, weights=weights))) / factor
        self._mean = middle + shift / factor
        self._deviation = deviation if deviation > ROUNDING * max(abs(low), abs(high)) else 1.0
        z, near = (((one - middle) - shift / factor) / self._deviation for one in (y, aim))
        if (np.abs(y) > _LARGEST).any() or (np.abs(z) > _FARTHEST).any():
            largest = float(y[int(np.argmax(np.abs(y)))])
            raise DataError(
                f"y has {largest:.6g}, too large to square; use a larger unit, or leave the row out if it is a mistake"
            )
        room = 0.5 * float(np.ptp(near))
        scale = PowerScale.of(near, weights)
        self._has_power = scale is not None
        aims = near[None] if scale is None else np.stack([near, scale.values(near)])
        machines = Machines(z[None], weights, 0, (float(near.min()) - room, float(near.max()) + room), aims=aims)

        def default(train: NDArray[np.intp]) -> tuple[float, float]:
            # SVR() on the target of these rows by TargetScaler
            spread = float(np.clip(z[train], *ordinary_range(z[train])).std()) or 1.0
            return spread, 0.1 * spread

        return Task(y, aim, machines, aims.T, default, _EPSILON, None, self._mean, self._deviation, scale)

    def _target_notices(self, y: Any, rows: NDArray[np.intp], weights: Floats) -> list[Notice]:
        floats = np.asarray(y, dtype=np.float64)
        lost = lost_digits("y", np.asarray(y), floats)
        return [*target_notices(floats, lambda k: f"row {rows[k]}", weights, _FOLLOWS), *([] if lost is None else [lost])]

    def _splitter(self, n_folds: int, y: Array, grouped: bool, seed: int) -> Any:
        if grouped:
            return GroupKFold(n_folds, shuffle=True, random_state=seed)
        return KFold(min(n_folds, len(y)), shuffle=True, random_state=seed)

    def _in_units(self, decisions: Array) -> Array:
        return np.asarray(decisions, dtype=np.float64) * self._deviation + self._mean

    def _slack(self, gains: Array) -> float:
        return max(0.02 * abs(float(gains.mean())), 1e-300)

    def _keep(self, found: Combination, rows: JudgedRows) -> None:
        self._unusual, self._unusual_weights = np.abs(found.decisions[:, 0] - rows.y), rows.weights

    def default_estimator(self, cv: int = 5) -> Any:
        """Return the default model, with which `verdict_` compares the tuned one, not fitted yet.

        Parameters
        ----------
        cv : int, default=5
            Not used, as there are no probabilities to calibrate.

        Returns
        -------
        estimator
            A pipeline of a `TableEncoder` that standardises numbers, and `SVR()` with a standardised target; after a fit to
            sparse rows of a `StandardScaler` that does not centre them, and this `SVR()`.
        """
        return default_svm(False, self.categorical, sparse_gamma=self._sparse_gamma)

    def _scorer(self) -> Any:
        return get_scorer(self.scoring_)

    def _fitted_constant(self, task: Task, weights: Floats) -> Any:
        return DummyRegressor().fit(np.zeros((len(task.y), 1)), task.y, sample_weight=weights)

    def _public(self, decisions: Array) -> Array:
        return self._in_units(decisions[:, 0])

    def _described(self, setting: Setting) -> dict[str, Any]:
        epsilon = np.nan if FAMILIES[setting.family].squared else setting.epsilon * self._deviation
        target = {"target": "power" if setting.power else "own"} if self._has_power else {}
        return {**super()._described(setting), "epsilon": epsilon, **target}

    def predict(self, X: Any) -> Floats:
        """Return the prediction of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The predictions, limited to the range of the training targets (without those far from all others) extended by half its
            length on both sides.
        """
        return np.asarray(self._in_units(np.clip(self._averaged(X)[:, 0], *self._limits)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of predictions for rows by `scoring`, as scikit-learn's scorer of that name; by default R2.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows.

        Returns
        -------
        float
            The score; larger is better, so errors are negative.

        See Also
        --------
        predict : What is scored, for scores of predictions.
        """
        check_is_fitted(self)
        return float(get_scorer(self.scoring_)(self, X, y, sample_weight=sample_weight))

    def predict_interval(self, X: Any, coverage: float = 0.9, *, bounds: tuple[float, float] = (-np.inf, np.inf)) -> Floats:
        """Return intervals that contain the target with a given probability.

        All intervals have the same width, twice the absolute out-of-fold error that a share `coverage` of the training rows does
        not exceed (cross-conformal prediction), before they are cut to the `bounds`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        coverage : float, default=0.9
            The required share of new rows whose target is in the interval.
        bounds : tuple of float, default=(-inf, inf)
            The least and the largest possible target, such as (0, 1) for a share or (0, inf) for a length.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends; those of the bounds if there are too few training rows for so high a coverage.

        Raises
        ------
        ArgumentError
            If the coverage is not between 0 and 1, or training targets are outside the bounds; a ValueError.
        """
        share = check_coverage(coverage)
        check_is_fitted(self)
        low, high = bounds if np.shape(bounds) == (2,) else (np.nan, np.nan)
        if not (as_float(low) <= self._least and self._most <= as_float(high)):
            raise ArgumentError(
                f"bounds={bounds!r}; use the least and the largest possible target, which include those of the training rows, "
                f"{self._least:g} to {self._most:g}"
            )
        limit = conformal_limit(self._unusual, self._unusual_weights, share)
        center = self.predict(X)
        return np.clip(np.stack([center - limit, center + limit], axis=1), low, high)
