import numpy as np
import pytest
from scipy.spatial.distance import cdist

from spotsvm.searches import Domain
from spotsvm.surrogates.acquisition.selection import select_evaluations, select_places

RNG = np.random.default_rng(6)
DOMAIN = Domain.continuous(2)
POINTS = RNG.random((600, 2))
TRUE = ((POINTS - 0.3) ** 2).sum(axis=1)


def test_all_are_selected_where_they_are_no_more_than_wanted():
    assert select_evaluations(DOMAIN, POINTS, TRUE, noisy=False, n=600).tolist() == list(range(600))
    twice = np.vstack([POINTS[:40], POINTS[:40]])
    assert len(select_evaluations(DOMAIN, twice, np.zeros(80), noisy=True, n=40)) == 80
    assert len(select_places(DOMAIN, twice, POINTS[:3], 40)) == 80


@pytest.mark.parametrize("noisy", [False, True])
def test_the_best_the_newest_and_the_space_are_in_it(noisy):
    rows = select_evaluations(DOMAIN, POINTS, TRUE, noisy=noisy, n=80)
    assert len(rows) == len(set(rows)) == 80
    assert np.array_equal(rows, np.sort(rows))
    assert int(np.argmin(TRUE)) in rows
    assert set(range(590, 600)) <= set(rows)
    assert np.isin(np.argsort(TRUE)[:20], rows).all()
    gap = cdist(POINTS, POINTS[rows]).min(axis=1).max()
    at_random = [cdist(POINTS, POINTS[RNG.choice(600, 80, replace=False)]).min(axis=1).max() for _ in range(20)]
    assert gap < min(at_random)


def test_replicates_come_together():
    points = np.vstack([POINTS, POINTS[:300]])
    rows = select_evaluations(DOMAIN, points, np.tile(TRUE, 2)[:900], noisy=True, n=100)
    first = rows[rows < 300]
    assert np.isin(first + 600, rows).all()
    assert len(np.unique(points[rows], axis=0)) == 100


def test_under_noise_the_selected_are_hardly_luckier_than_others():
    noise = 0.3 * np.random.default_rng(1).normal(size=600)
    rows = select_evaluations(DOMAIN, POINTS, TRUE + noise, noisy=True, n=80)
    by_value = select_evaluations(DOMAIN, POINTS, TRUE + noise, noisy=False, n=80)
    assert abs(noise[rows].mean()) < 0.08 < 0.1 < -noise[by_value].mean()
    assert TRUE[rows].mean() < TRUE.mean()
