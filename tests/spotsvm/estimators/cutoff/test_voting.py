import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from spotsvm.estimators.cutoff.cutoff_classifier import shares_of_votes, two_shares
from spotsvm.estimators.dual.one_vs_one import pairs, votes


@given(st.integers(3, 6), st.integers(0, 10**6), st.booleans())
def test_shares_of_random_decisions(n_classes, seed, soft):
    decisions = np.random.default_rng(seed).normal(scale=3, size=(7, len(pairs(n_classes))))
    shares = shares_of_votes(decisions, n_classes, soft)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()
    if soft:
        by_hand = np.zeros_like(shares)
        for k, (i, j) in enumerate(pairs(n_classes)):
            by_hand[:, i] += expit(decisions[:, k])
            by_hand[:, j] += 1 - expit(decisions[:, k])
        np.testing.assert_allclose(shares, by_hand / len(pairs(n_classes)))
    else:
        counts = votes(decisions, n_classes)
        more = counts[:, :, None] > counts[:, None, :]
        assert (shares[:, :, None] > shares[:, None, :])[more].all()


def test_all_votes_for_one_class():
    sure = np.array([[50.0, 50.0, 0.0]])
    assert shares_of_votes(sure, 3, soft=True)[0] == pytest.approx([2 / 3, 1 / 6, 1 / 6])
    assert shares_of_votes(sure, 3, soft=False)[0].argmax() == 0


def test_two_shares_are_logistic():
    np.testing.assert_allclose(two_shares(np.array([0.0, 2.0, -800.0])), [[0.5, 0.5], [1 - expit(2), expit(2)], [1, 0]])
