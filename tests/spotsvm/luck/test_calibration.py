"""Calibrated probabilities against scikit-learn's sigmoid and a general minimiser, and the coverage of sets by their rank."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.calibration import _SigmoidCalibration

from spotsvm.luck.calibration import _RIDGE, calibrate, conformal_limit
from spotsvm.luck.scores import probabilities_of

RNG = np.random.default_rng(0)
D = RNG.normal(size=300)
Y = (D + RNG.normal(size=300) > 0.5).astype(int)


def test_two_classes_have_platts_sigmoid():
    found = probabilities_of(calibrate(D[None, :, None], Y, np.ones((1, 300)))(D[None, :, None]))[0]
    assert found[:, 1] == pytest.approx(_SigmoidCalibration().fit(D, Y).predict(D), abs=2e-3)
    weights = RNG.integers(0, 3, size=300).astype(float)
    found = probabilities_of(calibrate(D[None, :, None], Y, weights[None])(D[None, :, None]))[0]
    assert found[:, 1] == pytest.approx(_SigmoidCalibration().fit(D, Y, weights).predict(D), abs=2e-3)


def test_several_classes_have_the_minimum_of_the_cross_entropy():
    k, n = 4, 200
    d = RNG.normal(size=(n, k))
    y = (1.5 * d + RNG.gumbel(size=(n, k)) + [0, 0, 1, 1]).argmax(axis=1)
    w = RNG.integers(0, 3, size=n).astype(float)
    sure = (w.sum() + 1) / (w.sum() + 2)
    targets = np.where(np.eye(k)[y] > 0, sure, (1 - sure) / (k - 1))

    def loss(theta):
        return (
            -(w[:, None] * targets * log_softmax(theta[0] * d + theta[1:], axis=1)).sum() + 0.5 * _RIDGE * (theta[1:] ** 2).sum()
        )

    best = minimize(loss, np.zeros(k + 1), tol=1e-10).x
    found = calibrate(d[None], y, w[None])
    assert found.slope[0] == pytest.approx(best[0], abs=0.02)
    assert found(d[None])[0] == pytest.approx(log_softmax(best[0] * d + best[1:], axis=1), abs=0.05)


def test_a_start_does_not_change_where_it_ends():
    weights = RNG.integers(0, 3, size=(5, 300)).astype(float)
    decisions = np.repeat(D[None, :, None], 5, axis=0)
    start = calibrate(decisions[:1], Y, np.ones((1, 300)))
    assert calibrate(decisions, Y, weights, start)(decisions) == pytest.approx(
        calibrate(decisions, Y, weights)(decisions), abs=0.02
    )


def test_two_steps_from_the_start_are_enough_for_many_classes():
    """Draws of rows start from the calibration of all rows; more steps change no score that is printed."""
    k, n, rng = 40, 600, np.random.default_rng(1)
    y = np.arange(n) % k
    d = (rng.normal(size=(n, k)) + 2.5 * np.eye(k)[y])[None]
    counts = rng.multinomial(n, np.full(n, 1 / n), size=3).astype(float)
    start = calibrate(d, y, np.ones((1, n)))
    for w in counts[:, None]:
        few, many = (calibrate(d, y, w, at)(d)[0] for at in (start, None))
        new = np.flatnonzero(w[0] == 0)
        losses = [-log_softmax(p, axis=1)[new, y[new]].mean() for p in (few, many)]
        assert losses[0] == pytest.approx(losses[1], rel=0.01)
        assert np.mean(few.argmax(axis=1) == many.argmax(axis=1)) > 0.99


def test_decisions_that_are_worse_than_chance_give_the_share_of_the_class():
    found = probabilities_of(calibrate(-D[None, :, None], Y, np.ones((1, 300)))(-D[None, :, None]))
    assert found[..., 1] == pytest.approx(Y.mean(), abs=0.01)


def test_separable_decisions_give_no_certainty():
    d = np.where(np.arange(20) < 10, -1.0, 1.0)[None, :, None]
    found = probabilities_of(calibrate(d, np.arange(20) // 10, np.ones((1, 20)))(d))
    assert found.max() == pytest.approx(11 / 12, abs=0.01)


@pytest.mark.parametrize("n", [20, 99, 250])
def test_new_scores_are_within_the_limit_as_often_as_is_asked_for(n):
    inside = [RNG.random() <= conformal_limit(RNG.random(n), np.ones(n), 0.8) for _ in range(3000)]
    assert np.mean(inside) == pytest.approx(np.ceil(0.8 * (n + 1)) / (n + 1), abs=0.025)


def test_weights_of_rows_are_repeats():
    scores = RNG.random(30)
    assert conformal_limit(scores, np.repeat([1.0, 1e-9], 15), 0.5) == pytest.approx(
        conformal_limit(scores[:15], np.ones(15), 0.5)
    )
