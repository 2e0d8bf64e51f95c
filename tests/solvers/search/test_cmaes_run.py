import numpy as np
import pytest
from driven import bowl

from spotsvm.searches import Domain
from spotsvm.solvers.search.cmaes_search import CategoryShares, CmaesCoding, CmaesRun

DOMAIN = Domain.continuous(3)


def run(seed=0, tol_x=1e-4, sigma0=0.25):
    streams = np.random.SeedSequence(seed).spawn(2)
    return CmaesRun(CmaesCoding(DOMAIN), np.full(3, 0.5), sigma0, 7, streams, CategoryShares(DOMAIN, 0.3, 0.2), tol_x, {})


def drive(made, f, generations):
    for k in range(generations):
        if made.stopped:
            return k
        samples = made.sample()
        made.tell(samples, np.array([f(s.point) for s in samples]))
    return generations


@pytest.mark.parametrize(
    ("f", "tol_x", "reason"),
    [
        (lambda u: np.nan, 1e-4, "all points of a generation failed"),
        (lambda u: 1.0, 1e-4, "generations without a difference"),
        (bowl, 0.02, "the distribution has contracted"),
        (lambda u: float(np.random.default_rng(u.view(np.uint64)).random()), 1e-9, "no better point for many generations"),
    ],
)
def test_what_ends_a_run(f, tol_x, reason):
    made = run(tol_x=tol_x)
    assert drive(made, f, 500) < 500
    assert made.stopped == reason
    assert made.all_failed == ("failed" in reason)


def test_the_mean_is_recombined_of_all_that_were_told():
    """Hansen 2016, equation (6): the weighted mean of the best; those beyond the generation are among them."""
    made = run(sigma0=0.05)  # so narrow that no bound is near
    samples = [*made.sample(), *made.sample(1), *made.sample(1)]
    values = np.array([bowl(s.point) for s in samples])
    values[-1] = -1.0
    values[0] = np.nan
    made.tell(samples, values)
    raw = np.log(4) - np.log(np.arange(1, 4))
    best = np.array([samples[k].point for k in np.argsort(values)[:3]])
    assert made.es.mean == pytest.approx(raw / raw.sum() @ best, abs=1e-9)
