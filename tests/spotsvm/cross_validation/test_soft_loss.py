"""The log loss of margins, against scipy's minimisation, and the margins themselves, against SVC."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.cross_validation.soft_loss import log_loss_of_margins, margins

NO_SKILL = float(np.log(2.0))
LEAST, MOST = np.log(2.0**-6), np.log(2.0**6)


def least_loss(margin):
    """Return the least loss of any slope, by scipy's minimisation over its logarithm."""
    z = margin / np.median(np.abs(margin))

    def loss(log_slope):
        return float(np.logaddexp(0.0, -np.exp(log_slope) * z).mean())

    inside = minimize_scalar(loss, bounds=(LEAST, MOST), method="bounded", options={"xatol": 1e-9})
    return min(inside.fun, loss(LEAST), loss(MOST))


ORDINARY = st.lists(st.floats(-8.0, 8.0).filter(lambda x: abs(x) > 1e-3), min_size=1, max_size=40)
#: sizes that differ by many orders of magnitude
WILD = st.lists(
    st.builds(lambda sign, size: sign * 10.0**size, st.sampled_from([-1, 1]), st.floats(-12.0, 12.0)), min_size=1, max_size=9
)


@given(ORDINARY | WILD)
@example([1.0, -1.0, 1.0, 1.0])  # the slope is log(3)
@example([1.0, -1.0])  # the least slope is the best
@example([3.0, -1e-9, 1e9, 2.0, -5.0])
@example([-1e-3, 1.0, 1.0, 30.0])
def test_the_slope_is_the_one_with_the_least_loss(values):
    margin = np.array(values)
    assert log_loss_of_margins(margin) == pytest.approx(least_loss(margin), rel=1e-9, abs=1e-12)


def test_the_loss_of_a_known_slope():
    quarter_wrong = np.array([1.0, 1.0, 1.0, -1.0]) * 7.0  # a logistic function of slope log(3) / 7 is right in 3 of 4 cases
    assert log_loss_of_margins(quarter_wrong) == pytest.approx(log_loss([1, 1, 1, 0], [0.75] * 4, labels=[0, 1]))


@given(ORDINARY, st.floats(-300.0, 300.0))
def test_the_unit_of_the_margins_does_not_matter(values, power):
    margin = np.array(values)
    assert log_loss_of_margins(margin * 10.0**power) == pytest.approx(log_loss_of_margins(margin), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("margin", "loss"),
    [
        ([0.0, 0.0, 0.0], NO_SKILL),
        ([0.0, 0.0, 0.0, 5.0], NO_SKILL),  # there is no median size
        ([1.0, np.inf], NO_SKILL),
        ([1.0, np.nan], NO_SKILL),
        ([5e-324, 5e-324, 1.0], NO_SKILL),
        ([5e-324] * 3, np.log1p(np.exp(-64.0))),
        ([1.7e308] * 4, np.log1p(np.exp(-64.0))),
        ([-1.7e308] * 4, np.log1p(np.exp(1 / 64))),
        ([-1.0], np.log1p(np.exp(1 / 64))),
        ([-1.0, -1.0, -3.0], (2 * np.log1p(np.exp(1 / 64)) + np.log1p(np.exp(3 / 64))) / 3),
        ([1e-90, 1e-90, -1.0], 1e90 / 64 / 3),
    ],
)
def test_degenerate_margins(margin, loss):
    assert log_loss_of_margins(np.array(margin)) == pytest.approx(loss, rel=1e-9, abs=1e-12)


def test_better_margins_of_equal_accuracy_have_less_loss():
    accuracy = np.array([1.0, 1.0, 1.0, -1.0])
    sure, unsure = (log_loss_of_margins(accuracy * size) for size in ([3, 3, 3, 0.1], [0.1, 0.1, 0.1, 3]))
    assert sure < NO_SKILL - 0.3
    assert NO_SKILL < unsure


def overlapping(n_classes):
    X, y = load_iris(return_X_y=True) if n_classes == 3 else load_breast_cancer(return_X_y=True)
    kept = np.arange(len(y)) % (1 if n_classes == 3 else 4) == 0
    X = X[kept] + np.random.default_rng(0).normal(scale=0.5, size=X[kept].shape)
    return X, np.array(["p", "q", "r"])[y[kept]]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_margins_are_those_of_an_svc(n_classes):
    X, y = overlapping(n_classes)
    codes = np.unique(y, return_inverse=True)[1]
    machine = SVC(C=3.0, decision_function_shape="ovo").fit(X, y)
    pairs = machine.decision_function(X).reshape(len(X), -1)
    got = margins(pairs, codes, n_classes)
    plain = machine.set_params(decision_function_shape="ovr").decision_function(X)
    if n_classes == 2:
        np.testing.assert_array_equal(got, plain * (2 * codes - 1))
    else:
        others = np.where(np.arange(3) == codes[:, None], -np.inf, plain)
        np.testing.assert_allclose(got, plain[np.arange(len(X)), codes] - others.max(axis=1), rtol=1e-12, atol=1e-14)
    assert 0 < (got < 0).sum() < len(got) / 2
    np.testing.assert_array_equal(got > 0, machine.set_params(break_ties=n_classes > 2).predict(X) == y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("prefix", ["", "svc__"])
def test_the_log_loss_of_a_candidate_is_that_of_all_its_test_rows(n_classes, prefix):
    X, y = overlapping(n_classes)
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    machine = SVC(tol=1e-8) if not prefix else make_pipeline(StandardScaler(), SVC(tol=1e-8))
    one = FoldScorer(machine, X, y, splits, {}, engine="auto", soften="score")
    assert one.softens
    codes = np.unique(y, return_inverse=True)[1]
    for candidate, scores in zip(*[(c := [{f"{prefix}C": C} for C in (0.5, 20.0)]), one.score(c)], strict=True):
        found = []
        for train, test in splits:
            machine.set_params(**candidate, **{f"{prefix}decision_function_shape": "ovo"}).fit(X[train], y[train])
            found.append(margins(machine.decision_function(X[test]).reshape(len(test), -1), codes[test], n_classes))
        assert scores.numbers["log_loss"] == pytest.approx(least_loss(np.concatenate(found)), rel=1e-5)


@pytest.mark.parametrize(("scoring", "soften"), [("balanced_accuracy", "score"), ("accuracy", None), (["accuracy", "f1"], "f1")])
def test_other_metrics_have_no_log_loss(scoring, soften):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = StandardScaler().fit_transform(X[::4]), y[::4]
    one = FoldScorer(SVC(), X, y, list(StratifiedKFold(3).split(X, y)), {}, engine="auto", scoring=scoring, soften=soften)
    (scores,) = one.score([{}])
    assert not one.softens
    assert "log_loss" not in scores.numbers
