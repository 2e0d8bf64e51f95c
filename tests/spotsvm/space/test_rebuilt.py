import numpy as np
import pytest
from scipy.stats import beta, loguniform, randint, truncnorm, uniform

from spotsvm import Space
from spotsvm.errors import SpaceError
from spotsvm.space.description import parameter_code
from spotsvm.space.rebuilt import rebuilt_space

LAWS = {"a": loguniform(0.1, 3.0), "b": beta(2, 5), "c": truncnorm(a=-1, b=2), "d": uniform(-1, 0.3), "e": randint(2, 9)}


def code_of(space):
    return [{name: parameter_code(parameter) for name, parameter in branch.items()} for branch in space.branches]


def test_every_point_decodes_to_the_same_values():
    space = Space([LAWS | {"kind": ["x"]}, {"kind": ["y"], "n": [1, 2, 4], "t": [(1,), None]}])
    again = rebuilt_space(space.describe(), code_of(space))
    assert again.describe() == space.describe()
    for point in np.random.default_rng(0).random((50, space.domain.dimension)):
        assert again.decode(point) == space.decode(point)


def test_without_code_or_with_wrong_code_the_description_must_suffice():
    plain = Space({"a": LAWS["a"], "d": LAWS["d"], "e": LAWS["e"], "n": [1, "x"]})
    for code in (None, [], [{"a": "loguniform(0.2, 3.0)", "d": "__import__('os').getcwd()", "e": 3}]):
        again = rebuilt_space(plain.describe(), code)
        assert again.describe() == plain.describe()
        assert again.decode([0.3, 0.3, 0.5, 0.2]) == pytest.approx(plain.decode([0.3, 0.3, 0.5, 0.2]), rel=1e-6)
    with pytest.raises(SpaceError, match="b has a distribution of which only some quantiles are known"):
        rebuilt_space(Space({"b": LAWS["b"]}).describe(), [{"b": "beta(2, 6)"}])
    with pytest.raises(SpaceError, match=r"t has values that are known by their texts only, such as '\(1,\)'"):
        rebuilt_space(Space({"t": [(1,), (2,)]}).describe())
