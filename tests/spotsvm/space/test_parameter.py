import math
from contextlib import suppress

import numpy as np
import pytest
from scipy.stats import binom, loguniform, norm, randint, rv_discrete, uniform

from spotsvm.errors import SpaceError
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


class Drawn:
    """A distribution as RandomizedSearchCV takes it, with nothing but rvs."""

    def __init__(self, draw):
        self.draw = draw

    def rvs(self, random_state):
        return self.draw(random_state)


def test_a_distribution_that_has_only_rvs_follows_the_quantiles_of_a_sample():
    parameter = make_parameter("C", Drawn(lambda rng: rng.normal(3.0, 2.0)))
    levels = np.linspace(0.05, 0.95, 19)
    # the standard error of a quantile of 1,000 values is at most 0.16 here
    np.testing.assert_allclose([parameter.decode(u) for u in levels], norm(3.0, 2.0).ppf(levels), atol=0.5)
    np.testing.assert_allclose([parameter.encode(parameter.decode(u)) for u in levels], levels, atol=1e-12)
    assert make_parameter("C", Drawn(lambda rng: rng.normal(3.0, 2.0))).describe() == parameter.describe()


@pytest.mark.parametrize(
    ("draw", "values"),
    [
        (lambda rng: rng.randint(1, 5), (1, 2, 3, 4)),
        (lambda rng: 0.5 * rng.randint(1, 4), (0.5, 1.0, 1.5)),
        (lambda rng: np.array(2.0 ** rng.randint(0, 3)), (1.0, 2.0, 4.0)),
    ],
)
def test_a_distribution_of_few_values_that_has_only_rvs_is_their_list(draw, values):
    assert make_parameter("C", Drawn(draw)).values == values


def test_values_drawn_that_are_no_numbers_are_a_list():
    drawn = make_parameter("sizes", Drawn(lambda rng: (4,) * rng.randint(1, 4)))
    assert sorted(drawn.values) == [(4,), (4, 4), (4, 4, 4)]
    assert len(make_parameter("weights", Drawn(lambda rng: {0: 1, 1: rng.randint(1, 3)})).values) == 2


def test_a_distribution_whose_rvs_cannot_be_called_is_refused():
    class Mine:
        def rvs(self):
            return 1.0

    with pytest.raises(
        SpaceError, match=r"^C=Mine\(\) has no ppf, cdf and support, and rvs\(random_state=...\) raises TypeError"
    ):
        make_parameter("C", Mine())


class Dimension:
    """What scikit-optimize's dimensions have: `low`, `high`, `prior` and `dtype`, or `categories`."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def rvs(self, n_samples=1, random_state=None):
        raise AssertionError("its attributes say all")


def of_libraries():
    """Return definitions of the parameters of `ours` by stand-ins, and by the libraries that are installed."""
    found = [
        {
            "x": Dimension(low=1, high=10, prior="uniform", dtype=float),
            "log x": Dimension(low=1e-3, high=1e3, prior="log-uniform", dtype="float"),
            "n": Dimension(low=1, high=8, prior="uniform", dtype=np.int64),
            "log n": Dimension(low=1, high=800, prior="log-uniform", dtype=np.int64),
            "kind": Dimension(categories=("rbf", "poly"), prior=None),
        }
    ]
    with suppress(ImportError):
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        found.append(
            {
                "x": FloatDistribution(1, 10), "log x": FloatDistribution(1e-3, 1e3, log=True), "n": IntDistribution(1, 8),
                "log n": IntDistribution(1, 800, log=True), "kind": CategoricalDistribution(["rbf", "poly"]),
                "even": IntDistribution(2, 8, step=2), "tenths": FloatDistribution(0.0, 0.5, step=0.25),
            }
        )  # fmt: skip
    with suppress(ImportError):
        from skopt.space import Categorical, Integer, Real

        found.append(
            {
                "x": Real(1, 10), "log x": Real(1e-3, 1e3, prior="log-uniform"), "n": Integer(1, 8),
                "log n": Integer(1, 800, prior="log-uniform"), "kind": Categorical(["rbf", "poly"]),
            }
        )  # fmt: skip
    return found


def test_distributions_of_other_libraries_are_taken_by_their_attributes():
    ours = {
        "x": (1.0, 10.0), "log x": (1e-3, 1e3, "log-uniform"), "n": (1, 8), "log n": (1, 800, "log-uniform"),
        "kind": ["rbf", "poly"], "even": [2, 4, 6, 8], "tenths": [0.0, 0.25, 0.5],
    }  # fmt: skip
    for theirs in of_libraries():
        for name, definition in theirs.items():
            assert make_parameter(name, definition).describe() == make_parameter(name, ours[name]).describe(), definition


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
