"""`OutOfFold`: the table of the answers of all settings for rows that they have not seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import confusion_matrix, get_scorer, get_scorer_names
from sklearn.utils.validation import check_is_fitted

from spotsvm.common.checks import check_choice
from spotsvm.common.frames_in_state import FramesInState
from spotsvm.common.notices import Notice
from spotsvm.common.text import did_you_mean
from spotsvm.errors import ArgumentError
from spotsvm.luck.difference import TuningGain, judged
from spotsvm.luck.drawn import Evidence, expected_of
from spotsvm.luck.estimate import ExpectedScore
from spotsvm.luck.intervals import check_confidence
from spotsvm.luck.rows import RememberedPredictions
from spotsvm.luck.scores import Score, as_vector, has_positive, labels_of, of_class, probabilities_of, score_called, score_of
from spotsvm.out_of_fold.combination import (
    Choice,
    Combination,
    Rule,
    choose,
    combine,
    constant_score,
    decisions_of,
    fit_weights_of,
    single_score,
)
from spotsvm.out_of_fold.judged_rows import TIES, Answers, JudgedRows
from spotsvm.trials.scorer_trial import check_scorer

Array = NDArray[Any]
#: maximum of the bytes of the answers in a table
MOST_BYTES = 512 * 2**20
#: answers that differ by less than this share of the largest are the same
_EQUAL = 1e-5


@dataclass(frozen=True, eq=False, repr=False)
class OutOfFold(FramesInState):
    """The answers of all settings for rows that they were not fitted on, and what follows from them without a further fit.

    A fitted `SpotSearchCV`, `TunedSVC` or `TunedSVR` has it as `out_of_fold_`.

    Attributes
    ----------
    settings : DataFrame
        A row for each setting: "answered", which is False for one without answers, because it failed or because the table has
        been limited; for a search the "number" and "state" of its trial, and its parameters with the prefix of `cv_results_`, as
        in "param_C"; for a tuned model the columns of `settings_`.
    weights : ndarray of shape (n_settings,)
        The weight of each setting in the fitted model; 1 for a single setting.
    response : {"predict_proba", "decision_function", "predict"}
        The method whose results the answers are; "predict" in regression, and where answers are votes for classes.
    rows : ndarray of shape (n_judged,)
        The rows that have answers, those in a test fold.
    y : ndarray of shape (n_judged,) or (n_judged, n_outputs)
        The classes or targets of these rows.
    sample_weight : ndarray of shape (n_judged,)
        The weights of these rows in scores, with a mean of 1.
    fit_weight : ndarray of shape (n_judged,)
        The weights of these rows in the fits of the model, those of their classes included.
    classes : ndarray or None
        The classes; None in regression.

    See Also
    --------
    expected_score : The score to expect of any search.

    Notes
    -----
    A row that several folds test, as in repeated cross-validation, has the mean of its answers in `answers`, `probabilities` and
    `predictions`. In scores and in the confusion matrix each of its answers counts with its share, as their mean is the answer of
    a larger model. Scores are those of all rows together, while `cv_results_` has means over the folds.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from spotsvm import TunedSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> table = TunedSVC(random_state=0).fit(X[:200], y[:200]).out_of_fold_
    >>> table.answers.shape[1:]
    (200, 1)
    >>> int(table.confusion().to_numpy().sum())
    200
    >>> bool(table.scores("roc_auc").max() > 0.98)
    True
    """

    _computed: ClassVar[tuple[str, ...]] = ("combination", "choice", "_with_probability", "_rule")

    settings: pd.DataFrame
    weights: Array
    kept: NDArray[np.intp]  # the settings with answers
    answered: Answers  # of the kept settings
    judged_rows: JudgedRows
    places: NDArray[np.intp]  # the row of each judgement; a row may be judged several times
    n_samples: int
    scoring: Any  # a name or a scorer
    seed: int
    average: bool
    most: int | None = None
    calibrated: bool = False
    shift: float | None = None
    positive: int | None = None  # code of the positive class, if a name does not say it
    pool: NDArray[np.intp] | None = None  # the settings that compete, by place in `kept`; None for all
    best: int | None = None  # place in `pool` of the chosen setting; None for the best by the score
    default: Answers | None = None
    n_dropped: int = 0  # settings whose answers were dropped before, as all had too many bytes

    @property
    def response(self) -> str:
        """The method whose results the answers are."""
        return self.answered.response

    @property
    def classes(self) -> Array | None:
        """The classes; None in regression."""
        return self.judged_rows.classes

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows that have answers."""
        return np.unique(self.places)

    @property
    def y(self) -> Array:
        """The classes or targets of the judged rows."""
        return self._judgements_y[self._first]

    @property
    def sample_weight(self) -> Array:
        """The weights of the judged rows in scores."""
        return self._of_rows(self.judged_rows.weights)

    @property
    def fit_weight(self) -> Array:
        """The weights of the judged rows in the fits of the model, which its probabilities count, those of classes included."""
        return self._of_rows(fit_weights_of(self.judged_rows, self._competing, self.choice.weights[None])[0])

    def _of_rows(self, weights: Array) -> Array:
        """Return the weights of judged rows by those of their judgements."""
        found = np.bincount(self.places, weights, self.n_samples)[self.rows]
        return found if self.judged_rows.n_distinct is None else found / found.mean()

    @property
    def _first(self) -> NDArray[np.intp]:
        """The place of the first judgement of each row."""
        return np.unique(self.places, return_index=True)[1]

    @property
    def _judgements_y(self) -> Array:
        y = self.judged_rows.y
        return y if self.classes is None else np.asarray(self.classes[y])

    @property
    def answers(self) -> Array:
        """The answers of the settings for all rows.

        Returns
        -------
        ndarray of shape (n_answered, n_samples, n_outputs)
            For each setting with answers (`settings["answered"]`) the results of `response`: probabilities of all classes; a
            decision, positive for the second of two classes, or one for each class; votes, 1 for the predicted class; or the
            predictions of a regression. nan for rows in no test fold.
        """
        return self._of_all(self.answered.public(self.judged_rows), axis=1)

    def scores(self, scoring: Any = None) -> pd.Series:
        """Return the score of each setting.

        Parameters
        ----------
        scoring : str, scorer or None, default=None
            scikit-learn's name of a score, or a scorer of `make_scorer`; None is the score that chose. Probabilities that the
            estimator does not have are calibrated decisions.

        Returns
        -------
        Series of shape (n_settings,)
            The scores by the index of `settings`, larger is better; nan for a setting without answers.

        Raises
        ------
        ArgumentError
            If the score is unknown, or cannot be computed from answers; a ValueError.
        """
        scoring = self.scoring if scoring is None else scoring
        score = self._score(scoring)
        self._check(scoring, score)
        scores = np.full(len(self.settings), np.nan)
        if score is None:
            scores[self.kept] = self._by_scorer(scoring)
        else:
            answers = self._for(score)
            decisions = decisions_of(self.judged_rows, answers, self._with_probabilities(score, answers), score)
            weights = np.broadcast_to(self.judged_rows.weights, decisions.shape[:2])
            scores[self.kept] = score.values(decisions, self.judged_rows.y, weights)
        return pd.Series(scores, index=self.settings.index, name=scoring if isinstance(scoring, str) else "score")

    def expected(self, scoring: Any = None, confidence: float = 0.95) -> ExpectedScore:
        """Return the score to expect of the fitted model on new rows, with its interval.

        Parameters
        ----------
        scoring : str, scorer or None, default=None
            As in `scores`. The settings stay those that the score of the fit has chosen, in each draw of rows.
        confidence : float, default=0.95
            Confidence level of the interval.

        Returns
        -------
        ExpectedScore
            With `value` and `interval`.

        Raises
        ------
        ArgumentError
            If rows cannot be drawn by this score, for example a function, or a target of several columns; a ValueError.
        """
        check_confidence(confidence)
        score = self._drawable(scoring)
        drawn = self._combined(score).drawn
        assert drawn is not None
        return expected_of([drawn], score.name, "draws", confidence)

    def constant(self, scoring: Any = None) -> ExpectedScore:
        """Return the score to expect of a constant: the shares of the classes, or the mean.

        Parameters
        ----------
        scoring : str, scorer or None, default=None
            As in `scores`.

        Returns
        -------
        ExpectedScore
            With `value` and `interval`.

        Raises
        ------
        ArgumentError
            As `expected`; a ValueError.
        """
        score = self._drawable(scoring)
        return expected_of([constant_score(self.judged_rows, self._rule, self.choice.draws, score)], score.name, "rows")

    def verdict(self, scoring: Any = None) -> TuningGain:
        """Return whether tuning has helped: the score of the model less that of the default on the same rows.

        Parameters
        ----------
        scoring : str, scorer or None, default=None
            As in `expected`.

        Returns
        -------
        TuningGain
            With `decision`, the gain as `value`, its `interval`, and a sentence.

        Raises
        ------
        ArgumentError
            If the default has no answers, as the estimator's own parameters were not scored; or as `expected`. A ValueError.
        """
        return judged([self.evidence(scoring)], self._drawable(scoring).name).gain

    def evidence(self, scoring: Any = None) -> Evidence:
        """Return the scores of the model, the default and a constant in the same draws of rows.

        Parameters
        ----------
        scoring : str, scorer or None, default=None
            As in `expected`.

        Returns
        -------
        Evidence
            With `tuned`, `default` and `constant`.

        Raises
        ------
        ArgumentError
            If the default has no answers; a ValueError.
        """
        if self.default is None:
            raise ArgumentError(
                "out_of_fold_ has no answers of the default: the estimator's own parameters were not scored; call "
                "tuning_verdict(search, X, y), which fits them"
            )
        score = self._drawable(scoring)
        draws, rule, found = self.choice.draws, self._rule, self._combined(score)
        assert found.drawn is not None
        default = self.default if score.kind != "labels" or rule.moves(score) else self.default.as_votes()
        return Evidence(
            found.drawn,
            single_score(self.judged_rows, default, rule, draws, score, found.calibration),
            constant_score(self.judged_rows, rule, draws, score),
        )

    def probabilities(self) -> Array:
        """Return the probabilities of the classes by the fitted model, out of fold.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Of averaged probabilities, or of calibrated decisions; nan for rows in no test fold.

        Raises
        ------
        ArgumentError
            In regression, and where the answers are votes; a ValueError.
        """
        if self.classes is None:
            raise ArgumentError("out_of_fold_ is of a regression, which has no probabilities; use predictions()")
        if self.answered.response == "predict":
            raise ArgumentError(
                "out_of_fold_ has votes alone, of which there are no probabilities; tune an estimator with predict_proba or "
                "decision_function"
            )
        return self._of_all(probabilities_of(self._with_probability.decisions))

    def decisions(self) -> Array:
        """Return the decisions of the fitted model out of fold; in regression its predictions.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs)
            Positive for the second of two classes, or the largest for the predicted class. Of averaged probabilities and of
            calibrated decisions they are log odds or log probabilities. nan for rows in no test fold.
        """
        return self._of_all(self.combination.decisions)

    def predictions(self) -> Array:
        """Return the predictions of the fitted model out of fold.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Classes, None for rows in no test fold; or numbers, nan for these.
        """
        found = self.combination
        if self.classes is None:
            return as_vector(self._of_all(found.decisions))
        labels = self.classes[labels_of(self._of_all(found.decisions)[self.rows] - (self.shift or 0.0))]
        if len(self.rows) == self.n_samples:
            return np.asarray(labels)
        full = np.full(self.n_samples, None, dtype=object)
        full[self.rows] = labels
        return full

    def confusion(self, normalize: Literal["true", "pred", "all"] | None = None) -> pd.DataFrame:
        """Return the confusion matrix of the fitted model's predictions out of fold.

        Parameters
        ----------
        normalize : {"true", "pred", "all"} or None, default=None
            As in `sklearn.metrics.confusion_matrix`.

        Returns
        -------
        DataFrame of shape (n_classes, n_classes)
            A row for each true class, a column for each predicted class: numbers of rows, or the sums of their weights.

        Raises
        ------
        ArgumentError
            In regression; a ValueError.
        """
        if self.classes is None:
            raise ArgumentError("out_of_fold_ is of a regression, which has no confusion matrix; use predictions()")
        if normalize is not None:
            check_choice("normalize", normalize, ("true", "pred", "all"))
        rows = self.judged_rows
        predicted = self.classes[labels_of(self.combination.decisions - (self.shift or 0.0))]
        weights = None if (rows.weights == 1.0).all() and rows.n_distinct is None else rows.weights * (rows.n_rows / len(rows))
        matrix = confusion_matrix(self._judgements_y, predicted, labels=self.classes, sample_weight=weights, normalize=normalize)
        index, columns = pd.Index(self.classes, name="true"), pd.Index(self.classes, name="predicted")
        return pd.DataFrame(matrix, index=index, columns=columns)

    def equal_members(self) -> Array:
        """Return a number for each setting with a weight, largest weight first, the same for those with the same answers.

        Returns
        -------
        ndarray of int of shape (n_members,)
            The place of the first member with these answers; of a member whose answers were dropped its own place.
        """
        members = np.argsort(-self.weights, kind="stable")[: np.count_nonzero(self.weights)]
        places = {int(k): i for i, k in enumerate(self.kept)}
        values = self.answered.values
        found = np.arange(len(members))
        for i, k in enumerate(members):
            for j in found[:i][found[:i] == np.arange(i)]:
                if k in places and members[j] in places:
                    one, other = values[places[int(k)]], values[places[int(members[j])]]
                    if np.abs(one - other).max() <= _EQUAL * np.abs(other).max():
                        found[i] = j
                        break
        return found

    def limited(self, most: int = MOST_BYTES) -> tuple[OutOfFold, Notice | None]:
        """Return the table with the answers of the best settings alone, if those of all have too many bytes.

        Parameters
        ----------
        most : int, default=512 * 2**20
            Maximum of the bytes of the answers.

        Returns
        -------
        table : OutOfFold
            The table, or one with the members of the fitted model and the best other settings.
        notice : Notice or None
            What to tell of the settings without answers; None if there are none.
        """
        votes = self.answered.votes
        size = self.answered.values.nbytes + (0 if votes is None else votes.nbytes)
        if size <= most:
            return self, None
        n_kept = max(int(most * len(self.kept) / size), np.count_nonzero(self.weights), 1)
        known = self._score(self.scoring) is not None  # another scorer may need the models
        scores = self.scores(None if known else "r2" if self.classes is None else "accuracy")
        merit = np.where(self.weights > 0, np.inf, scores.to_numpy(na_value=-np.inf))[self.kept]
        best = np.sort(np.argsort(-merit, kind="stable")[:n_kept])
        place = {int(k): i for i, k in enumerate(best)}
        pool = None if self.pool is None else np.array([place[int(k)] for k in self.pool if int(k) in place])
        kept = self.kept[best]
        settings = self.settings.assign(answered=np.isin(np.arange(len(self.settings)), kept))
        table = replace(self, settings=settings, kept=kept, answered=self.answered.of(best), pool=pool)
        return table, limit_notice(len(best), len(self.kept) + self.n_dropped)

    def __repr__(self) -> str:
        m, n = len(self.kept), len(self.rows)
        return f"OutOfFold({m} of {len(self.settings)} settings, {n} of {self.n_samples} rows, {self.response})"

    @cached_property
    def combination(self) -> Combination:
        """The fitted model's combination of settings, with its score by the score that chose."""
        return self._combined(self._rule.score)

    @property
    def is_drawable(self) -> bool:
        """Whether rows can be drawn by the score that chose, so that each draw repeats the choice."""
        score = self._score(self.scoring)
        return score is not None and score.has_gains

    @property
    def responding(self) -> str:
        """The method whose results the fitted model combines: votes where predictions count and answers do not say them."""
        return self._competing.response

    @cached_property
    def _rule(self) -> Rule:
        score = self._score(self.scoring)
        if score is None or not score.has_gains:
            score = score_called("r2" if self.classes is None else "accuracy", ("r2", "accuracy"))
        return Rule(score, self.average, self.most, self.calibrated, self.shift)

    @property
    def _competing(self) -> Answers:
        """The answers of the settings that compete, as the score that chooses takes them."""
        answers = self.answered if self.pool is None else self.answered.of(self.pool)
        by_votes = self._rule.score.kind == "labels" and not self.calibrated
        if not by_votes or (self.average and answers.disagreement() <= TIES):  # an average takes no notice of ties of votes
            return answers
        return answers.as_votes()

    @cached_property
    def choice(self) -> Choice:
        """The choice among the settings that compete."""
        return choose(self.judged_rows, self._competing, self._rule, self.seed, self.best)

    def _combined(self, score: Score) -> Combination:
        rule = self._rule if score.kind != "probabilities" else self._with_probabilities(score, self._competing)
        return combine(self.judged_rows, self._competing, rule, self.choice, score)

    @cached_property
    def _with_probability(self) -> Combination:
        return self._combined(score_called("neg_log_loss", ("neg_log_loss",)))

    def _with_probabilities(self, score: Score, answers: Answers) -> Rule:
        """Return the rule with calibrated decisions, if the score needs probabilities, and the answers are none."""
        needs = score.kind == "probabilities" and answers.response != "predict_proba"
        return replace(self._rule, calibrated=True) if needs else self._rule

    def _for(self, score: Score) -> Answers:
        """Return the answers that a score counts: votes, if it counts predicted classes and answers do not say them."""
        return self.answered.as_votes() if score.kind == "labels" and not self.calibrated else self.answered

    def _score(self, scoring: Any) -> Score | None:
        """Return the known score of a metric, or None."""
        names = get_scorer_names()
        if isinstance(scoring, str) and scoring not in (*names, "mean_class_accuracy"):
            raise ArgumentError(
                f"scoring={scoring!r} is unknown{did_you_mean(scoring, names) or '; use a scorer of scikit-learn'}"
            )
        if self.judged_rows.y.ndim > 1:
            return None
        if self.positive is not None and isinstance(scoring, str):
            return of_class(score_called(scoring, (scoring,)), self.positive)
        if isinstance(scoring, str) and self.classes is not None and len(self.classes) == 2:
            coded = score_of(scoring, np.arange(2))
            if coded is not None and not has_positive(coded):  # whichever class is positive, also where scikit-learn asks for one
                return coded
        return score_of(scoring, self.classes)

    def _check(self, scoring: Any, score: Score | None) -> None:
        """Raise ArgumentError if a scorer can score no predictions of this target."""
        if score is None and self.judged_rows.y.ndim == 1:
            scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
            check_scorer(scoring, scorer, self.y, self.classes is not None)

    def _drawable(self, scoring: Any) -> Score:
        scoring = self.scoring if scoring is None else scoring
        score = self._score(scoring)
        self._check(scoring, score)
        if score is not None and not self.is_drawable:
            raise ArgumentError(
                f"scoring={self.scoring!r} has chosen the settings, and rows cannot be drawn by it, so no draw can repeat the "
                "choice; scores() has the score of each setting"
            )
        if score is None:
            raise ArgumentError(
                f"scoring={scoring!r}, by which rows cannot be drawn again; use a scorer of scikit-learn by its name, such as "
                "'accuracy', 'roc_auc', 'r2' or 'neg_root_mean_squared_error', and a target of one column"
            )
        return score

    def _by_scorer(self, scoring: Any) -> list[float]:
        """Return the scores of settings by a scorer that asks for their answers."""
        scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
        rows, scores = np.arange(len(self.places)), []
        for k in range(len(self.kept)):
            of_one = self.answered.of([k])
            if self.classes is None:
                setting = RememberedPredictions(DummyRegressor(), None)
                setting.answer("predict", as_vector(of_one.public(self.judged_rows)[0]))
            else:
                setting = RememberedPredictions(DummyClassifier(), None)
                setting.classes_ = self.classes
                setting.answer("predict", self.classes[labels_of(of_one.as_votes().values[0])])
                if of_one.response != "predict":
                    setting.answer(of_one.response, as_vector(of_one.public(self.judged_rows)[0]))
            try:
                scores.append(float(scorer(setting, rows, self._judgements_y)))
            except (AttributeError, TypeError, ValueError, IndexError) as error:
                raise ArgumentError(
                    f"scoring={scoring!r} cannot be computed from answers for rows: {type(error).__name__}: {error}. Use "
                    "the name of a scorer of scikit-learn"
                ) from error
        return scores

    def _of_all(self, values: Array, axis: int = 0) -> Array:
        """Return values of judgements for all rows, their mean for a row of several, and nan for a row of none."""
        if len(self.places) == self.n_samples and self.judged_rows.n_distinct is None:
            return values
        shape = list(values.shape)
        shape[axis] = self.n_samples
        full = np.full(shape, np.nan, dtype=values.dtype)
        before: tuple[Any, ...] = (slice(None),) * axis
        if self.judged_rows.n_distinct is None:
            full[(*before, self.places)] = values
            return full
        full[(*before, self.rows)] = 0.0
        np.add.at(full, (*before, self.places), values)
        times = np.maximum(np.bincount(self.places, minlength=self.n_samples), 1)
        return np.asarray(full / times.reshape((-1, *(1,) * (values.ndim - axis - 1))))


def limit_notice(n_kept: int, n: int) -> Notice:
    """Return what to tell if the table has the answers of some settings alone."""
    limit = f"those of all have more than {MOST_BYTES // 2**20} MB"
    return Notice(
        "table limited", f"out_of_fold_ has the answers of the {n_kept} best of {n} settings, as {limit}", share=n_kept / n
    )


#: why a fitted model has no table
DROPPED = "keep_out_of_fold=False drops it after the fit"


class OutOfFoldMixin:
    """A base of fitted models that may keep an out-of-fold table."""

    #: the table, or why there is none
    _table: OutOfFold | str

    @property
    def out_of_fold_(self) -> OutOfFold:
        """The table of all settings' answers for rows that they were not fitted on.

        Raises
        ------
        NotFittedError
            Before the fit.
        AttributeError
            If there is none; the message says why.
        """
        check_is_fitted(self)
        if isinstance(self._table, str):
            raise AttributeError(f"{type(self).__name__} has no out_of_fold_: {self._table}")
        return self._table

    def _keep_table(self, table: OutOfFold | str, keep: bool) -> list[Notice]:
        """Keep the table, or why there is none, and return what to tell."""
        if isinstance(table, str) or not keep:
            self._table = str(table) if keep else DROPPED
            return []
        self._table, limited = table.limited()
        n_done = len(table.kept) + table.n_dropped
        if limited is None and table.n_dropped:
            limited = limit_notice(len(table.kept), n_done)
        return [] if limited is None else [limited]
