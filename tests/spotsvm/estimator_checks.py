"""scikit-learn's checks of estimators, as one test for each estimator: thousands of short tests take long to report."""

from functools import partial

import pytest
from sklearn.utils.estimator_checks import check_estimator


def run_checks(estimator, expected=None):
    """Run all checks, of which those that are `expected` to fail must do so."""
    results = check_estimator(estimator, expected_failed_checks=expected or {}, on_skip=None)
    assert len(results) > 30
    failing = {result["check_name"] for result in results if result["status"] == "xfail"}
    assert failing == set(expected or {}) & {result["check_name"] for result in results}


def parametrize_with_estimators(estimators, expected_failed_checks=lambda estimator: {}):
    """Give a test of (estimator, check) each of the estimators, with what runs all checks on it."""
    cases = [
        pytest.param(
            estimator, partial(run_checks, expected=expected_failed_checks(estimator)), id=f"{type(estimator).__name__}-{k}"
        )
        for k, estimator in enumerate(estimators)
    ]
    return pytest.mark.parametrize(("estimator", "check"), cases)
