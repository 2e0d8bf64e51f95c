"""Which kernels a machine of several kernels tunes."""

import pytest

from spotsvm import MultiKernelSVC
from spotsvm.kernels import AnisotropicRbfModel, ConicModel, FixedKernelModel, RbfModel, TunedConicModel
from spotsvm.multi_kernel.machine import kernel_models_of

HALVES = {"top": slice(0, 32), "bottom": slice(32, 64)}


@pytest.mark.parametrize(
    ("parameters", "kinds"),
    [
        ({}, [RbfModel, TunedConicModel]),
        ({"gamma": 0.1}, [FixedKernelModel, ConicModel]),
        ({"kernel": "linear"}, [FixedKernelModel, ConicModel]),
        ({"scales": (0.25, 1, 4)}, [FixedKernelModel, ConicModel]),
        ({"combine": "product"}, [RbfModel, AnisotropicRbfModel]),
        ({"combine": "product", "groups": None}, [RbfModel]),
        ({"combine": "product", "groups": [slice(0, 64)]}, [RbfModel]),
        ({"groups": None}, [RbfModel]),
        ({"groups": None, "kernel": "linear"}, [FixedKernelModel]),
    ],
)
def test_what_is_tuned_follows_from_the_parameters(parameters, kinds):
    machine = MultiKernelSVC(**{"groups": HALVES} | parameters)
    models = kernel_models_of(machine, 64, None)
    assert [type(model) for model in models] == kinds
    for poorer, richer in zip(models[:-1], models[1:], strict=True):
        assert richer.contains(poorer)
