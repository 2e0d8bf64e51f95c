import numpy as np
import pytest
from scipy import stats
from sklearn.preprocessing import StandardScaler

from spotsvm.space.description import is_parameter_code, parameter_code
from spotsvm.space.parameter import make_parameter


@pytest.mark.parametrize(
    "law",
    [
        stats.uniform(-1, 3),
        stats.uniform(loc=-1, scale=3),
        stats.loguniform(2**-5, 2**15),
        stats.truncnorm(-2, 2, loc=1, scale=np.float64(0.5)),
        stats.randint(2, 6),
        stats.beta(2, 3),
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
        3,
        "",
        "uniform",
        "uniform(0, 1); import os",
        "uniform(__import__('os').getpid(), 1)",
        "stats.uniform(0, 1)",
        "uniform(*[0, 1])",
        "uniform(**{'loc': 0})",
        "uniform('a')",
        "print(1)",
        "norm.rvs(0)",
        "[print(1)]",
        "[x for x in (1, 2)]",
        "lambda: 0",
        "{'a': 1}",
        "(" * 300,
        "uniform(0, 1)\nprint(1)",
    ],
)
def test_other_text_is_no_code_of_a_parameter(text):
    assert not is_parameter_code(text)
