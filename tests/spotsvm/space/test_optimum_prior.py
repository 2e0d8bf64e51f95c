import numpy as np
import pytest
from scipy.stats import lognorm, loguniform, norm, poisson, randint, uniform

from spotsvm import Space
from spotsvm.errors import SpaceError
from spotsvm.space.optimum_prior import OptimumPrior

SPACE = Space({"C": loguniform(2**-5, 2**15), "degree": randint(1, 9), "kernel": ["linear", "rbf", "poly"]})


def prior_of(**beliefs):
    return OptimumPrior.of(beliefs, SPACE, SPACE.names)


def test_the_density_is_that_of_the_coordinate_of_the_cube():
    belief = lognorm(1.0, scale=8.0)
    points = np.full((50, 3), 0.5)
    points[:, 0] = np.linspace(0.05, 0.95, 50)
    logs = prior_of(C=belief).log_density(points)
    # u = (log2 C + 5) / 20, so that dC/du = 20 ln(2) C; the least density is exp(-6)
    C = 2.0 ** (20 * points[:, 0] - 5)
    density = belief.pdf(C) * C
    reference = belief.pdf(grid := 2.0 ** (20 * np.linspace(0, 1, 2001) - 5)) * grid
    np.testing.assert_allclose(np.exp(logs) - np.exp(-6), density / reference.max(), atol=0.03)


def test_a_uniform_belief_changes_nothing():
    flat = prior_of(C=loguniform(2**-5, 2**15), degree=randint(1, 9), kernel=[1, 1, 1])
    logs = flat.log_density(SPACE.domain.snap(np.random.default_rng(0).random((40, 3))))
    np.testing.assert_allclose(logs, logs[0], atol=1e-5)


@pytest.mark.parametrize(
    ("beliefs", "params"),
    [
        ({"C": lognorm(0.5, scale=100.0)}, {"C": 100.0}),
        ({"degree": poisson(3.5)}, {"degree": 3}),
        ({"degree": norm(7, 1)}, {"degree": 7}),
        ({"kernel": {"poly": 3, "linear": 1}}, {"kernel": "poly"}),
        ({"kernel": [0, 2, 1]}, {"kernel": "rbf"}),
    ],
)
def test_the_mode_is_where_the_density_is_largest(beliefs, params):
    found = SPACE.decode(prior_of(**beliefs).modes()[0])
    for name, value in params.items():
        assert found[name] == (pytest.approx(value, rel=0.3) if name == "C" else value)
    others = {name: value for name, value in SPACE.decode(SPACE.centres()[0]).items() if name not in params}
    assert all(found[name] == value for name, value in others.items())


def test_of_an_ordered_list_a_value_has_the_mass_nearest_to_it():
    for values in ([1, 10, 100, 1000], [1000, 100, 10, 1]):
        space = Space({"C": values})
        prior = OptimumPrior.of({"C": lognorm(1.0, scale=60.0)}, space, space.names)
        assert space.decode(prior.modes()[0]) == {"C": 100}
        weighed = OptimumPrior.of({"C": {10: 1.0}}, space, space.names)
        assert space.decode(weighed.modes()[0]) == {"C": 10}


def test_a_parameter_that_does_not_exist_has_no_density():
    space = Space([{"kernel": ["rbf"], "gamma": uniform(0, 1)}, {"kernel": ["linear"]}])
    prior = OptimumPrior.of({"gamma": norm(0.9, 0.05)}, space, space.names)
    there, not_there = space.encode({"kernel": "rbf", "gamma": 0.1}), space.encode({"kernel": "linear"})
    logs = prior.log_density(np.array([there, not_there]))
    assert logs[0] < -5
    assert logs[1] == pytest.approx(0.0, abs=0.01)
    assert len(prior.modes()) == 2


def test_the_description_gives_the_same_prior():
    prior = prior_of(C=lognorm(1.0), kernel={"rbf": 2, "linear": 1})
    again = OptimumPrior(SPACE, prior.describe())
    points = SPACE.domain.snap(np.random.default_rng(0).random((40, 3)))
    np.testing.assert_array_equal(again.log_density(points), prior.log_density(points))
    assert prior.describe()[1] is None


def test_a_learned_prior_has_its_mode_among_the_points():
    points = [SPACE.encode({"C": C, "degree": 3, "kernel": "rbf"}) for C in (1.0, 2.0, 1.5)]
    prior = OptimumPrior.learned(points, SPACE)
    mode = SPACE.decode(prior.modes()[0])
    assert 1.0 <= mode["C"] <= 2.0
    assert (mode["degree"], mode["kernel"]) == (3, "rbf")
    far = SPACE.encode({"C": 2.0**14, "degree": 8, "kernel": "poly"})
    assert prior.log_density(far[None])[0] < prior.log_density(np.array(points[:1]))[0] - 2


@pytest.mark.parametrize(
    ("beliefs", "said"),
    [
        ({"c": norm(0, 1)}, r"prior has 'c', which is not a parameter of the space; did you mean 'C'\?"),
        ({"C": 3.0}, r"prior\['C'\]=3.0 does not fit the parameter; use a frozen scipy.stats distribution"),
        ({"kernel": norm(0, 1)}, "use a mapping from values to weights"),
        ({"kernel": [1, 2]}, "does not fit the list"),
        ({"kernel": {"rbf": -1}}, "weights of 0 or more"),
        ({"kernel": {"sigmoid": 1}}, "'sigmoid' is not one of"),
        ({"C": norm(-1e6, 1.0)}, r"prior\['C'\] has no mass where the parameter is searched"),
    ],
)
def test_what_is_no_belief_is_refused(beliefs, said):
    with pytest.raises(SpaceError, match=said):
        prior_of(**beliefs)


def test_a_prior_that_is_no_mapping_is_refused():
    with pytest.raises(SpaceError, match="is not a dictionary from parameters to distributions"):
        OptimumPrior.of([norm(0, 1)], SPACE, SPACE.names)


@pytest.mark.parametrize("tables", [[None, None], [[0.0] * 64, None, None], [None, None, [0.0, np.nan, 0.0]]])
def test_a_recorded_prior_must_fit(tables):
    with pytest.raises(SpaceError, match="the recorded prior does not fit the space"):
        OptimumPrior(SPACE, tables)
