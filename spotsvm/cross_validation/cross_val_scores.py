"""Cross-validated scores of many candidates, with the work that they share done once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import indexable

from spotsvm.cross_validation.fold_scorer import MAX_BYTES, FoldScorer
from spotsvm.cross_validation.fold_scores import warn_of_failures
from spotsvm.cross_validation.scorers import check_scorers, check_scoring_options
from spotsvm.errors import ArgumentError


def cross_val_scores(
    estimator: Any,
    X: Any,
    y: Any = None,
    candidates: Sequence[Mapping[str, Any]] = ({},),
    cv: Any = 5,
    scoring: Any = None,
    *,
    groups: Any = None,
    n_jobs: int | None = None,
    error_score: Any = np.nan,
    engine: Literal["auto", "sklearn"] = "auto",
    max_bytes: int = MAX_BYTES,
) -> NDArray[np.float64]:
    """Score candidates on the same folds: scikit-learn's scores within the solver's tolerance, several times faster for SVMs.

    For SVC, SVR, ExactSVC, ExactSVR, MultiKernelSVC and MultiKernelSVR, alone or last in a pipeline, the squared distances (of
    each group of columns) are computed once, the kernel matrix once for each kernel, and transformers are fitted once for each
    setting and fold. Folds are views of the matrix. Their solvers start at the solution for all rows or for another C; if C grows
    and no variable is at its bound, that solution is reused. NuSVC, NuSVR and an EvoSVC that ends at the optimum share the kernel
    matrix only. Candidates that differ only in the cutoffs of a CutoffClassifier share a fit. All other candidates are left to
    scikit-learn, and so are those with another result than scikit-learn's (an indefinite kernel, a cap on iterations, sparse
    data, a scorer that needs more than predictions and decisions). The same holds for folds of SVC and SVR in which any bias of
    an interval is optimal, unless LIBSVM's predictions are certain. It also holds for candidates for which the offset of a column
    costs LIBSVM the digits in which rows differ; a UserWarning names the column.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor, or a pipeline.
    X : array-like of shape (n, d)
        The data.
    y : array-like of shape (n,), optional
        The target.
    candidates : sequence of dict
        Parameters to set, as GridSearchCV's `cv_results_["params"]` has them.
    cv : int, splitter or iterable, default=5
        As in cross_val_score.
    scoring : str, callable or None, default=None
        As in cross_val_score.
    groups : array-like of shape (n,), optional
        For the splitter.
    n_jobs : int or None, default=None
        Processes for the candidates that scikit-learn scores; shared work is done in one thread.
    error_score : "raise" or number, default=nan
        The score of a fold in which fitting or scoring fails; a FitFailedWarning says so, also where all of them fail.
    engine : {"auto", "sklearn"}, default="auto"
        "sklearn" shares nothing.
    max_bytes : int, default=2 GiB
        Memory for kernel matrices; if a matrix does not fit, scikit-learn scores the candidate.

    Returns
    -------
    ndarray of shape (n_candidates, n_folds)
        The scores.

    Raises
    ------
    ArgumentError
        If there are no candidates, or an argument is invalid; a ValueError.

    See Also
    --------
    SpotSearchCV : Searches for the best candidate.
    sklearn.model_selection.cross_val_score : The scores of one candidate.

    References
    ----------
    Wen, Li, Li, He, Chen, Wu 2017, "Improving Efficiency of SVM k-Fold Cross-Validation by Alpha Seeding".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = [{"C": C, "gamma": 0.1} for C in (0.1, 1.0, 10.0)]
    >>> cross_val_scores(SVC(), X, y, candidates).mean(axis=1).round(3)
    array([0.92, 0.98, 0.98])
    """
    if isinstance(candidates, Mapping):
        raise ArgumentError("candidates is a dictionary; use a sequence of dictionaries, one per candidate")
    settings = [dict(candidate) for candidate in candidates]
    if not settings:
        raise ArgumentError("candidates is empty; use at least one dictionary of parameters")
    check_scoring_options(engine, error_score)
    if not (callable(scoring) or isinstance(scoring, str | None)):
        raise ArgumentError(f"scoring={scoring!r}; use one score: a name, a callable or None")
    X, y, groups = indexable(X, y, groups)
    check_scorers(estimator, scoring, y)
    splits = list(check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y, groups))
    scorer = FoldScorer(
        estimator,
        X,
        y,
        splits,
        {},
        scoring=scoring,
        n_jobs=n_jobs,
        error_score=error_score,
        engine=engine,
        max_bytes=max_bytes,
    )
    filler = np.nan if isinstance(error_score, str) else float(error_score)
    rows = []
    scored = scorer.score(settings)
    warn_of_failures([scores.reason for scores in scored if scores.reason], len(scored))
    for scores in scored:
        rows.append([scores.numbers.get(f"split{k}_test_score", filler) for k in range(len(splits))])
    return np.array(rows, dtype=np.float64)
