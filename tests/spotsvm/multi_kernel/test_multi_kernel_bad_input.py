import numpy as np
import pytest

from spotsvm import ArgumentError, MultiKernelSVC, MultiKernelSVR, SolverError

X = np.random.default_rng(0).normal(size=(30, 4))
Y = np.arange(30) % 2
GROUPS = {"left": [0, 1], "right": [2, 3]}


@pytest.mark.parametrize("kind", [MultiKernelSVC, MultiKernelSVR])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": -1.0}, "weights: the weight of the kernel 'left' is -1.0; use a finite number, 0 or more"),
        ({"weights": {"right": np.nan}}, "weights: the weight of the kernel 'right' is nan"),
        ({"weights": (0.0, 0.0)}, "weights are all 0; at least one must be positive"),
        ({"weights": {"up": 1.0}}, "weights names 'up', which is not among the kernels 'left', 'right'"),
        ({"weights": (1.0, 1.0, 1.0)}, r"weights has shape \(3,\); use \(2,\) for the kernels 'left', 'right'"),
        ({"weights": np.ones((3, 2))}, r"weights has shape \(3, 2\); use \(2,\) .*, or \(1, 2\)"),
        ({"weights": "heavy"}, "weights is not an array of numbers"),
        ({"gamma": "broad"}, "gamma for the group 'left': gamma='broad'"),
        ({"gamma": {"left": -1.0}}, "the kernel 'left': gamma=-1.0"),
        ({"gamma": None}, "gamma=None; use 'auto', 'scale', a number"),
        ({"gamma": (0.1, np.nan)}, "gamma=nan for the group 'right'"),
        ({"gamma": (0.1,)}, r"gamma has shape \(1,\); there are 2 groups: 'left', 'right'"),
        ({"gamma": {"up": 0.1}}, "gamma names 'up', which is not among the groups 'left', 'right'"),
        ({"kernel": {"left": "rbf"}}, "kernel has no entry for the group 'right'"),
        ({"kernel": {"left": "rbf", "right": "rbf", "up": "rbf"}}, "kernel names 'up'"),
        ({"kernel": []}, "kernel is an empty list"),
        ({"kernel": "precomputed"}, "kernel='precomputed' has no columns to be grouped"),
        ({"scales": ()}, r"scales=\(\); use positive factors"),
        ({"scales": (1, 1)}, r"scales=\(1, 1\); use positive factors of sigma, each once"),
        ({"scales": None}, "scales=None"),
        ({"combine": "mean"}, "combine='mean'; use 'sum' or 'product'"),
        ({"combine": "product", "kernel": "linear"}, "combine='product' needs one kernel 'rbf' for each group"),
        ({"combine": "product", "scales": (1, 2)}, "combine='product' needs one kernel 'rbf' for each group"),
        ({"combine": "product", "weights": (1.0, 2.0)}, r"weights has shape \(2,\); use \(1,\) for the kernels 'product'"),
        ({"groups": {"left": [0, 1], "right": [1, 2, 3]}}, "column 1 is in the groups 'left' and 'right'"),
        ({"groups": {"left": [0, 1], "right": [3]}}, "column 2 is in no group"),
        (
            {"groups": {"a": [0, 1], "a/2": [2, 3]}, "scales": (1, 2), "kernel": {"a": "rbf", "a/2": "linear"}},
            "would be called 'a/2'",
        ),
    ],
)
def test_what_makes_no_sense_is_told_at_fit(kind, options, message):
    machine = kind(**{"groups": GROUPS, **options})
    with pytest.raises(ArgumentError, match=message):
        machine.fit(X, Y)


@pytest.mark.parametrize(("options", "message"), [({"kernel": "cubic"}, "'cubic'"), ({"kernel": ["rbf", 3]}, "kernel=3")])
def test_an_unknown_kernel_is_told(options, message):
    with pytest.raises(SolverError, match=message):
        MultiKernelSVC(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"weights__up": 1.0}, "weights__up is not a parameter; there are weights__left, weights__right"),
        ({"gamma__up": 1.0}, "gamma__up is not a parameter; there are gamma__left, gamma__right"),
        ({"weights__left": 1.0, "scales": (1, 4)}, "weights__left is not a parameter; there are weights__left/1"),
        ({"weights__left": 1.0, "weights": np.ones((3, 2))}, r"weights has shape \(3, 2\)"),
        ({"nope": 1}, "Invalid parameter 'nope'"),
    ],
)
def test_an_entry_that_is_not_there_is_told_when_it_is_set(params, message):
    with pytest.raises(ValueError, match=message):
        MultiKernelSVC(groups=GROUPS).set_params(**params)


def test_weights_that_are_zero_for_one_problem_are_told():
    weights = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    with pytest.raises(ArgumentError, match="weights are all 0 for problem 1"):
        MultiKernelSVC(groups=GROUPS, weights=weights).fit(X, np.arange(30) % 3)
