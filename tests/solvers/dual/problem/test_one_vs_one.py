import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from spotsvm.solvers.dual.problem.one_vs_one import one_vs_rest, pair_decisions, pairs, votes

X, Y = load_digits(n_class=6, return_X_y=True)
X = X / 16


@pytest.fixture(scope="module", params=[2, 3, 6])
def machine(request):
    keep = np.flatnonzero(request.param > Y)[:300]
    return SVC(kernel="linear", decision_function_shape="ovo").fit(X[keep], Y[keep])


def test_decisions_of_svc_s_own_coefficients_are_svc_s(machine):
    got = pair_decisions(X @ machine.support_vectors_.T, machine.dual_coef_, machine.n_support_, machine.intercept_)
    assert got.shape == (len(X), len(pairs(len(machine.classes_))))
    np.testing.assert_allclose(got.squeeze(), machine.decision_function(X), rtol=1e-10, atol=1e-10)


def test_votes_and_scores_are_svc_s(machine):
    n_classes = len(machine.classes_)
    if n_classes == 2:  # no votes
        return
    decisions = machine.decision_function(X)
    np.testing.assert_array_equal(machine.classes_[votes(decisions, n_classes).argmax(axis=1)], machine.predict(X))
    machine.set_params(decision_function_shape="ovr")
    np.testing.assert_allclose(one_vs_rest(decisions, n_classes), machine.decision_function(X), rtol=1e-12)
    machine.set_params(decision_function_shape="ovo")


def test_a_decision_above_zero_is_a_vote_for_the_first_of_a_pair_any_other_for_the_second():
    counts = votes(np.array([[1.0, -1.0, 1.0], [0.0, 0.0, 0.0]]), 3)
    np.testing.assert_array_equal(counts, [[1, 1, 1], [0, 1, 2]])


@pytest.mark.parametrize("n_classes", [3, 5])
def test_votes_and_scores_are_sums_over_pairs(n_classes):
    rng = np.random.default_rng(n_classes)
    decisions = np.where(rng.random((40, n_classes * (n_classes - 1) // 2)) < 0.1, 0.0, rng.standard_normal((40, 1)))
    counts, scores, sums = (np.zeros((40, n_classes)) for _ in range(3))
    for k, (i, j) in enumerate(pairs(n_classes)):
        d = decisions[:, k]
        counts[:, i] += d > 0
        counts[:, j] += d <= 0
        scores[:, i] += d >= 0
        scores[:, j] += d < 0
        sums[:, i] += d
        sums[:, j] -= d
    np.testing.assert_array_equal(votes(decisions, n_classes), counts)
    np.testing.assert_allclose(one_vs_rest(decisions, n_classes), scores + sums / (3 * (np.abs(sums) + 1)), rtol=1e-14)
