"""The search draws what cma itself draws."""

from functools import partial

import cma
import numpy as np
import pytest
from driven import bowl, drive_points

from spotsvm.searches import CmaesSearch, Domain
from spotsvm.solvers.search.cmaes_search import CmaesCoding, cma_options

CUBE = Domain.continuous(4)


def rosenbrock(u):
    x = 4.0 * u - 2.0
    return float((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum())


@pytest.mark.parametrize(("f", "options"), [(bowl, {}), (rosenbrock, {"CMA_diagonal": True})])
def test_it_draws_what_cma_itself_draws_with_its_options_and_only_ranks_count(f, options):
    made = partial(CmaesSearch, CUBE, 7, popsize=8, options=options)
    stream = np.random.SeedSequence([7, 1 << 42, 0]).spawn(3)[0]
    strategy = cma.CMAEvolutionStrategy([0.5] * 4, 0.25, cma_options(CmaesCoding(CUBE), 8, stream) | options)
    strategy.inject([[0.5] * 4], force=True)
    own = []
    for _ in range(15):
        drawn = strategy.ask()
        strategy.tell(drawn, [f(x) for x in drawn])
        own.extend(drawn)
    search = made()
    assert np.array_equal(drive_points(search, f, 120), own)
    assert options.items() <= search._run.es.opts.items()
    assert np.array_equal(drive_points(made(), lambda u: -1e300 * np.exp(-f(u) / 100), 60), own[:60])
