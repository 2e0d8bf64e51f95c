import numpy as np
import pytest

from spotsvm.estimators.reduced.settings import Sizes, check_model, check_sizes

X = np.random.default_rng(0).normal(size=(50, 3))
GRID = (0.1, 1.0), (0.5, 5.0)


@pytest.mark.parametrize(
    ("n_per_class", "most", "n_features", "smallest", "sizes"),
    [
        (7, None, 2, 40, Sizes(7, 7)),
        ("grow", None, 2, 100, Sizes(4, 50)),
        ("grow", None, 9, 100, Sizes(9, 50)),
        ("grow", None, 500, 100, Sizes(16, 50)),
        ("grow", None, 500, 10_000, Sizes(16, 500)),
        ("grow", 2000, 500, 10_000, Sizes(16, 2000)),
        ("grow", None, 2, 5, Sizes(4, 4)),
        ("grow", None, 2, 2, Sizes(2, 2)),
        (1, None, 2, 1, Sizes(1, 1)),
        ("grow", 3, 8, 100, Sizes(3, 3)),
    ],
)
def test_sizes(n_per_class, most, n_features, smallest, sizes):
    found = check_sizes(n_per_class, most, n_features, {"a": smallest, "b": smallest + 5}, False)
    assert found == sizes
    assert found.grows == (sizes.most > sizes.start)


@pytest.mark.parametrize(
    ("method", "C", "gamma", "values"),
    [
        ("alga", None, None, ([0.1, 1.0], [0.5, 5.0])),
        ("gasvm", "grid", "grid", ([0.1, 1.0], [0.5, 5.0])),
        ("gasvm", 3, "grid", ([3.0], [0.5, 5.0])),
        ("nsga2", None, 2, ([0.1, 1.0], [2.0])),
        ("random", 1, "auto", ([1.0], [1 / 3])),
        ("alga", 1, "scale", ([1.0], [1 / (3 * X.var())])),
    ],
)
def test_models(method, C, gamma, values):
    of_C, of_gamma = check_model(method, C, gamma, *GRID, X)
    assert of_C == pytest.approx(values[0])
    assert of_gamma == pytest.approx(values[1])
