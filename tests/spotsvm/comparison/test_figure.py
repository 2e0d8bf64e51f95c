"""The curves of a comparison and their bands."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import bootstrap

from spotsvm.common.drawing import COLOURS
from spotsvm.comparison.figure import band_over_seeds, draw_curves
from spotsvm.errors import ArgumentError

CURVES = np.array([[5.0, 4.0], [3.0, 3.0], [4.0, 1.0], [9.0, 2.0], [1.0, 0.0]])


def test_bands_by_hand():
    middle, low, high = band_over_seeds(CURVES)
    assert (middle.tolist(), low.tolist(), high.tolist()) == ([4.0, 2.0], [3.0, 1.0], [5.0, 3.0])
    middle, low, high = band_over_seeds(CURVES, "mean", "range")
    assert (middle.tolist(), low.tolist(), high.tolist()) == ([4.4, 2.0], [1.0, 0.0], [9.0, 4.0])
    assert [edge.tolist() for edge in band_over_seeds(CURVES, band=None)] == [[4.0, 2.0]] * 3


def test_the_bootstrap_band_is_scipys():
    values = np.random.default_rng(1).normal(size=(30, 1))
    _, low, high = band_over_seeds(values, "mean", "bootstrap", 0.9)
    theirs = bootstrap((values[:, 0],), np.mean, confidence_level=0.9, method="percentile", rng=np.random.default_rng(2))
    assert low[0] == pytest.approx(theirs.confidence_interval.low, abs=0.02)
    assert high[0] == pytest.approx(theirs.confidence_interval.high, abs=0.02)
    wider = band_over_seeds(values, "mean", "bootstrap", 0.99)
    assert wider[1][0] < low[0] < high[0] < wider[2][0]
    assert [e.tolist() for e in band_over_seeds(values, "mean", "bootstrap")] == [
        e.tolist() for e in band_over_seeds(values, "mean", "bootstrap")
    ]


def test_where_a_run_has_no_value_yet_there_is_no_middle():
    middle, low, high = band_over_seeds(np.array([[np.nan, 1.0], [2.0, 2.0]]))
    assert np.isnan([middle[0], low[0], high[0]]).all()
    assert middle[1] == 1.5


def test_unknown_words():
    with pytest.raises(ArgumentError, match="centre='mode' is unknown; use 'median' or 'mean'"):
        band_over_seeds(CURVES, "mode")
    with pytest.raises(ArgumentError, match="band='sd' is unknown; use 'interquartile'"):
        band_over_seeds(CURVES, band="sd")


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_first_values_do_not_flatten_the_rest(ax):
    curve = np.array([np.r_[1e6, 1e3, np.linspace(2.0, 1.0, 38)]])
    draw_curves(np.arange(1, 41), {"a": curve}, ax)
    low, high = ax.get_ylim()
    assert low < 1.0
    assert 1.9 < high < 3.0
    ax.clear()
    draw_curves(np.arange(1, 41), {"a": -curve}, ax, sign=-1.0)
    assert ax.get_ylim() == pytest.approx((-high, -low))


def test_more_searches_than_colours_differ_by_their_line(ax):
    curves = {f"s{k}": np.array([[1.0, 0.5]]) for k in range(len(COLOURS) + 2)}
    draw_curves(np.arange(1, 3), curves, ax)
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == len(curves)


def test_a_logarithmic_axis_takes_zeros_but_nothing_below(ax):
    draw_curves(np.arange(1, 3), {"a": np.array([[1.0, 0.0]])}, ax, log=True)
    for values in ([1.0, -1.0], [0.0, 0.0]):
        with pytest.raises(ArgumentError, match="log=True needs positive values"):
            draw_curves(np.arange(1, 3), {"a": np.array([values])}, ax, log=True)
