"""The choice of the multiple by folds."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import RepeatedStratifiedKFold

from spotsvm import ConformalSVC, ExactSVC, solve_dual
from spotsvm.estimators.conformal.passes import MULTIPLES
from spotsvm.studies.conformal.toy import draw_points, labels_of

X, Y = make_moons(120, noise=0.3, random_state=0)
#: draws of the toy experiment in which cross-validation chooses each of the multiples, and none
DRAWS = (0, 1, 5, 6)


def second_pass(X, y, new, C, gamma, multiple, tol=1e-3):
    """Return f of the second pass with a scaled threshold at new rows, by the formulas; labels -1 and 1."""
    plain = ExactSVC(C=C, gamma=gamma, tol=tol).fit(X, y)
    kappa = multiple / np.abs(plain.decision_function(X)).max()
    D, D_new = (np.exp(-kappa * plain.decision_function(rows) ** 2) for rows in (X, new))
    alpha = solve_dual(D[:, None] * (rbf_kernel(X, X, gamma) + 1.0) * D, y, C, "exact", tol=tol).alpha
    return D_new * ((rbf_kernel(new, X, gamma) + 1.0) @ (D * y * alpha))


def test_the_choice_is_that_of_the_errors_of_the_folds():
    chosen = []
    for draw in DRAWS:
        rows, _ = draw_points(0, draw)
        y = labels_of(rows)
        wrong = np.zeros((1 + len(MULTIPLES), len(y)))
        for train, test in RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0).split(rows, y):
            plain = ExactSVC(C=10.0, gamma=2.0).fit(rows[train], y[train])
            wrong[0, test] += plain.predict(rows[test]) != y[test]
            for k, multiple in enumerate(MULTIPLES):
                f = second_pass(rows[train], y[train], rows[test], 10.0, 2.0, multiple)
                wrong[k + 1, test] += (f > 0) != (y[test] > 0)
        gained = wrong[0] - wrong[1:]
        clear = gained.sum(axis=1) - 0.5 * np.sqrt((gained**2).sum(axis=1)) > 0
        best = int(np.argmax(np.where(clear, gained.sum(axis=1), 0.0)))
        chosen.append(MULTIPLES[best] if clear[best] else 0.0)
        plain = ExactSVC(C=10.0, gamma=2.0).fit(rows, y)
        K = rbf_kernel(rows, gamma=2.0)
        ours = ConformalSVC(C=10.0, kernel="precomputed").fit(K, y)  # which keeps the order of the rows
        largest = np.abs(plain.decision_function(rows)).max()
        assert ours.kappa_[0, 0] * largest == pytest.approx(chosen[-1], rel=1e-2)
        if not chosen[-1]:
            np.testing.assert_allclose(ours.decision_function(K), plain.decision_function(rows), atol=1e-2)
    assert 0.0 in chosen
    assert len(set(chosen)) >= 3


def test_the_default_helps_in_the_toy_experiment_where_the_free_threshold_harms():
    errors = {"plain": [], "default": [], "paper": []}
    for draw in range(30):
        rows, new = draw_points(0, draw)
        y, y_new = labels_of(rows), labels_of(new)
        ours = ConformalSVC(C=10.0, gamma=2.0).fit(rows, y)
        errors["plain"].append(1 - ours.first_pass_.score(new, y_new))
        errors["default"].append(1 - ours.score(new, y_new))
        errors["paper"].append(1 - ConformalSVC(C=10.0, gamma=2.0, kappa="auto", bias=True).fit(rows, y).score(new, y_new))
    plain, default, paper = (np.mean(values) for values in errors.values())
    assert default < plain < paper
