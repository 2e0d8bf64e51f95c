"""Arguments of ConformalSVC that make no sense, and first passes that leave nothing to magnify."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from spotsvm import ConformalSVC
from spotsvm.common.errors import ArgumentError, SpotSVMError
from spotsvm.estimators.conformal.passes import AUTO, NONE, PassProblem, solve_passes
from spotsvm.solvers.dual.problem.result import DualResult

paper = partial(ConformalSVC, kappa="auto", bias=True)

X, Y = make_moons(60, noise=0.3, random_state=0)
TWICE, BOTH = X.repeat(2, axis=0), np.arange(2 * len(X)) % 2  # every row in both classes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kappa": -0.5}, "kappa=-0.5; use 'cv', 'auto' or a finite number, 0 or more .0 is the plain machine"),
        ({"kappa": "scale"}, "kappa='scale'; use 'cv', 'auto'"),
        ({"n_passes": 0}, "n_passes=0; use a whole number, 1 or more: 1 for the plain machine, 2 for the paper's"),
        ({"n_passes": True}, "n_passes=True; use a whole number"),
        ({"bias": "no"}, "bias='no'; use 'scaled', True or False"),
        ({"solver": "smo"}, "solver='smo'; use 'exact' or 'libsvm'"),
        ({"solver": "libsvm", "bias": False}, "bias=False and solver='libsvm', which always has a bias"),
        ({"break_ties": "yes"}, "break_ties='yes'; use True or False"),
        ({"kernel": "poly", "gamma": 1e200}, "kernel: 'poly' with gamma.* gives inf; scale the data"),
        ({"kernel": lambda a, b: a @ b.T * 1e200}, "whose squares overflow; scale the kernel"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        paper(**options).fit(X, Y)
    assert isinstance(caught.value, SpotSVMError)


@pytest.mark.parametrize("kappa", ["auto", 0.5])
@pytest.mark.parametrize("solver", ["exact", "libsvm"])
def test_a_first_pass_that_is_zero_everywhere(kappa, solver):
    message = "pass 1 has f = 0 at all training rows, so there is no boundary for D to follow.*a kappa that is smaller or 0"
    for kernel in (lambda a, b: np.zeros((len(a), len(b))), "rbf"):
        with pytest.raises(ArgumentError, match=message):
            paper(kernel=kernel, kappa=kappa, solver=solver).fit(TWICE, BOTH)
        plain = paper(kernel=kernel, kappa=0, solver=solver).fit(TWICE, BOTH)
        np.testing.assert_allclose(plain.decision_function(X), 0.0, atol=1e-9)


def test_the_pair_of_classes_is_named():
    data, y = np.vstack([TWICE, X + 9.0]), np.concatenate([np.where(BOTH, "b", "a"), np.full(len(X), "c")])
    with pytest.raises(ArgumentError, match="pass 1 of the classes 'a' and 'b' has f = 0 at all training rows"):
        paper().fit(data, y)


def test_a_pass_without_support_vectors():
    def stopped(K, labels, bounds, bias):
        zeros = np.zeros(len(K))
        return DualResult(zeros, 0.0, 1.0, zeros + 1.0, 1, 1, False, "the cap of 1 step", 1.0, 1.0)

    problem = PassProblem(np.eye(4), np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4), stopped, True)
    with pytest.raises(ArgumentError, match=r"pass 1 has no support vectors.*\(the cap of 1 step\); raise max_iter or C"):
        solve_passes(problem, AUTO, 2)
    assert len(solve_passes(problem, NONE, 3)) == 3


def test_one_pass_needs_no_boundary():
    machine = paper(n_passes=1).fit(TWICE, BOTH)
    np.testing.assert_allclose(machine.decision_function(X), 0.0, atol=1e-9)


def test_a_kappa_beyond_measure_ends():
    with pytest.raises(ArgumentError, match="pass 2 has f = 0 at all training rows.*a kappa that is smaller"):
        paper(kappa=1e300, C=1e6, n_passes=3).fit(X, Y)
    machine = paper(kappa=1e300, C=1e6).fit(X, Y)
    assert np.isfinite(machine.decision_function(X)).all()
    assert (machine.conformal_factor(X) >= 0).all()


@pytest.mark.parametrize("kernel", ["sigmoid", "epanechnikov", "multiquadric", "negative_multiquadric"])
def test_indefinite_kernels_end(kernel):
    machine = paper(kernel=kernel, gamma=0.1, coef0=-1.0).fit(*load_iris(return_X_y=True))
    assert machine.fit_status_ == 0
    assert np.isfinite(machine.dual_objective_).all()


def test_a_first_pass_that_stops_early_is_told():
    with pytest.warns(ConvergenceWarning, match="The solver stopped early") as told:
        machine = paper(C=1e4, tol=1e-6, max_iter=2).fit(X, Y)
    assert [warning.filename for warning in told] == [__file__]
    assert machine.fit_status_ == 1
    assert machine.predict(X).shape == Y.shape
    with pytest.warns(ConvergenceWarning, match="the cap of 2 LIBSVM steps"):
        paper(C=1e4, max_iter=2, solver="libsvm").fit(X, Y)


def test_new_data_must_fit():
    for method in ("predict", "discriminant_path", "conformal_factor", "magnification"):
        with pytest.raises(NotFittedError):
            getattr(ConformalSVC(), method)(X)
        with pytest.raises(ValueError, match="X has 1 features, but ConformalSVC is expecting 2"):
            getattr(ConformalSVC().fit(X, Y), method)(X[:, :1])
    with pytest.raises(NotFittedError):
        paper().first_pass_  # noqa: B018
