"""The common base of TunedSVC and TunedSVR: the fit of an average of settings, and its expected score."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.common.checks import check_count, check_flag, check_positive
from spotsvm.common.compat import check_y, safe_indexing
from spotsvm.common.copies import copies, joined
from spotsvm.common.data_hash import data_hash
from spotsvm.common.fingerprint import as_text, versions
from spotsvm.common.frames_in_state import FramesInState
from spotsvm.common.interruption import says_when_interrupted
from spotsvm.common.notices import Notice, gathered, once, tell
from spotsvm.common.targets import as_classes, as_numbers, check_sample_weight, with_mean_1
from spotsvm.common.text import checked_path
from spotsvm.cross_validation.row_sample import FITTED_ROWS, SEARCH_SHARE, rows_notices, rows_sentence
from spotsvm.errors import ArgumentError
from spotsvm.estimators.class_entries import class_names
from spotsvm.luck.difference import judged
from spotsvm.luck.drawn import Evidence, unseen_score
from spotsvm.luck.draws import units_of
from spotsvm.luck.explanation import Explanation, NotExplained
from spotsvm.luck.refits.explained import MOST_ROWS, Refits, explanation_within, few_splits, unasked
from spotsvm.luck.rows import Unseen
from spotsvm.luck.scores import Score, as_vector
from spotsvm.out_of_fold.combination import Combination, Rule, gains_of
from spotsvm.out_of_fold.judged_rows import JudgedRows
from spotsvm.out_of_fold.table import OutOfFold, OutOfFoldMixin
from spotsvm.preprocessing.frames import as_frame
from spotsvm.preprocessing.kept_digits import has_large_integers
from spotsvm.preprocessing.missing_codes import target_codes
from spotsvm.reports.notebook import ResultsHtmlMixin
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuned.average import FittedAverage
from spotsvm.tuned.columns import Columns
from spotsvm.tuned.encodings import LEVELS, encodings_of
from spotsvm.tuned.families import FAMILIES, default_gamma
from spotsvm.tuned.fit_facts import FitFacts
from spotsvm.tuned.grid import Grid
from spotsvm.tuned.grid_plan import GridPlan, by_columns
from spotsvm.tuned.many_rows import EXACT, LANDMARKS, LANDMARKS_FROM, Problem, TimedFits, beginnings, views_of
from spotsvm.tuned.members import fit_members
from spotsvm.tuned.progress import SweepProgress
from spotsvm.tuned.scored_sweeps import Screening, SweepScorer
from spotsvm.tuned.screening import SCREENED_FROM
from spotsvm.tuned.sweeps import Setting, Sweep, Sweeps, sweep_of
from spotsvm.tuned.task import Task
from spotsvm.tuned.training_rows import TrainingRows, grid_rows, grid_size, is_many

if TYPE_CHECKING:
    from spotsvm.reports.methods import MethodsSection

_LOG = logging.getLogger(__name__)
Array = NDArray[Any]
Floats = NDArray[np.float64]

#: sweeps beyond the grid if a space is given: in any case, and for each parameter
_SEARCHED, _SEARCHED_EACH = 12, 4
#: parameters that the scores of sweeps depend on, besides rows, folds and space
_OF_SWEEPS = ("families", "scoring", "rows", "class_weight")
_GRID_SHARE, _FIT_SHARE = SEARCH_SHARE, 0.85  # shares of a timeout after which no further setting, and no further member, begins
_MOST_ROWS = FITTED_ROWS  # of a member
_FEW_MEMBERS = 5  # on many rows
_SCREENING_SHARE = 0.1  # of the timeout
_SHARES = 0.3, 0.6, 0.85  # shares of the timeout after which grid, exact and landmark models must have ended


@dataclass(eq=False, repr=False, kw_only=True)
class TunedModel(OutOfFoldMixin, ResultsHtmlMixin, FramesInState, BaseEstimator, ABC):
    """The common base class; see `TunedSVC` and `TunedSVR`."""

    families: Any = "auto"
    budget: int | None = None
    timeout: float | None = None
    scoring: str | None = None
    cv: Any = 5
    rows: Any = "auto"
    average: bool = True
    space: Mapping[str, Any] | None = None
    categorical: Any = ()
    path: str | Path | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    keep_out_of_fold: bool = True

    _computed: ClassVar[tuple[str, ...]] = ("_fitted_to",)
    _search: ClassVar[Any] = "kriging"
    _log_gammas: ClassVar[tuple[float, ...]] = (-3.0, -7.0, 1.0)
    _log_costs: ClassVar[tuple[float, ...]] = ()
    _log_costs_squared: ClassVar[tuple[float, ...]] = (-1.0, 2.0, 5.0, 9.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags

    # differences between classification and regression

    @abstractmethod
    def _score(self) -> Score:
        """Return the score by `scoring`."""

    def _score_of(self, task: Task) -> Score:
        """Return the score for the classes of a task."""
        return self._score()

    @abstractmethod
    def _task(self, y: Any, weights: Floats) -> Task:
        """Check the target, store the attributes for predictions, and return the target in numeric form."""

    @abstractmethod
    def _splitter(self, n_folds: int, y: Array, grouped: bool, seed: int) -> Any:
        """Return the splitter for a number of folds, or for fewer if the rows do not allow as many."""

    @abstractmethod
    def _slack(self, gains: Array) -> float:
        """Return how much worse than the best a setting must be to end its sweep."""

    @abstractmethod
    def _keep(self, found: Combination, rows: JudgedRows) -> None:
        """Store what predictions need of the average: its calibration, and the limits of sets or intervals."""

    def _rule(self, score: Score, most: int | None = None) -> Rule:
        """Return how settings are chosen, and how averaged decisions are calibrated."""
        return Rule(score, self.average, most)

    @abstractmethod
    def _scorer(self) -> Any:
        """Return the scorer of `scoring_`."""

    @abstractmethod
    def _fitted_constant(self, task: Task, weights: Floats) -> Any:
        """Return the model without columns as an estimator, fitted to rows with these weights."""

    # fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Tune, average, fit on all rows, and estimate the score on new rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; nan marks a missing value.
        y : array-like of shape (n_samples,)
            The target.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows, as factors of C and in every score; a common factor of all weights has no effect. Rows of weight 0
            are left out.
        groups : array-like of shape (n_samples,), optional
            Labels of groups of rows that belong together: no group is split between folds, and the draws for the interval draw
            whole groups.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ArgumentError
            If an argument, X, y or the weights are unusable.
        KeyboardInterrupt
            After Ctrl-C; the message, which is shown without a traceback, says how many sweeps are scored and how to go on.
        """
        with says_when_interrupted(self._how_to_resume):
            return self._fit(X, y, sample_weight, groups)

    def _how_to_resume(self, done: str) -> str:
        done = done or "fit was interrupted"
        if self.path is None:
            return f"{done}; fit will start again: pass a path to {type(self).__name__} to resume after an interruption"
        return f"{done}; scored sweeps are recorded in {self.path}, and the same call goes on from there"

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Self:
        began = time.monotonic()
        for name in ("relevance_", "support_", "support_vectors_", "dual_coef_"):  # possibly left from an earlier fit
            self.__dict__.pop(name, None)
        self._check_parameters()
        self._score()  # a wrong name is told before anything else
        if y is None:
            raise ArgumentError(f"{type(self).__name__}.fit requires y to be passed, but the target y is None")
        X = self._checked_rows(X, reset=True)
        y = (as_numbers if is_regressor(self) else as_classes)(y, type(self).__name__)
        y = check_y(y, y_numeric=is_regressor(self), estimator=self)
        check_consistent_length(X, y, groups)
        rows = TrainingRows.of(X, y, with_mean_1(check_sample_weight(sample_weight, len(y))), groups)
        seed = self.seed_ = self._drawn_seed()
        whole = self._task(rows.target, rows.own_weights)
        score = self._score_of(whole)
        held = np.arange(0) if self.rows is None else rows.held_out(self.cv, whole, seed)
        sample = whole.sample(grid_size(self.rows, len(rows), len(held) > 0), seed, rows.groups_of, held)
        task = whole.on(sample)
        folds = grid_rows(rows, sample, task, self.cv, self._splitter, seed, self.path is not None)
        self._n_folds, self._n_grid_rows, self._n_held = len(folds.splits), len(sample), len(held)
        self._grouped = groups is not None
        scorer = SweepScorer(
            rows, task, folds, self._rule(score), self._slack, self._columns_of, seed, effective_n_jobs(self.n_jobs)
        )
        grid = self._scored_grid(scorer, began)
        if len(held):
            begin = beginnings(grid, scorer)
            self.complete_ = grid.complete
            kept = self._fit_many_rows(rows, whole, held, begin, score, seed, began)
            fitted = np.arange(len(rows))
        else:
            tested = folds.tested
            kept = self._average(grid, task.on(tested), scorer.judged_rows, tested, score, seed, len(y), folds.rows)
            fitted = whole.sample(_MOST_ROWS, seed, rows.groups_of)
            kept = self._refit(rows.at(fitted), whole.on(fitted), grid, kept, self._ends(began, _FIT_SHARE))
            self.n_rows_ = len(fitted)
        self._keep_columns()
        if not self.average:
            self._keep_support(X, rows.every[fitted])
        self.fit_seconds_, self._versions = time.monotonic() - began, versions()
        judged = np.searchsorted(rows.every, self._scored_rows)
        self._n_distinct = len(judged) if rows.copied is None else len(np.unique(rows.copied[judged]))
        told = [*self._target_notices(rows.target, rows.every, rows.own_weights), *self._fitted.columns.notices]
        told += self._keep_table(kept, self.keep_out_of_fold)
        told += rows.notices(self.cv, len(held), folds)
        if not len(held):
            told += rows_notices(len(fitted), len(rows), rows_sentence(len(sample), len(fitted), len(rows)))
        elif not self.average:
            judge = f"the model is fitted to {self.n_rows_} of {len(rows)} training rows"
            judge += f", and {len(held)} others judged its candidates"
            told += rows_notices(self.n_rows_, len(rows), judge)
        self.notices_ = tuple(told)
        of = f"{len(self.members_)} of {len(self.settings_)} candidates"
        _LOG.info("%s took %.3g s: %s, expected_score_ %s", type(self).__name__, self.fit_seconds_, of, self.expected_score_)
        self._fitted_to = X, y, sample_weight, groups  # by reference, and not in files
        tell(told)
        return self

    def _scored_grid(self, scorer: SweepScorer, began: float) -> Grid:
        """Return the out-of-fold decisions of the settings, scored until a share of the timeout is over."""
        name, folds, rows, costs = type(self).__name__, scorer.folds, scorer.rows, self._plan.costs
        _LOG.info("%s begins with %d rows, %d columns and %d folds", name, len(rows), folds.X.shape[1], len(folds.splits))
        self._encodings = encodings_of(folds.X, self.categorical)
        whole = self._plan.sweeps(issparse(folds.X), scorer.task.epsilon, list(self._encodings))
        chosen: dict[Sweep, list[float]] = {sweep: costs(sweep) for sweep in whole}
        self._screening = Screening()
        if len(folds.rows) > SCREENED_FROM:
            promising, self._screening = scorer.screened(self._in_order(whole), costs, self._ends(began, _SCREENING_SHARE))
            chosen = {sweep: promising[sweep] for sweep in whole if sweep in promising}
            _LOG.info("%s scores %d of %d sweeps on all rows", name, len(chosen), len(whole))
        deadline = self._ends(began, _SHARES[0] if self._n_held else _GRID_SHARE)
        with (
            self._sweeps(list(chosen), rows.hashed, folds.splits, scorer.seed) as sweeps,
            says_when_interrupted(lambda inner: f"{sweeps.n_scored} of {sweeps.n_sweeps} sweeps are scored"),
            SweepProgress(sweeps, self.verbose, name, deadline),
        ):
            grid = scorer.scored(sweeps, lambda sweep: chosen.get(sweep) or costs(sweep), deadline)
        grid.complete &= self._screening.complete
        self._n_sweeps = len({sweep_of(setting) for setting in grid.settings})
        self._n_searched = max(self._n_sweeps - self._n_grid_sweeps, 0)
        return grid

    def _target_notices(self, y: Any, rows: NDArray[np.intp], weights: Floats) -> list[Notice]:
        """Return what a user should know about the target; `rows` are the positions of its values in y."""
        return target_codes(np.asarray(y), lambda k: f"row {rows[k]}")

    def _drawn_seed(self) -> int:
        """Return the seed; if random_state is None, the seed of the record if there is a record."""
        if self.random_state is None and self.path is not None:
            from spotsvm.study.recorded import recorded_seed

            if (seed := recorded_seed(self.path)) is not None:
                return seed
        return seed_of(self.random_state)

    def _ends(self, began: float, share: float) -> float:
        """Return the time at which a share of the timeout is over."""
        return np.inf if self.timeout is None else began + share * self.timeout

    @property
    def _plan(self) -> GridPlan:
        return GridPlan(self.families, self._log_gammas, self._log_costs, self._log_costs_squared)

    def _check_parameters(self) -> None:
        check_flag("average", self.average)
        check_flag("keep_out_of_fold", self.keep_out_of_fold)
        check_count("verbose", int(self.verbose) if isinstance(self.verbose, bool) else self.verbose, 0)
        if self.rows is not None and self.rows != "auto":
            check_count("rows", self.rows, 2, before="'auto', None for all, or ")
        if self.budget is not None:
            check_count("budget", self.budget, after=", or None for the grid")
        if self.space is not None and not isinstance(self.space, Mapping):
            raise ArgumentError(f"space={self.space!r}; use a dictionary of names and distributions, or None")
        if self.path is not None:
            checked_path(self.path)
        if self.timeout is not None:
            check_positive("timeout", self.timeout, ", or None for no limit")
        self._plan.check()

    def _in_order(self, sweeps: list[Sweep]) -> list[Sweep]:
        """Return sweeps by their columns; with a timeout as they are, so that each family has one width first."""
        return by_columns(sweeps) if self.timeout is None else sweeps

    def _columns_of(self, kinds: Iterable[str], encodings: Iterable[str]) -> Columns:
        """Return the columns of some kinds and encodings, not fitted yet."""
        found = [kind for kind in ("standard", "power", "relevance") if kind in set(kinds) | {"standard"}]
        return Columns(found, self.categorical, {name: one for name, one in self._encodings.items() if name in set(encodings)})

    def _sweeps(self, whole: list[Sweep], data: tuple[Any, ...], splits: Any, seed: int) -> AbstractContextManager[Sweeps]:
        """Return the sweeps to score: the whole grid, or a study that begins with it."""
        grid, budget = self._in_order(whole[: self.budget]), self.budget
        self._n_grid_sweeps = len(grid)
        if budget is None:
            budget = len(grid) + (_SEARCHED + _SEARCHED_EACH * len(self.space) if self.space else 0)
        if self.space and budget <= len(grid):
            raise ArgumentError(
                f"budget={self.budget} is the grid alone, and space is not searched; use more than {len(grid)}, or None"
            )
        if self.path is None and budget <= len(grid):
            return nullcontext(Sweeps(grid))
        from spotsvm.tuned.search import SearchedSweeps

        context = {
            "data": data_hash(*data),
            "model": type(self).__name__,
            **{name: as_text(value) for name, value in self.get_params(deep=False).items() if name in _OF_SWEEPS},
            **{n: as_text(v) for n in ("pos_label", "threshold") if (v := getattr(self, n, None)) is not None},
            "cv": str(self.cv) if isinstance(self.cv, int | np.integer) else "given",
            **({"categorical": as_text(self.categorical)} if len(self.categorical) else {}),
            "folds": data_hash(*chain.from_iterable(splits)),
            # a search that starts with a part of the grid differs from one that starts with the whole grid
            "budget": "the grid or more" if len(grid) == len(whole) else str(len(grid)),
        }
        classes = class_names(self.classes_) if hasattr(self, "classes_") else []
        costs = [C for sweep in grid for C in self._plan.costs(sweep)]
        ends = min(costs), max(costs)
        return SearchedSweeps(
            grid, budget, self.space or {}, ends, self._column_names(), classes, seed, self.path, context,
            self._encodings, self._search,
        )  # fmt: skip

    def _column_names(self) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])]

    def _average(
        self, grid: Grid, task: Task, judged_rows: JudgedRows, tested: Array, score: Score, seed: int, n: int, rows: Array
    ) -> OutOfFold:
        """Compute the weights of the settings, and estimate the score by draws of rows, by the table of their answers."""
        self.scoring_ = score.name
        own_threshold = score.kind == "labels" and bool(grid.settings[0].class_factors)
        assert grid.default is not None
        described = pd.DataFrame([self._described(setting) for setting in grid.settings])
        rule = self._rule(score, _FEW_MEMBERS if is_many(n) else None)
        table = OutOfFold(
            described.assign(answered=True), np.zeros(len(described)), np.arange(len(described)),
            task.answers(np.ascontiguousarray(np.stack(grid.decisions)[:, tested]), own_threshold), judged_rows, rows[tested], n,
            scoring=score.name, seed=seed, average=rule.average, most=rule.most, calibrated=rule.calibrated, shift=rule.shift,
            positive=self._positive_code,
            default=task.answers(grid.default[None, tested], own_threshold),
        )  # fmt: skip
        self._scored_rows, self._scored_y = rows[tested], task.y
        self._constant_model = self._fitted_constant(task, judged_rows.weights)
        self.settings_ = described.assign(weight=0.0, score=table.scores().to_numpy())
        self._adopt(table)
        gains = table.choice.gains
        assert gains is not None
        means = gains @ judged_rows.weights
        # nan would count as the best
        self.best_index_ = int(np.argmax(np.where(np.isfinite(means), means, -np.inf)))
        self.best_params_ = self._described(grid.settings[self.best_index_])
        return table

    def _adopt(self, table: OutOfFold) -> None:
        """Take weights, calibration, out-of-fold answers and scores to expect from the settings that compete in the table."""
        found = table.combination
        self._weights, self._divisors = np.zeros(len(table.settings)), np.ones(len(table.settings))
        competing = slice(None) if table.pool is None else table.pool
        self._weights[competing], self._divisors[competing] = found.weights, found.scales
        table.weights[:] = self._weights
        self.settings_ = self.settings_.assign(weight=self._weights)
        self._keep(found, table.judged_rows)
        self.average_oof_ = self._expanded(self._public(found.average), table.n_samples, table.places)
        self._oof = self._expanded(found.decisions, table.n_samples, table.places)
        self._evidence = table.evidence()
        self._judge()

    @property
    def _positive_code(self) -> int | None:
        """The code of the positive class, if scores or a threshold have one."""
        return None

    def _judge(self, *further: Evidence) -> None:
        """Store the scores to expect and the verdict, from the training rows and further rows."""
        found = judged([self._evidence, *further], self.scoring_)
        self.expected_score_, self.default_score_, self.constant_score_, self.verdict_ = found

    @property
    def _sparse_gamma(self) -> float | None:
        """The gamma of the default model on sparse rows, as that of dense rows; None for a table, or before a fit."""
        fitted = getattr(self, "_fitted", None)
        if fitted is None or not fitted.columns.is_sparse:
            return None
        return 1.0 / max(int(np.count_nonzero(fitted.columns.scale)), 1)

    def explain(self, within: float | None = None, say: Callable[[str], None] | None = None) -> Explanation | NotExplained:
        """Return which columns matter and whether more rows would help, by refits of the members on folds.

        Parameters
        ----------
        within : float, optional
            Seconds: if it takes about longer, nothing is computed.
        say : callable, optional
            Function that is called with a line that says how long it will take.

        Returns
        -------
        Explanation
            The importance of each column with an interval, the partial dependence of the four strongest, and the learning curve;
            a `NotExplained` with the `seconds` that it takes, if these are more than `within`.

        Raises
        ------
        ArgumentError
            If the model was loaded from a file, which does not hold the rows of the fit; a ValueError.

        Notes
        -----
        Each fold's model has the members and weights of this model, fitted to the training rows of the fold, and is judged on its
        test rows. Of many rows 2,500 are used.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from spotsvm import TunedSVR
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> found = TunedSVR(budget=2, random_state=0).fit(X, y).explain()
        >>> sorted(found.importance["column"].head(2).tolist())
        ['bmi', 's5']
        """
        return explanation_within(self._refits(), within, say)

    def _explanation(self, explain: bool | None) -> Explanation | NotExplained | None:
        """Return what a page shows: nothing where it is not wanted, or is not to be had without being asked for."""
        if explain is not None:
            return self.explain() if check_flag("explain", explain) else None
        limit = unasked(self.timeout)
        return None if limit <= 0 or not hasattr(self, "_fitted_to") else self.explain(limit)

    def _refits(self) -> Refits:
        """Return the rows of the fit with its folds, and how to fit the members to some of them."""
        check_is_fitted(self)
        if not hasattr(self, "_fitted_to"):
            raise ArgumentError(
                f"this {type(self).__name__} was loaded or copied, and has no rows to explain; fit it, and explain it then"
            )
        X, y, sample_weight, groups = self._fitted_to
        X, weights = self._checked_rows(X, reset=False), with_mean_1(check_sample_weight(sample_weight, len(y)))
        y = (as_numbers if is_regressor(self) else as_classes)(y, type(self).__name__)
        rows = TrainingRows.of(X, np.asarray(y), weights, groups)
        whole = self._twin()._task(rows.target, rows.own_weights)
        sample = whole.sample(MOST_ROWS, self.seed_, rows.groups_of)
        task = whole.on(sample)
        folds = grid_rows(rows, sample, task, self.cv, self._splitter, self.seed_, False)
        C = self.settings_["C"].tolist()

        def fit(some: NDArray[np.intp]) -> Any:
            model = self._twin()
            model._fitted = self._fitted.refitted(C, self._needed_columns, safe_indexing(folds.X, some), task.on(some))
            return model

        target, classes = rows.target[sample], getattr(self, "classes_", None)
        units = None if rows.units is None else rows.units[sample]
        splits = few_splits(folds.splits, target, classes, units, self.seed_)
        return Refits(
            X=folds.X, y=target, weights=rows.own_weights[sample], classes=classes, splits=splits, fit=fit,
            positive=1 if self._positive_code is None else self._positive_code, groups=None if groups is None else units,
            score=lambda model, X, y, w: float(model.score(X, y, sample_weight=w)), scoring=self.scoring_,
            columns=self._column_names(), seed=self.seed_, sampled=len(sample) < len(rows),
        )  # fmt: skip

    def _twin(self) -> Self:
        """Return a model with the same attributes, some of which are to be replaced."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    @abstractmethod
    def default_estimator(self, cv: int = 5) -> Any:
        """Return the default model, not fitted yet."""

    def add_held_out(self, X: Any, y: Any, default: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Count held-out rows in the expected scores and in the verdict, as much as the training rows out of fold.

        `expected_score_`, `default_score_`, `constant_score_` and `verdict_` then rest on both kinds of rows. Rows of an earlier
        call no longer count.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows that were not used in `fit`.
        y : array-like of shape (n_samples,)
            Their target.
        default : estimator
            The default model, fitted to the same rows as this model: `model.default_estimator().fit(X_train, y_train)`.
        groups : array-like of shape (n_samples,), optional
            Labels of groups of rows that belong together.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of these rows in the scores.

        Returns
        -------
        self
            The estimator.

        Raises
        ------
        ArgumentError
            If the arguments do not have the same number of rows, or weights are unusable; a ValueError.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.model_selection import train_test_split
        >>> from spotsvm import TunedSVC
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> X, X_new, y, y_new = train_test_split(X, y, random_state=0)
        >>> model = TunedSVC(budget=2, random_state=0).fit(X, y)
        >>> default = model.default_estimator().fit(X, y)
        >>> model.add_held_out(X_new, y_new, default).verdict_.rows
        {'out of fold': 426, 'held out': 143}
        """
        check_is_fitted(self)
        check_consistent_length(X, y, groups)
        weights = {} if sample_weight is None else {"sample_weight": check_sample_weight(sample_weight, len(y))}
        models = self, default, self._constant_model
        units = units_of(self.cv, joined(groups, copies(X)), len(y))
        unseen = [Unseen.held_out(model, X, y, units, score_params=weights) for model in models]
        self._judge(Evidence(*(unseen_score(rows, self._scorer(), self._score().name, self.seed_) for rows in unseen)))
        tell(unseen[0].notices)
        return self

    def _expanded(self, values: Array, n: int, rows: Array) -> Array:
        """Return the values of some rows expanded to all n rows, nan for the others."""
        full = np.full((n, *values.shape[1:]), np.nan)
        full[rows] = values
        return full

    def _public(self, decisions: Array) -> Array:
        """Return averaged decisions, (n, k), in the public units and shape."""
        return as_vector(decisions)

    def _described(self, setting: Setting) -> dict[str, Any]:
        power = {"rbf": -0.5, "laplacian": -1.0}.get(FAMILIES[setting.family].kernel, np.nan)
        width = 2.0 ** (power * setting.log_gamma) if np.isfinite(power) else np.nan
        encoding = {"encoding": setting.encoding} if len(self._encodings) > 1 else {}
        described = {"family": setting.family, **encoding, "width": width, "C": setting.C, **dict(setting.searched)}
        return described if setting.n_rows is None else {**described, "rows": setting.n_rows, "landmarks": setting.n_landmarks}

    def _refit(self, X: Any, task: Task, grid: Grid, table: OutOfFold, deadline: float) -> OutOfFold:
        """Fit the members in the order of their weights until the deadline; those that are left out no longer compete."""
        chosen = [int(i) for i in np.argsort(-self._weights, kind="stable")[: np.count_nonzero(self._weights)]]
        columns = self._needed_columns([grid.settings[i] for i in chosen]).fit(X, task.relevance_target)
        members, _ = fit_members(columns, X, task.machines, grid.settings, chosen, deadline)
        for member in members:
            member.smearings = {j: grid.smearings[i] for j, i in enumerate(member.places) if i in grid.smearings}
        fitted = np.sort([place for member in members for place in member.places])
        self.complete_ = grid.complete and len(fitted) == len(chosen)
        if len(fitted) < len(chosen):
            table = replace(table, pool=fitted)
            self._adopt(table)
        self._fitted = FittedAverage(columns, members, self._weights, self._divisors)
        self._keep_members(task)
        return table

    def _needed_columns(self, sweeps: Collection[Sweep]) -> Columns:
        """Return the columns that some sweeps need, not fitted yet."""
        kinds = {FAMILIES[sweep.family].columns for sweep in sweeps}
        if any(sweep.exponent != 1.0 for sweep in sweeps):
            kinds.add("power")
        return self._columns_of(kinds, {sweep.encoding for sweep in sweeps})

    def _keep_members(self, task: Task) -> None:
        frame = self.settings_
        self.members_ = frame[frame["weight"] > 0].sort_values("weight", ascending=False, kind="stable").reset_index(drop=True)
        self._limits = task.machines.limits

    def _fit_many_rows(
        self, rows: TrainingRows, whole: Task, held: Array, begin: list[Setting], score: Score, seed: int, began: float
    ) -> OutOfFold:
        """Fit models in rounds, starting from the best settings of the grid, and average and judge them on held-out rows."""
        costs: dict[Sweep, list[float]] = {}
        for setting in begin:
            costs.setdefault(sweep_of(setting), []).append(setting.C)
        some = whole.sample(_MOST_ROWS, seed, rows.groups_of, held)
        columns = self._needed_columns(costs).fit(rows.at(some), whole.relevance_target[some])
        with gathered() as found:
            X = columns.read(rows.at())
        columns.notices = list(once([*columns.notices, *found]))  # those of all rows in place of those of some
        views = views_of(columns, X)
        problem = Problem(
            columns,
            views,
            some,
            whole.machines,
            whole.machines.targets[:, :1] if whole.classes is None else whole.machines.targets,
            held,
            lambda size, draw: whole.sample(size, draw, rows.groups_of, held),
        )
        task = whole.on(held)
        drawn_together = units_of(self.cv, None if rows.units is None else rows.units[held], len(held))
        weights = rows.own_weights[held]
        judged_rows = task.judged(weights / weights.mean(), drawn_together, True)

        def quality(decisions: Array) -> float:
            gains = gains_of(judged_rows, task.answers(decisions[None]), self._rule(score))
            return float(np.average(gains[0], weights=judged_rows.weights))

        n = len(whole.y) - len(held)
        timed = self.timeout is not None
        fits = TimedFits(problem, quality, seed, self.n_jobs)
        with_landmarks = self.average and n >= LANDMARKS_FROM
        most = n if timed else EXACT.untimed
        fits.run(EXACT, costs, min(n, most), self._ends(began, _SHARES[1 if with_landmarks else 2]))
        fitted = min(_MOST_ROWS, max(setting.n_rows or 0 for setting in fits.settings))
        C, epsilon = whole.default(problem.sample(fitted, seed))
        plain = Sweep("rbf", 0.0, epsilon, encoding=LEVELS)
        gamma = problem.unit(plain) * default_gamma(problem.kernel_columns(plain, some))
        plain = replace(plain, log_gamma=float(np.log2(gamma)))
        default = problem.fit([Setting(**vars(plain), C=C, n_rows=fitted)], seed, np.inf)
        assert default is not None  # it has no time limit
        if with_landmarks:
            fits.run(LANDMARKS, dict.fromkeys(fits.sweeps, []), n if timed else LANDMARKS.untimed, self._ends(began, _SHARES[2]))
        judged = Grid(settings=fits.settings, decisions=fits.decisions, default=default[1][0])
        table = self._average(judged, task, judged_rows, np.arange(len(held)), score, seed, len(rows.y), rows.every[held])
        members = [member for member in fits.members if self._weights[member.places].any()]
        self._fitted = FittedAverage(columns, members, self._weights, self._divisors)
        self.complete_ &= fits.complete
        self._keep_members(whole)
        self.n_rows_ = int(self.members_["rows"].max())
        return table

    def _keep_support(self, X: Any, rows: Array) -> None:
        self.dual_coef_, support = self._fitted.support()
        self.support_ = rows[support]
        self.support_vectors_ = safe_indexing(X, self.support_)

    def _keep_columns(self) -> None:
        """Store the treatment of each column, and the relevance of its outputs."""
        of = self._fitted.columns
        if not of.is_sparse:
            self.columns_ = of.encoder.columns_
            relevance = self._fitted.relevance()
            if relevance is not None:
                self.relevance_ = relevance
        else:
            self.columns_ = pd.DataFrame(
                {"column": self._column_names(), "kind": "number", "treatment": "kept, zeros as zeros", "n_outputs": 1}
            )

    def _checked_rows(self, X: Any, reset: bool) -> Any:
        """Return a frame of any maker, or an object array, as a DataFrame, and other rows as a float matrix."""
        X = as_frame(X)
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if reset and len(X) < 2:
                raise ArgumentError(f"X has {len(X)} rows; use two or more")
            return X
        rows = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=None,
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
        )
        if rows.dtype.kind not in "biuf":
            return pd.DataFrame(rows).infer_objects()
        if issparse(rows) or not has_large_integers(rows):
            rows = rows.astype(np.float64, copy=False)
        if issparse(rows) and np.isnan(rows.data).any():
            raise ArgumentError("sparse X contains NaN; gaps are filled in dense rows only")
        return rows

    # prediction

    def _averaged(self, X: Any) -> Floats:
        """Return the averaged decisions of new rows, (n, k)."""
        check_is_fitted(self)
        return self._fitted.decisions(self._checked_rows(X, reset=False))

    @property
    def _score_title(self) -> str:
        """The score in words, with its positive class."""
        return ScoreUnit(self.scoring_).title

    @property
    def fit_facts_(self) -> FitFacts:
        """What the page and the methods section say of the fit in addition to the other attributes."""
        return FitFacts(
            n_folds=self._n_folds, n_grid_rows=self._n_grid_rows, n_held=self._n_held, by_group=self._grouped,
            n_sweeps=self._n_sweeps, n_searched=self._n_searched, screening=(self._screening.n_sweeps, self._screening.n_rows),
            judged=self._scored_rows, n_distinct=self._n_distinct,
            target=self._scored_y, unusual=self._unusual, weights=self._unusual_weights, score_title=self._score_title,
            versions=self._versions, encodings={name: (*one.codes, *one.cycles) for name, one in self._encodings.items()},
        )  # fmt: skip

    def report(self, path: str | Path, *, tables: str | Path | None = None, explain: bool | None = None) -> Path:
        """Write a page about the fit: the model, its members, the expected score, and code to repeat the fit.

        Which columns matter, and whether more rows would help, takes refits (`explain`).

        Parameters
        ----------
        path : str or Path
            The file, such as "report.html"; its folder is created.
        tables : str or Path, optional
            A folder for the tables of the page, as CSV files.
        explain : bool or None, default=None
            Whether the page has what `explain` returns; None if this takes less than ten seconds, and less than a
            tenth of a `timeout`. A model that was loaded from a file has no rows to explain.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ArgumentError, StorageError
            If an argument is not a path, a file cannot be written, or there are no rows to explain.
        """
        from spotsvm.reports.report import model_page, write_report  # imported here: most fits have no page
        from spotsvm.tuned.fitted import fitted_model

        check_is_fitted(self)
        return write_report(lambda: model_page(fitted_model(self, self._explanation(explain))), path, tables)

    def _results_html(self) -> str:
        from spotsvm.tuned.fitted import notebook_html

        return notebook_html(self) if hasattr(self, "members_") else ""

    def methods_section(self) -> MethodsSection:
        """Return text and tables about the fit for the methods section of a paper.

        The text describes the settings, their evaluation and averaging, the expected score with its interval and the method
        behind them, the scores of the default model and of a constant, the seed and the versions, with citations.

        Returns
        -------
        MethodsSection
            With `paragraphs`, the tables `space` and `results`, `references`, `markdown()` and `latex()`.
        """
        from spotsvm.tuned.fitted import tuned_methods  # imported here: most fits are never described

        check_is_fitted(self)
        return tuned_methods(self)


def check_coverage(coverage: Any) -> float:
    """Return a share as a float, or raise ArgumentError."""
    share = as_float(coverage)
    if not 0.0 < share < 1.0:
        raise ArgumentError(f"coverage={coverage!r}; use a number between 0 and 1, such as 0.9")
    return share


def seed_of(random_state: Any) -> int:
    """Return an integer unchanged; otherwise draw a seed from the random state."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
