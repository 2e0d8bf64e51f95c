"""Which columns matter and whether more rows would help: by models that have not seen the judged rows."""

import math
import pickle
from html import unescape

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.sparse import csr_matrix
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.svm import SVC, SVR

from spotsvm import SpotSearchCV, TunedSVC, TunedSVR, plots
from spotsvm.commands.main import main
from spotsvm.errors import ArgumentError
from spotsvm.luck.explanation import Explanation, NotExplained
from spotsvm.luck.refits import explained as module
from spotsvm.luck.refits.explained import seconds_needed

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(150, 4)), columns=["noise", "slope", "other", "step"])
X["kind"] = np.where(RNG.random(150) < 0.5, "left", "right")
Y = 3.0 * X["slope"] + 1.5 * (X["kind"] == "left") + 0.2 * RNG.normal(size=150)
LABELS = np.where(Y > Y.median(), "high", "low")
FOLDS = KFold(3, shuffle=True, random_state=1)


@pytest.fixture(scope="module")
def regression():
    return TunedSVR(budget=2, cv=3, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def found(regression):
    return regression.explain()


def test_the_columns_that_matter_come_first(found):
    assert found.importance["column"].tolist()[:2] == ["slope", "kind"]
    first = found.importance.set_index("column")
    assert first.loc["slope", "low"] > 0.2
    assert first.loc["noise", "low"] < 0.05
    assert abs(first.loc["noise", "importance"]) < 0.1
    assert found.dependence["column"].unique().tolist() == found.importance["column"].head(4).tolist()
    slope = found.dependence[(found.dependence["column"] == "slope") & (found.dependence["fold"] == 0)]
    assert np.all(np.diff(slope["mean"]) > 0)
    kinds = found.dependence[found.dependence["column"] == "kind"].groupby("value")["mean"].mean()
    assert 0.8 < kinds["left"] - kinds["right"] < 2.2


def test_importance_and_dependence_of_a_known_model():
    """Of a linear model they follow from scikit-learn's functions on the same folds."""
    rows = X[["noise", "slope", "other", "step"]].to_numpy()
    search = SpotSearchCV(LinearRegression(), {"positive": [False]}, n_iter=1, cv=FOLDS, random_state=0).fit(rows, Y)
    found = search.explain()
    falls, means = [], []
    for train, test in FOLDS.split(rows):
        model = LinearRegression().fit(rows[train], Y[train])
        falls.append(permutation_importance(model, rows[test], Y[test], n_repeats=30, random_state=0).importances_mean[1])
        part = found.dependence[(found.dependence["column"] == "x1") & (found.dependence["fold"] == len(means))]
        grid = partial_dependence(model, rows[test], [1], custom_values={1: part["value"].to_numpy(dtype=float)}, kind="average")
        means.append(np.abs(grid["average"][0] - part["mean"].to_numpy()).max())
    assert found.importance["column"].iloc[0] == "x1"
    assert found.importance["importance"].iloc[0] == pytest.approx(np.mean(falls), abs=0.25)
    assert max(means) < 1e-9
    first = found.importance.iloc[0]
    assert first["low"] < first["importance"] < first["high"]


def test_a_training_row_is_never_judged_by_its_own_model():
    """A model that knows its rows by heart, of a target without any rule, gains nothing from any column."""
    y = RNG.normal(size=150)
    rows = X[["noise", "slope"]].to_numpy()
    search = SpotSearchCV(SVR(C=1e4), {"gamma": [50.0]}, n_iter=1, cv=FOLDS, random_state=0).fit(rows, y)
    assert search.best_estimator_.score(rows, y) > 0.95
    found = search.explain()
    assert found.learning_curve["score"].iloc[-1] < 0.3
    assert found.importance["low"].max() < 0.2
    assert permutation_importance(search.best_estimator_, rows, y, random_state=0).importances_mean.min() > 1.0


def test_the_learning_curve(found):
    curve = found.learning_curve
    assert curve["rows"].tolist() == [25, 50, 100]
    assert curve["score"].iloc[-1] > curve["score"].iloc[0]
    assert found.gain == pytest.approx(curve["score"].iloc[-1] - curve["score"].iloc[-2])
    low, high = found.gain_interval
    start = "More rows are likely to help" if low > 0 else "Whether more rows would help is open"
    assert found.sentence.startswith(start)
    assert f"(95 % interval {low:+.3g} to {high:+.3g})" in found.sentence
    assert (curve["high"] <= 1.0).all()


@pytest.mark.parametrize(
    "model",
    [
        TunedSVC(budget=1, cv=3, scoring="neg_log_loss", random_state=0),
        TunedSVC(budget=2, cv=3, threshold=0.3, pos_label="low", average=False, random_state=0),
        SpotSearchCV(SVC(), {"C": [0.5, 5.0]}, n_iter=2, cv=3, refit="average", calibrate=True, random_state=0),
    ],
)
def test_classifiers(model):
    rows = X if isinstance(model, TunedSVC) else X[["noise", "slope", "other"]]
    weights = {"sample_weight": np.linspace(0.5, 2.0, 150)} if isinstance(model, TunedSVC) else {}
    found = model.fit(rows, LABELS, **weights).explain()
    assert found.importance["column"].iloc[0] == "slope"
    answer = "probability of low"
    assert found.dependence["answer"].unique().tolist() == [answer if not isinstance(model, SpotSearchCV) else answer]
    if isinstance(model, TunedSVC) and model.threshold:
        assert found.dependence["mean"].between(0, 1).all()


def test_groups_stay_together_and_single_rows_are_no_folds():
    groups = np.arange(150) // 5
    refits = TunedSVR(budget=1, cv=3, random_state=0).fit(X, Y, groups=groups)._refits()
    assert all(not set(refits.groups[train]) & set(refits.groups[test]) for train, test in refits.splits)
    search = SpotSearchCV(SVR(), {"C": [1.0]}, n_iter=1, cv=LeaveOneOut(), scoring="neg_mean_absolute_error")
    assert search.fit(X[["noise", "slope"]][:40], Y[:40]).explain().n_folds == 5


def test_sparse_rows_have_a_learning_curve_alone():
    found = TunedSVR(budget=1, cv=3, random_state=0).fit(csr_matrix(X[["noise", "slope"]].to_numpy()), Y).explain()
    assert not len(found.importance)
    assert found.notes == ("The columns of sparse rows are not permuted.",)
    assert len(found.learning_curve) == 3
    with pytest.raises(ArgumentError, match="sparse rows"):
        plots.plot_importance(found)


def test_a_page_has_it_if_it_is_quick_or_asked_for(regression, tmp_path, monkeypatch):
    asked = regression.report(tmp_path / "a.html", explain=True, tables=tmp_path / "tables").read_text()
    (file,) = (tmp_path / "tables").glob("*fall-of-r2*.csv")
    assert pd.read_csv(file)["column"].iloc[0] == "slope"
    assert "Columns and rows" in asked
    assert "Columns and rows" not in regression.report(tmp_path / "b.html", explain=False).read_text()
    monkeypatch.setattr(module, "EXPLAINED_IN", 1e9)
    assert "Which columns matter: by how much the R2 falls" in unescape(regression.report(tmp_path / "c.html").read_text())
    monkeypatch.setattr(module, "EXPLAINED_IN", 1e-9)
    told = unescape(regression.report(tmp_path / "d.html").read_text())
    assert "was not computed: by refits on folds it takes about" in told
    with pytest.raises(ArgumentError, match="explain=3"):
        regression.report(tmp_path / "e.html", explain=3)


def test_the_time_is_said_before(regression):
    lines = []
    assert isinstance(regression.explain(say=lines.append), Explanation)
    assert len(lines) == 1
    assert lines[0].startswith("explain: 5 columns and the learning curve by refits on 3 folds: about ")
    left = regression.explain(within=0.0, say=lines.append)
    assert isinstance(left, NotExplained)
    assert left.seconds > 0
    assert len(lines) == 1
    assert 0 < seconds_needed(regression._refits()) < math.inf


def test_a_loaded_model_has_no_rows(regression):
    loaded = pickle.loads(pickle.dumps(regression))
    with pytest.raises(ArgumentError, match="was loaded or copied, and has no rows to explain"):
        loaded.explain()
    assert np.allclose(loaded.predict(X[:5]), regression.predict(X[:5]))


def test_the_pictures(found):
    assert plots.plot_importance(found).axes[0].get_yticklabels()[0].get_text() == "slope"
    assert [ax.get_xlabel() for ax in plots.plot_dependence(found).axes] == found.importance["column"].head(4).tolist()
    assert plots.plot_learning_curve(found).axes[0].lines[0].get_xdata().tolist() == [25, 50, 100]
    with pytest.raises(ArgumentError, match="plot_importance: TunedSVR is no explanation"):
        plots.plot_importance(TunedSVR())


@pytest.mark.parametrize("options", [["--cv", "3"], ["--model", "svm", "--trials", "3", "--cv", "3"]])
def test_the_command(tmp_path, options):
    X.assign(target=Y).to_csv(tmp_path / "rows.csv", index=False)
    run = [*options, "--target", "target", "--no-compare", "--explain", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(main, ["tune", str(tmp_path / "rows.csv"), *run], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "explain: 5 columns and the learning curve by refits on 3 folds: about" in done.output
    assert "Columns that matter most" in done.output
    page = unescape((tmp_path / "out" / "report.html").read_text())
    assert "Columns and rows" in page
    assert page.index(">slope<", page.index("Columns and rows")) < page.index(">noise<", page.index("Columns and rows"))
