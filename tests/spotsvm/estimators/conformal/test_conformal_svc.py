from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from spotsvm import ConformalSVC, ExactSVC
from spotsvm.errors import ArgumentError, SpotSVMError

paper = partial(ConformalSVC, kappa="auto", bias=True)

X, Y = make_moons(120, noise=0.3, random_state=0)
X_NEW = np.random.default_rng(1).uniform(-1.5, 2.5, size=(60, 2))
WINE, CULTIVAR = load_wine(return_X_y=True)
WINE = scale(WINE)[:, :6]
PAIRS = [(0, 1), (0, 2), (1, 2)]


def poly(a, b):
    return polynomial_kernel(a, b, 2, 0.5, 1.0)


KERNELS = {
    "rbf": ({"gamma": 2.0}, lambda a, b: rbf_kernel(a, b, 2.0)),
    "linear": ({"kernel": "linear"}, lambda a, b: a @ b.T),
    "poly": ({"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0}, poly),
    "callable": ({"kernel": poly}, poly),
}


def passes_by_hand(kernel, data, labels, new, C=1.0, kappa=None, n_passes=2):
    """Return f of each pass at new rows, from LIBSVM and the formulae (5) and (8); labels -1 and 1."""
    K, K_new = kernel(data, data), kernel(new, data)
    D, D_new, path = np.ones(len(data)), np.ones(len(new)), []
    for _ in range(n_passes):
        machine = SVC(C=C, kernel="precomputed", tol=1e-6).fit(D[:, None] * K * D, labels)
        f = machine.decision_function(D[:, None] * K * D)
        path.append(machine.decision_function(D_new[:, None] * K_new * D))
        factor = 1 / np.abs(f).max() if kappa is None else kappa
        D, D_new = np.exp(-factor * f**2), np.exp(-factor * path[-1] ** 2)
    return np.array(path)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("kappa", "solver"), [("auto", "exact"), (0.3, "libsvm")])
def test_the_passes_are_those_of_the_formulae(name, kappa, solver):
    options, kernel = KERNELS[name]
    ours = paper(C=5.0, kappa=kappa, n_passes=3, solver=solver, tol=1e-6, **options).fit(X, Y)
    path = passes_by_hand(kernel, X, 2 * Y - 1, X_NEW, 5.0, None if kappa == "auto" else kappa, 3)
    np.testing.assert_allclose(ours.staged_decision_function(X_NEW), path, atol=2e-4)
    np.testing.assert_allclose(ours.decision_function(X_NEW), path[-1], atol=2e-4)
    np.testing.assert_array_equal(ours.predict(X_NEW), path[-1] > 0)
    np.testing.assert_allclose(ours.first_pass_.decision_function(X_NEW), path[0], atol=2e-4)


def support_passes_by_hand(data, labels, new, kappa, n_passes, C=5.0):
    """Return f of each pass at new rows, from LIBSVM and eq. 7; kappa is a number, or None for that of each support vector."""
    kernel, D, D_new, path = KERNELS["rbf"][1], np.ones(len(data)), np.ones(len(new)), []
    for _ in range(n_passes):
        K = D[:, None] * kernel(data, data) * D
        machine = SVC(C=C, kernel="precomputed", tol=1e-7).fit(K, labels)
        path.append(machine.decision_function(D_new[:, None] * kernel(new, data) * D))
        centres = data[machine.support_]
        between = np.sort(((centres[:, None] - centres) ** 2).sum(axis=2), axis=1)
        rates = 1.0 / between[:, 1:6].mean(axis=1) if kappa is None else np.full(len(centres), kappa)
        D, D_new = (np.exp(-rates * ((rows[:, None] - centres) ** 2).sum(axis=2)).sum(axis=1) for rows in (data, new))
    return np.array(path), D_new


@pytest.mark.parametrize("kappa", ["auto", 4.0])
@pytest.mark.parametrize("n_passes", [2, 3])
def test_the_factor_of_the_support_vectors_is_that_of_the_formula(kappa, n_passes):
    ours = paper(C=5.0, gamma=2.0, factor="support", kappa=kappa, n_passes=n_passes, tol=1e-7).fit(X, Y)
    path, _ = support_passes_by_hand(X, 2 * Y - 1, X_NEW, None if kappa == "auto" else kappa, n_passes)
    np.testing.assert_allclose(ours.staged_decision_function(X_NEW), path, atol=1e-3)
    D_new = support_passes_by_hand(X, 2 * Y - 1, X_NEW, None if kappa == "auto" else kappa, n_passes - 1)[1]
    np.testing.assert_allclose(ours.conformal_factor(X_NEW), D_new, rtol=1e-3, atol=1e-12)
    assert (ours.kappa_ == 4.0).all() == (kappa == 4.0)
    np.testing.assert_allclose(ours.first_pass_.decision_function(X_NEW), path[0], atol=1e-3)


def test_each_pair_of_classes_has_its_own_support_vectors():
    options = {"C": 3.0, "gamma": 0.2, "factor": "support", "tol": 1e-6}
    ours = paper(decision_function_shape="ovo", **options).fit(WINE, CULTIVAR)
    for k, (i, j) in enumerate(PAIRS):
        rows = np.isin(CULTIVAR, (i, j))
        alone = paper(**options).fit(WINE[rows], CULTIVAR[rows])
        np.testing.assert_allclose(ours.decision_function(WINE)[:, k], -alone.decision_function(WINE), atol=1e-4)
        np.testing.assert_allclose(ours.conformal_factor(WINE)[:, k], alone.conformal_factor(WINE), rtol=1e-4)
        np.testing.assert_allclose(ours.magnification(WINE[:9])[:, k], alone.magnification(WINE[:9]), rtol=1e-3)


@pytest.mark.parametrize("bias", ["scaled", True, False])
def test_the_default_may_follow_the_support_vectors_too(bias):
    ours = ConformalSVC(C=10.0, gamma=2.0, factor="support", bias=bias).fit(X, Y)
    assert ours.score(X_NEW, ours.first_pass_.predict(X_NEW)) > 0.7
    repeated = ConformalSVC(C=10.0, gamma=2.0, factor="support", bias=bias, kappa="auto").fit(X, Y, np.full(len(X), 2.0))
    doubled = ConformalSVC(C=10.0, gamma=2.0, factor="support", bias=bias, kappa="auto").fit(X.repeat(2, axis=0), Y.repeat(2))
    np.testing.assert_allclose(repeated.decision_function(X_NEW), doubled.decision_function(X_NEW), atol=1e-9)


def test_support_vectors_at_one_place_have_a_width():
    data = np.repeat([[0.0], [0.0], [1.0], [1.0]], 2, axis=0)
    y = np.tile([0, 1], 4)
    y[:2] = 0
    machine = paper(factor="support", gamma=1.0).fit(data, y)
    assert np.isfinite(machine.kappa_).all()
    assert np.isfinite(machine.decision_function(data)).all()
    assert (paper(factor="support", kappa=1e300, C=10.0).fit(X, Y).conformal_factor(X_NEW) < 1e-30).all()


@pytest.mark.parametrize("y", [Y, CULTIVAR], ids=["two", "three"])
@pytest.mark.parametrize(
    "options", [{"kappa": 0}, {"kappa": 0, "factor": "support"}, {"kappa": 0, "n_passes": 4}, {"n_passes": 1}]
)
def test_a_constant_D_is_the_plain_machine(y, options):
    data = X if y is Y else WINE
    ours = paper(C=3.0, break_ties=False, **options).fit(data, y)
    plain = ExactSVC(C=3.0).fit(data, y)
    for name in ("support_", "support_vectors_", "n_support_", "dual_coef_", "intercept_", "n_iter_", "dual_objective_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(plain, name))
    np.testing.assert_array_equal(ours.decision_function(data), plain.decision_function(data))
    np.testing.assert_array_equal(ours.predict(data), plain.predict(data))
    assert (ours.conformal_factor(data) == 1.0).all()
    np.testing.assert_allclose(ours.magnification(data), 1.0, rtol=1e-12)


@pytest.mark.parametrize("y", [Y, CULTIVAR], ids=["two", "three"])
def test_coefficients_are_those_of_the_magnified_kernel(y):
    data = X if y is Y else WINE
    ours = paper(C=2.0, gamma=0.5, tol=1e-6, decision_function_shape="ovo").fit(data, y)
    n_pairs = len(ours.intercept_)
    values = rbf_kernel(data, ours.support_vectors_, 0.5)
    D, D_support = (ours.conformal_factor(rows).reshape(len(rows), n_pairs) for rows in (data, ours.support_vectors_))
    ends = np.concatenate([[0], np.cumsum(ours.n_support_)])
    pairs = [(0, 1)] if y is Y else PAIRS
    for k, (i, j) in enumerate(pairs):
        f = np.full(len(data), ours.intercept_[k])
        for own, other in ((i, j - 1), (j, i)):
            columns = slice(ends[own], ends[own + 1])
            f += D[:, k] * (values[:, columns] @ (D_support[columns, k] * ours.dual_coef_[other, columns]))
        np.testing.assert_allclose(np.atleast_2d(ours.decision_function(data).T)[k], f, atol=1e-9)
    assert np.abs(ours.dual_coef_).max() <= 2.0 * (1 + 1e-12)
    np.testing.assert_array_equal(ours.support_vectors_, data[ours.support_])
    np.testing.assert_array_equal(y[ours.support_], np.repeat(ours.classes_, ours.n_support_))


def test_each_pair_of_classes_has_its_own_passes():
    options = {"C": 3.0, "gamma": 0.2, "n_passes": 3, "tol": 1e-6}
    ours = paper(decision_function_shape="ovo", **options).fit(WINE, CULTIVAR)
    path = ours.staged_decision_function(WINE)
    assert path.shape == (3, len(WINE), 3)
    assert ours.kappa_.shape == (2, 3)
    for k, (i, j) in enumerate(PAIRS):
        rows = np.isin(CULTIVAR, (i, j))
        alone = paper(**options).fit(WINE[rows], CULTIVAR[rows])
        np.testing.assert_allclose(path[:, :, k], -alone.staged_decision_function(WINE), atol=1e-4)
        np.testing.assert_allclose(ours.kappa_[:, k], alone.kappa_[:, 0], rtol=1e-4)
        np.testing.assert_allclose(ours.magnification(WINE[:9])[:, k], alone.magnification(WINE[:9]), rtol=1e-3)
    np.testing.assert_array_equal(ours.decision_function(WINE), path[-1])
    np.testing.assert_allclose(ours.first_pass_.decision_function(WINE), path[0], atol=1e-12)


@settings(max_examples=4, deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(0.1, 100.0))
def test_kappa_does_not_see_the_scale_of_the_kernel_or_of_the_data(factor, C):
    K = rbf_kernel(X, gamma=2.0)
    one = paper(kernel="precomputed", C=C, bias=False, tol=1e-9).fit(K, Y)
    other = paper(kernel="precomputed", C=C / factor, bias=False, tol=1e-9).fit(K * factor, Y)
    np.testing.assert_allclose(one.kappa_, other.kappa_, rtol=1e-5)
    np.testing.assert_allclose(one.decision_function(K), other.decision_function(K * factor), atol=1e-5)
    wide = paper(sigma=0.5 * factor, C=C, bias=False, tol=1e-9).fit(X * factor, Y)
    np.testing.assert_allclose(wide.kappa_, one.kappa_, rtol=1e-5)
    narrow = paper(sigma=0.5, C=C, bias=False, tol=1e-9).fit(X, Y)
    np.testing.assert_allclose(wide.magnification(X_NEW * factor), narrow.magnification(X_NEW), rtol=1e-4)


@pytest.mark.parametrize("y", [Y, CULTIVAR], ids=["two", "three"])
@pytest.mark.parametrize("solver", ["exact", "libsvm"])
def test_a_precomputed_kernel_is_the_kernel(y, solver):
    data = X if y is Y else WINE
    new = data[::3] + 0.1
    ours = paper(kernel="precomputed", solver=solver, tol=1e-7).fit(rbf_kernel(data, gamma=0.3), y)
    direct = paper(gamma=0.3, tol=1e-7).fit(data, y)
    K_new = rbf_kernel(new, data, 0.3)
    np.testing.assert_allclose(ours.decision_function(K_new), direct.decision_function(new), atol=1e-4)
    np.testing.assert_allclose(ours.conformal_factor(K_new), direct.conformal_factor(new), atol=1e-4)
    assert ours.support_vectors_.shape == (0, 0)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_weight_counts_rows(class_weight):
    weights = np.random.default_rng(0).integers(0, 3, size=len(Y))
    options = {"class_weight": class_weight, "gamma": 0.2, "tol": 1e-7}
    weighted = paper(**options).fit(X, Y, sample_weight=weights)
    if class_weight:  # which counts rows as they are
        counts = np.bincount(Y)
        options["class_weight"] = {k: len(Y) / (2 * counts[k]) for k in (0, 1)}
    repeated = paper(**options).fit(X.repeat(weights, axis=0), Y.repeat(weights))
    np.testing.assert_allclose(weighted.staged_decision_function(X_NEW), repeated.staged_decision_function(X_NEW), atol=1e-5)
    np.testing.assert_allclose(weighted.kappa_, repeated.kappa_, rtol=1e-6)


def test_the_first_pass_is_a_machine_of_its_own():
    ours = paper(n_passes=3).fit(WINE, CULTIVAR)
    first, plain = ours.first_pass_, ExactSVC().fit(WINE, CULTIVAR)
    assert first.get_params() == ours.get_params() | {"n_passes": 1}
    for name in ("support_", "dual_coef_", "intercept_", "n_iter_", "dual_objective_", "fit_status_", "n_features_in_"):
        np.testing.assert_array_equal(getattr(first, name), getattr(plain, name))
    assert first.first_pass_ is first
    assert first.kappa_.shape == (0, 3)
    np.testing.assert_array_equal(first.predict(WINE), clone(first).fit(WINE, CULTIVAR).predict(WINE))
    assert (ours.n_iter_ > first.n_iter_).all()
    assert ours.set_params(n_passes=1).fit(WINE, CULTIVAR).first_pass_ is ours


def test_weights_of_features_are_there_for_the_plain_machine_only():
    ours = paper(kernel="linear").fit(X, Y)
    assert not hasattr(ours, "coef_")
    with pytest.raises(AttributeError, match="with kappa above 0 the decision function is not linear"):
        ours.coef_  # noqa: B018
    np.testing.assert_array_equal(ours.first_pass_.coef_, ExactSVC(kernel="linear").fit(X, Y).coef_)
    assert paper(kernel="linear", kappa=0).fit(X, Y).coef_.shape == (1, 2)


TWICE, BOTH = X.repeat(2, axis=0), np.arange(2 * len(X)) % 2  # every row in both classes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kappa": -0.5}, "kappa=-0.5; use 'cv', 'auto' or a finite number, 0 or more .0 is the plain SVM"),
        ({"kappa": "scale"}, "kappa='scale'; use 'cv', 'auto'"),
        ({"factor": "margin"}, "factor='margin'; use 'boundary' or 'support'"),
        ({"factor": "support", "kernel": "precomputed"}, "factor='support' and kernel='precomputed'.*use factor='boundary'"),
        ({"n_passes": 0}, "n_passes=0; use a whole number, 1 or more: 1 for the plain SVM, 2 for the paper's"),
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


@pytest.mark.parametrize(("kappa", "solver"), [("auto", "libsvm"), (0.5, "exact")])
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


def test_a_kappa_beyond_measure_ends():
    with pytest.raises(ArgumentError, match="pass 2 has f = 0 at all training rows.*a kappa that is smaller"):
        paper(kappa=1e300, C=1e6, n_passes=3).fit(X, Y)
    machine = paper(kappa=1e300, C=1e6).fit(X, Y)
    assert np.isfinite(machine.decision_function(X)).all()
    assert (machine.conformal_factor(X) >= 0).all()


def test_a_first_pass_that_stops_early_is_told():
    with pytest.warns(ConvergenceWarning, match="The solver stopped early") as told:
        machine = paper(C=1e4, tol=1e-6, max_iter=2).fit(X, Y)
    assert [warning.filename for warning in told] == [__file__]
    assert machine.fit_status_ == 1
    assert machine.predict(X).shape == Y.shape
    with pytest.warns(ConvergenceWarning, match="the cap of 2 LIBSVM steps"):
        paper(C=1e4, max_iter=2, solver="libsvm").fit(X, Y)


def test_new_data_must_fit():
    for method in ("predict", "staged_decision_function", "conformal_factor", "magnification"):
        with pytest.raises(NotFittedError):
            getattr(ConformalSVC(), method)(X)
        with pytest.raises(ValueError, match="X has 1 features, but ConformalSVC is expecting 2"):
            getattr(ConformalSVC().fit(X, Y), method)(X[:, :1])
    with pytest.raises(NotFittedError):
        paper().first_pass_  # noqa: B018
