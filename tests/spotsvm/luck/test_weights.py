"""Weights of settings against their definitions."""

import numpy as np
import pytest

from spotsvm.luck.draws import draw_rows
from spotsvm.luck.weights import agnostic_bayes, agnostic_bayes_in_draws, greedy, single_best, trimmed


def gains_of(m=6, n=80, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((m, n)) < np.linspace(0.6, 0.8, m)[:, None]).astype(np.float32)


def test_agnostic_bayes_is_how_often_a_setting_is_best_in_a_bootstrap():
    gains = gains_of()
    rng = np.random.default_rng(3)
    share = np.zeros(len(gains))
    for _ in range(4000):
        totals = gains[:, rng.integers(80, size=80)].sum(axis=1)
        best = totals == totals.max()
        share += best / best.sum() / 4000
    found = agnostic_bayes(gains, np.ones(80), np.arange(80), np.random.default_rng(0), 4000)
    assert found == pytest.approx(trimmed(share), abs=0.03)


def test_in_draws_it_is_the_same_on_the_rows_of_each_draw():
    gains = gains_of()
    draws = draw_rows(80, 4, np.random.default_rng(1))
    found = agnostic_bayes_in_draws(gains, np.ones(80), draws, np.random.default_rng(2), 3000)
    for drawn, weights in zip(draws.drawn, found, strict=True):
        assert weights == pytest.approx(
            agnostic_bayes(gains[:, drawn], np.ones(80), np.arange(80), np.random.default_rng(5), 3000), abs=0.05
        )


def test_weights_of_rows_count():
    gains = np.array([[1.0, 0.0], [0.0, 1.0]])
    weights = np.array([1.0, 0.0])
    assert single_best(gains, weights[None]).tolist() == [[1, 0]]
    assert agnostic_bayes(gains, weights, np.arange(2), np.random.default_rng(0))[0] > 0.8


def test_greedy_is_the_selection_of_caruana():
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(8, 60)) + rng.normal(size=60)
    weights = rng.integers(0, 3, size=60).astype(float)

    def loss(chosen):
        return (weights * errors[chosen].mean(axis=0) ** 2).sum()

    chosen = sorted(range(8), key=lambda k: loss([k]))[:3]
    for _ in range(12):
        chosen.append(min(range(8), key=lambda k: loss([*chosen, k])))
    assert greedy(errors, weights[None])[0] == pytest.approx(np.bincount(chosen, minlength=8) / 15)


def test_tiny_weights_are_left_out():
    assert trimmed(np.array([0.99, 0.01])).tolist() == [1.0, 0.0]
    assert trimmed(np.array([0.5, 0.5])).tolist() == [0.5, 0.5]
