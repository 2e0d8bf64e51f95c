"""TunedSVC: an average of support vector classifiers of several kinds, tuned and calibrated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.validation import check_is_fitted

from spotsvm.common.checks import check_flag
from spotsvm.common.compat import scorer_parts
from spotsvm.cross_validation.fast_machines import Machines, class_labels
from spotsvm.errors import ArgumentError
from spotsvm.estimators.class_entries import class_factors
from spotsvm.luck.calibration import conformal_limit
from spotsvm.luck.scores import Score, has_positive, labels_of, of_class, probabilities_of, score_called
from spotsvm.out_of_fold.combination import Combination, Rule
from spotsvm.out_of_fold.judged_rows import JudgedRows, own_class
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.trials.scorer_trial import with_positive
from spotsvm.tuned.base import Array, Floats, TunedModel, check_coverage
from spotsvm.tuned.default_models import default_classifier, default_svm, with_threshold
from spotsvm.tuned.fit_facts import FitFacts
from spotsvm.tuned.task import Task

#: allowed values of `scoring`
SCORES = (
    "accuracy",
    "balanced_accuracy",
    "f1",
    "f1_macro",
    "roc_auc",
    "roc_auc_ovr",
    "average_precision",
    "neg_log_loss",
    "neg_brier_score",
)


@dataclass(eq=False, repr=False, kw_only=True)
class TunedSVC(ClassifierMixin, TunedModel):
    """An average of support vector classifiers of several kinds: tuned, calibrated and judged in one fit.

    A grid of kernels, widths and C is scored by cross-validation with shared work. The model is an average of the few settings
    that would be the best if the rows were drawn again, each fitted on all rows. The out-of-fold decisions of the
    cross-validation also give probabilities, prediction sets, and the expected score on new rows, without further fits.

    Parameters
    ----------
    families : "auto" or list of str, default="auto"
        Kinds of models: kernels "rbf" and "laplacian" on standardised columns; with the prefix ``"power_"``, on columns after a
        Yeo-Johnson transformation; with the prefix ``"relevance_"``, on these columns times a relevance that is learned from the
        target; and "linear". These are support vector machines. The prefix ``"squared_"``, before any other, stands for squared
        loss in place of the hinge loss: least-squares support vector machines, in which all rows are support vectors. "auto" is
        ``"squared_"`` with "rbf", "laplacian", "relevance_rbf", "relevance_laplacian" and "linear", and, with the middle width
        alone, the first four without it; for sparse rows "auto" is "rbf", "linear", "squared_rbf" and "squared_linear", the only
        possible families.
    budget : int or None, default=None
        Number of sweeps; a sweep is a family, an encoding and a width with all C. The first sweeps are the grid (with more than
        600 rows, the part of it that is promising on 400 of them); a Kriging search proposes family and width of the others. None
        is the grid alone, unless `space` is set.
    timeout : float or None, default=None
        Maximum seconds of the fit. The default model, one setting, and one kernel on all rows (with held-out rows: of the first
        round) are always completed, and work on the current kernel matrix may be.
    scoring : str or None, default=None
        The score for the weights and the estimates, and of the method `score`: None or "accuracy", "balanced_accuracy", "f1",
        "f1_macro", "roc_auc", "roc_auc_ovr", "average_precision", "neg_log_loss" or "neg_brier_score". "f1" and, of two classes,
        "average_precision" are those of `pos_label`.
    cv : int, splitter or iterable, default=5
        Number of shuffled stratified folds (with groups, of whole groups), or folds in scikit-learn's forms. A `DataWarning`
        tells if groups or rows allow fewer. Rows that are equal in all columns are in one fold, and copies of a row that are very
        many are training rows in each fold. Rows that no fold tests do not count in weights and estimates.
    rows : "auto", int or None, default="auto"
        Number of rows, stratified by class, on which the grid is scored; None is all. "auto" is all rows up to 3,000, then 2,000
        up to 6,000, otherwise 1,000. From 6,000 rows on, a fifth of the rows (at most 5,000) is held out, unless `rows` is None,
        `cv` is a splitter or there are fewer than 20 groups. Models are then fitted in rounds on 4,000 and 10,000 of the other
        rows (20,000 if a timeout allows it), and from 20,000 rows on also models with landmarks, which use all of the other rows.
        The held-out rows serve to choose, weight, calibrate and judge these models. Without held-out rows, members are fitted on
        up to 10,000 rows; scores are those of the grid's models, and therefore too low where more rows help. With more than 3,000
        rows there are at most five members.
    average : bool, default=True
        False fits only the single best setting and gives its support vectors.
    space : dict or None, default=None
        Further parameters to search beyond the grid, by name, with distributions as in `SpotSearchCV`; the grid has 1 for each,
        or the nearest value in the range. With None only family and width are searched, if `budget` exceeds the grid. The default
        `budget` with a space is the grid, 12 further sweeps, and 4 for each name. Names:
        "scale__<column>", a factor of all numbers made from a column, after standardisation, so that each column or group of
        columns has its own width. The columns of an array are x0, x1, ..., and a pattern such as "scale__pixel_*" is a common
        factor of all matching columns;
        "class_weight__<class>", a factor of C of a class in addition to `class_weight`. If `scoring` is a score of labels, such
        as "f1", the most probable class is that of the averaged decisions, whose threshold these weights move. With other scores
        they do not change the target of the calibration;
        "relevance", the exponent of the relevance in the families with a learned relevance: 0 leaves the relevance out;
        "gamma", in units of 1 / the typical distance, in place of 2^-9 to 2^3.
    categorical : iterable of str, default=()
        Columns to treat as categories, even if they have numbers; see `TableEncoder`.
    path : str, Path or None, default=None
        A record like that of `Study`: an SQLite file with each scored sweep and its out-of-fold decisions. After an interruption
        the same fit resumes from the record with the same result; with a larger `budget` it scores further sweeps. A record of
        other rows or parameters is an error. If `random_state` is None, the record's seed is used.
    n_jobs : int or None, default=None
        Number of threads for the folds, and of jobs for the fits on many rows; joblib's `parallel_config` can run these
        elsewhere. The result is the same for any number, unless a timeout ends the fit.
    random_state : int, RandomState or None, default=None
        Seed of folds and draws.
    verbose : int, default=0
        1 shows how far the sweeps of C are on standard error: a bar on a terminal, else a line for each tenth; with 2 or more a
        line for each sweep is printed. The logger `spotsvm.tuned` has the same lines, at level INFO.
    keep_out_of_fold : bool, default=True
        Whether the fitted estimator keeps `out_of_fold_`, the answers of all settings for all rows.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for each class, of which only the ratios count. Probabilities are those of rows with these weights, so the
        most probable class takes the weights into account.
    pos_label : object, default=None
        The positive class of the scores "f1" and "average_precision" and of `threshold`; None is the class 1, as in scikit-learn.
    threshold : float or None, default=None
        Of two classes, the probability from which on a row is predicted to be of the positive class; None predicts the most
        probable class. It counts in all scores of predictions, such as "accuracy" and "f1", also in those of the default model
        and of the constant, whose probabilities are then calibrated. It does not change probabilities and decisions.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    expected_score_ : ExpectedScore
        The score to expect on new rows, `value` with its 95 % `interval`: the mean over bootstrap draws of out-of-fold rows, in
        which weights are chosen on the drawn rows and judged on the others, corrected by the .632 rule. If rows are held out, the
        estimate uses these rows, and is the score of the final models.
    default_score_, constant_score_ : ExpectedScore
        The expected scores of `SVC()` on standardised numbers, and of the most frequent class, whatever the weights
        of the classes are.
    verdict_ : TuningGain
        Whether tuning helped compared with the default: `decision`, `value` with its `interval`, and a sentence.
    members_ : DataFrame
        A row for each setting in the average: family, encoding (see Notes) if the table allows several, width (in units of the
        typical distance), C, the parameters of `space`, weight, and the score of the setting alone. If rows are held out, also
        the number of rows of the fit, and of landmarks (0 for an exact model). C of a model with squared loss is half the inverse
        of the ridge.
    settings_ : DataFrame
        The same columns for all scored settings.
    best_params_, best_index_ : dict, int
        The single best setting, and its row in `settings_`.
    out_of_fold_ : OutOfFold
        The table of all settings' answers for rows that they were not fitted on: scores by other metrics, confusion matrix and
        more, without a further fit. At most 512 MB; then a warning says that the best settings alone have answers.
    average_oof_ : ndarray of shape (n,) or (n, n_classes)
        The averaged out-of-fold decisions, before calibration.
    oof_decision_function_, oof_predict_proba_ : ndarray
        Out-of-fold results of `decision_function` and `predict_proba`; only the calibration has used these rows. nan for rows of
        weight 0 or in no test fold; if rows are held out, nan for all other rows.
    columns_ : DataFrame
        The treatment of each column of X.
    relevance_ : Series
        The learned relevance of each number made from the columns, if a member uses it, in the encoding of most weight.
    support_, support_vectors_, dual_coef_ : ndarray
        With average=False: the rows of X that are support vectors, of several classes class by class, and their coefficients in
        the layout of `SVC`, in units of the transformed columns.
    complete_ : bool
        False if the timeout ended the grid early or left members out. All weights and scores are then those of the settings and
        members that are there.
    n_rows_ : int
        Number of rows of the fit, of the member with the most rows.
    seed_, fit_seconds_, n_features_in_, feature_names_in_
        The seed, the time of the fit, and scikit-learn's attributes.

    Raises
    ------
    ArgumentError
        In `fit`, if a parameter is invalid; a ValueError.

    See Also
    --------
    TunedSVR : The estimator for regression.
    SpotSearchCV : Tunes any estimator.

    Notes
    -----
    Equation :eq:`average` of the chapter :doc:`/method/index`.

    Out-of-fold rows also choose between encodings of the table. "standard" scales all numbers that `TableEncoder` makes to
    variance 1. Members with squared loss leave the 0/1 columns of levels and gaps, and texts, as they are where a category has
    three levels or more ("levels"). They also try whole numbers of 3 to 12 different values as categories ("codes"), and columns
    with the whole numbers of a week, year, day or hour (7, 12, 24 or 60, from 0 or 1) as sine and cosine ("cycles").

    `skops.io.dump` writes a fitted model to a file that holds no code, and `skops.io.load` reads it.

    References
    ----------
    Lacoste, Marchand, Laviolette, Larochelle 2014, "Agnostic Bayesian Learning of Ensembles".
    Suykens, Vandewalle 1999, "Least Squares Support Vector Machine Classifiers".
    Tsamardinos, Greasidou, Borboudakis 2018, "Bootstrapping the Out-of-sample Predictions for Efficient and Accurate
    Cross-Validation".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_new, y, y_new = train_test_split(X, y, train_size=200, random_state=0)
    >>> model = TunedSVC(random_state=0).fit(X, y)
    >>> low, high = model.expected_score_.interval
    >>> bool(low <= model.score(X_new, y_new) <= high)
    True
    >>> (
    ...     model.predict_proba(X_new).shape,
    ...     model.predict_set(X_new, coverage=0.95).shape,
    ... )
    ((369, 2), (369, 2))
    """

    class_weight: Any = None
    pos_label: Any = None
    threshold: float | None = None

    _log_costs = (-4.0, 0.0, 4.0, 8.0, 12.0)

    def _score(self) -> Score:
        if (parts := scorer_parts(self.scoring)) is not None:
            theirs = {one: scorer_parts(get_scorer(one)) for one in SCORES}
            name = next((one for one, its in theirs.items() if its is not None and its.function is parts.function), "accuracy")
            positive = "" if parts.positive is None or "pos_label" not in parts.kwargs else f" and pos_label={parts.positive!r}"
            raise ArgumentError(f"scoring={self.scoring!r} is a scorer; use its name, scoring={name!r}{positive}")
        return score_called("accuracy" if self.scoring is None else self.scoring, SCORES)

    def _score_of(self, task: Task) -> Score:
        score, self._positive = self._score(), None
        if len(self.classes_) > 2 and self.threshold is not None:
            raise ArgumentError(f"threshold={self.threshold!r}, and y has {len(self.classes_)} classes; use it for two, or None")
        if (not has_positive(score) and self.threshold is None) or len(self.classes_) > 2:
            if self.pos_label is not None:
                why = f"scoring={score.name!r} of {len(self.classes_)} classes has no positive class"
                raise ArgumentError(f"pos_label={self.pos_label!r}, and {why}; leave it out")
            return score
        positive = 1 if self.pos_label is None else self.pos_label
        found = [code for code, label in enumerate(self.classes_.tolist()) if np.ndim(positive) == 0 and label == positive]
        if not found:
            classes = " and ".join(map(repr, self.classes_.tolist()))
            rare = self.classes_.tolist()[0 if 2 * task.y.sum() > len(task.y) else 1]
            if self.pos_label is None:
                what = f"scoring={score.name!r}" if has_positive(score) else f"threshold={self.threshold!r}"
                raise ArgumentError(f"{what} is of the class 1, and y has {classes}; pass pos_label={rare!r} as well")
            raise ArgumentError(f"pos_label={self.pos_label!r} is no class of y, which has {classes}")
        self._positive = self.classes_.tolist()[found[0]]
        return of_class(score, found[0])

    def _task(self, y: Any, weights: Floats) -> Task:
        self.classes_, code = np.unique(y, return_inverse=True)
        k = len(self.classes_)
        if k < 2:
            raise ArgumentError(f"y has one class, {self.classes_.tolist()[0]!r}, in rows with a positive weight; "
                                "a classifier needs rows of at least two classes")  # fmt: skip
        score = self._score()
        if k > 2 and score.name in ("f1", "roc_auc"):
            raise ArgumentError(
                f"scoring={score.name!r} and {k} classes; use '{score.name}_{'macro' if score.name == 'f1' else 'ovr'}'"
            )
        cost = weights * class_factors(self.class_weight, self.classes_, code, weights)[code]
        default = float(cost.mean()), 0.0  # SVC takes the weights of classes as they are
        target = np.eye(k)[code][:, : k if k > 2 else 1]
        machines = Machines(class_labels(code, k), cost / cost.mean(), k, code=code)
        return Task(code, code, machines, target, lambda train: default, 0.0, self.classes_)

    def _splitter(self, n_folds: int, y: Array, grouped: bool, seed: int) -> Any:
        if grouped:
            return StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        most = int(np.bincount(y).max())
        if most < 2:
            return KFold(min(n_folds, len(y)), shuffle=True, random_state=seed)
        return StratifiedKFold(min(n_folds, most), shuffle=True, random_state=seed)

    def _slack(self, gains: Array) -> float:
        return float(max(gains.std(), 0.1) / np.sqrt(len(gains)))

    def _rule(self, score: Score, most: int | None = None) -> Rule:
        return Rule(score, self.average, most, calibrated=True, shift=None if self.threshold is None else self._shift)

    @property
    def _positive_code(self) -> int | None:
        return None if self._positive is None else self.classes_.tolist().index(self._positive)

    def _keep(self, found: Combination, rows: JudgedRows) -> None:
        assert found.calibration is not None
        self._calibration = found.calibration
        self._unusual = 1.0 - own_class(self._calibration(found.average[None])[0], rows.y)
        self._unusual_weights, self._calibration_weights = rows.weights, rows.fit_weights

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.threshold is None:
            return
        if not 0.0 < as_float(self.threshold) < 1.0:
            raise ArgumentError(f"threshold={self.threshold!r}; use a probability between 0 and 1, such as 0.2, or None")
        moved = [name for name in self.space or {} if str(name).startswith("class_weight__")]
        if moved:
            raise ArgumentError(
                f"threshold={self.threshold!r}, and space has {moved[0]!r}, which moves the threshold too; use one of them"
            )

    @property
    def fit_facts_(self) -> FitFacts:
        """What the page and the methods section say of the fit in addition to the other attributes."""
        return replace(
            super().fit_facts_,
            calibration_weights=self._calibration_weights,
            threshold_text=self._threshold_text,
            predicted=labels_of(self._oof[self._scored_rows] - self._shift),
            positive=1 if self._positive_code is None else self._positive_code,
            sets=self._sets,
        )

    @property
    def _threshold_text(self) -> str:
        """The rule of the threshold, in words; empty without one."""
        if self.threshold is None:
            return ""
        return f"a row is predicted to be of the class {self._positive!r} if its probability is {self.threshold:g} or more"

    @property
    def _shift(self) -> float:
        """The log odds of the second class from which on it is predicted."""
        if self.threshold is None:
            return 0.0
        odds = float(logit(as_float(self.threshold)))
        return odds if self.classes_.tolist()[1] == self._positive else -odds

    def default_estimator(self, cv: int = 5) -> Any:
        """Return the default model, with which `verdict_` compares the tuned one, not fitted yet.

        Parameters
        ----------
        cv : int, default=5
            Number of folds to calibrate probabilities, if `scoring` needs probabilities.

        Returns
        -------
        estimator
            A pipeline of a `TableEncoder` that standardises numbers, and `SVC()` with this `class_weight`; after a fit to
            sparse rows of a `StandardScaler` that does not centre them, and `SVC()`. Where `scoring` or
            `threshold` needs probabilities, which `SVC` does not have, they are calibrated by cross-validation, and the threshold
            is applied.
        """
        score = self._score()
        needs = score.kind == "probabilities" or score.name == "roc_auc_ovr" or self.threshold is not None
        positive = 1 if self.pos_label is None else self.pos_label
        weights = self.class_weight
        if isinstance(weights, Mapping) and hasattr(self, "classes_"):  # SVC knows classes by their labels, not by names
            factors = class_factors(weights, self.classes_, np.arange(len(self.classes_)))
            weights = dict(zip(self.classes_.tolist(), factors.tolist(), strict=True))
        plain = default_svm(True, self.categorical, class_weight=weights, sparse_gamma=self._sparse_gamma)
        return default_classifier(plain, weights, cv, needs, self.threshold, positive)

    def _scorer(self) -> Any:
        scorer = get_scorer(self.scoring_)
        if has_positive(self._score()) and self._positive is not None:
            return with_positive(scorer, self._positive)
        if self.scoring_ == "neg_brier_score" and len(self.classes_) == 2:
            return with_positive(scorer, self.classes_[1])  # the score is the same for both, but scikit-learn asks for one
        return scorer

    def _fitted_constant(self, task: Task, weights: Floats) -> Any:
        zeros, y = np.zeros((len(task.y), 1)), self.classes_[task.y]
        shares = DummyClassifier(strategy="prior").fit(zeros, y, sample_weight=weights)
        return with_threshold(FrozenEstimator(shares), self.threshold, self._positive).fit(zeros, y) if self.threshold else shares

    def _log_odds(self, X: Any) -> Array:
        decisions = self._averaged(X)
        odds: Array = self._calibration(decisions[None])[0]
        return odds

    def decision_function(self, X: Any) -> Array:
        """Return the log odds of the second of two classes, or the log probabilities of several classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The decisions; the predicted class has the largest, or, of two classes, the second if positive.
        """
        values = self._log_odds(X)
        return self._public(values)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities.
        """
        return probabilities_of(self._log_odds(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row, or the classes by `threshold`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes.
        """
        labels = labels_of(self._log_odds(X) - self._shift)
        return np.asarray(self.classes_[labels])

    @property
    def _score_title(self) -> str:
        of_class = self._positive is not None and has_positive(self._score())
        return super()._score_title + (f" of the class {self._positive!r}" if of_class else "")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of predictions for rows by `scoring`, as scikit-learn's scorer of that name; by default the accuracy.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows.

        Returns
        -------
        float
            The score; larger is better, so losses are negative.

        See Also
        --------
        predict : What is scored, for scores of predictions.
        """
        check_is_fitted(self)
        return float(self._scorer()(self, X, y, sample_weight=sample_weight))

    def predict_set(
        self, X: Any, coverage: float = 0.9, *, allow_empty: bool = False, by_class: bool = False
    ) -> NDArray[np.bool_]:
        """Return the classes that cannot be ruled out: sets that contain the true class with a given probability.

        A class is in the set if its probability reaches a level that, out of fold, a share `coverage` of the training rows
        reaches for its own class (cross-conformal prediction). The most probable class is always in the set.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        coverage : float, default=0.9
            The required share of new rows whose class is in the set.
        allow_empty : bool, default=False
            Whether the most probable class may be left out as well. A set without a class says that the row is unlike the
            training rows of all classes, or that the coverage is below the accuracy.
        by_class : bool, default=False
            Whether the share is that of the rows of each class (Mondrian prediction): each class has its own level, so that a
            rare class is in the set of its rows as often as a frequent one. A class of too few rows, fewer than
            `coverage / (1 - coverage)`, is in every set.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            True for each of `classes_` in the set.

        References
        ----------
        Vovk, Gammerman, Shafer 2005, "Algorithmic Learning in a Random World", section 4.5.
        """
        share = check_coverage(coverage)
        check_flag("allow_empty", allow_empty)
        check_flag("by_class", by_class)
        return self._sets(self._log_odds(X), share, allow_empty, by_class)

    def _sets(self, odds: Array, share: float, allow_empty: bool = False, by_class: bool = False) -> NDArray[np.bool_]:
        """Return sets of classes by log odds or log probabilities; see `predict_set`."""
        groups = [self._scored_y == c for c in range(len(self.classes_))] if by_class else [np.ones(len(self._unusual), bool)]
        limits = [conformal_limit(self._unusual[rows], self._unusual_weights[rows], share) for rows in groups]
        sets = np.asarray(1.0 - probabilities_of(odds) <= np.array(limits))
        if not allow_empty:
            sets[np.arange(len(sets)), labels_of(odds)] = True
        return sets

    @property
    def oof_decision_function_(self) -> Array:
        """Log odds or log probabilities of the training rows, as `decision_function`, out of fold."""
        return self._public(self._oof)

    @property
    def oof_predict_proba_(self) -> Array:
        """Probabilities of the classes for the training rows, out of fold."""
        return probabilities_of(self._oof)
