import math

import numpy as np
import pytest
from scipy.stats import cauchy, expon, norm, poisson, truncnorm

from spotsvm import Space, Study
from spotsvm.errors import SpaceError
from spotsvm.reports.axes import study_axes
from spotsvm.reports.repeat import code_snippet
from spotsvm.reports.trials import space_table
from spotsvm.space.description import is_parameter_code, parameter_code
from spotsvm.space.parameter import ChoiceParameter, ContinuousParameter, IntegerParameter, make_parameter


@pytest.mark.parametrize(
    ("given", "kind", "values"),
    [
        ((1e-6, 1e6, "log-uniform"), ContinuousParameter, [1e-6, 1.0, 1e6]),
        ((1, 10), IntegerParameter, [1, 6, 10]),
        ((0.1, 1.0, "uniform"), ContinuousParameter, [0.1, 0.55, 1.0]),
        ((0.1, 1), ContinuousParameter, [0.1, 0.55, 1.0]),
        ((np.int64(1), np.int64(1000), "log-uniform"), IntegerParameter, [1, 22, 1000]),
        ((1, 1000, "log"), IntegerParameter, [1, 22, 1000]),
        ((1.0, 100.0, "loguniform"), ContinuousParameter, [1.0, 10.0, 100.0]),
        ((-3, 5, "uniform"), IntegerParameter, [-3, 1, 5]),
    ],
)
def test_a_tuple_is_a_range(given, kind, values):
    parameter = make_parameter("C", given)
    assert isinstance(parameter, kind)
    decoded = [parameter.decode(u) for u in (0.0, 0.5, 1.0)]
    assert decoded == pytest.approx(values)
    assert [type(value) for value in decoded] == [type(value) for value in values]
    assert [parameter.decode(parameter.encode(value)) for value in decoded] == pytest.approx(decoded)


@pytest.mark.parametrize("given", [("rbf", "poly"), (True, False), (1, 2, 3), (0.5, 1.0, None), [1, 10], [0.1, 1.0]])
def test_all_else_is_a_choice(given):
    parameter = make_parameter("C", given)
    assert isinstance(parameter, ChoiceParameter)
    assert parameter.values == tuple(given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((1, "log-uniform"), r"C=\(1, 'log-uniform'\) is not a range; use \(low, high\) or \(low, high, prior\)"),
        ((1, "x", "uniform"), "is not a range"),
        ((1.0, 2.0, "log-uniform", 10), "is not a range"),
        ((1, 2, "gaussian"), "has an unknown prior; use 'uniform' or 'log-uniform', or a list"),
        ((2, 1), r"C=\(2, 1\) has a reversed range; the lower bound comes first"),
        ((0, 1, "log-uniform"), "takes the logarithm of a bound that is not positive; use bounds above 0"),
        ((0.0, math.inf), "has a bound that is not finite"),
        ((math.nan, 1.0), "has a bound that is not finite"),
        ((1, 10**13, "log-uniform"), r"too wide a range; use bounds up to 10\*\*12 on a log scale"),
        ((0, 2**63), r"too wide a range; use at most 2\*\*62 whole numbers"),
        ((1.0, 10**400), r"C=\(1.0, .* or too large"),
    ],
)
def test_a_tuple_that_is_no_range_is_refused_by_name(given, said):
    with pytest.raises(SpaceError, match=said) as caught:
        make_parameter("C", given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("listed", [[1e-6, 1e6, "log-uniform"], [1, "uniform"]])
def test_a_list_that_looks_like_a_range_warns(listed):
    with pytest.warns(UserWarning, match=r"C=\[1.* is a list, so that '.*uniform' is one of its values; use a tuple"):
        assert make_parameter("C", listed).values == tuple(listed)


def test_a_single_value_is_fixed_and_the_others_are_searched():
    space = Space({"a": [7], "b": (3, 3), "c": (2.0, 2.0), "d": (5, 5, "log-uniform"), "x": (0.0, 1.0)})
    assert space.domain.dimension == 1
    study = Study(space, "random", 0).run(lambda p: p["x"], 3)
    assert [{**t.params, "x": 0} for t in study.trials] == [{"a": 7, "b": 3, "c": 2.0, "d": 5, "x": 0}] * 3


@pytest.mark.parametrize("search", ["kriging", "vns"])
def test_integers_on_a_log_scale_are_evaluated_once_each(search):
    study = Study({"n": (1, 7, "log-uniform")}, search, 0, noise=False).run(lambda p: (p["n"] - 5) ** 2, 20)
    assert sorted(t.params["n"] for t in study.trials) == [1, 2, 3, 4, 5, 6, 7]


def test_integers_on_a_log_scale_are_recorded(tmp_path):
    space = {"n": (1, 1000, "log-uniform"), "x": (0.0, 1.0)}
    with Study(space, "random", 0, path=tmp_path / "a.db") as study:
        study.run(lambda p: p["n"] + p["x"], 5)
    with Study(space, "random", 0, path=tmp_path / "a.db") as again:
        again.run(lambda p: p["n"] + p["x"], 10)
    straight = Study(space, "random", 0).run(lambda p: p["n"] + p["x"], 10)
    assert [t.params for t in again.trials] == [t.params for t in straight.trials]
    assert space_table(study.space).to_dict("records")[0] == {
        "parameter": "n", "type": "integer", "range": "1 to 1000", "scale": "log-uniform",
    }  # fmt: skip
    assert "(1, 1000, 'log-uniform')" in code_snippet(study)
    assert study_axes(study.space)[0].ticks()[1] == ["1", "10", "100", "1000"]


@pytest.mark.parametrize("law", [expon(scale=100), norm(3, 2), cauchy(), truncnorm(-2, np.inf)], ids=lambda law: law.dist.name)
def test_an_unbounded_distribution_is_searched_over_its_central_part(law):
    space = Space({"C": law})
    parameter = space.branches[0]["C"]
    assert (parameter.low, parameter.high) == pytest.approx(tuple(law.ppf([0.0005, 0.9995])))
    for u in (0.0, 0.1, 0.5, 1.0):
        assert law.cdf(parameter.decode(u)) == pytest.approx(0.0005 + 0.999 * u)
        assert parameter.encode(parameter.decode(u)) == pytest.approx(u)
    assert space.describe()[0]["C"]["central"] == 0.999
    assert Space.described(space.describe()).describe() == space.describe()
    assert is_parameter_code(parameter_code(parameter)) or np.inf in law.args  # which is no number in code
    assert "central 99.9 %" in space_table(space)["range"][0]
    with pytest.raises(SpaceError, match="is not a number in"):
        space.encode({"C": parameter.high * 2})


def test_an_unbounded_distribution_of_integers():
    parameter = make_parameter("n", poisson(5))
    assert isinstance(parameter, IntegerParameter)
    assert (parameter.low, parameter.high) == (0, 14)
