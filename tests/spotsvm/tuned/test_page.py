"""The page of a fit: its numbers, and code that repeats it."""

import re
from html import unescape

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from spotsvm import TunedSVC, TunedSVR
from spotsvm.common.text import short
from spotsvm.reports.judged_classes import reliability


@pytest.mark.parametrize(
    ("estimator", "load", "rows"),
    [
        (TunedSVC(budget=2, random_state=3), load_iris, slice(None, None, 2)),
        (TunedSVC(budget=2, families=["relevance_rbf"]), load_wine, slice(0, 130)),
        (TunedSVR(budget=2, average=False), load_diabetes, slice(0, 80)),
    ],
)
def test_the_page(estimator, load, rows, tmp_path):
    X, y = load(return_X_y=True)
    model = estimator.fit(X[rows], y[rows])
    text = unescape(model.report(tmp_path / "reports" / "report.html").read_text())
    low, high = model.expected_score_.interval
    assert f"{short(model.expected_score_.value)} (95 % interval {short(low)} to {short(high)})" in text
    assert model.verdict_.sentence in text
    assert ("log loss" in text) == hasattr(model, "classes_")
    code = re.search(r"from spotsvm import .*?print\(model.verdict_\)", text, re.DOTALL)[0]
    names = {"X": X[rows], "y": y[rows]}
    exec(re.sub("<[^>]*>", "", code), names)
    assert (names["model"].predict(X) == model.predict(X)).all()


def test_bins_of_probabilities():
    p = np.linspace(0, 1, 800)
    table = reliability(p, (np.arange(800) % 2).astype(float), np.ones(800))
    assert table["rows"].tolist() == [100] * 8
    assert table.iloc[:, 1].tolist() == [0.5] * 8
    assert len(reliability(p[:3], np.ones(3), np.ones(3))) == 3
    weighted = reliability(p, (np.arange(800) % 2).astype(float), 1.0 + 2.0 * (np.arange(800) % 2))
    assert weighted.iloc[:, 1].tolist() == pytest.approx([0.75] * 8)


def test_probabilities_of_weighted_classes_are_compared_with_weighted_shares(tmp_path):
    """Half of the weight is that of a rare class, and so are the probabilities on average."""
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.r_[np.flatnonzero(y == 1)[:80], np.flatnonzero(y == 0)[:14]]
    model = TunedSVC(budget=2, class_weight="balanced", random_state=0).fit(X[rows], y[rows])
    text = unescape(model.report(tmp_path / "report.html").read_text())
    assert "Rows count for their weights and those of their classes" in text
    table = reliability(model.oof_predict_proba_[:, 1], y[rows] == 1, np.where(y[rows] == 1, 94 / 160, 94 / 28))
    assert f">{short(table.iloc[-1, 1])}<" in text
    assert "rows of 0" in text
    assert "classes in a set" in text
