import matplotlib as mpl
import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import compare
from spotsvm.errors import ArgumentError

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}


def bowl(params):
    return {"value": (params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2, "x": params["x"]}


@pytest.fixture(scope="module")
def comparison():
    return compare(bowl, SPACE, ["kriging", ("LHS", "lhs"), "random"], n_trials=12, seeds=3)


@pytest.fixture
def pyplot():
    mpl.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_the_frame(comparison):
    frame = comparison.frame()
    assert len(frame) == 3 * 3 * 12
    assert list(frame.columns[:9]) == ["search", "seed", "number", "state", "value", "best", "param_x", "param_y", "extra_x"]
    assert {"origin", "note", "reason", "trial_seed", "ask_seconds", "seconds", "recommended"} <= set(frame.columns)
    best = frame.groupby(["search", "seed"], sort=False)["value"].cummin()
    assert (frame["best"] == best).all()
    assert (frame.groupby(["search", "seed"])["recommended"].sum() == 1).all()


def test_fewer_evaluations_are_the_beginning_of_more(comparison):
    first = comparison.after(7)
    again = compare(bowl, SPACE, ["kriging", ("LHS", "lhs"), "random"], n_trials=7, seeds=3)
    times = ["ask_seconds", "seconds"]
    assert first.frame().drop(columns=times).equals(again.frame().drop(columns=times))
    assert first.n_trials == 7
    assert comparison.results(7).equals(first.results())
    assert comparison.after(12).results().equals(comparison.results())
    for n in (0, 13, 2.5, "9"):
        with pytest.raises(ArgumentError, match=f"n_trials={n!r} is not a number of evaluations of these runs; use 1 to 12"):
            comparison.after(n)
        with pytest.raises(ArgumentError, match=f"n_trials={n!r} is not a number of evaluations"):
            comparison.results(n)


def test_curves_are_the_frames_best(comparison):
    curves, frame = comparison.curves(), comparison.frame()
    assert curves["value"].tolist() == frame["best"].tolist()
    assert curves["evaluations"].tolist() == (frame["number"] + 1).tolist()
    copy = comparison.results()
    copy.iloc[:] = -1.0
    last = curves[curves.evaluations == 12].pivot(index="seed", columns="search", values="value")
    assert (last[comparison.searches] == comparison.results()).all(axis=None)


def test_curves_of_a_measure_are_of_what_was_recommended_then():
    comparison = compare(bowl, SPACE, ["random"], n_trials=20, seeds=1, measure="x")
    curves = comparison.curves()
    assert curves["evaluations"].tolist() == list(range(2, 21, 2))
    for n, value in zip(curves["evaluations"], curves["value"], strict=True):
        assert comparison.after(n).results().iloc[0, 0] == comparison.results(n).iloc[0, 0] == value


def test_the_figure_has_a_line_and_a_band_for_each_search(comparison, pyplot):
    figure = comparison.figure()
    (ax,) = figure.axes
    assert figure.get_size_inches().tolist() == [6, 4]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == comparison.searches
    assert len(ax.collections) == 3
    assert len({line.get_color() for line in ax.lines}) == 3
    curves = comparison.curves()
    for line in ax.lines:
        values = curves[curves.search == line.get_label()].pivot(index="evaluations", columns="seed", values="value")
        assert line.get_ydata() == pytest.approx(values.median(axis=1).to_numpy())
    assert ax.get_xlabel() == "evaluations (median and quartiles of 3 seeds)"
    assert ax.get_ylabel() == "best value so far"
    assert ax.get_yscale() == "linear"


def test_the_figures_options(comparison, pyplot):
    _, ax = pyplot.subplots()
    assert comparison.figure(ax=ax, centre="mean", band=None, log=True) is ax.figure
    assert ax.get_yscale() == "log"
    assert len(ax.collections) == 0
    assert ax.get_xlabel() == "evaluations (mean of 3 seeds)"
    distance = comparison.figure(optimum=-1.0, band="bootstrap").axes[0]
    assert distance.get_ylabel() == "best value so far: distance to -1"
    assert distance.get_xlabel() == "evaluations (median and 95% bootstrap interval of 3 seeds)"
    assert distance.lines[0].get_ydata() - 1 == pytest.approx(comparison.figure().axes[0].lines[0].get_ydata())


def test_the_distance_to_an_optimum_where_more_is_better(pyplot):
    up = compare(lambda p: p["x"] - 2, {"x": uniform(0, 1)}, ["random"], n_trials=4, seeds=1, direction="maximize")
    with pytest.raises(ArgumentError, match=r"log=True needs positive values, but the smallest is -\d"):
        up.figure(log=True)
    ax = up.figure(log=True, optimum=-1.0).axes[0]
    assert (np.diff(ax.lines[0].get_ydata()) <= 0).all()
    assert ax.get_xlabel() == "evaluations (1 seed)"


def test_the_report(comparison):
    text = comparison.to_markdown()
    assert text.splitlines()[0].split("|")[1].strip() == "search"
    assert "best value seen after 12 evaluations; minimized; 3 seeds" in text
    assert "with 3 seeds the smallest possible p is 0.25" in text
    assert repr(comparison) == "<Comparison of kriging, LHS, random: 3 seeds of 12 trials each>"
