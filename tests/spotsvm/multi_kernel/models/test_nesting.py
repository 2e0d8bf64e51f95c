import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm import Space
from spotsvm.errors import ArgumentError
from spotsvm.kernels import AnisotropicRbfModel, ConicModel, FixedKernelModel, Kernel, RbfModel, TunedConicModel

GROUPS = {"front": [0, 1], "middle": [2, 3, 4, 5], "back": [6]}
SLICES = {"front": slice(0, 2), "middle": slice(2, 6), "back": slice(6, None)}
COARSE = {"start": [0, 1, 2, 3, 4, 5], "back": [6]}
NAMES = list("abcdefg")
NAMED = {"front": ["a", "b"], "middle": ["c", "d", "e", "f"], "back": ["g"]}
X = np.random.default_rng(0).standard_normal((12, 7))
SCALES = (0.25, 1, 4)

#: pairs (poorer, richer)
CHAINS = {
    "fixed, conic": (FixedKernelModel(GROUPS, "rbf", scales=SCALES), ConicModel(GROUPS, scales=SCALES)),
    "linear, conic": (FixedKernelModel(GROUPS), ConicModel(GROUPS, "linear")),
    "mixed, conic": (FixedKernelModel(GROUPS, ["rbf", "poly"]), ConicModel(GROUPS, ["rbf", "poly"])),
    "scale, conic": (FixedKernelModel(GROUPS, "rbf", "scale"), ConicModel(GROUPS, "rbf", "scale")),
    "open slices, conic": (FixedKernelModel(SLICES, "rbf"), ConicModel(SLICES, "rbf")),
    "slices, conic": (FixedKernelModel(SLICES, "rbf", n_features=7), ConicModel(GROUPS, "rbf")),
    "names, conic": (FixedKernelModel(NAMED, "rbf"), ConicModel(NAMED, "rbf")),
    "names and indices": (FixedKernelModel(NAMED, "rbf"), ConicModel(GROUPS, "rbf", feature_names=NAMES)),
    "fixed, rbf": (FixedKernelModel(kernel="rbf"), RbfModel(n_features=7)),
    "fixed number, rbf": (FixedKernelModel(GROUPS, "rbf", 0.3, scales=(2,)), RbfModel(GROUPS)),
    "rbf, tuned": (RbfModel(GROUPS), TunedConicModel(GROUPS)),
    "rbf, anisotropic": (RbfModel(), AnisotropicRbfModel(GROUPS)),
    "rbf, columns": (RbfModel(n_features=7), AnisotropicRbfModel(feature_names=NAMES)),
    "coarse, anisotropic": (AnisotropicRbfModel(COARSE), AnisotropicRbfModel(GROUPS)),
    "fixed, columns": (FixedKernelModel(kernel="rbf"), AnisotropicRbfModel(n_features=7)),
    "fixed, tuned": (FixedKernelModel(GROUPS, "rbf"), TunedConicModel(GROUPS)),
    "fixed scale, tuned": (FixedKernelModel(GROUPS, "rbf", scales=(4,)), TunedConicModel(GROUPS)),
    "conic, tuned": (ConicModel(GROUPS), TunedConicModel(GROUPS)),
    "itself, fixed": (FixedKernelModel(GROUPS, "rbf"), FixedKernelModel(GROUPS, "rbf")),
    "itself, rbf": (RbfModel(), RbfModel()),
    "itself, tuned": (TunedConicModel(GROUPS), TunedConicModel(GROUPS)),
    "itself, anisotropic": (AnisotropicRbfModel(GROUPS), AnisotropicRbfModel(GROUPS)),
    "one factor is one term": (AnisotropicRbfModel({"every": range(7)}), RbfModel(n_features=7)),
}
#: the poorer one's gamma is a number, which may be anywhere
ANYWHERE = "fixed number, rbf"


def drawn(model, shares):
    """Parameters at some shares of the model's ranges."""
    space = model.space() if _sized(model) else dict.fromkeys(model.names)
    draws = zip(space.items(), shares, strict=False)
    return {name: float(law.ppf(share)) if law else 2.0 ** (4 * share - 2) for (name, law), share in draws}


def _sized(model):
    try:
        return bool(model.space())
    except ArgumentError:
        return False


@pytest.mark.parametrize("chain", CHAINS)
@settings(max_examples=4, deadline=None)
@given(shares=st.lists(st.floats(0.0, 1.0), min_size=16, max_size=16))
def test_an_embedded_solution_is_the_very_kernel_and_comes_back(chain, shares):
    poorer, richer = CHAINS[chain]
    params = drawn(poorer, shares)
    embedded = richer.embed(poorer, params)
    assert tuple(embedded) == richer.names
    data = pd.DataFrame(X, columns=NAMES) if poorer.groups is NAMED else X
    np.testing.assert_allclose(richer.gram(data, embedded), poorer.gram(data, params), rtol=1e-12)
    assert richer.restrict(poorer, embedded) == params
    assert richer.contains(poorer)


@pytest.mark.parametrize("chain", [name for name in CHAINS if name != ANYWHERE and "open" not in name])
@settings(max_examples=4, deadline=None)
@given(shares=st.lists(st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0])), min_size=16, max_size=16))
def test_it_stays_in_the_space_of_the_richer_model(chain, shares):
    poorer, richer = CHAINS[chain]
    if poorer.n_features is None and poorer.groups is None:
        poorer = type(poorer)(**{**vars(poorer), "n_features": 7})
    if richer.n_features is None and richer.groups is None and richer.feature_names is None:
        richer = type(richer)(n_features=7)
    params = drawn(poorer, shares)
    embedded = richer.embed(poorer, params)
    space = Space(richer.space())
    point = space.encode(embedded)
    assert ((point >= 0) & (point <= 1)).all()
    again = space.decode(point)
    assert all(again[name] == pytest.approx(embedded[name], rel=1e-9) for name in richer.names)


def test_a_sequence_of_three():
    """Section 2.1: model 5, with equal weights of fixed kernels, within model 7 within model 8."""
    one, two, three = FixedKernelModel(GROUPS, "rbf"), ConicModel(GROUPS), TunedConicModel(GROUPS)
    through = three.embed(two, two.embed(one, {"C": 3.0}))
    assert through == three.embed(one, {"C": 3.0})
    assert through["gamma__middle"] == 0.25
    assert two.embed(one, {"C": 3.0}) == {"weights__front": 3.0, "weights__middle": 3.0, "weights__back": 3.0}


@pytest.mark.parametrize(
    ("poorer", "richer", "why"),
    [
        (
            ConicModel(GROUPS),
            FixedKernelModel(GROUPS, "rbf"),
            "its C is one for all, and the other has both weights__front and weights__middle",
        ),
        (TunedConicModel(GROUPS), ConicModel(GROUPS), "with that gamma, which is fixed"),
        (TunedConicModel(GROUPS), RbfModel(GROUPS), "its C is one for all"),
        (FixedKernelModel(GROUPS, "rbf"), RbfModel(GROUPS), "its gamma is one for all, and the other has both 0.5 and 0.25"),
        (FixedKernelModel(GROUPS, "linear"), ConicModel(GROUPS, "rbf"), "no kernel like the other's 'front' on those columns"),
        (FixedKernelModel(GROUPS, Kernel("poly")), ConicModel(GROUPS, Kernel("poly", 2.0)), "no kernel like the other's 'front'"),
        (FixedKernelModel(GROUPS, "rbf", scales=(1, 4)), TunedConicModel(GROUPS), "no kernel like the other's 'front/4'"),
        (
            FixedKernelModel(GROUPS, "rbf"),
            ConicModel(GROUPS, scales=(1, 4)),
            "lacks its kernel 'front/4', whose weight cannot be 0",
        ),
        (
            FixedKernelModel(GROUPS, "rbf", scales=(1, 2)),
            ConicModel(GROUPS, scales=(1, 4)),
            "'front/2' with that gamma, which is fixed",
        ),
        (FixedKernelModel(GROUPS, "rbf", "scale"), TunedConicModel(GROUPS), "gamma='scale' depends on the data"),
        (
            FixedKernelModel(SLICES, "rbf"),
            TunedConicModel(SLICES),
            "gamma='auto' depends on the number of columns, give n_features",
        ),
        (RbfModel(), TunedConicModel(GROUPS), "no kernel like the other's 'all' on those columns"),
        (RbfModel(GROUPS), AnisotropicRbfModel(GROUPS), "it is a product of kernels, and the other is a sum"),
        (AnisotropicRbfModel(GROUPS), RbfModel(GROUPS), "it is a sum of kernels, and the other is a product"),
        (AnisotropicRbfModel(GROUPS), AnisotropicRbfModel(COARSE), "group 'start' is not within one group of the other"),
        (FixedKernelModel(), AnisotropicRbfModel(GROUPS), "the other has other kernels"),
        (RbfModel(COARSE), TunedConicModel(GROUPS), "no kernel like the other's 'start'"),
        (RbfModel(n_features=3), AnisotropicRbfModel(n_features=7), "n_features is 7 here and 3 there"),
        ("rbf", RbfModel(), "'rbf' is not a kernel model"),
    ],
)
def test_a_model_that_is_not_contained_is_an_error_that_says_why(poorer, richer, why):
    assert not richer.contains(poorer)
    with pytest.raises(ArgumentError, match=why):
        richer.embed(poorer, {"C": 1.0})
    with pytest.raises(ArgumentError, match=why):
        richer.restrict(poorer, dict.fromkeys(richer.names, 1.0))


def test_a_gamma_by_default_is_one_that_richer_models_tune():
    richer = RbfModel(n_features=7)
    assert richer.contains(FixedKernelModel(kernel="rbf"))
    assert not richer.contains(FixedKernelModel(kernel="rbf", gamma="scale"))  # which only the data tell


def test_parameters_that_are_no_embedding_are_told():
    poorer, richer = RbfModel(GROUPS), TunedConicModel(GROUPS)
    params = richer.embed(poorer, {"C": 2.0, "gamma": 0.5}) | {"gamma__middle": 0.7}
    with pytest.raises(ArgumentError, match="does not give a kernel of RbfModel.*: gamma__middle would have to be 0.5, not 0.7"):
        richer.restrict(poorer, params)
    with pytest.raises(ArgumentError, match=r"params has \['C'\]"):
        richer.embed(poorer, {"C": 2.0})
