import json

import numpy as np
import pytest
from scipy import stats
from sklearn.preprocessing import StandardScaler

from spotsvm import Space
from spotsvm.errors import SpaceError
from spotsvm.space.description import described_parameter, is_parameter_code, parameter_code, scale_of
from spotsvm.space.parameter import make_parameter

LAWS = {
    "uniform": (stats.uniform(-3, 7), "linear"),
    "rounded": (stats.uniform(0.1, 0.2), "linear"),
    "loguniform": (stats.loguniform(2**-15, 2**3), "log"),
    "randint": (stats.randint(-2, 6), "integers"),
    "values": ([0.1, 1, 10], "values"),
    "names": (["a", None, True], "values"),
}


def through_json(parameter):
    return described_parameter("x", json.loads(json.dumps(parameter.describe())))


@pytest.mark.parametrize("name", LAWS)
def test_a_described_parameter_decodes_and_encodes_as_the_first_one(name):
    law, scale = LAWS[name]
    first = make_parameter("x", law)
    again = through_json(first)
    assert again.describe() == first.describe()
    assert scale_of(first) == scale_of(again) == scale
    assert (again.levels, again.categorical) == (first.levels, first.categorical)
    for u in np.linspace(0, 1, 41):
        value = first.decode(u)
        assert again.decode(u) == (pytest.approx(value, rel=1e-9) if isinstance(value, float) else value)
        assert again.encode(again.decode(u)) == pytest.approx(first.encode(value), abs=1e-9)


def test_another_distribution_is_exact_at_its_quantiles_and_near_between():
    law = stats.truncnorm(-2, 2, loc=1, scale=3)
    again = through_json(make_parameter("x", law))
    assert scale_of(again) == "quantiles"
    assert again.describe() == make_parameter("x", law).describe()
    for q in (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0):
        assert again.decode(q) == law.ppf(q)
    for q in np.linspace(0, 1, 33):
        assert again.decode(q) == pytest.approx(law.ppf(q), abs=0.45)
        assert again.encode(again.decode(q)) == pytest.approx(q, abs=1e-9)


@pytest.mark.parametrize(
    "description",
    [
        None,
        {"kind": "continuous"},
        {"kind": "continuous", "quantiles": [0, 1]},
        {"kind": "continuous", "quantiles": [0, 1, 2, 3, 2, 5, 6]},
        {"kind": "continuous", "quantiles": [0, 1, 2, 3, 4, 5, float("nan")]},
        {"kind": "integer", "low": 3, "high": 2},
        {"kind": "choice", "values": []},
        {"kind": "code", "text": "print(1)"},
    ],
)
def test_what_describes_no_parameter_is_refused(description):
    with pytest.raises(SpaceError, match="is not the description of a parameter"):
        described_parameter("x", description)


def test_a_described_space_is_the_same_space():
    space = Space(
        [
            {"kernel": ["rbf"], "C": stats.loguniform(0.1, 10), "gamma": stats.truncnorm(-1, 1)},
            {"kernel": ["poly"], "C": stats.loguniform(0.1, 10), "degree": stats.randint(2, 6)},
        ]
    )
    again = Space.described(json.loads(json.dumps(space.describe())))
    assert again.describe() == space.describe()
    assert again.domain == space.domain
    assert again.names == space.names
    for point in np.random.default_rng(0).random((50, space.domain.dimension)):
        params = space.decode(point)
        assert list(again.decode(point)) == list(params)
        assert again.decode(point)["kernel"] == params["kernel"]


@pytest.mark.parametrize("description", [None, {}, "x", [1], [], [{"x": 3}], [{"x": {"kind": "choice", "values": []}}]])
def test_what_describes_no_space_is_refused(description):
    with pytest.raises(SpaceError):
        Space.described(description)


@pytest.mark.parametrize(
    "law",
    [
        stats.uniform(loc=-1, scale=3),
        stats.loguniform(2**-5, 2**15),
        stats.truncnorm(-2, 2, loc=1, scale=np.float64(0.5)),
        stats.randint(2, 6),
        [1, 2.5, "a", None, True, (1, 2)],
    ],
)
def test_the_code_makes_the_same_parameter(law):
    parameter = make_parameter("x", law)
    code = parameter_code(parameter)
    assert is_parameter_code(code)
    assert make_parameter("x", eval(code, vars(stats).copy())).describe() == parameter.describe()


def test_what_no_code_can_be_written_for_has_none():
    class Own:
        def rvs(self):
            return 0.5

        def ppf(self, q):
            return np.asarray(q) ** 2

        def cdf(self, x):
            return np.sqrt(x)

        def support(self):
            return 0.0, 1.0

    assert parameter_code(make_parameter("x", Own())) == ""
    assert parameter_code(make_parameter("x", [StandardScaler(), None])) == ""
    assert parameter_code(make_parameter("x", [np.sin, 1])) == ""
    assert parameter_code(make_parameter("x", [float("inf"), 1.0])) == ""


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "uniform(0, 1); import os",
        "uniform(__import__('os').getpid(), 1)",
        "stats.uniform(0, 1)",
        "uniform(*[0, 1])",
        "uniform(**{'loc': 0})",
        "print(1)",
        "[print(1)]",
        "{'a': 1}",
        "(" * 300,
    ],
)
def test_other_text_is_no_code_of_a_parameter(text):
    assert not is_parameter_code(text)
