"""scikit-learn's checks of estimators, with one sweep for speed; the grid as it is among the slow tests."""

import pytest

from spotsvm import TunedSVC, TunedSVR
from tests.spotsvm.estimator_checks import parametrize_with_estimators

#: as scikit-learn expects of SVC and SVR; medians, relevance and draws are of rows, whatever their weights
REASON = "sample_weight is not equivalent to removing or repeating rows"
EXPECTED = {f"check_sample_weight_equivalence_on_{kind}_data": REASON for kind in ("dense", "sparse")}


@parametrize_with_estimators([TunedSVC(budget=1), TunedSVR(budget=1)], lambda estimator: EXPECTED)
def test_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_estimators([TunedSVC(), TunedSVR(), TunedSVC(average=False)], lambda estimator: EXPECTED)
def test_checks_of_the_grid(estimator, check):
    check(estimator)
