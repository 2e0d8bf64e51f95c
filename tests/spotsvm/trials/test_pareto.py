import io

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from spotsvm import Study, Trial
from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.pareto import hypervolume_curve, pareto_trials, plot_pareto

TWO = Objectives.of(("minimize", "minimize"))
MIXED = Objectives.of({"error": "minimize", "margin": "maximize"})
THREE = Objectives.of(["minimize", "maximize", "minimize"])
numbers = st.integers(0, 6)


def trials(rows):
    failed = {"state": "failed", "reason": "ValueError: no"}
    told = [failed if row is None else {"state": "ok", "values": tuple(map(float, row))} for row in rows]
    return [Trial(k, {}, (), **fields) for k, fields in enumerate(told)]


def test_the_front_goes_from_the_best_in_the_first_objective_on_and_may_be_missing():
    rows = [(3, 1), (1, 3), None, (2, 2), (3, 3), (1, 3), (2, 4)]
    assert [t.number for t in pareto_trials(trials(rows), TWO)] == [1, 3, 0]
    assert [t.number for t in pareto_trials(trials(rows), MIXED)] == [1, 6]
    assert [t.number for t in pareto_trials(trials(rows), Objectives.of(["maximize", "maximize"]))] == [4, 6]
    with pytest.raises(NoCompletedTrialError, match="2 failed; 2 x ValueError: no"):
        pareto_trials(trials([None, None]), TWO)
    assert hypervolume_curve(trials([None, None]), TWO, None).tolist() == [0.0, 0.0]
    pd.testing.assert_series_equal(
        hypervolume_curve([], TWO, None),
        pd.Series([], index=pd.Index([], name="number", dtype="int64"), name="hypervolume", dtype=float),
    )


@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=15))
def test_nothing_dominates_what_is_on_it(rows):
    signs = np.array([1, -1, 1])
    front = pareto_trials(trials(rows), THREE)
    for t in front:
        better = signs * (np.array(rows) - t.values)
        assert not ((better <= 0).all(axis=1) & (better < 0).any(axis=1)).any()
    assert len({t.values for t in front}) == len(front)


def test_the_volume_by_hand_and_without_running_trials():
    """Reference (4, 4): (3, 1) alone 1 x 3; with (1, 3) 3 + 3 - 1; (2, 2) adds 1; what is dominated or outside adds nothing."""
    curve = hypervolume_curve(trials([(3, 1), None, (1, 3), (3, 3), (5, 0), (2, 2), (4, 0)]), TWO, (4, 4))
    assert curve.tolist() == [3, 3, 5, 5, 5, 6, 6]
    assert curve.index.tolist() == list(range(7))
    assert (curve.name, curve.index.name, curve.dtype) == ("hypervolume", "number", np.float64)
    running = [*trials([(1, 1)]), Trial(1, {}, ()), *[t for t in trials([None, None, (0, 0)]) if t.number == 2]]
    assert hypervolume_curve(running, TWO, (2, 2)).to_dict() == {0: 1.0, 2: 4.0}


def test_what_is_maximised_is_turned_and_so_is_the_reference():
    rows = [(3, 1), (1, 3), (2, 2)]
    for objectives, signs in ((MIXED, (1, -1)), (Objectives.of(["maximize", "maximize"]), (-1, -1))):
        turned = [tuple(np.multiply(signs, row)) for row in rows]
        reference = np.multiply(signs, (4.0, 4.0)).tolist()
        assert hypervolume_curve(trials(turned), objectives, reference).tolist() == [3, 5, 6]
    named = {"margin": -4.0, "error": 4.0}
    assert hypervolume_curve(trials([(3, -1), (1, -3)]), MIXED, named).tolist() == [3, 5]


def test_by_default_the_reference_is_a_tenth_beyond_the_worst_that_was_seen():
    rows = [(0, 10), (10, 0), (20, 5)]
    assert np.allclose(hypervolume_curve(trials(rows), TWO, None), [22 * 1, 22 * 1 + 12 * 10, 22 * 1 + 12 * 10])
    turned = Objectives.of(["maximize", "maximize"])
    assert np.allclose(hypervolume_curve(trials([(-a, -b) for a, b in rows]), turned, None), [22, 142, 142])
    assert hypervolume_curve(trials([(1, 2), (1, 3)]), TWO, None).tolist() == pytest.approx([1.1, 1.1])
    assert hypervolume_curve(trials([(7, 7)]), TWO, None).tolist() == [1.0]


@given(st.lists(st.tuples(numbers, numbers, numbers) | st.none(), max_size=12))
def test_it_is_the_share_of_a_grid_that_is_dominated_and_never_falls(rows):
    objectives = Objectives.of(["minimize"] * 3)
    curve = hypervolume_curve(trials(rows), objectives, (5, 5, 5))
    cells = np.stack(np.meshgrid(*[np.arange(5)] * 3), axis=-1).reshape(-1, 3)
    for k, volume in enumerate(curve):
        known = np.array([row for row in rows[: k + 1] if row is not None]).reshape(-1, 3)
        assert volume == pytest.approx((cells[:, None] >= known).all(axis=2).any(axis=1).sum())
    assert (np.diff(curve) >= 0).all()


def test_values_whose_difference_is_no_float(tmp_path):
    rows = [(1e308, 0), (-1e308, 1), (1e308, 1)]
    assert [t.number for t in pareto_trials(trials(rows), TWO)] == [1, 0]
    curve = hypervolume_curve(trials(rows), TWO, None)
    assert curve.iloc[0] == pytest.approx(0.2e308 * 1.1)
    assert curve.is_monotonic_increasing
    study = Study({"x": list(range(12))}, "random", 0, direction=("minimize", "minimize"))
    large = [(1e308, 0.0), (-1e308, 1.0), (0.0, 1e308), (0.1, 0.1), (1.0, -1e308)]
    study.run(lambda p: large[p["x"] % 5], 12)
    assert "svg" in study.report(tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    "reference", [1.0, [1.0], [1.0, 2.0, 3.0], ["a", "b"], [1.0, np.nan], [[1.0, 2.0]], {"error": 1.0}, "ab"]
)
def test_a_reference_that_is_none(reference):
    with pytest.raises(ArgumentError, match="reference="):
        hypervolume_curve(trials([(1, 2)]), MIXED, reference)


def lines(ax):
    """Label to points; the staircase as it is drawn."""
    return {line.get_label(): line for line in ax.get_lines()}


def test_the_front_is_a_staircase_and_the_rest_is_grey():
    ax = plot_pareto(trials([(1, 1), (3, 3), (2, 2), (2, 1), None, (4, 0)]), MIXED, Figure().subplots())
    drawn = lines(ax)
    assert drawn["front (3 trials)"].get_xydata().tolist() == [[1, 1], [2, 2], [3, 3]]
    assert drawn["dominated (2 trials)"].get_xydata().tolist() == [[2, 1], [4, 0]]
    assert drawn["dominated (2 trials)"].get_color() == "0.55"
    steps = [line for line in ax.get_lines() if line.get_drawstyle() == "steps-post"]
    assert [line.get_xydata().tolist() for line in steps] == [[[1, 1], [2, 2], [3, 3]]]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("error (smaller is better)", "margin (larger is better)")
    assert len(ax.get_legend().get_texts()) == 2


def test_a_trial_far_off_does_not_squash_the_front_and_is_told():
    rows = [(1.0, 3.0), (1.5, 2.0), (2.0, 1.0), (2.0, 2.5), (90.0, 400.0), (3.0, 500.0)]
    ax = plot_pareto(trials(rows), TWO, Figure().subplots())
    assert set(lines(ax)) >= {"dominated (3 trials, 2 beyond the axes)", "front (3 trials)"}
    for (low, high), front in ((ax.get_xlim(), (1.0, 2.0)), (ax.get_ylim(), (1.0, 3.0))):
        assert low < front[0]
        assert front[1] < high
        assert (front[1] - front[0]) / (high - low) > 0.2
    assert ax.get_xlim()[1] > 2.0
    near = plot_pareto(trials(rows[:4]), TWO, Figure().subplots())
    assert "dominated (1 trials)" in lines(near)


@pytest.mark.parametrize("directions", [("minimize", "minimize"), ("maximize", "maximize"), ("maximize", "minimize")])
def test_the_corners_of_the_staircase_are_dominated_by_their_neighbours(directions):
    objectives = Objectives.of(directions)
    rows = [tuple(objectives.turned(row)) for row in ((1, 3), (2, 2), (3, 1))]
    ax = plot_pareto(trials(rows), objectives, Figure().subplots())
    line = next(line for line in ax.get_lines() if line.get_drawstyle() == "steps-post")
    x, y = line.get_xdata(), line.get_ydata()
    corners = np.column_stack([x[1:], y[:-1]])  # of steps-post
    assert objectives.turned(corners).tolist() == [[2, 3], [3, 2]]


def test_three_objectives_are_three_pairs():
    with mpl.rc_context({"backend": "agg"}):
        axes = plot_pareto(
            trials([(1, 2, 3), (2, 1, 3), (2, 2, 4)]), Objectives.of({"a": "minimize", "b": "minimize", "c": "maximize"})
        )
    assert axes.shape == (3,)
    axes.figure.savefig(io.BytesIO())
    assert axes.figure is axes[2].figure
    labels = [(ax.get_xlabel()[0], ax.get_ylabel()[0]) for ax in axes]
    assert labels == [("a", "b"), ("a", "c"), ("b", "c")]
    assert not [line for ax in axes for line in ax.get_lines() if line.get_drawstyle() != "default"]
    assert lines(axes[1])["front (3 trials)"].get_xydata().tolist() == [[1, 3], [2, 3], [2, 4]]


def test_it_draws_where_it_is_told_to():
    ax = Figure().subplots()
    assert plot_pareto(trials([(1, 2)]), MIXED, ax) is ax
    axes = Figure().subplots(1, 3)
    assert list(plot_pareto(trials([(1, 2, 3)]), THREE, axes)) == list(axes)
    with pytest.raises(ArgumentError, match="ax has 1 axes; use 3, one per pair of objectives"):
        plot_pareto(trials([(1, 2, 3)]), THREE, ax)
    with pytest.raises(NoCompletedTrialError):
        plot_pareto(trials([None]), MIXED, ax)


@pytest.mark.parametrize("wanted", [pareto_trials, hypervolume_curve, plot_pareto])
def test_one_objective_has_none_of_these(wanted):
    with pytest.raises(ArgumentError, match=r"\(\) needs several objectives, but the study has one"):
        wanted([], Objectives.of("minimize"), *([None] if wanted is hypervolume_curve else []))
