import math

import numpy as np
import pytest
from scipy.stats import binom, loguniform, norm, randint, rv_discrete, uniform

from spotsvm.common.errors import SpaceError
from spotsvm.space.parameter import ChoiceParameter, ContinuousParameter, IntegerParameter, make_parameter

GAPPED = rv_discrete(values=([1, 5, 9], [0.2, 0.3, 0.5]))


@pytest.mark.parametrize(
    ("definition", "kind", "levels", "categorical"),
    [
        (loguniform(1e-3, 1e3), ContinuousParameter, 0, False),
        (uniform(3), ContinuousParameter, 0, False),
        (randint(2, 6), IntegerParameter, 4, False),
        (binom(3, 0.5), IntegerParameter, 4, False),
        ([1, 2, 5], ChoiceParameter, 3, False),
        ([5.0, 2, 1], ChoiceParameter, 3, False),
        ([1, 5, 2], ChoiceParameter, 3, True),
        ([1, 1, 2], ChoiceParameter, 3, True),
        ([1, 2], ChoiceParameter, 2, True),
        (["rbf", "poly", "linear"], ChoiceParameter, 3, True),
        ([1, 2, math.inf], ChoiceParameter, 3, False),
        ([10**400, 2, 1], ChoiceParameter, 3, False),
        (np.logspace(-2, 2, 5), ChoiceParameter, 5, False),
        (GAPPED, ChoiceParameter, 3, False),
        (GAPPED(), ChoiceParameter, 3, False),
    ],
)
def test_kinds(definition, kind, levels, categorical):
    parameter = make_parameter("C", definition)
    assert isinstance(parameter, kind)
    assert (parameter.levels, parameter.categorical) == (levels, categorical)


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        ([], "an empty list"),
        ("rbf", "C='rbf' is not a list"),
        (None, "C=None is not a list"),
        (3, "C=3 is not a list"),
        ({1, 2}, r"C=\{1, 2\} is not a list"),
        (np.array(3), "is not a list"),
        ([1.0, math.nan], "nan among its values"),
        (norm(np.nan, 1), "empty or reversed range"),
        (uniform(1, -2), r"C=uniform\(1, -2\) has an empty or reversed range"),
        (uniform(0, 0), "empty or reversed range"),
        (uniform(np.nan, 1), "empty or reversed range"),
        (randint(5, 5), "empty or reversed range"),
        (randint(1.5, 4.5), "empty or reversed range"),
        (loguniform(0, 1), "logarithm of a bound that is not positive"),
        (loguniform(a=0, b=1), "logarithm of a bound that is not positive"),
        (loguniform, "cannot be used as a distribution"),
        (loguniform([1, 2], [3, 4]), "cannot be used as a distribution"),
        (np.random.default_rng(0), "is not a list"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_one_line(definition, said):
    with pytest.raises(SpaceError, match=said) as caught:
        make_parameter("C", definition)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).startswith("C")
    assert "\n" not in str(caught.value)


def test_a_distribution_of_another_make_is_refused():
    class Mine:
        def rvs(self):
            return 1.0

    with pytest.raises(SpaceError, match="C has a distribution without ppf, cdf and support"):
        make_parameter("C", Mine())


def test_integers_own_equal_shares_and_exact_bounds():
    parameter = make_parameter("seed", randint(0, 2**60))
    assert (parameter.decode(0.0), parameter.decode(1.0)) == (0, 2**60 - 1)
    assert type(parameter.decode(0.5)) is int
    parameter = make_parameter("degree", randint(2, 6))
    values = [parameter.decode(u) for u in np.linspace(0, 1, 4001)[:-1]]
    assert np.unique(values, return_counts=True)[1].tolist() == [1000] * 4


@pytest.mark.parametrize("u", [-1e9, -0.1, 1.1, 1e9])
@pytest.mark.parametrize("definition", [loguniform(1, 10), randint(1, 11), [1, 3, 10]])
def test_outside_the_unit_interval_is_the_nearest_bound(definition, u):
    assert make_parameter("C", definition).decode(u) == pytest.approx(1 if u < 0 else 10, rel=1e-12)


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        (uniform(0, 1), 1.5),
        (uniform(0, 1), math.nan),
        (uniform(0, 1), True),
        (randint(2, 6), 6),
        (randint(2, 6), 2.5),
        (randint(0, 6), math.inf),
        (["rbf", "poly"], "sigmoid"),
        ([1, 2, 3], True),
        ([1, 2, 3], 1.0),
        ([np.array([1, 2]), np.array([3, 4])], np.array([1, 2])),
    ],
)
def test_values_outside_are_refused(definition, value):
    with pytest.raises(SpaceError, match="C="):
        make_parameter("C", definition).encode(value)


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        (np.logspace(-2, 2, 5), np.logspace(-2, 2, 5)[1]),
        ([1, 2, 3], np.int64(2)),
        (np.array(["rbf", "poly"]), np.array(["rbf", "poly"])[1]),
        (randint(2, 6), 3.0),
        (uniform(0, 1), np.float32(0.25)),
    ],
)
def test_numpy_values_are_as_good_as_plain_ones(definition, value):
    parameter = make_parameter("C", definition)
    again = parameter.decode(parameter.encode(value))
    assert again == value
    assert not isinstance(again, np.generic)
