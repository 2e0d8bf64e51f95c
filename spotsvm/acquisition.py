"""The acquisition functions: where to evaluate next, from a model's mean and standard deviation.

Examples
--------
>>> from spotsvm.acquisition import expected_improvement
>>> expected_improvement([0.0, 1.0], [1.0, 1.0], best=0.0).round(3)
array([0.399, 0.083])
"""

from spotsvm.surrogates.acquisition.acquisition import (
    expected_improvement,
    log_expected_improvement,
    log_expected_improvement_gradient,
    lower_confidence_bound,
    minimum_of_mean,
    probability_of_improvement,
)

__all__ = [
    "expected_improvement",
    "log_expected_improvement",
    "log_expected_improvement_gradient",
    "lower_confidence_bound",
    "minimum_of_mean",
    "probability_of_improvement",
]
