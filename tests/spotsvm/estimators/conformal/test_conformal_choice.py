"""The default of ConformalSVC: a threshold that D scales, and a second pass only where it lowers the errors."""

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

from spotsvm import ConformalSVC, ExactSVC, solve_dual

X, Y = make_moons(120, noise=0.3, random_state=0)
NEW = np.random.default_rng(1).uniform(-1.5, 2.5, size=(60, 2))
WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)[:, :6]


def second_pass(X, y, new, C, gamma, multiple, tol=1e-3):
    """Return f of the second pass with a scaled threshold at new rows, by the formulas; labels -1 and 1."""
    plain = ExactSVC(C=C, gamma=gamma, tol=tol).fit(X, y)
    kappa = multiple / np.abs(plain.decision_function(X)).max()
    D, D_new = (np.exp(-kappa * plain.decision_function(rows) ** 2) for rows in (X, new))
    alpha = solve_dual(D[:, None] * (rbf_kernel(X, X, gamma) + 1.0) * D, y, C, "exact", tol=tol).alpha
    return D_new * ((rbf_kernel(new, X, gamma) + 1.0) @ (D * y * alpha))


def test_a_scaled_threshold_is_a_constant_beside_the_kernel():
    ours = ConformalSVC(C=5.0, gamma=2.0, kappa="auto", tol=1e-6).fit(X, Y)
    by_hand = second_pass(X, 2.0 * Y - 1, NEW, 5.0, 2.0, 1.0, tol=1e-6)
    np.testing.assert_allclose(ours.decision_function(NEW), by_hand, atol=1e-4)
    assert ours.intercept_[0] == 0.0


@pytest.mark.parametrize("kernel", [{"sigma": 0.5}, {"kernel": "linear"}, {"kernel": "poly", "coef0": 1.0}])
def test_far_away_the_sign_is_that_of_the_sum_and_its_threshold(kernel):
    ours = ConformalSVC(C=10.0, kappa=2.0, **kernel).fit(X, Y)
    paper = ConformalSVC(C=10.0, kappa=2.0, bias=True, **kernel).fit(X, Y)
    f = ours.staged_decision_function(X)
    far = np.abs(f[0]) > 2.0
    assert far.any()
    assert len(set(paper.predict(X[far]))) == 1  # the sign of b, whatever the class
    assert (ours.predict(X[far]) == (f[0][far] > 0)).mean() > 0.9


@pytest.mark.parametrize("y", [np.arange(120) % 2, np.r_[1, np.zeros(119)]], ids=["no boundary", "a class of one row"])
def test_what_leaves_nothing_to_choose_is_the_plain_machine(y):
    data = np.zeros((120, 1)) if y[1] else X
    ours, plain = ConformalSVC().fit(data, y), ExactSVC().fit(data, y)
    assert (ours.kappa_ == 0).all()
    np.testing.assert_array_equal(ours.decision_function(data), plain.decision_function(data))
