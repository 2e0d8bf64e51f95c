import numpy as np
import pytest
from sklearn.svm import SVC

from spotsvm.studies.alga.runs import COSTS, GAMMAS, grid_search
from spotsvm.studies.alga.sets import random_points, thirds


@pytest.fixture(scope="module")
def parts():
    return thirds(random_points(300))


def scored(parts, cost, gamma):
    machine = SVC(C=cost, gamma=gamma).fit(parts.X, parts.y)
    return machine.score(parts.validation_X, parts.validation_y), -machine.n_support_.sum()


def test_grid_search_finds_the_best_of_both_grids(parts):
    found = grid_search(parts)
    coarse = {(cost, gamma): scored(parts, cost, gamma) for cost in COSTS for gamma in GAMMAS}
    cost, gamma = max(coarse, key=coarse.get)
    steps = 2.0 ** np.arange(-3, 4)
    finer = {(cost * up, gamma * right): scored(parts, cost * up, gamma * right) for up in steps for right in steps}
    best = max(coarse | finer, key=(coarse | finer).get)
    assert (found.svc.C, found.svc.gamma) == best
    assert scored(parts, *best) == (coarse | finer)[best]
    assert (found.n_fits, len(found.rows)) == (30 + 48, len(parts.y))
    assert found.seconds > 0
