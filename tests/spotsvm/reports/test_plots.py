import io
import re

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from scipy.stats import loguniform, uniform
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, Study, load_study
from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.reports.report import study_page
from spotsvm.reports.timeline import lanes_of

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1), "z": uniform(0, 1)}


def objective(p):
    return (p["x"] - 0.2) ** 2 + 0.1 * p["y"] + 0.01 * p["z"]


@pytest.fixture(autouse=True)
def agg():
    with mpl.rc_context({"backend": "agg"}):
        yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("pictures") / "run.db"
    return Study(SPACE, "lhs", 0, path=path, noise=False).run(objective, n_trials=20)


def test_the_pictures_of_the_report_are_axes_that_a_script_can_save(study):
    pictures = {
        "convergence": study.plot_convergence(),
        "importance": study.plot_importance(),
        "parallel": study.plot_parallel(),
    }
    assert all(isinstance(ax, Axes) for ax in pictures.values())
    values = np.minimum.accumulate([t.value for t in study.trials])
    (best,) = [line for line in pictures["convergence"].lines if line.get_label() == "best so far"]
    assert best.get_ydata().tolist() == values.tolist()
    assert [label.get_text() for label in pictures["importance"].get_yticklabels()][0] == "x"
    assert len(pictures["parallel"].lines) == 20 + 1 + len(SPACE)  # the value is an axis, too
    slices = study.plot_slices()
    assert slices.shape == (3,)
    assert {(ax.get_xlabel(), ax.get_ylabel()) for ax in slices} == {("x", "y"), ("x", "z"), ("y", "z")}
    for one in (*pictures.values(), slices):
        assert one.figure.number in pyplot.get_fignums()  # which notebooks, and pyplot.show, need
        one.figure.savefig(file := io.BytesIO())
        assert len(file.getvalue()) > 5000


def test_a_report_leaves_no_figure_in_pyplot(study, tmp_path):
    study.report(tmp_path / "report.html")
    assert pyplot.get_fignums() == []


def test_a_baseline_is_drawn_and_must_fit(study):
    baseline = Study(SPACE, "random", 1).run(objective, n_trials=10)
    assert "baseline, best so far" in [line.get_label() for line in study.plot_convergence(baseline).lines]
    with pytest.raises(ArgumentError, match="different search space"):
        study.plot_convergence(Study({"x": [1, 2]}, "random", 0).run(lambda p: 1.0, 1))


def test_importance_is_a_frame_the_most_important_first(study):
    frame = study.importance()
    assert frame["parameter"].tolist() == ["x", "y", "z"]
    # the variances of the three terms over the cube, as shares
    shares = np.array([4 / 45 / 4 + 0.3**2 / 3, 0.1**2 / 12, 0.01**2 / 12])
    shares[0] = np.var((np.linspace(0, 1, 10_001) - 0.2) ** 2)
    np.testing.assert_allclose(frame["alone"], shares / shares.sum(), atol=0.03)
    assert (frame["alone"] <= frame["with_others"]).all()
    assert frame["lowest_at"][0] == pytest.approx(0.2, abs=0.08)
    assert frame["highest_at"].tolist() == [1.0, 1.0, 1.0]
    assert (frame["lowest"] < frame["highest"]).all()
    assert load_study(study.path).importance().equals(frame)


def test_of_several_objectives_one_is_named():
    pair = Study(SPACE, "random", 0, direction={"cost": "minimize", "gain": "maximize"})
    pair.run(lambda p: {"values": [objective(p), 3 * p["z"]]}, n_trials=20)
    assert pair.importance("gain")["parameter"][0] == pair.importance(1)["parameter"][0] == "z"
    assert pair.plot_convergence().get_ylabel().startswith("hypervolume")
    assert isinstance(pair.plot_importance("cost"), Axes)
    assert len(pair.plot_parallel().lines) == 20 + 2 + len(SPACE)
    with pytest.raises(ArgumentError, match="objective='loss' is no objective of the study; use one of cost, gain"):
        pair.importance("loss")
    with pytest.raises(ArgumentError, match=r"plot_slices\(\)"):
        pair.plot_slices()
    assert "trials on the front of cost" in pair._repr_html_()


def test_the_predictions_from_the_others(study):
    ax = study.plot_left_out()
    (points,) = [line for line in ax.lines if line.get_marker() == "o"]
    assert sorted(points.get_ydata()) == pytest.approx(sorted(t.value for t in study.trials))
    (bars,) = ax.collections
    ends = np.array(bars.get_segments())
    inside = ((ends[:, 0, 0] <= ends[:, 0, 1]) & (ends[:, 0, 1] <= ends[:, 1, 0])).sum()
    page = study_page(study).html()
    assert f"A line is a 95 % interval; {inside} of 20 contain the value." in page
    error = points.get_xdata() - points.get_ydata()
    share = 1 - np.sum(error**2) / np.sum((points.get_ydata() - points.get_ydata().mean()) ** 2)
    told = float(re.search(r"It explains (\d+) %", page)[1]) / 100  # the mean over the members of the model
    assert share == pytest.approx(told, abs=0.05)


def test_the_timeline_has_a_line_for_each_worker():
    """Evaluations that overlap are on different lines, and those on one line do not overlap."""
    times = [(0.0, 3.0), (0.5, 1.0), (1.2, 2.9), (3.1, 4.0), (3.2, 3.9), (4.5, 5.0)]
    spans = [(1e9 + a, 1e9 + b, None) for a, b in times]
    assert lanes_of(spans) == [0, 1, 1, 0, 1, 0]


def test_the_timeline_of_a_study(study):
    ax = study.plot_timeline()
    assert sum(len(line.get_xdata()) for line in ax.lines) == 20
    assert ax.get_yticks().tolist() == [1]  # one at a time
    text = study_page(study).html()
    assert "When 20 evaluations ran" in text
    assert "At most 1 ran at once" in text


def test_the_evaluation_matrix(study):
    axes = study.plot_evaluations()
    assert axes.shape == (6,)
    drawn = {
        (ax.get_xlabel(), ax.get_ylabel()): np.concatenate([line.get_xydata() for line in ax.lines if line.get_markersize() < 4])
        for ax in axes
        if ax.lines
    }
    below = drawn[("x", "z")]
    known = np.array([[t.params["x"], t.params["z"]] for t in study.trials])
    assert below[np.lexsort(below.T)] == pytest.approx(known[np.lexsort(known.T)])
    counts = [sum(bar.get_height() for bar in ax.patches) for ax in axes if ax.patches]
    assert counts == [20, 20, 20]
    one = Study({"x": uniform(0, 1)}, "lhs", 0, noise=False).run(lambda p: p["x"], n_trials=9)
    assert "Where the search has looked" not in study_page(one).html()


def test_what_cannot_be_shown_says_why():
    study = Study(SPACE, "random", 0)
    for draw in (study.plot_convergence, study.plot_slices, study.plot_importance, study.plot_parallel, study.importance):
        with pytest.raises(NoCompletedTrialError, match="no trial has succeeded yet"):
            draw()
    study.run(objective, n_trials=3)
    for draw in (study.plot_slices, study.plot_importance, study.importance):
        with pytest.raises(ArgumentError, match="no model of the trials to show. Only 3 different configurations"):
            draw()
    with pytest.raises(ArgumentError, match="objective=1 is no objective of the study; use 0, as there is a single"):
        study.importance(1)
    huge = Study(SPACE, "random", 0).run(lambda p: 1e305, n_trials=2)
    with pytest.raises(ArgumentError, match="too large to be drawn"):
        huge.plot_convergence()


def test_notebooks_show_the_best_trials_and_no_foreign_markup():
    kinds = ["<script>alert(1)</script>", "a\x1b[2J\u202eb", "c"]
    study = Study({"<b>x": uniform(0, 1), "kind": kinds}, "random", 0)
    assert study._repr_html_().count("<table>") == 0
    study.run(lambda p: p["<b>x"] if p["kind"] != "c" else float("nan"), n_trials=30)
    html = study._repr_html_()
    failed = sum(t.state == "failed" for t in study.trials)
    assert f"30 of 30 trials finished, {failed} failed" in html
    assert html.count("<tr>") == 11
    best = sorted((t.value, t.number) for t in study.trials if t.value is not None)
    assert html.index(f"<td>{best[0][1]}</td>") < html.index(f"<td>{best[9][1]}</td>")
    assert "<script>" not in html
    assert "<th>&lt;b&gt;x</th>" in html
    assert not set("\x1b\u202e") & set(html)


def test_a_search_keeps_the_diagram_of_scikit_learn():
    space = {"C": loguniform(0.1, 10), "gamma": loguniform(0.1, 10)}
    html = SpotSearchCV(SVC(), space)._repr_html_()
    assert "sk-parallel" in html
    assert "SVC" in html
