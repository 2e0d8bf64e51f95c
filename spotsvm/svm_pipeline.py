"""The pipeline that the command line tunes, and its search space."""

from __future__ import annotations

from typing import Any, Literal

from scipy.stats import loguniform
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

#: up to here a kernel matrix fits into the memory that shared work may take
_SHARED_ROWS = 20_000

Task = Literal["classification", "regression"]


def svm_pipeline(task: Task, n_samples: int) -> tuple[Pipeline, dict[str, Any]]:
    """Make a scaled RBF support vector machine and the space in which to tune it.

    The space is that of LIBSVM's guide, C in 2^-5 .. 2^15 and gamma in 2^-15 .. 2^3; in regression the target is scaled
    too, so that epsilon in 2^-8 .. 1 is in units of its standard deviation. Where cross-validation cannot share its work
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
    >>> pipeline, space = svm_pipeline("classification", 400)
    >>> sorted(space)
    ['svc__C', 'svc__gamma']
    """
    cap = max(100_000, 200 * n_samples)
    C, gamma = loguniform(2.0**-5, 2.0**15), loguniform(2.0**-15, 2.0**3)
    if task == "classification":
        return make_pipeline(StandardScaler(), SVC(max_iter=cap if n_samples > _SHARED_ROWS else -1)), {
            "svc__C": C,
            "svc__gamma": gamma,
        }
    target = TransformedTargetRegressor(SVR(max_iter=cap), transformer=StandardScaler())
    step = "transformedtargetregressor__regressor"
    epsilon = loguniform(2.0**-8, 1.0)
    return make_pipeline(StandardScaler(), target), {f"{step}__C": C, f"{step}__gamma": gamma, f"{step}__epsilon": epsilon}
