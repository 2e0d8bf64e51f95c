"""Each equation of the chapter "The method", written out as it is printed, gives what the function gives that it names."""

from math import nan
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import approx_fprime, minimize
from scipy.spatial.distance import cdist
from scipy.stats import norm, t, uniform

from spotsvm import ExpectedScore, OversearchingMatrix, Space, Trial, oversearching, solve_dual, solve_dual_regression
from spotsvm.acquisition import expected_improvement, log_expected_improvement, log_expected_improvement_gradient
from spotsvm.cross_validation.fold_scores import FoldScores
from spotsvm.estimators.conformal.factor import log_factor, log_support_factor
from spotsvm.luck.bootstrap import corrected, left_out_scores
from spotsvm.luck.calibration import calibrate, conformal_limit
from spotsvm.luck.difference import TuningGain, difference_of
from spotsvm.luck.drawn import Drawn, left_out
from spotsvm.luck.draws import Draws, draw_rows
from spotsvm.luck.fold_bias import corrected_standard_error, optimism_of_folds
from spotsvm.luck.intervals import jackknife_variance, nadeau_bengio, repeated_variance, score_interval
from spotsvm.luck.scores import score_called
from spotsvm.luck.weights import agnostic_bayes, greedy
from spotsvm.search_cv.scoring import grid_size
from spotsvm.searches import SEARCHES, Domain
from spotsvm.solvers.dual import make_problem
from spotsvm.solvers.dual.exact.exact import solve_pairs
from spotsvm.solvers.dual.problem.problem import bias_interval, middle_bias
from spotsvm.solvers.search.kriging.ocba import ocba_next, ocba_shares
from spotsvm.space.optimum_prior import OptimumPrior
from spotsvm.surrogates.acquisition.chance import Chance, _propagate, caution, saving
from spotsvm.surrogates.acquisition.criterion import AveragedImprovement, PriorWeighted
from spotsvm.surrogates.kriging.correlation import Embedding, Gaussian, Matern52
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble
from spotsvm.surrogates.kriging.hyperparameters import Hyperposterior, Prior, ResponseWarp
from spotsvm.surrogates.kriging.likelihood import Response, gradient, profile
from spotsvm.surrogates.kriging.process import Process
from spotsvm.surrogates.responses import are_penalties
from spotsvm.trials.sweep import SweptParameter
from spotsvm.tuned.families import kernel_of, typical_distance
from spotsvm.tuned.landmarks import fit_landmarks
from spotsvm.tuned.relevance import gradient_relevance
from spotsvm.tuning.verdict import Choice, decide

RNG = np.random.default_rng(0)
X = RNG.random((12, 2))
COUNT = RNG.integers(1, 4, 12).astype(float)
WITHIN = 0.3
Y = np.sin(5 * X[:, 0]) + X[:, 1]
THETA, NUGGET = np.array([3.0, 1.5]), 0.02
NEW = RNG.random((5, 2))


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def rho2(A, B):
    return cdist(A * np.sqrt(THETA), B * np.sqrt(THETA), "sqeuclidean")


def matern(r2):
    u = np.sqrt(5 * r2)
    return (1 + u + u**2 / 3) * np.exp(-u)


@pytest.fixture(scope="module")
def process():
    return Process.condition(Matern52(), THETA, NUGGET, X, Response(Y, COUNT, WITHIN))


@pytest.fixture(scope="module")
def by_hand():
    """The model with replicates, by inverses and determinants."""
    R = matern(rho2(X, X)) + np.diag(NUGGET / COUNT)
    inverse, N, one = np.linalg.inv(R), COUNT.sum(), np.ones(12)
    mu = one @ inverse @ Y / (one @ inverse @ one)
    a = inverse @ (Y - mu)
    sigma2 = ((Y - mu) @ a + WITHIN / NUGGET) / N
    value = -N / 2 * np.log(sigma2) - np.linalg.slogdet(R)[1] / 2 - (N - 12) / 2 * np.log(NUGGET) - np.log(COUNT).sum() / 2
    return SimpleNamespace(R=R, inverse=inverse, mu=mu, a=a, sigma2=sigma2, value=value)


def test_coordinate_distance():
    points = np.array([[0.1, 0.0], [0.4, 2.0], [0.9, 2.0]])
    embedding = Embedding.of(points, categorical=[1])
    found = embedding.pair_distances(embedding.transform(points))
    np.testing.assert_allclose(found, [[0.09, 0.64, 0.25], [1.0, 1.0, 0.0]], atol=1e-15)


def test_correlations():
    r2 = np.array([0.0, 0.3, 2.0])
    np.testing.assert_allclose(Gaussian().value(r2), np.exp(-r2))
    np.testing.assert_allclose(Matern52().value(r2), matern(r2))


def test_mean_variance_and_likelihood(by_hand):
    p = profile(Matern52(), rho2(X, X)[np.triu_indices(12, 1)], NUGGET, Response(Y, COUNT, WITHIN))
    np.testing.assert_allclose(p.L @ p.L.T, by_hand.R)
    np.testing.assert_allclose([p.mu, p.sigma2, p.log_likelihood], [by_hand.mu, by_hand.sigma2, by_hand.value])
    np.testing.assert_allclose(p.a, by_hand.a, rtol=1e-7)


def test_the_gradient_of_the_likelihood(by_hand):
    distances = np.array([(X[i] - X[j]) ** 2 for i in range(12) for j in range(i + 1, 12)]).T
    response = Response(Y, COUNT, WITHIN)

    def value(phi):
        return profile(Matern52(), np.exp(phi[:2]) @ distances, np.exp(phi[2]), response).log_likelihood

    _, by_theta, by_nugget = gradient(Matern52(), distances, THETA, NUGGET, response)
    phi = np.log([*THETA, NUGGET])
    np.testing.assert_allclose([*by_theta, by_nugget], approx_fprime(phi, value, 1e-7), rtol=1e-4)
    by_R = (np.outer(by_hand.a, by_hand.a) / by_hand.sigma2 - by_hand.inverse) / 2
    repeats = (WITHIN / NUGGET / by_hand.sigma2 - (COUNT.sum() - 12)) / 2
    assert by_nugget == pytest.approx(np.diag(by_R) @ (NUGGET / COUNT) + repeats)


def test_prediction_and_reinterpolation(process, by_hand):
    psi, one = matern(rho2(NEW, X)), np.ones(12)
    mean, variance = process.predict(NEW)
    np.testing.assert_allclose(mean, by_hand.mu + psi @ by_hand.a)
    rest = (1 - psi @ by_hand.inverse @ one) ** 2 / (one @ by_hand.inverse @ one)
    np.testing.assert_allclose(variance, by_hand.sigma2 * (1 - np.sum(psi @ by_hand.inverse * psi, axis=1) + rest))
    smooth = process.reinterpolate()
    assert smooth.sigma2 == pytest.approx((process.predict(X)[0] - by_hand.mu) @ by_hand.a / 12)
    np.testing.assert_allclose(smooth.predict(NEW)[0], mean)
    assert smooth.predict(X)[1].max() < 1e-6


def test_reinterpolation_of_single_responses():
    process = Process.condition(Matern52(), THETA, NUGGET, X, Response.single(Y))
    Psi = matern(rho2(X, X))
    inverse = np.linalg.inv(Psi + NUGGET * np.eye(12))
    error = Y - process.mu
    assert process.reinterpolate().sigma2 == pytest.approx(error @ inverse @ Psi @ inverse @ error / 12)


def test_believer(process):
    grown = process.believe(NEW)
    one, other = np.vstack([X, NEW]), np.append(NUGGET / COUNT, np.full(5, NUGGET))
    np.testing.assert_allclose(grown.L @ grown.L.T, matern(rho2(one, one)) + np.diag(other), atol=1e-12)
    np.testing.assert_allclose(grown.predict(X)[0], process.predict(X)[0])
    assert grown.a[12:].tolist() == [0.0] * 5


def test_warp_prior_and_posterior():
    y = np.exp(3 * Y)
    warp, c = ResponseWarp.of(y), 0.7
    assert (warp.low, warp.unit) == (y.min(), np.median(y - y.min()))
    steps = (y - y.min()) / warp.unit
    z = np.log(1 + c * steps)
    np.testing.assert_allclose(warp.forward(y, np.log(c)), z)
    jacobian = np.log(c / (1 + c * steps)).sum()
    assert warp.log_jacobian(y, np.log(c)) == pytest.approx(jacobian)
    assert jacobian == pytest.approx(12 * np.log(c) - z.sum())
    mean, deviation = Prior().moments(2, warped=True)
    length = np.log(0.5) + np.log(2) / 2
    np.testing.assert_allclose([mean, deviation], [[length, length, -6.9, 0.0], [1.2, 1.2, 2.0, 2.0]])
    distances = np.array([(X[i] - X[j]) ** 2 for i in range(12) for j in range(i + 1, 12)]).T
    posterior = Hyperposterior(Matern52(), distances, y, np.arange(12), warp, True, Prior())
    phi = np.array([*(-0.5 * np.log(THETA)), np.log(NUGGET), np.log(c)])
    likelihood = profile(Matern52(), THETA @ distances, NUGGET, Response.single(z)).log_likelihood
    assert posterior(phi) == pytest.approx(likelihood + jacobian - 0.5 * np.sum(((phi - mean) / deviation) ** 2))


@pytest.fixture(scope="module")
def models():
    return KrigingEnsemble(Domain.continuous(2)).fit(X, np.exp(Y), np.random.default_rng(1))


def test_ensemble_and_criterion(models):
    low, unit = np.exp(Y).min(), models.unit
    each = [member.process.predict(NEW) for member in models.members]
    steps = np.array([np.expm1(z) / np.exp(m.log_strength) for m, (z, _) in zip(models.members, each, strict=True)])
    slopes = np.array([np.exp(z - m.log_strength) for m, (z, _) in zip(models.members, each, strict=True)])
    mean, error = models.predict(NEW)
    np.testing.assert_allclose(mean, low + unit * steps.mean(axis=0))
    variances = np.array([variance for _, variance in each])
    np.testing.assert_allclose(error, unit * np.sqrt((variances * slopes**2).mean(axis=0) + steps.var(axis=0)))

    succeeded = X[:, 0] < 0.7
    chance = Chance.of_success(models.embedding, X, succeeded, caution(succeeded))
    saved = saving(models.embedding, X, 10.0 ** (2 * X[:, 1]))
    criterion = AveragedImprovement(Domain.continuous(2), models, "plain", [chance], savings=[saved])
    terms = []
    for member, (z, variance) in zip(models.members, each, strict=True):
        best = member.response.mean.min()
        terms.append(best - member.log_strength + log_expected_improvement(z, np.sqrt(variance), best))
    by_hand = np.logaddexp.reduce(terms) - np.log(len(terms)) + chance.power * np.log(chance.at(NEW)) + saved.mean(NEW)
    np.testing.assert_allclose(criterion.value(NEW), by_hand, rtol=1e-7)


def test_prior_weight(models):
    criterion = AveragedImprovement(Domain.continuous(2), models, "plain")
    space = Space({"x": uniform(0, 1), "y": uniform(0, 1)})
    prior = OptimumPrior.of({"x": norm(0.5, 0.2)}, space, space.names)
    weighted = PriorWeighted(criterion, prior.log_density, 10.0 / 25)
    density = np.exp(-0.5 * ((NEW[:, 0] - 0.5) / 0.2) ** 2)
    by_hand = criterion.value(NEW) + 10.0 / 25 * np.log(density + np.exp(-6.0))
    np.testing.assert_allclose(weighted.value(NEW), by_hand, atol=1e-3)


def test_chance_and_saving(models):
    chance = Chance.of_success(models.embedding, X, X[:, 0] < 0.7)
    psi = matern(cdist(NEW * chance.scale, chance.points, "sqeuclidean"))
    R = chance.L @ chance.L.T
    variance = chance.sigma2 * (1 - np.sum(psi @ np.linalg.inv(R) * psi, axis=1))
    np.testing.assert_allclose(chance.at(NEW), norm.cdf((chance.mu + psi @ chance.a) / np.sqrt(variance + 1)))
    logs = 3 * X[:, 0]
    saved = saving(models.embedding, X, np.exp(logs))
    np.testing.assert_allclose(saved.mean(X), logs.mean() - logs, atol=0.02)


def test_power():
    """Failures that come from nowhere are not avoided, those behind a border are."""
    points, powers = np.random.default_rng(2).random((60, 2)), []
    embedding = Embedding.of(points)
    for succeeded in (np.random.default_rng(3).random(60) < 0.5, points[:, 0] < 0.6):
        chance = Chance.of_success(embedding, points, succeeded, 4.0)
        K = chance.sigma2 * matern(cdist(chance.points, chance.points, "sqeuclidean"))
        left_out = _propagate(K, chance.mu, np.where(succeeded, 1.0, -1.0), np.zeros((2, 60)))[3]
        share = succeeded.mean()
        entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
        powers.append(4 ** min(1, 3 * max(0, 1 + left_out / (60 * entropy))))
        assert chance.power == pytest.approx(powers[-1], rel=1e-4)
    assert powers[0] < 1.5 < powers[1] == 4.0


def test_caution():
    level, row, levels = 0.0, 0, []
    told = [True, False, False, True, True, True, False, *[False] * 20]
    for ok in told:
        row = row + 1 if ok else 0
        level = max(level - 0.1 * row, 0.0) if ok else min(level + 1, 12)
        levels.append(2**level)
    assert [caution(np.array(told[: k + 1])) for k in range(len(told))] == pytest.approx(levels)
    assert levels[-1] == 2**12


def test_expected_improvement():
    best, mean, s = 0.3, 0.5, 0.4
    by_hand = quad(lambda y: (best - y) * norm.pdf(y, mean, s), -10, best)[0]
    assert expected_improvement(mean, s, best) == pytest.approx(by_hand)
    u = (best - mean) / s
    far = np.log(s) - u**2 / 2 - np.log(2 * np.pi) / 2 + np.log(1 + u * norm.cdf(u) / norm.pdf(u))
    assert log_expected_improvement(mean, s, best) == pytest.approx(far)
    _, by_mean, by_s = log_expected_improvement_gradient(mean, s, best)
    assert (by_mean, by_s) == pytest.approx((-norm.cdf(u) / by_hand, norm.pdf(u) / by_hand))


def test_ocba():
    mean, variance = np.array([1.0, 0.0, 3.0, 0.0]), np.array([1.0, 2.0, 0.5, 1.5])
    gap = np.maximum(mean - mean.min(), 0.01 * np.sqrt(variance))
    N = (np.sqrt(variance) / gap) ** 2
    others = [0, 2, 3]
    N[1] = np.sqrt(variance[1] * np.sum(N[others] ** 2 / variance[others]))
    np.testing.assert_allclose(ocba_shares(mean, variance), N / N.sum())
    count = np.array([5, 9, 1, 9])
    assert ocba_next(mean, variance, count) == np.argmax(N / N.sum() * (1 + count.sum()) - count)


def test_penalty(rng):
    values = np.append(rng.random(12), [50.0, 1e9, 1e10])
    lower, median = np.quantile(values[:10], [0.25, 0.5])
    distance = (values - median) / (2 * (median - lower))
    ordered = np.sort(distance)
    first = next(d for before, d in zip(ordered, ordered[1:], strict=False) if d > max(1e4, 100 * before))
    assert are_penalties(values).tolist() == (distance >= first).tolist() == [False] * 13 + [True, True]


def test_fold_error_and_criterion_on_the_folds():
    scores, share = np.array([0.9, 0.8, 0.85]), 0.2
    by_hand = np.sqrt((1 / 3 + share / (1 - share)) * scores.var(ddof=1))
    assert corrected_standard_error(scores, share) == pytest.approx(by_hand)
    assert FoldScores({f"split{k}_test_score": s for k, s in enumerate(scores)}).mean("score", 3) == pytest.approx(scores.mean())


def test_duals_violation_and_threshold():
    K, y, C = X @ X.T + 0.1 * np.eye(12), np.where(X[:, 0] > 0.5, 1.0, -1.0), 2.0
    found = solve_dual(K, y, C, bias=True, tol=1e-8)
    Q = np.outer(y, y) * K

    def optimum(objective, start, bounds, balance):
        constraint = {"type": "eq", "fun": balance}
        return minimize(objective, start, method="SLSQP", bounds=bounds, constraints=constraint, options={"ftol": 1e-14}).fun

    best = -optimum(lambda a: a @ Q @ a / 2 - a.sum(), np.full(12, 0.1), [(0, C)] * 12, lambda a: a @ y)
    assert found.objective == pytest.approx(best, rel=1e-5)
    beta = y * found.alpha
    lower, upper = np.minimum(C * y, 0), np.maximum(C * y, 0)
    G = K @ beta - y
    problem = make_problem(K, y, C, bias=True)
    violation = G[beta > lower].max() - G[beta < upper].min()
    assert problem.kkt(found.alpha, problem.decision(found.alpha))[0] == pytest.approx(max(violation, 0.0), abs=1e-12)
    same, _, converged = solve_pairs(K, y, lower, upper, 0.0, np.zeros(12), 1e-8, 10**6)
    assert converged
    np.testing.assert_allclose(same, beta, atol=1e-5)
    free = (beta > lower) & (beta < upper)
    assert free.any()
    assert middle_bias(*bias_interval(G, beta, lower, upper)) == pytest.approx(-G[free].mean())
    at_bounds = np.where(y > 0, upper, lower)
    rise, fall = G[at_bounds < upper].min(), G[at_bounds > lower].max()
    assert middle_bias(*bias_interval(G, at_bounds, lower, upper)) == pytest.approx(-(rise + fall) / 2)

    fitted = solve_dual_regression(K, Y, C, epsilon=0.1, tol=1e-8)

    def loss(pair):  # beta as the difference of two positive parts, so that the absolute value is smooth
        beta = pair[:12] - pair[12:]
        return beta @ K @ beta / 2 - Y @ beta + 0.1 * pair.sum()

    best = -optimum(loss, np.full(24, 0.1), [(0, C)] * 24, lambda pair: pair[:12].sum() - pair[12:].sum())
    assert fitted.objective == pytest.approx(best, rel=1e-5)


def test_sweep_response_and_grid_size():
    swept = SweptParameter(Space({"C": (0.0, 1.0), "kernel": ["rbf", "linear"]}), "C")
    losses = [0.5, 0.3, 0.1, 0.2, 0.6, 0.9, 0.8]
    points = [tuple(swept.whole_point([0.25], u).tolist()) for u in np.linspace(0, 1, 7)]
    sweep = [Trial(k, {}, point, "ok", value=v, values=(v,)) for k, (v, point) in enumerate(zip(losses, points, strict=True))]
    best_five = np.sort(losses)[:5].mean()
    assert swept.response(sweep, 1.0) == pytest.approx(0.1 + 0.25 * (0.25 - 0.1) + 0.05 * (best_five - 0.1))
    assert [grid_size(swept, n) for n in (10, 51)] == [max(11, 2 * (n // 2 - 2) - 1) for n in (10, 51)]


def test_kernels_and_relevance(rng):
    D = cdist(X, X, "cityblock")
    np.testing.assert_allclose(kernel_of("laplacian", 0.7, -3.0).of(D.copy()), np.exp(-(2.0**-3) * D / 0.7))
    A, target = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    squares = cdist(A, A, "sqeuclidean")
    K = np.exp(-0.25 * squares / typical_distance(squares))
    a = np.linalg.solve(K + 0.3 * np.eye(20), target - target.mean(axis=0))
    Q = np.zeros(3)
    for one in a.T:
        Q += (np.einsum("l,il,ilc->ic", one, K, A[:, None] - A[None]) ** 2).sum(axis=0)
    np.testing.assert_allclose(gradient_relevance(A, target), np.sqrt(3 * Q / Q.sum() + 0.03))


def test_agnostic_bayes(rng):
    gains, rows = (rng.random((3, 40)) < np.array([[0.7], [0.7], [0.3]])).astype(float), np.ones(40)
    found = agnostic_bayes(gains, rows, np.arange(40), np.random.default_rng(0), n_draws=20_000)
    counts = np.random.default_rng(1).multinomial(40, np.full(40, 1 / 40), size=20_000)
    totals = counts @ gains.T + 1e-3 * np.random.default_rng(2).random((20_000, 3))
    np.testing.assert_allclose(found, np.bincount(totals.argmax(axis=1), minlength=3) / 20_000, atol=0.02)


def test_greedy(rng):
    errors, weights = rng.normal(size=(6, 30)) + np.linspace(0, 1, 6)[:, None], rng.random(30) + 0.5
    chosen = list(np.argsort((weights * errors**2).sum(axis=1))[:3])
    for _ in range(12):
        with_one = [(weights * (errors[chosen].sum(axis=0) + one) ** 2).sum() for one in errors]
        chosen.append(int(np.argmin(with_one)))
    np.testing.assert_allclose(greedy(errors, weights[None])[0], np.bincount(chosen, minlength=6) / 15)


@pytest.mark.parametrize("k", [2, 3])
def test_calibration(k, rng):
    y = rng.integers(k, size=60)
    decisions = rng.normal(size=(60, 1 if k == 2 else k)) + (y[:, None] if k == 2 else 2 * np.eye(k)[y])
    d = np.hstack([-decisions / 2, decisions / 2]) if k == 2 else decisions - decisions.mean(axis=1, keepdims=True)
    n_c = np.bincount(y)
    sure = ((n_c + 1) / (n_c + 2))[y] if k == 2 else np.full(60, 61 / 62)
    target = np.where(np.eye(k)[y] > 0, sure[:, None], (1 - sure[:, None]) / (k - 1))

    def log_probabilities(theta):
        f = theta[0] * d + theta[1:]
        return f - np.logaddexp.reduce(f, axis=1, keepdims=True)

    def loss(theta):
        return -(target * log_probabilities(theta)).sum() + 0.5 * 0.05 * (theta[1:] ** 2).sum()

    best = minimize(loss, np.append(1.0, np.zeros(k)), options={"gtol": 1e-8}).x
    found = calibrate(decisions[None], y, np.ones((1, 60)))(decisions[None])[0]
    logs = log_probabilities(best)
    np.testing.assert_allclose(found, logs[:, 1:] - logs[:, :1] if k == 2 else logs, atol=1e-3)


def test_conformal_limit(rng):
    unusual, weights = rng.random(50), rng.random(50) + 0.5
    shares = np.array([weights[unusual <= u].sum() for u in unusual]) / (weights.sum() + weights.mean())
    assert conformal_limit(unusual, weights, 0.8) == unusual[shares >= 0.8].min()


def test_landmarks(rng):
    rows, weights, target, ridge = rng.normal(size=(30, 2)), rng.random(30) + 0.5, rng.normal(size=(30, 1)), 1e-2
    places = rows[:5]
    b, c = fit_landmarks(kernel_of("rbf", 1.0, 0.0), rows.__getitem__, places, target, weights, [ridge])
    k, K = (np.exp(-cdist(one, places, "sqeuclidean")) for one in (rows, places))

    def loss(both):
        return weights @ (k @ both[:5] + both[5] - target[:, 0]) ** 2 + ridge * weights.sum() * both[:5] @ K @ both[:5]

    np.testing.assert_allclose(approx_fprime(np.append(b[0, 0], c[0, 0]), loss, 1e-6), 0.0, atol=1e-3)


def test_scores_of_draws(rng):
    score = score_called("accuracy", ("accuracy",))
    decisions, y = rng.normal(size=(3, 40, 1)), rng.integers(2, size=40)
    draws: Draws = draw_rows(40, 30, np.random.default_rng(0))
    shares = np.random.default_rng(1).dirichlet(np.ones(3), 30)
    by_hand = []
    for drawn, share in zip(draws.drawn, shares, strict=True):
        left = np.setdiff1d(np.arange(40), drawn)
        by_hand.append(np.mean((np.tensordot(share, decisions, 1)[left, 0] > 0) == y[left]))
    found = left_out_scores(decisions, y, np.ones(40), score, draws, shares)
    np.testing.assert_allclose(found, by_hand)
    moved = corrected(found, 0.9)
    assert moved.mean() == pytest.approx(0.632 * found.mean() + 0.368 * 0.9)


def test_error_of_distances_from_the_best(rng):
    scores = 1.0 - np.exp(rng.normal(size=200))
    found = left_out(scores, 0.1, "r2", 60, 60.0)
    assert found.value == pytest.approx(0.632 * scores.mean() + 0.368 * 0.1)
    assert found.error == pytest.approx((1.0 - found.value) * np.log(1.0 - scores).std(ddof=1))


def test_score_interval():
    S, sd, degrees = 0.8, 0.05, 30.0
    u, nu = t.ppf(0.975, degrees), S * (1 - S) / sd**2
    root = u * np.sqrt(S * (1 - S) / nu + u**2 / (4 * nu**2))
    ends = [(S + u**2 / (2 * nu) + sign * root) / (1 + u**2 / nu) for sign in (-1, 1)]
    np.testing.assert_allclose(score_interval(S, sd**2, 31.0, degrees, 0.95, "accuracy"), ends)
    ends = [1.0 - (1.0 - S) * np.exp(sign * u * sd / (1.0 - S)) for sign in (1, -1)]
    np.testing.assert_allclose(score_interval(S, sd**2, 31.0, degrees, 0.95, "r2"), ends)


def test_optimism_is_the_mean_difference():
    from scipy.stats import loguniform
    from sklearn.datasets import load_iris
    from sklearn.svm import SVC

    from spotsvm import SpotSearchCV

    rows, y = load_iris(return_X_y=True)
    search = SpotSearchCV(SVC(), {"C": loguniform(0.1, 10)}, n_iter=3, search="random", cv=3, random_state=0)
    found = oversearching(search, rows, y, outer=3, random_state=0, curve=False)
    assert found.optimism == pytest.approx((found.frame()["tuned"] - found.frame()["outer"]).mean())


def test_variances(rng):
    J, tuned, outer = 5, rng.random((5, 5)), rng.random(5)
    whole = np.mean(np.diag(tuned) - outer)
    left = np.array([np.mean([tuned[k, j] - outer[k] for k in range(J) if k != j]) for j in range(J)])
    P = J * whole - (J - 1) * left
    assert jackknife_variance(tuned, outer) == pytest.approx(np.sum((P - P.mean()) ** 2) / (J * (J - 1)))
    V, D = np.array([0.4, 0.5]), np.array([0.1, 0.6])
    assert repeated_variance(V, D) == pytest.approx(max(V.mean() - 0.5 * D.var(ddof=1), D.var(ddof=1) / 2))
    half = t.ppf(0.975, 4) * np.sqrt((1 / 5 + 0.25) * outer.var(ddof=1))
    np.testing.assert_allclose(nadeau_bengio(outer, 0.25), [outer.mean() - half, outer.mean() + half])
    best = int(tuned.mean(axis=1).argmax())
    np.testing.assert_allclose(optimism_of_folds(tuned).optimism, np.mean(tuned.max(axis=0) - tuned[best]))


def test_between_sets():
    R = np.array([[9.0, 16.0, 13.0], [11.0, 12.0, 12.0], [10.0, 13.0, 8.0]])
    matrix = OversearchingMatrix(R, ["a", "b", "c"])
    S = (R.sum(axis=0) - np.diag(R)) / 2
    np.testing.assert_allclose(np.ravel(matrix.S), S)
    np.testing.assert_allclose(np.ravel(matrix.V), (S - np.diag(R)) / np.diag(R))


def test_verdicts(rng):
    scores, default = rng.random((2, 200)), rng.random((2, 200)) - 0.05
    n, kinds = np.array([60, 20]), ("out of fold", "held out")

    def drawn(values, scores):
        return [Drawn(values[k], scores[k], int(n[k]), float(n[k]), kinds[k], k == 0) for k in range(2)]

    found = difference_of(drawn([0.9, 0.9], scores), drawn([0.8, 0.7], default), "accuracy", "draws")
    g = np.array([0.1, 0.2])
    errors = np.std(scores - default, axis=1, ddof=1) * [1.0, np.sqrt(20 / 19)]
    half = t.ppf(0.975, 79) * np.sqrt(np.sum((n / 80) ** 2 * errors**2))
    assert found.value == pytest.approx(n @ g / 80)
    np.testing.assert_allclose(found.interval, [found.value - half, found.value + half])
    choice = Choice(1, {}, nan, 0, {}, 1, 1, compares=True, replaced=None)
    ends = {"helped": (0.1, 0.3), "did not help": (-0.3, -0.1), "no difference seen": (-0.1, 0.3)}
    for decision, (low, high) in ends.items():
        gain = TuningGain((low + high) / 2, (low, high), 0.1)
        verdict = decide(choice, gain, ExpectedScore(0.5), ExpectedScore(0.5))
        assert (verdict.decision, verdict.recommended) == (decision, "default" if high < 0 else "tuned")
    gain = TuningGain(-0.1, (-0.3, 0.1), 0.1)
    assert decide(choice, gain, ExpectedScore(0.5), ExpectedScore(0.5)).recommended == "default"


def test_conformal_factor():
    f = np.array([0.0, 1.0, -2.0, 50.0])
    np.testing.assert_allclose(log_factor(0.5, f), np.maximum(-0.5 * f**2, -80.0))


def test_support_factor():
    rates = np.array([0.5, np.nan, 2.0])
    distances = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [1e4, 0.0, 1e4]])
    terms = np.exp(-np.array([0.5, 2.0]) * distances[:2, [0, 2]])
    np.testing.assert_allclose(log_support_factor(rates, distances), [*np.log(terms.sum(axis=1)), -80.0])


def test_the_settings_of_the_papers():
    koch = {"correlation": "gaussian", "inference": "mle-cmaes", "criterion": "reinterpolation", "warped": False, "n_initial": 10}
    assert koch.items() <= SEARCHES["koch2011"].keywords.items()
    carrizosa = {"start": "random", "radii": "linear", "kappa_max": 25, "plateau": "stay", "opening": "narrowest"}
    assert carrizosa.items() <= SEARCHES["carrizosa2014"].keywords.items()
