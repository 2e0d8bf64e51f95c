"""The pipeline "table": a scaled support vector machine for any table of numbers."""

from __future__ import annotations

from typing import Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm.pipelines.default_spaces import default_space
from spotsvm.tabular import Task

#: most rows whose kernel matrix fits into the memory limit of shared work
_SHARED_ROWS = 20_000


def iteration_cap(n_samples: int) -> int:
    """Return the most iterations of a solver: a hopeless setting then ends, with the score that it has reached."""
    return max(100_000, 200 * n_samples)


def table_pipeline(task: Task, n_samples: int) -> tuple[Pipeline, dict[str, Any]]:
    """Return a scaled RBF support vector machine and its search space.

    The space is that of LIBSVM's guide, C in 2^-5 .. 2^15 and gamma in 2^-15 .. 2^3; in regression the target is scaled
    too, so that epsilon in 2^-8 .. 1 is in units of its standard deviation. If cross-validation cannot share its work
    (regression, and many rows), the solver's iterations are capped at a multiple of the sample's size: a hopeless setting
    then ends, with the score that it has reached.

    Parameters
    ----------
    task : {"classification", "regression"}
        What is predicted.
    n_samples : int
        Rows of training data.

    References
    ----------
    Hsu, Chang, Lin 2003, "A Practical Guide to Support Vector Classification".

    Examples
    --------
    >>> pipeline, space = table_pipeline("classification", 400)
    >>> sorted(space)
    ['svc__C', 'svc__gamma']
    """
    cap = iteration_cap(n_samples)
    if task == "classification":
        pipeline = make_pipeline(StandardScaler(), SVC(max_iter=cap if n_samples > _SHARED_ROWS else -1))
    else:
        pipeline = make_pipeline(StandardScaler(), TransformedTargetRegressor(SVR(max_iter=cap), transformer=StandardScaler()))
    return pipeline, default_space(pipeline)
