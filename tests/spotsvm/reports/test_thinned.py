"""What is kept of many trials."""

import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.reports.view import thinned
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.pareto import hypervolume_curve

SQUARE = {"x": uniform(-1, 2), "y": uniform(-1, 2)}


@pytest.mark.parametrize("n", [501, 750, 10_000])
def test_what_is_kept_of_many(n):
    losses = np.random.default_rng(0).normal(size=n)
    losses[::3] = np.inf
    kept = thinned(losses)
    assert len(kept) == len(set(kept.tolist())) == 500
    assert set(np.argsort(losses)[:125]) | set(range(62)) | set(range(n - 62, n)) <= set(kept.tolist())
    assert np.diff(kept).max() <= 4 * n / 500


def test_the_hypervolume_at_some_places_is_that_of_all():
    study = Study(SQUARE, "random", 0, direction=("minimize", "minimize")).run(
        lambda p: {"values": [p["x"], p["y"]]}, n_trials=60
    )
    objectives = Objectives.of(("minimize", "minimize"))
    whole = hypervolume_curve(study.trials, objectives, None)
    assert hypervolume_curve(study.trials, objectives, None, [3, 17, 59]).equals(whole.iloc[[3, 17, 59]])
