import numpy as np
import pytest
from scipy.stats import norm

from spotsvm.searches import Domain
from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble
from spotsvm.surrogates.kriging.level_share import Realisations, draw_level_shares

LINE = Domain.continuous(1)
PLACES = np.linspace(0.0, 1.0, 9)[:, None]


def fitted(values, points=PLACES):
    return KrigingEnsemble(LINE, n_members=1, warped=False).fit(points, values, np.random.default_rng(0))


def test_realisations_have_the_mean_and_the_deviation_of_the_process():
    rng = np.random.default_rng(0)
    models = fitted(np.sin(7 * PLACES[:, 0]) + 0.1 * rng.normal(size=9))
    member = models.members[0]
    new = models.embedding.transform(np.array([[0.05], [0.31], [0.9]]))
    drawn = np.hstack([Realisations(member, 9, 50, rng)(new) for _ in range(80)])
    mean, variance = member.process.predict(new)
    spread = np.sqrt(variance * 9 / 6)  # the process variance is drawn: 9 / chi2 with 8 degrees of freedom has the mean 9 / 6
    assert drawn.mean(axis=1) == pytest.approx(mean, abs=5 * spread.max() / np.sqrt(4000))
    assert (0.93 * spread < drawn.std(axis=1)).all()  # random features widen it a little near the data
    assert (drawn.std(axis=1) < 1.25 * spread).all()


@pytest.mark.parametrize("level", [0.04, 0.16])
def test_the_share_of_a_parabola(level):
    """(x - 0.5)^2 <= level holds in 2 sqrt(level) of the line, and with some tolerance in more."""
    models, rng = fitted((PLACES[:, 0] - 0.5) ** 2), np.random.default_rng(0)
    lower, upper = draw_level_shares(models, LINE, level, rng, noise="deterministic", n_points=1024, tolerance=0.02)
    assert np.quantile(lower, 0.02) <= 2 * np.sqrt(level) <= np.quantile(upper, 0.98)
    assert np.median(lower) == pytest.approx(2 * np.sqrt(level), abs=0.05)
    assert np.median(upper) == pytest.approx(min(2 * np.sqrt(level + 0.02), 1.0), abs=0.05)


def test_noise_takes_responses_across_the_level():
    rng = np.random.default_rng(0)
    points = rng.random((120, 1))
    models = fitted(points[:, 0] + 0.3 * rng.normal(size=120), points)
    dense = np.linspace(0, 1, 1000)
    lower, upper = draw_level_shares(models, LINE, -0.2, rng, noise="noisy", n_points=1024)
    assert np.median(lower) == pytest.approx(norm.cdf((-0.2 - dense) / 0.3).mean(), abs=0.03)
    low, high = draw_level_shares(models, LINE, -0.2, rng, noise="unknown", n_points=1024)
    assert np.median(low) < np.median(lower)
    assert np.median(high) == pytest.approx(np.median(upper), abs=0.01)


def test_what_is_near_a_failure_has_no_share_for_certain():
    models, rng = fitted((PLACES[:, 0] - 0.5) ** 2), np.random.default_rng(0)
    settings = {"noise": "deterministic", "n_points": 1024, "failed": np.array([[0.55], [0.7]])}
    lower, upper = draw_level_shares(models, LINE, 0.04, rng, **settings)
    # of 0.3 to 0.7, what is between 0.525 and 0.5875, and from 0.6625 or 0.725 on
    assert np.median(lower) == pytest.approx(0.4 - 0.0625 - 0.0375, abs=0.03)
    assert np.median(upper) == pytest.approx(0.4, abs=0.03)
