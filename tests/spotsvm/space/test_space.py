import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import loguniform, randint, truncnorm, uniform
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from spotsvm import Space, Study
from spotsvm.errors import SpaceError

FLAT = Space(
    {
        "C": loguniform(2**-5, 2**15),
        "epsilon": uniform(-1, 3),
        "tol": truncnorm(-2, 2, loc=5, scale=0.5),
        "degree": randint(-3, 12),
        "cache": [100, 200, 500],
        "kernel": ["rbf", "poly", "sigmoid"],
        "shrinking": [True, False],
        "weight": ["balanced", None],
        "scale": [StandardScaler(), MinMaxScaler(), "passthrough"],
        "max_iter": [1000],
    }
)
BRANCHED = Space(
    [
        {"kernel": ["rbf"], "C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)},
        {"kernel": ["poly"], "C": loguniform(1e-3, 1e3), "degree": randint(2, 6), "coef0": uniform(0, 1)},
        {"kernel": ["linear", "sigmoid"], "C": loguniform(1, 10), "shrinking": [True, False]},
    ]
)


def points(space):
    return st.lists(st.floats(0, 1), min_size=space.domain.dimension, max_size=space.domain.dimension)


def same(a, b):
    """Floats go through a distribution's ppf and cdf, which are inverse to each other up to rounding only."""
    if isinstance(a, float):
        return isinstance(b, float) and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    return a is b or (type(a) is type(b) and a == b)


@pytest.mark.parametrize("space", [FLAT, BRANCHED], ids=["flat", "branched"])
@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_encode_undoes_decode(space, data):
    params = space.decode(data.draw(points(space)))
    point = space.encode(params)
    again = space.decode(point)
    assert list(again) == list(params)
    assert all(same(params[name], again[name]) for name in params)
    assert np.array_equal(point, space.domain.snap_one(point))


def test_branches_share_what_they_describe_alike_and_ignore_the_rest():
    u = np.full(BRANCHED.domain.dimension, 0.3)
    v = u.copy()
    v[BRANCHED.domain.active(u)[0].argmin()] = 0.9
    assert BRANCHED.decode(u) == BRANCHED.decode(v)
    assert np.array_equal(BRANCHED.domain.snap_one(u), BRANCHED.domain.snap_one(v))
    assert BRANCHED.names == ("kernel", "C", "gamma", "degree", "coef0", "shrinking")
    assert BRANCHED.domain.dimension == 1 + len(["C", "gamma", "degree", "coef0", "kernel", "C", "shrinking"])


def test_a_list_of_one_value_is_fixed():
    space = Space({"C": uniform(0, 1), "kernel": ["rbf"], "degree": randint(3, 4)})
    assert space.domain.dimension == 1
    assert space.decode([0.25]) == {"C": 0.25, "kernel": "rbf", "degree": 3}
    with pytest.raises(SpaceError, match="kernel='poly' is not one of"):
        space.encode({"C": 0.5, "kernel": "poly", "degree": 3})


@pytest.mark.parametrize(
    ("definition", "params"),
    [({}, {}), ([{}], {}), ({"C": [1], "kernel": ["rbf"]}, {"C": 1, "kernel": "rbf"}), ({"C": (3, 3)}, {"C": 3})],
)
def test_a_space_of_single_values_has_one_configuration(definition, params):
    space = Space(definition)
    assert (space.domain.size, space.axes) == (1, ())
    assert space.decode(space.encode(params)) == space.decode(np.random.default_rng(0).random(space.domain.dimension)) == params
    assert Space.described(space.describe()).describe() == space.describe()
    study = Study(definition, "random", 0).run(lambda p: 1.0, 5)
    assert [dict(t.params) for t in study.trials] == [params]


def test_an_empty_dictionary_is_a_configuration_beside_others():
    space = Space([{"C": [1, 2]}, {}])
    assert space.domain.size == 3
    assert space.decode(space.encode({})) == {}


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ([], "is not a dictionary"),
        ("C", "space='C' is not a dictionary"),
        ([3], r"space\[0\]=3 is not a dictionary"),
        ({1: [1, 2]}, "has the name 1; use a non-empty string"),
        ({"": [1, 2]}, "has the name ''"),
        ({"gamma": uniform(0, 1), "C": []}, "^C has an empty list"),
        ([{"gamma": uniform(0, 1)}, {"C": "auto"}], "^C='auto' is not a list"),
    ],
)
def test_a_space_that_cannot_be_searched_is_refused(definition, said):
    with pytest.raises(SpaceError, match=said) as caught:
        Space(definition)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"kernel": "rbf", "C": 1.0}, "params has the names"),
        ({"kernel": "rbf", "C": 1e9, "gamma": 1.0}, "C=1000000000.0 is not a number in"),
        ({"kernel": "tanh", "C": 1.0, "gamma": 1.0}, "kernel='tanh' is not one of"),
        ({"kernel": "poly", "C": 1.0, "degree": 9, "coef0": 0.0}, "degree=9 is not an integer in"),
        ({1: 2, "C": 1.0}, "params has the names"),
    ],
)
def test_parameters_outside_the_space_are_refused(params, said):
    with pytest.raises(SpaceError, match=said):
        BRANCHED.encode(params)


def test_a_description_is_json_and_the_same_for_the_same_space():
    for space in (FLAT, BRANCHED):
        assert json.loads(json.dumps(space.describe())) == space.describe()
    assert Space({"C": uniform(0, 1)}).describe() == Space({"C": uniform(loc=0, scale=1)}).describe()
    assert Space({"C": uniform(0, 1)}).describe() != Space({"C": uniform(0, 2)}).describe()


def test_axes_on_a_logarithmic_scale_have_a_width():
    space = Space({"C": loguniform(2**-12, 2**12), "x": uniform(0, 24), "gamma": loguniform(2**-8, 2**8), "n": [1, 2, 4, 8]})
    assert np.array_equal(space.domain.widths, [24.0, np.nan, 16.0, np.nan], equal_nan=True)
    assert np.array_equal(Space.described(space.describe()).domain.widths, space.domain.widths, equal_nan=True)


def test_a_range_of_one_number_is_shown_as_its_value():
    assert (
        repr(Space({"degree": (3, 3), "C": (0.1, 1.0), "kernel": ["rbf"]})) == "<Space of degree: 3; C: 0.1 to 1; kernel: 'rbf'>"
    )
