"""The methods section of a cross-validated search: that of its study, and the final model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from spotsvm.common.text import counted, short, value_text
from spotsvm.luck.refits.search_table import POOL
from spotsvm.reports.methods import MethodsSection, code, listed, plain, study_methods
from spotsvm.search_cv.run import AVERAGE
from spotsvm.search_cv.scoring import metric_name
from spotsvm.search_cv.simplest import ONE_SE


def search_methods(search: Any, luck: Any = None) -> MethodsSection:
    """Return the methods section of a fitted `SpotSearchCV`; `luck` is as `Study.methods_section` takes it."""
    return study_methods(search.study_, getattr(search, "expected_score_", None) if luck is None else luck, _fitted_words(search))


def _fitted_words(search: Any) -> str:
    if not search.refit or not hasattr(search, "best_index_"):
        return ""
    rule = search.refit if isinstance(search.refit, str) else ""
    rows, sample = "all rows", search.sampled_rows_
    if sample is not None:
        rows += f" (the search has seen {len(sample)} of them, drawn at random)"
    if rule == AVERAGE:
        weights = np.sort(search.cv_results_["weight"][search.cv_results_["weight"] > 0])[::-1]
        greedy = not is_classifier(search.estimator) and metric_name(search) != "neg_mean_absolute_error"
        how = (
            "selected greedily with replacement, as they lower the squared error of the average [@caruana2004]"
            if greedy
            else "each is how often a configuration is the best when rows are drawn again [@lacoste2014]"
        )
        shares = listed([short(float(weight), 2) for weight in weights])
        n = len({repr(params) for params in search.cv_results_["params"]})
        pool = "the ten best configurations" if n > POOL else counted(n, "configuration")
        which = f"averages {len(weights)} of" if len(weights) > 1 else "is one of" if n > 1 else "is the only one of"
        weighted = f"with the weights {shares}" if len(weights) > 1 else "chosen"
        text = f"The final model {which} {pool}, fitted on {rows}, {weighted} by their out-of-fold answers: {how}."
    else:
        params = listed([f"{code(name)} = {plain(value_text(value))}" for name, value in search.best_params_.items()])
        chosen = f"The configuration with {params}" if params else "The estimator"
        simplest = " It is the simplest whose mean score is at most one standard error below the best." if rule == ONE_SE else ""
        text = f"{chosen} was fitted on {rows}.{simplest}"
    if search.calibrate:
        text += " Probabilities are a sigmoid of the decisions, or a softmax, fitted to the out-of-fold decisions [@platt1999]."
    return text
