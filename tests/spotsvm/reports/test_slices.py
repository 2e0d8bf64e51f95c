import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from scipy.stats import randint, uniform

from spotsvm import Study
from spotsvm.common.drawing import LEVELS
from spotsvm.reports.slices import level_edges, slices_parts
from spotsvm.reports.view import StudyView

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


@given(st.lists(NUMBERS, min_size=1, max_size=40), st.sampled_from([1.0, -1.0]))
def test_the_best_values_are_always_among_the_levels_and_there_are_colours_for_all(values, sign):
    edges, cut_off = level_edges(np.array(values), sign)
    assert 2 <= len(edges) <= 10
    assert (np.diff(edges) > 0).all()
    best, worst = (min, max) if sign > 0 else (max, min)
    assert edges[0] <= best(values) <= edges[-1]
    assert cut_off or edges[0] <= worst(values) <= edges[-1]


def test_a_few_values_that_are_worse_by_far_do_not_hide_the_rest():
    edges, cut_off = level_edges(np.append(np.linspace(0.9, 1.0, 60), [0.1, 0.2]), -1.0)
    assert cut_off
    assert edges[0] > 0.8


SPACES = {
    "continuous": {"x": uniform(0, 1), "y": uniform(0, 1)},
    "mixed": {"x": uniform(0, 1), "y": ["a", "b", "c"]},
    "mixed the other way": {"y": ["a", "b", "c"], "x": uniform(0, 1)},
    "discrete": {"x": randint(0, 4), "y": ["a", "b", "c"]},
    "many integers": {"x": randint(0, 500), "y": randint(0, 5)},
}


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_a_map_has_the_models_shade_at_every_place(space):
    """The shades that are drawn, read off the patches, against the model."""
    study = Study(space, "random", 0, noise=False)
    study.run(lambda p: p["x"] * (1 + "abc".find(p["y"]) if isinstance(p["y"], str) else 1 + p["y"]), n_trials=12)
    view = StudyView(study)
    picture = slices_parts(view)[0]
    ax = picture.figure.axes[0]
    names = [axis.name for axis in view.axes]
    model = view.models[0]
    if all(axis.levels == 0 for axis in view.axes):
        assert ax.collections
        return
    shades = [to_hex(patch.get_facecolor()) for patch in ax.patches]
    points = np.empty((len(shades), 2))
    for k, patch in enumerate(ax.patches):
        points[k, names.index(ax.get_xlabel())] = patch.get_x() + patch.get_width() / 2
        points[k, names.index(ax.get_ylabel())] = patch.get_y() + patch.get_height() / 2
    order = np.argsort(model.mean(points))
    places = [LEVELS[::-1].index(shades[k]) for k in order]  # small values are good
    assert places == sorted(places)
    assert len(set(places)) > 3
    assert sum(patch.get_width() * patch.get_height() for patch in ax.patches) == pytest.approx(1.0)
