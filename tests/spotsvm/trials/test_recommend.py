"""The recommendation under noise."""

import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Study, Trial
from spotsvm.errors import NoCompletedTrialError, NotPositiveDefiniteError
from spotsvm.searches import Domain
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble
from spotsvm.trials.recommendation import recommend, summarise_failures

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}
DOMAIN = Domain.continuous(1)


def bowl(params):
    return (params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2


def noisy(seed, sd=0.1):
    rng = np.random.default_rng([seed, 77])
    return lambda params: bowl(params) + sd * rng.normal()


def recommended(points, values, noise="auto"):
    trials = [Trial(k, {"x": u}, (u,), "ok", v) for k, (u, v) in enumerate(zip(points, values, strict=True))]
    return recommend(trials, DOMAIN, sign=1.0, noise=noise, seed=0)


@pytest.mark.parametrize(("search", "n_trials"), [("random", 40), ("kriging", 16)])
def test_under_noise_it_is_truly_better_than_the_luckiest(search, n_trials):
    """The noise is about as large as the spread of the response (0.13): much above it no model tells points apart."""
    pairs = []
    for seed in range(8):
        best = Study(SPACE, search, seed, noise=True).run(noisy(seed), n_trials).recommend()
        pairs.append((bowl(best.params), bowl(best.best_seen_params)))
        assert best.basis == "predicted"
        assert best.standard_error > 0
    recommended, seen = np.mean(pairs, axis=0)
    assert recommended <= seen


def test_replicates_decide():
    """The luckiest value is that of a point whose other evaluations were bad."""
    points = [0.1, 0.5, 0.9] + [0.1] * 6 + [0.5] * 6
    values = [0.0, 0.3, 1.0] + [0.9, 1.0, 1.1, 0.8, 1.2, 1.0] + [0.3, 0.25, 0.35, 0.3, 0.28, 0.31]
    best = recommended(points, values)
    assert (best.basis, best.number, best.n_evaluations) == ("predicted", 1, 7)
    assert (best.best_seen_number, best.best_seen_value) == (0, 0.0)
    assert 0.2 < best.value < 0.5


@pytest.mark.parametrize("noise", ["auto", True, False])
def test_few_trials_and_equal_ones(noise):
    one = recommended([0.5], [2.0], noise)
    assert (one.number, one.value, one.basis) == (0, 2.0, "observed")
    assert recommended([0.5, 0.5], [2.0, 1.0], noise).n_evaluations == 2
    two = recommended([0.2, 0.5], [2.0, 1.0], noise)
    assert np.isfinite([two.value, two.standard_error]).all()
    constant = recommended([0.1, 0.4, 0.9], [1.0, 1.0, 1.0], noise)
    assert constant.value == pytest.approx(1.0)
    # replicates that agree prove no noise
    best = recommended([0.1, 0.5, 0.9, 0.5], [0.5, 0.1, 0.7, 0.1])
    assert (best.basis, best.number, best.n_evaluations) == ("observed", 1, 2)


def test_a_model_that_fails_leaves_the_best_observed(monkeypatch):
    def fail(*arguments):
        raise NotPositiveDefiniteError("will not factor")

    monkeypatch.setattr(KrigingEnsemble, "fit", fail)
    with pytest.warns(UserWarning, match="the best observed trial is recommended, because the model failed: will not factor"):
        best = recommended([0.1, 0.4, 0.9], [2.0, 1.0, 3.0], True)
    assert (best.basis, best.number, best.value) == ("observed", 1, 1.0)


def test_failures_and_running_trials_do_not_count():
    some = [
        Trial(0, {"x": 0.1}, (0.1,), "failed", reason="ValueError: no"),
        Trial(1, {"x": 0.2}, (0.2,), "ok", 3.0),
        Trial(2, {"x": 0.3}, (0.3,), "timeout", reason="late"),
        Trial(3, {"x": 0.4}, (0.4,)),
    ]
    assert recommend(some, DOMAIN, sign=1.0, noise="auto", seed=0).number == 1
    with pytest.raises(NoCompletedTrialError, match="no trial has succeeded yet: 2 failed; 1 x ValueError: no; 1 x late"):
        recommend([some[0], some[2], some[3]], DOMAIN, sign=1.0, noise="auto", seed=0)
    with pytest.raises(NoCompletedTrialError, match="no trial has succeeded yet: no trial has been told"):
        recommend([], DOMAIN, sign=1.0, noise="auto", seed=0)
    reasons = ["a"] * 2 + ["b"] * 5 + ["c"] + ["d"] * 3
    failed = [Trial(k, {}, (0.5,), "failed", reason=reason) for k, reason in enumerate(reasons)]
    assert summarise_failures(failed) == "11 failed; 5 x b; 3 x d; 2 x a"
    numbered = [Trial(k, {}, (0.5,), "failed", reason=f"C is {-k / 7 - 1}, 1e-{k}") for k in range(5)]
    assert summarise_failures([*numbered, *failed[:2]]) == "7 failed; 5 x C is -1.0, 1e-0; 2 x a"
