import numpy as np
import pytest
from kriging_algebra import fitted, gaussian, predicted
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from spotsvm import Kriging
from spotsvm.errors import SurrogateError

RNG = np.random.default_rng(2)
X = RNG.random((40, 3)) * [1, 10, 100]
Y = np.sin(3 * X[:, 0]) + 0.1 * X[:, 1] + 0.05 * RNG.normal(size=40)


def test_attributes_are_in_the_units_of_the_data():
    """Eq. 6 to 10 with the fitted theta and nugget."""
    model, new = Kriging(random_state=0).fit(X, Y), RNG.random((6, 3)) * [1, 10, 100]
    R, psi = gaussian(X, X, model.theta_) + model.nugget_ * np.eye(40), gaussian(new, X, model.theta_)
    assert np.allclose((model.log_likelihood_, model.mu_, model.sigma2_), fitted(R, Y))
    mean, variance = predicted(R, psi, Y, model.nugget_)
    assert np.allclose(model.predict(new, return_std=True), (mean, np.sqrt(variance)))


def test_likelihood_is_no_worse_than_scikit_learns():
    """The same family with a constant mean; scikit-learn's has its own parametrisation, so compare the best eq. 8."""
    scaled, z = X / [1, 10, 100], (Y - Y.mean()) / Y.std()
    peer = GaussianProcessRegressor(
        ConstantKernel() * RBF([1.0] * 3, (1e-2, 1e6)) + WhiteKernel(0.1, (1e-8, 10)), n_restarts_optimizer=8, random_state=0
    )
    peer.fit(scaled, z)
    theta = 0.5 / peer.kernel_.k1.k2.length_scale**2
    nugget = peer.kernel_.k2.noise_level / peer.kernel_.k1.k1.constant_value
    theirs = fitted(gaussian(scaled, scaled, theta) + nugget * np.eye(40), Y)[0]
    assert Kriging(random_state=0).fit(X, Y).log_likelihood_ > theirs - 1e-2


def test_cmaes_finds_the_optimum_of_lbfgsb():
    a, b = (Kriging(optimizer=o, random_state=0).fit(X, Y) for o in ("lbfgsb", "cmaes"))
    assert np.isclose(a.log_likelihood_, b.log_likelihood_, atol=1e-2)
    one = Kriging(optimizer="cmaes", nugget=None, random_state=0).fit(X[:, :1], np.sin(X[:, 0]))
    assert np.isfinite(one.log_likelihood_)


def test_of_many_maxima_of_the_likelihood_the_largest_is_found():
    """Ten noisy responses in four dimensions: no fit falls short of the best of many starts."""
    rng = np.random.default_rng(14)
    x = rng.random((10, 4))
    y = np.sin(5 * x).sum(axis=1) + 0.5 * rng.normal(size=10)
    best = Kriging(n_restarts=60, random_state=1).fit(x, y).log_likelihood_
    assert Kriging(random_state=0).fit(x, y).log_likelihood_ > best - 0.1
    assert Kriging(optimizer="cmaes", random_state=0).fit(x, y).log_likelihood_ > best - 0.5


def test_replicates_are_aggregated():
    points, y = np.vstack([X, X[:10]]), np.append(Y, Y[:10] + 0.1)
    model = Kriging(nugget=None, random_state=0).fit(points, y)
    assert model.X_train_.shape == (40, 3)
    assert model.counts_.tolist() == [2] * 10 + [1] * 30
    assert np.allclose(model.predict(X), model.y_train_, atol=1e-6)


def test_reinterpolation():
    model = Kriging(random_state=0).fit(X, Y)
    again = model.reinterpolate()
    new = RNG.random((30, 3)) * [1, 10, 100]
    assert np.allclose(again.predict(new), model.predict(new), atol=1e-10)
    assert np.allclose(again.predict(X), again.y_train_)
    assert (again.predict(X, return_std=True)[1] ** 2).max() < 1e-8
    assert again.theta_.tolist() == model.theta_.tolist()
    assert again.nugget_ == 0.0
    assert model.nugget_ > 0.0


@pytest.mark.parametrize("nugget", ["estimate", None, 0.1])
def test_degenerate_data(nugget):
    one = Kriging(nugget=nugget, random_state=0).fit([[0.3]], [2.0])
    assert one.predict([[0.3], [0.9]]).tolist() == [2.0, 2.0]
    constant = Kriging(nugget=nugget, random_state=0).fit(RNG.random((9, 2)), np.full(9, 5.0))
    mean, sd = constant.predict(RNG.random((4, 2)), return_std=True)
    assert np.allclose(mean, 5.0)
    assert np.allclose(sd, 0.0)
    close = np.array([[0.0], [1e-12], [0.5], [1.0]])
    mean, sd = Kriging(nugget=nugget, random_state=0).fit(close, [0.0, 0.0, 2.0, 3.0]).predict(close, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(sd).all()


@pytest.mark.parametrize("nugget", ["estimate", 0.5])
def test_replicates_of_a_single_point_estimate_the_noise(nugget):
    """By plain matrix algebra of the five responses; of the likelihood only the nugget is left, and it has no maximum."""
    y = np.array([0.0, 10.0, -10.0, 5.0, -5.0])
    model = Kriging(nugget=nugget, random_state=0).fit([[0.5]] * 5, y)
    R = np.ones((5, 5)) + model.nugget_ * np.eye(5)
    sigma2 = y @ np.linalg.solve(R, y) / 5
    assert np.isclose(model.log_likelihood_, -2.5 * np.log(sigma2) - np.linalg.slogdet(R)[1] / 2)
    assert np.isclose(model.nugget_ * model.sigma2_, np.var(y))
    mean, sd = model.predict([[0.5], [0.7]], return_std=True)
    assert np.allclose(mean, 0.0)
    assert np.isclose(sd[0], np.std(y) * np.sqrt(1 + 1 / 5))  # of a response, and of the mean that is predicted
    assert sd[1] > sd[0]


@pytest.mark.parametrize(("scale", "nugget"), [(1e-200, None), (-1e300, "estimate"), (2.0**-600, "estimate")])
def test_responses_of_any_scale(scale, nugget):
    """The model is the same, in other units."""
    usual, scaled = (Kriging(nugget=nugget, n_restarts=2, random_state=0).fit(X, s * Y) for s in (1.0, scale))
    new = RNG.random((6, 3)) * [1, 10, 100]
    mean, sd = usual.predict(new, return_std=True)
    scaled_mean, scaled_sd = scaled.predict(new, return_std=True)
    assert np.allclose(scaled_mean / scale, mean, rtol=1e-3)
    assert np.allclose(scaled_sd / abs(scale), sd, rtol=1e-2)
    assert np.allclose(scaled.reinterpolate().predict(new), scaled_mean, rtol=1e-6)
    assert np.isclose(scaled.log_likelihood_, usual.log_likelihood_ - 40 * np.log(abs(scale)))
    if scale == 2.0**-600:
        assert np.array_equal(scaled.predict(X), scale * usual.predict(X))


def test_jitter_is_reported(caplog):
    caplog.set_level("INFO", logger="spotsvm.surrogates")
    model = Kriging(nugget=None, random_state=0).fit([[0.0], [1e-12], [0.5], [1.0]], [0.0, 1.0, 2.0, 3.0])
    assert model.jitter_ > 0
    assert "jitter" in caplog.text


def test_integer_columns_are_flat_between_roundings():
    x = np.array([[k, v] for k in range(4) for v in (0.1, 0.6)], dtype=float)
    model = Kriging(integer=[0], random_state=0).fit(x, x[:, 0] ** 2 + x[:, 1])
    assert np.ptp(model.predict([[1.51, 0.3], [2.0, 0.3], [2.49, 0.3]])) < 1e-10
    assert np.ptp(model.predict([[1.49, 0.3], [1.51, 0.3]])) > 0.1


def test_categories_have_no_order():
    x = np.array([[c, v] for c in (0.0, 1.0, 2.0) for v in np.linspace(0, 1, 6)])
    y = np.where(x[:, 0] == 1, 5.0, 0.0) + x[:, 1]
    renamed = x.copy()
    renamed[:, 0] = np.array([7.0, 3.0, 5.0])[x[:, 0].astype(int)]
    a = Kriging(categorical=[0], random_state=0).fit(x, y)
    b = Kriging(categorical=[0], random_state=0).fit(renamed, y)
    assert np.allclose(a.predict(x), b.predict(renamed), atol=1e-5)
    assert np.allclose(a.predict([[1.0, 0.5]]), 5.5, atol=0.1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"correlation": "cubic"}, "correlation='cubic' is unknown"),
        ({"nugget": -1.0}, "nugget=-1.0 is not a nugget"),
        ({"nugget": "auto"}, "nugget='auto' is not a nugget"),
        ({"optimizer": "adam"}, "optimizer='adam' is unknown"),
        ({"n_restarts": 0}, "n_restarts=0 allows no start"),
        ({"theta_bounds": (1.0, 0.1)}, "theta_bounds=.* is not a range"),
        ({"integer": [3]}, "names column 3; X has columns 0 to 2"),
        ({"integer": [1], "categorical": [1]}, "column 1 is both"),
    ],
)
def test_wrong_parameters_are_named(options, said):
    with pytest.raises(SurrogateError, match=said):
        Kriging(**options).fit(X, Y)


def test_responses_far_from_zero():
    """Whole numbers over 2^8, so that the offset is exact: nothing but the mean changes."""
    y, new = np.round(2**8 * Y) / 2**8, RNG.random((6, 3)) * [1, 10, 100]
    plain, moved = Kriging(random_state=0).fit(X, y), Kriging(random_state=0).fit(X, y + 2.0**44)
    assert moved.predict(new) - 2.0**44 == pytest.approx(plain.predict(new), abs=0.02)
    assert np.log(moved.theta_) == pytest.approx(np.log(plain.theta_), abs=0.1)
