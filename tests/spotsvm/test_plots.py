"""The pictures of a fitted model are those of its page, and show the numbers of its out-of-fold table."""

import io
import re
from html import unescape
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from scipy.stats import binomtest
from sklearn.datasets import load_diabetes, make_classification
from sklearn.linear_model import Ridge
from sklearn.metrics import confusion_matrix, recall_score, roc_auc_score, roc_curve
from sklearn.multioutput import MultiOutputRegressor
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, TunedSVC, TunedSVR, plots
from spotsvm.errors import ArgumentError
from spotsvm.reports.judged_classes import crowds, recalls, reliability
from spotsvm.reports.judged_numbers import inside
from spotsvm.reports.members import merged_members
from spotsvm.tuned.fitted import fitted_model

X, Y = make_classification(240, 5, weights=[0.85], class_sep=0.8, random_state=1)
NAMES = np.where(Y == 1, "ill", "well")
NUMBERS = [part[:120] for part in load_diabetes(return_X_y=True)]


@pytest.fixture(scope="module")
def classifier():
    return TunedSVC(budget=3, threshold=0.3, pos_label="ill", random_state=0).fit(X, NAMES)


@pytest.fixture(scope="module")
def regression():
    return TunedSVR(budget=3, random_state=0).fit(*NUMBERS)


def dots(ax):
    return [
        tuple(map(float, line.get_xydata()[0])) for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata()) == 1
    ]


def test_the_confusion_matrix_and_the_recalls(classifier):
    p = classifier.oof_predict_proba_[:, 0]  # of "ill"
    predicted = np.where(p >= 0.3, "ill", "well")
    matrix = confusion_matrix(NAMES, predicted)
    ax = plots.plot_confusion(classifier).axes[0]
    assert [text.get_text() for text in ax.texts] == [str(n) for n in matrix.ravel()]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["ill", "well"]
    table = recalls(fitted_model(classifier).judged()).set_index("class")
    assert table["recall"].tolist() == pytest.approx(recall_score(NAMES, predicted, average=None).tolist())
    ill = binomtest(int(matrix[0, 0]), int(matrix[0].sum())).proportion_ci(method="wilson")
    assert table.loc["ill", ["low", "high"]].tolist() == pytest.approx([ill.low, ill.high], abs=1e-4)


def test_the_curves_have_the_chosen_threshold(classifier):
    p = classifier.oof_predict_proba_[:, 0]
    (ax,) = plots.plot_roc(classifier).axes
    fpr, tpr, _ = roc_curve(NAMES == "ill", p)
    assert ax.lines[0].get_ydata()[-2:].tolist() == tpr[-2:].tolist()
    assert f"AUC = {roc_auc_score(NAMES == 'ill', p):.2f}" in ax.get_legend().get_texts()[0].get_text()
    ((x, y),) = dots(ax)
    chosen = p >= 0.3
    assert (x, y) == pytest.approx((chosen[NAMES == "well"].mean(), chosen[NAMES == "ill"].mean()))
    (ax,) = plots.plot_precision_recall(classifier).axes
    assert dots(ax) == [pytest.approx((chosen[NAMES == "ill"].mean(), (NAMES == "ill")[chosen].mean()))]


def test_weights_and_several_classes_reach_the_curves():
    kinds, weights = np.where(Y == 1, 2, (X[:, 0] > 0).astype(int)), np.where(Y == 1, 3.0, 1.0)
    model = TunedSVC(budget=1, cv=3, random_state=0).fit(X, kinds, sample_weight=weights)
    assert [len(dots(draw(model).axes[0])) for draw in (plots.plot_roc, plots.plot_precision_recall)] == [3, 3]
    cells = confusion_matrix(kinds, model.out_of_fold_.predictions(), sample_weight=weights / weights.mean())
    shown = [float(text.get_text()) for text in plots.plot_confusion(model).axes[0].texts]
    assert shown == pytest.approx(cells.ravel().tolist(), rel=0.01)
    assert plots.plot_calibration(model).axes[0].get_xlabel() == "probability of the most probable class"


def test_probabilities_near_zero_have_a_panel_of_their_own(classifier):
    p = np.r_[np.linspace(0.001, 0.06, 700), np.linspace(0.3, 0.9, 100)]
    table = reliability(p, (np.arange(800) % 20 == 0).astype(float), np.ones(800))
    exact = binomtest(5, 100).proportion_ci(method="wilson")
    assert table.iloc[0, [1, 2, 3]].tolist() == pytest.approx([0.05, exact.low, exact.high], abs=1e-4)
    ((low, high),) = crowds(table)
    assert low == 0.0
    assert table.iloc[:7, 3].max() <= high < 0.3
    assert not list(crowds(reliability(np.linspace(0, 1, 800), np.ones(800), np.ones(800))))
    bars = [one for one in plots.plot_calibration(classifier).axes[0].collections if len(one.get_segments()) == 8]
    assert len(bars) == 1


def test_residuals_and_the_share_inside(regression):
    (ax,) = plots.plot_residuals(regression).axes
    points = np.asarray(ax.collections[0].get_offsets())
    order = np.lexsort(points.T)
    known = np.column_stack([regression.average_oof_, NUMBERS[1] - regression.average_oof_])
    assert points[order].ravel().tolist() == pytest.approx(known[np.lexsort(known.T)].ravel().tolist())
    table = inside(fitted_model(regression).judged()).set_index("coverage")
    half = float(np.diff(regression.predict_interval(NUMBERS[0][:1], coverage=0.8))[0, 0]) / 2
    assert table.loc["0.8", "half length"] == pytest.approx(half)
    assert table.loc["0.8", "all rows"] == pytest.approx((np.abs(known[:, 1]) <= half * (1 + 1e-9)).mean())
    lowest = np.argsort(known[:, 0])[:40]
    assert table.loc["0.8"].iloc[2] == pytest.approx((np.abs(known[lowest, 1]) <= half * (1 + 1e-9)).mean())
    assert plots.plot_predictions(regression).axes[0].get_ylabel() == "target"


def test_the_rows_predicted_worst_are_on_the_page(classifier, regression, tmp_path):
    for model in (classifier, regression):
        model.report(tmp_path / "page.html", tables=tmp_path / type(model).__name__)
    (file,) = (tmp_path / "TunedSVC").glob("*rows-predicted-worst*.csv")
    worst, own = pd.read_csv(file), np.where(Y == 1, *classifier.oof_predict_proba_.T)
    assert worst["row"].tolist() == np.argsort(own, kind="stable")[:10].tolist()
    assert worst["true class"].tolist() == NAMES[worst["row"]].tolist()
    (file,) = (tmp_path / "TunedSVR").glob("*rows-predicted-worst*.csv")
    worst, error = pd.read_csv(file), NUMBERS[1] - regression.average_oof_
    assert worst["row"].tolist() == np.argsort(-np.abs(error), kind="stable")[:10].tolist()
    assert "Rows of X are counted from 0." in (tmp_path / "page.html").read_text()


def test_members_with_the_same_answers_are_one():
    """Once no row is inside the margin, a larger C changes nothing."""
    Z = np.r_[np.random.default_rng(0).normal(size=(40, 3)), np.random.default_rng(1).normal(6.0, size=(40, 3))]
    y = np.repeat([0, 1], 40)
    y[[3, 50]] = 1, 0
    model = TunedSVC(budget=3, families=["laplacian", "rbf"], random_state=0).fit(Z, y)
    fitted = fitted_model(model)
    merged = merged_members(fitted)
    table = model.out_of_fold_
    answers = table.answers[np.argsort(-table.weights, kind="stable")[: len(model.members_)], :, 0]
    equal = table.equal_members()
    for i, j in combinations(range(len(equal)), 2):
        distance = np.abs(answers[i] - answers[j]).max() / np.abs(answers[j]).max()
        assert distance < 1e-4 if equal[i] == equal[j] else distance > 1e-6
    assert len(merged) == len(np.unique(equal)) < len(model.members_)
    assert merged["members"].sum() == len(model.members_)
    assert merged["weight"].sum() == pytest.approx(1.0)
    bars = plots.plot_members(model).axes[0].patches
    assert sorted(bar.get_width() for bar in bars) == pytest.approx(sorted(model.members_.groupby("family")["weight"].sum()))


def test_a_search_has_the_same_pictures(tmp_path):
    search = SpotSearchCV(SVC(), {"C": [0.3, 3.0], "kernel": ["rbf", "linear"]}, n_iter=4, cv=3, refit="average", random_state=0)
    search.fit(X, NAMES)
    predicted = search.out_of_fold_.predictions()
    ((x, y),) = dots(plots.plot_roc(search).axes[0])
    assert (x, y) == pytest.approx(((predicted == "well")[Y == 1].mean(), (predicted == "well")[Y == 0].mean()))
    assert {label.get_text() for label in plots.plot_members(search).axes[0].get_yticklabels()} <= {"rbf", "linear"}
    with pytest.raises(ArgumentError, match="has no probabilities; tune it with calibrate=True"):
        plots.plot_calibration(search)
    text = unescape(search.report(tmp_path / "page.html").read_text())
    assert "decision of the true class less the largest other" in text
    assert "The 10 rows predicted worst" in text


def test_what_has_no_such_picture_is_refused(classifier, regression):
    with pytest.raises(ArgumentError, match="plot_confusion: model=SVC is no fitted model"):
        plots.plot_confusion(SVC())
    with pytest.raises(ArgumentError, match="plot_roc is of a classifier, and the model is a regression"):
        plots.plot_roc(regression)
    with pytest.raises(ArgumentError, match="plot_residuals is of a regression, and the model is a classifier"):
        plots.plot_residuals(classifier)
    two = SpotSearchCV(MultiOutputRegressor(Ridge()), {"estimator__alpha": [0.1, 1.0]}, n_iter=2, cv=3)
    two.fit(NUMBERS[0], np.column_stack([NUMBERS[1], -NUMBERS[1]]))
    with pytest.raises(ArgumentError, match="a target of one column"):
        plots.plot_residuals(two)
    with pytest.raises(ArgumentError, match="plot_members: the model is no average"):
        plots.plot_members(TunedSVC(budget=1, cv=2, average=False).set_params(keep_out_of_fold=False).fit(X, Y) and two)


def test_figures_are_saved_and_leave_nothing_in_pyplot(classifier):
    for draw in (plots.plot_confusion, plots.plot_roc, plots.plot_calibration, plots.plot_members):
        draw(classifier).savefig(file := io.BytesIO())
        assert len(file.getvalue()) > 3000
    assert pyplot.get_fignums() == []


def test_page_of_two_classes_says_where_the_dot_is(classifier, tmp_path):
    text = unescape(classifier.report(tmp_path / "page.html").read_text())
    assert (
        "A dot is at the predictions of the model: a row is predicted to be of the class 'ill' if its probability is 0.3" in text
    )
    assert re.search(r"Confusion matrix, out of fold: numbers of rows\.", text)
