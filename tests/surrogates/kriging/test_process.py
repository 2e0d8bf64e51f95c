import numpy as np
import pytest
from kriging_algebra import gaussian, predicted

from spotsvm.surrogates.kriging.correlation import Gaussian
from spotsvm.surrogates.kriging.likelihood import Response
from spotsvm.surrogates.kriging.process import Process

RNG = np.random.default_rng(1)
X = RNG.random((20, 3))
Y = np.cos(4 * X[:, 0]) + X[:, 2] + 0.2 * RNG.normal(size=20)
THETA = np.array([5.0, 1.0, 2.0])


def make(correlation=None, nugget=0.1):
    return Process.condition(correlation or Gaussian(), THETA, nugget, X, Response.single(Y))


def test_prediction_is_equations_9_and_10():
    p, new = make(), RNG.random((7, 3))
    R, psi = gaussian(X, X, THETA) + 0.1 * np.eye(20), gaussian(new, X, THETA)
    assert np.allclose(p.predict(new), predicted(R, psi, Y))
    assert np.allclose(p.fitted, p.predict(X)[0])


def test_reinterpolation_keeps_the_mean_and_has_no_error_at_the_data():
    p = make(nugget=0.3)
    r, new = p.reinterpolate(), RNG.random((50, 3))
    assert np.allclose(r.predict(new)[0], p.predict(new)[0], atol=1e-12)
    assert r.predict(X)[1].max() < 1e-8
    assert p.predict(X)[1].min() > 1e-4
    Psi = gaussian(X, X, THETA)
    a = np.linalg.solve(Psi + 0.3 * np.eye(20), Y - p.mu)
    assert np.isclose(r.sigma2, a @ Psi @ a / 20)


@pytest.mark.parametrize("interpolates", [False, True])
def test_believing_is_conditioning_on_the_predictions(interpolates):
    p, pending, new = make(nugget=0.1), RNG.random((6, 3)), RNG.random((40, 3))
    p = p.reinterpolate() if interpolates else p
    believed = p.believe(pending)
    nugget = 0.0 if interpolates else 0.1
    seen = p.fitted if interpolates else Y
    response = Response.single(np.append(seen, p.predict(pending)[0]))
    anew = Process.condition(Gaussian(), THETA, nugget, np.vstack([X, pending]), response).with_variance(p.sigma2)
    for a, b in zip(believed.predict(new), anew.predict(new), strict=True):
        assert np.allclose(a, b, atol=1e-7)
    assert np.isclose(believed.mu, anew.mu)
    assert np.allclose(believed.fitted[20:], p.predict(pending)[0])
    assert np.allclose(believed.predict(new)[0], p.predict(new)[0])
    assert (believed.predict(new)[1] <= p.predict(new)[1] + 1e-9).all()


def test_pending_points_that_nearly_coincide_are_believed_with_a_jitter():
    close = np.full((4, 3), 0.4) + 1e-9 * np.arange(4)[:, None]
    assert make().reinterpolate().believe(close).predict(close)[1].max() < 1e-6
