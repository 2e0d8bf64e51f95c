"""The magnification against the metrics of the two kernels themselves, differentiated numerically."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_moons
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.preprocessing import scale

from spotsvm import ConformalSVC
from spotsvm.errors import SolverError

paper = partial(ConformalSVC, kappa="auto", bias=True)

X, Y = make_moons(80, noise=0.25, random_state=0)
NEW = np.random.default_rng(1).uniform(-1.0, 2.0, size=(12, 2))
WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)[:, :3]


def test_the_formula_of_the_paper():
    sigma, kappa = 0.5, 0.3
    machine = paper(C=10.0, sigma=sigma, kappa=kappa).fit(X, Y)
    first, h = machine.first_pass_, 1e-5
    f = first.decision_function(NEW)
    slopes = [(first.decision_function(NEW + step) - first.decision_function(NEW - step)) / (2 * h) for step in h * np.eye(2)]
    squared = sum(slope**2 for slope in slopes)
    by_hand = np.exp(-2 * kappa * f**2) * np.sqrt(1 + 4 * kappa**2 * sigma**2 * f**2 * squared)  # eq. 15
    np.testing.assert_allclose(machine.magnification(NEW), by_hand, rtol=1e-7)


def test_many_columns_take_no_square_of_their_number():
    rows = np.random.default_rng(0).normal(size=(30, 3000))
    machine = paper(kappa=1e-4).fit(rows, rows[:, 0] > 0)
    tracemalloc.start()
    found = machine.magnification(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 3000**2 / 4  # bytes; a single tensor would take 8 * 3000^2
    assert (found > 0).all()


def test_a_singular_metric_has_no_ratio():
    machine = paper(kernel="poly", degree=2, gamma=1.0).fit(X, Y)
    rows = np.array([[0.0, 0.0], [1.0, 0.5]])
    with pytest.warns(
        RuntimeWarning, match="metric of the kernel 'poly' .* at 1 of 2 rows; the magnification is nan there"
    ) as told:
        found = machine.magnification(rows)
    assert [warning.filename for warning in told] == [__file__]
    assert np.isnan(found[0])
    assert found[1] > 0


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "multiquadric", "gamma": 1.0, "coef0": 1.0},
        {"kernel": laplacian_kernel},
        {"kernel": "poly", "degree": 0},
        {"kernel": "rbf", "gamma": 0.0},
    ],
    ids=["indefinite", "not smooth", "constant", "no scale"],
)
def test_kernels_without_a_metric(options):
    y = np.arange(len(X)) % 3 == 0 if options.get("gamma") == 0.0 or options.get("degree") == 0 else Y
    machine = paper(**options).fit(X, y)
    with pytest.warns(RuntimeWarning, match="at 12 of 12 rows"):
        assert np.isnan(machine.magnification(NEW)).all()


def test_a_precomputed_kernel_has_no_derivatives():
    machine = paper(kernel="precomputed").fit(X @ X.T, Y)
    with pytest.raises(SolverError, match="kernel='precomputed' is given by its values, which have no derivatives"):
        machine.magnification(X @ X.T)


@pytest.mark.parametrize("options", [{"kernel": "linear", "kappa": 50.0}, {"kappa": 1e300}, {"kernel": "poly", "kappa": 1e300}])
def test_far_from_the_boundary_it_goes_to_zero_without_a_warning(options):
    machine = paper(C=100.0, **options).fit(X, Y)
    np.testing.assert_allclose(machine.magnification(1e3 * NEW), 0.0, atol=1e-30)
