"""Importance and partial dependence of columns, and the learning curve, from refits on folds."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GroupKFold, check_cv

from spotsvm.common.checks import check_groups
from spotsvm.common.compat import check_method_params, num_samples, safe_indexing
from spotsvm.common.folds import seeded
from spotsvm.common.notices import untold
from spotsvm.common.text import duration
from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.row_sample import splits_at
from spotsvm.errors import SpotSVMError
from spotsvm.luck.draws import sample_rows
from spotsvm.luck.explanation import CONFIDENCE, Explanation, NotExplained
from spotsvm.luck.intervals import bounded, bounded_difference, nadeau_bengio
from spotsvm.preprocessing.frames import as_frame

#: seconds that an explanation may take without being asked for; 0 for none
EXPLAINED_IN = 10.0
_LOG = logging.getLogger(__name__)
Array = NDArray[Any]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

#: rows of which refits use some at most, and rows of a fold that are permuted
MOST_ROWS, _MOST_TESTED = 2500, 1000
#: folds at most, our own where those given test fewer rows than this on average, and their number
_MOST_SPLITS, _FEWEST_TESTED, _OWN = 10, 8, 5
#: permutations of a column in each fold
_REPEATS = 3
_STRONGEST, _PLACES, _MOST_DEPENDENT = 4, 12, 200
_FEWEST_TRAINED = 16
_SHARES = (0.125, 0.25, 0.5)
_MOST_ANSWERS = 3
#: rows of the fit that measures the time; powers of the rows with which fits and predictions take longer
_FEW_ROWS, _FIT_POWER, _PREDICT_POWER = 300, 2.0, 1.0


@dataclass(frozen=True, kw_only=True)
class Refits:
    """Rows with folds, and how to fit a model to some of them; `classes` is None in regression, `positive` the code of one.

    `fit` takes places of rows, and `score` a model, rows, targets and weights.
    """

    X: Any
    y: Any
    weights: Floats
    classes: Array | None
    positive: int
    splits: Sequence[Split]
    groups: Any
    fit: Callable[[Rows], Any]
    score: Callable[[Any, Any, Any, Floats], float]
    scoring: str
    columns: Sequence[str]
    seed: int
    sampled: bool

    def some(self, rows: Rows, size: float, seed: int) -> Rows:
        """Return some of these rows, with whole groups and all classes if possible."""
        classes = None if self.classes is None else np.asarray(self.y)[rows]
        groups = None if self.groups is None else np.asarray(self.groups)[rows]
        return rows[sample_rows(len(rows), round(size), seed, classes, groups)]

    def tested(self, test: Rows) -> Rows:
        """Return the rows of a test fold that are permuted."""
        return self.some(test, min(len(test), _MOST_TESTED), self.seed)

    def at(self, rows: Rows) -> tuple[Any, Any, Floats]:
        """Return some of the rows with their targets and weights."""
        return safe_indexing(self.X, rows), np.asarray(self.y)[rows], self.weights[rows]


def estimator_refits(
    estimator: Any, X: Any, y: Any, *, cv: Any, scorer: Any, scoring: str, seed: int, groups: Any = None,
    fit_params: Mapping[str, Any] = MappingProxyType({}), sample_weight: Any = None, positive: int = 1,
) -> Refits:  # fmt: skip
    """Return the refits of an estimator with its parameters; `sample_weight` counts in scores."""
    classifies, n, y = is_classifier(estimator), num_samples(X), np.asarray(y)
    X = as_frame(X)
    X = X if issparse(X) or isinstance(X, pd.DataFrame) else np.asarray(X)
    check_groups(splitter := seeded(check_cv(cv, y, classifier=classifies), seed), groups)
    rows = sample_rows(n, MOST_ROWS, seed, y if classifies else None, groups)
    splits = splits_at(splitter.split(X, y, groups), rows, n)
    params = check_method_params(X, params=dict(fit_params), indices=rows)
    weighted = sample_weight is not None
    weights = np.asarray(sample_weight, dtype=np.float64)[rows] if weighted else np.ones(len(rows))
    X, y, groups = (None if one is None else safe_indexing(one, rows) for one in (X, y, groups))

    def fit(some: Rows) -> Any:
        return clone(estimator).fit(safe_indexing(X, some), y[some], **check_method_params(X, params=params, indices=some))

    def score(model: Any, X: Any, y: Any, weights: Floats) -> float:
        return float(scorer(model, X, y, **({"sample_weight": weights} if weighted else {})))

    codes = np.unique(y) if classifies else None
    columns = column_names(X)
    return Refits(
        X=X, y=y, weights=weights, classes=codes, positive=positive, splits=few_splits(splits, y, codes, groups, seed),
        groups=groups, fit=fit, score=score, scoring=scoring, columns=columns, seed=seed, sampled=len(rows) < n,
    )  # fmt: skip


def column_names(X: Any) -> list[str]:
    """Return the names of the columns; x0, x1 and so on without any."""
    return [str(name) for name in X.columns] if isinstance(X, pd.DataFrame) else [f"x{j}" for j in range(X.shape[1])]


def few_splits(splits: Sequence[Split], y: Any, classes: Any, groups: Any, seed: int) -> list[Split]:
    """Return at most ten folds; five of their own where folds test so few rows that they have no scores."""
    splits = [(train, test) for train, test in splits if len(train) and len(test)]
    if np.mean([len(test) for _, test in splits]) >= _FEWEST_TESTED or len(splits) <= _OWN:
        return [splits[k] for k in np.unique(np.linspace(0, len(splits) - 1, min(len(splits), _MOST_SPLITS)).astype(int))]
    own = check_cv(_OWN, None if classes is None else y, classifier=classes is not None) if groups is None else GroupKFold(_OWN)
    return list(seeded(own, seed).split(np.zeros(len(y)), y, groups))


def explanation_within(
    refits: Refits, within: float | None = None, say: Callable[[str], None] | None = None
) -> Explanation | NotExplained:
    """Return the explanation, with a limit only if it takes less than about so many seconds; `say` is told the time before."""
    needed = seconds_needed(refits)
    if within is not None and needed > within:
        return NotExplained(needed, within)
    said = (
        f"{len(refits.columns)} columns and the learning curve by refits on {len(refits.splits)} folds: about {duration(needed)}"
    )
    _LOG.info("explains %s", said)
    if say is not None:
        say(f"explain: {said}")
    return explained(refits)


def unasked(timeout: float | None) -> float:
    """Return the seconds that an explanation may take without being asked for."""
    return EXPLAINED_IN if timeout is None else min(EXPLAINED_IN, timeout / 10.0)


def seconds_needed(refits: Refits) -> float:
    """Return about how long `explained` takes, by a fit to a few rows."""
    train, test = refits.splits[0]
    few, tested = refits.some(train, _FEW_ROWS, refits.seed), refits.tested(test)
    with untold():
        began = monotonic()
        model = refits.fit(few)
        fitted = monotonic()
        refits.score(model, *refits.at(np.tile(tested, _REPEATS)))
        scored = monotonic()
    more = max(len(train) / len(few), 1.0)
    fit = (fitted - began) * more**_FIT_POWER * (1.0 + sum(share**_FIT_POWER for share in _SHARES))
    calls = 1.0 if issparse(refits.X) else 1.0 + len(refits.columns) + _STRONGEST * _PLACES / _REPEATS
    return float(len(refits.splits) * (fit + (scored - fitted) * more**_PREDICT_POWER * calls))


def explained(refits: Refits) -> Explanation:
    """Return the importance of columns, their partial dependence, and the learning curve."""
    began, notes = monotonic(), []
    with untold():
        models = [refits.fit(train) for train, _ in refits.splits]
        whole = np.array([refits.score(model, *refits.at(test)) for model, (_, test) in zip(models, refits.splits, strict=True)])
        if issparse(refits.X):
            notes.append("The columns of sparse rows are not permuted.")
            importance = pd.DataFrame(columns=["column", "importance", "low", "high"])
        else:
            importance = _importance(refits, models)
        strongest = importance["column"].head(_STRONGEST).tolist()
        dependence = pd.concat([_dependence(refits, models, column) for column in strongest]) if strongest else pd.DataFrame()
        curve, gain, failed = _learning_curve(refits, whole)
    if failed:
        notes.append(f"No model could be fitted to {', '.join(map(str, failed))} rows.")
    return Explanation(
        importance=importance, dependence=dependence.reset_index(drop=True), learning_curve=curve, gain=gain[0],
        gain_interval=gain[1], scoring=refits.scoring, n_rows=len(refits.weights), n_folds=len(refits.splits),
        sampled=refits.sampled, notes=tuple(notes), seconds=monotonic() - began,
    )  # fmt: skip


def _ratio(refits: Refits) -> float:
    """Return the test rows for each training row, by which intervals over folds are corrected."""
    return float(np.mean([len(test) / len(train) for train, test in refits.splits]))


def _over_folds(values: Floats, ratio: float, metric: str = "", difference: bool = False) -> tuple[float, float, float]:
    """Return the mean of values of folds and its interval, cut to the possible ones of a metric."""
    known = values[np.isfinite(values)]  # a score may need classes that a fold lacks
    if not len(known):
        return np.nan, np.nan, np.nan
    mean, interval = float(known.mean()), nadeau_bengio(known, ratio, CONFIDENCE)
    return mean, *(bounded_difference(interval, mean, metric) if difference else bounded(interval, known, metric))


def _importance(refits: Refits, models: Sequence[Any]) -> pd.DataFrame:
    falls = np.empty((len(models), len(refits.columns)))
    for k, (model, (_, test)) in enumerate(zip(models, refits.splits, strict=True)):
        rows = refits.tested(test)
        X, y, weights = refits.at(np.tile(rows, _REPEATS))
        before = refits.score(model, *refits.at(rows))
        rng = np.random.default_rng((refits.seed, k))
        order = np.concatenate([rng.permutation(len(rows)) + r * len(rows) for r in range(_REPEATS)])
        for j in range(len(refits.columns)):
            falls[k, j] = before - refits.score(model, _with_column(X, j, _column(X, j)[order]), y, weights)
    found = [(name, *_over_folds(falls[:, j], _ratio(refits), refits.scoring, True)) for j, name in enumerate(refits.columns)]
    frame = pd.DataFrame(found, columns=["column", "importance", "low", "high"])
    return frame.sort_values("importance", ascending=False, kind="stable").reset_index(drop=True)


def _column(X: Any, j: int) -> Any:
    return X.iloc[:, j].array if isinstance(X, pd.DataFrame) else X[:, j]


def _with_column(X: Any, j: int, values: Any) -> Any:
    """Return rows with other values in a column."""
    X = X.copy()
    if isinstance(X, pd.DataFrame):
        X.isetitem(j, values)
    else:
        X[:, j] = values
    return X


def _dependence(refits: Refits, models: Sequence[Any], column: str) -> pd.DataFrame:
    j = list(refits.columns).index(column)
    places = _places(pd.Series(_column(refits.X, j)))
    frames = []
    for k, (model, (_, test)) in enumerate(zip(models, refits.splits, strict=True)):
        rows = refits.some(test, min(len(test), _MOST_DEPENDENT), refits.seed)
        X, _, weights = refits.at(np.tile(rows, len(places)))
        one = X.iloc[:, j] if isinstance(X, pd.DataFrame) else pd.Series(X[:, j])
        values = pd.Series(np.repeat(places.to_numpy(), len(rows))).astype(one.dtype).array
        answers = _answers(model, _with_column(X, j, values), refits)
        for name, found in answers.items():
            means = np.average(found.reshape(len(places), -1), axis=1, weights=weights.reshape(len(places), -1))
            frames.append(pd.DataFrame({"column": column, "value": places.array, "answer": name, "fold": k, "mean": means}))
    return pd.concat(frames)


def _places(values: pd.Series) -> pd.Series:
    """Return the values of a column at which answers are shown: the most frequent, or quantiles of many numbers."""
    known = values.dropna()
    if known.nunique() <= _PLACES or not pd.api.types.is_numeric_dtype(known):
        frequent = known.value_counts().index[:_PLACES]
        picked = known[known.isin(frequent)].drop_duplicates()
        return picked.sort_values() if pd.api.types.is_numeric_dtype(known) else picked
    at = np.unique(np.quantile(known.to_numpy(dtype=float), np.linspace(0.05, 0.95, _PLACES)))
    # of whole numbers the nearest ones
    return pd.Series(np.unique(np.round(at)) if pd.api.types.is_integer_dtype(known) else at)


def _answers(model: Any, X: Any, refits: Refits) -> dict[str, Floats]:
    """Return what a model answers for rows: predictions, or probabilities of the positive class or of the most frequent ones."""
    if refits.classes is None:
        return {"prediction": np.asarray(model.predict(X), dtype=float)}
    shares = [float(refits.weights[np.asarray(refits.y) == label].sum()) for label in refits.classes]
    two = len(refits.classes) == 2
    codes = [refits.positive] if two else np.argsort(shares)[::-1][:_MOST_ANSWERS].tolist()
    own = list(np.asarray(model.classes_))
    if hasattr(model, "predict_proba"):
        p = np.asarray(model.predict_proba(X))
        columns = {c: p[:, own.index(refits.classes[c])] for c in codes if refits.classes[c] in own}
        return {f"probability of {refits.classes[c]}": column for c, column in columns.items()}
    predicted = np.asarray(model.predict(X))
    return {f"share predicted as {refits.classes[c]}": (predicted == refits.classes[c]).astype(float) for c in codes}


def _learning_curve(refits: Refits, whole: Floats) -> tuple[pd.DataFrame, tuple[float, tuple[float, float]], list[int]]:
    """Return scores by the number of training rows, the gain from half of them to all, and numbers of rows without a model."""
    by_size: list[tuple[int, Floats]] = []
    failed: list[int] = []
    for share in _SHARES:
        scores, sizes = np.full(len(refits.splits), np.nan), []
        for k, (train, test) in enumerate(refits.splits):
            if share * len(train) < _FEWEST_TRAINED:
                break
            some = refits.some(train, share * len(train), refits.seed + k)
            sizes.append(len(some))
            try:
                scores[k] = refits.score(refits.fit(some), *refits.at(test))
            except (SpotSVMError, ValueError):
                failed.append(len(some))
                break
        if len(sizes) == len(refits.splits) and np.isfinite(scores).any():
            by_size.append((round(float(np.mean(sizes))), scores))
    by_size.append((round(float(np.mean([len(train) for train, _ in refits.splits]))), whole))
    ratio = _ratio(refits)
    frame = pd.DataFrame(
        [(n, *_over_folds(scores, ratio, refits.scoring)) for n, scores in by_size], columns=["rows", "score", "low", "high"]
    )
    gain = _over_folds(whole - by_size[-2][1], ratio, refits.scoring, True) if len(by_size) > 1 else (np.nan, np.nan, np.nan)
    return frame, (gain[0], gain[1:]), failed
