import matplotlib as mpl
import numpy as np
import pytest

from spotsvm import Study
from spotsvm.common.errors import ArgumentError, NoCompletedTrialError
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.pareto import plot_pareto
from spotsvm.trials.trial import Trial

MIXED = Objectives.of({"error": "minimize", "margin": "maximize"})


@pytest.fixture(autouse=True)
def _no_window():
    backend = mpl.get_backend()
    mpl.use("agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")
    mpl.use(backend)


def trials(rows):
    return [
        Trial(k, {}, (), "failed") if row is None else Trial(k, {}, (), "ok", values=tuple(map(float, row)))
        for k, row in enumerate(rows)
    ]


def lines(ax):
    """Label to points; the staircase as it is drawn."""
    return {line.get_label(): line for line in ax.get_lines()}


def test_the_front_is_a_staircase_and_the_rest_is_grey():
    ax = plot_pareto(trials([(1, 1), (3, 3), (2, 2), (2, 1), None, (4, 0)]), MIXED)
    drawn = lines(ax)
    assert drawn["front (3 trials)"].get_xydata().tolist() == [[1, 1], [2, 2], [3, 3]]
    assert drawn["dominated (2 trials)"].get_xydata().tolist() == [[2, 1], [4, 0]]
    assert drawn["dominated (2 trials)"].get_color() == "0.7"
    steps = [line for line in ax.get_lines() if line.get_drawstyle() == "steps-post"]
    assert [line.get_xydata().tolist() for line in steps] == [[[1, 1], [2, 2], [3, 3]]]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("error (smaller is better)", "margin (larger is better)")
    assert len(ax.get_legend().get_texts()) == 2


def test_a_trial_far_off_does_not_squash_the_front_and_is_told():
    rows = [(1.0, 3.0), (1.5, 2.0), (2.0, 1.0), (2.0, 2.5), (90.0, 400.0), (3.0, 500.0)]
    ax = plot_pareto(trials(rows), Objectives.of(("minimize", "minimize")))
    assert set(lines(ax)) >= {"dominated (3 trials, 2 beyond the axes)", "front (3 trials)"}
    for (low, high), front in ((ax.get_xlim(), (1.0, 2.0)), (ax.get_ylim(), (1.0, 3.0))):
        assert low < front[0]
        assert front[1] < high
        assert (front[1] - front[0]) / (high - low) > 0.2
    assert ax.get_xlim()[1] > 2.0
    near = plot_pareto(trials(rows[:4]), Objectives.of(("minimize", "minimize")))
    assert "dominated (1 trials)" in lines(near)


@pytest.mark.parametrize("directions", [("minimize", "minimize"), ("maximize", "maximize"), ("maximize", "minimize")])
def test_the_corners_of_the_staircase_are_dominated_by_their_neighbours(directions):
    objectives = Objectives.of(directions)
    rows = [tuple(objectives.turned(row)) for row in ((1, 3), (2, 2), (3, 1))]
    ax = plot_pareto(trials(rows), objectives)
    line = next(line for line in ax.get_lines() if line.get_drawstyle() == "steps-post")
    x, y = line.get_xdata(), line.get_ydata()
    corners = np.column_stack([x[1:], y[:-1]])  # of steps-post
    assert objectives.turned(corners).tolist() == [[2, 3], [3, 2]]


def test_three_objectives_are_three_pairs():
    axes = plot_pareto(
        trials([(1, 2, 3), (2, 1, 3), (2, 2, 4)]), Objectives.of({"a": "minimize", "b": "minimize", "c": "maximize"})
    )
    assert axes.shape == (3,)
    labels = [(ax.get_xlabel()[0], ax.get_ylabel()[0]) for ax in axes]
    assert labels == [("a", "b"), ("a", "c"), ("b", "c")]
    assert not [line for ax in axes for line in ax.get_lines() if line.get_drawstyle() != "default"]
    assert lines(axes[1])["front (3 trials)"].get_xydata().tolist() == [[1, 3], [2, 3], [2, 4]]


def test_it_draws_where_it_is_told_to():
    from matplotlib import pyplot

    ax = pyplot.subplots()[1]
    assert plot_pareto(trials([(1, 2)]), MIXED, ax) is ax
    three = Objectives.of(["minimize"] * 3)
    axes = pyplot.subplots(1, 3)[1]
    assert list(plot_pareto(trials([(1, 2, 3)]), three, axes)) == list(axes)
    with pytest.raises(ArgumentError, match="ax has 1 axes; use 3, one per pair of objectives"):
        plot_pareto(trials([(1, 2, 3)]), three, ax)


def test_there_must_be_something_to_draw():
    with pytest.raises(NoCompletedTrialError):
        plot_pareto(trials([None]), MIXED)
    with pytest.raises(ArgumentError, match=r"plot_pareto\(\) needs several objectives, but the study has one"):
        plot_pareto([], Objectives.of("minimize"))


def test_values_whose_difference_is_no_number(tmp_path):
    study = Study({"x": list(range(12))}, "random", 0, direction=("minimize", "minimize"))
    large = [(1e308, 0.0), (-1e308, 1.0), (0.0, 1e308), (0.1, 0.1), (1.0, -1e308)]
    study.run(lambda p: large[p["x"] % 5], 12)
    assert "svg" in study.report(tmp_path / "report.html").read_text()
