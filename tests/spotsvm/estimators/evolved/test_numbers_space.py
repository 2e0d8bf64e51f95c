import numpy as np
import pytest

from spotsvm.estimators.evolved.evolve_kernel import NumbersSpace
from spotsvm.estimators.evolved.fitness import Judged
from spotsvm.estimators.evolved.settings import Setting
from spotsvm.solvers.kernels.expressions import Expression

BOTH = Expression("add", (Expression("gaussian", value=0.5), Expression("linear", value=2.0)))
SYMBOLIC = Expression("multiply", (Expression("c3"), Expression("linear", value=2.0)))


def space(expression, setting, with_epsilon=False):
    return NumbersSpace(Judged(expression, setting, 0.1, 0.1, 3, "semidefinite"), with_epsilon=with_epsilon)


@pytest.mark.parametrize(
    ("expression", "setting", "with_epsilon", "dimension"),
    [
        (BOTH, Setting(4.0), False, 3),
        (BOTH, Setting(4.0, (), 0.1), True, 4),
        (SYMBOLIC, Setting(4.0, (0.3,)), False, 3),
        (SYMBOLIC, Setting(4.0, (0.3,), 0.1), True, 4),
    ],
)
def test_the_start_is_what_it_has(expression, setting, with_epsilon, dimension):
    numbers = space(expression, setting, with_epsilon)
    assert numbers.dimension == dimension
    found, same = numbers.at(numbers.start)
    np.testing.assert_allclose(found.values, expression.values)
    np.testing.assert_allclose([same.C, same.epsilon, *same.constants], [setting.C, setting.epsilon, *setting.constants])


def test_each_coordinate_is_a_number_on_a_log_scale():
    numbers = space(BOTH, Setting(4.0))
    expression, setting = numbers.at(np.array([1.0, 0.0, 0.75]))
    np.testing.assert_allclose([setting.C, *expression.values], [32.0, 0.5 / 8, 2.0 * np.sqrt(8)])
