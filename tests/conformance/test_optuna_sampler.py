"""Optuna's published tests of samplers, on SpotSampler."""

import pytest

pytest.importorskip("optuna.testing.pytest_samplers", reason="Optuna is not installed, or older than 5")
from optuna.testing import pytest_samplers as theirs

from spotsvm.study.optuna import SpotSampler

pytestmark = pytest.mark.filterwarnings("ignore")


class TestSpotSampler(theirs.BasicSamplerTestCase, theirs.RelativeSamplerTestCase, theirs.MultiObjectiveSamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return SpotSampler
