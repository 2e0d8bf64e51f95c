import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import SVR

from spotsvm.common.errors import ArgumentError
from spotsvm.studies.equal_time.estimates import svr_starts as module
from spotsvm.studies.equal_time.estimates.svr_starts import (
    BOTH,
    GAMMA,
    LEARNED,
    SOBOL,
    Surface,
    SvrStartsStudy,
    learned,
    left_by,
    measure,
    sobol_points,
)
from spotsvm.studies.equal_time.sets import Rows

SETS = ("iris, petal width", "wine, alcohol", "breast cancer, texture", "friedman 1")


def test_a_surface_has_scikit_learns_scores_for_the_best_cost(monkeypatch):
    for name, values in {"LOG_EPSILON": [-3, -1], "LOG_GAMMA": [-6, -2, 1], "LOG_C": [-1, 3], "PARTITIONS": 2}.items():
        monkeypatch.setattr(module, name, np.array(values))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2)) * [1.0, 5.0] + 3.0
    y = 40 * np.sin(X[:, 0]) + X[:, 1] + rng.standard_normal(60)
    surface = measure(Rows("noise", "noise", X, y))

    def error(**params):
        folds = [KFold(5, shuffle=True, random_state=k) for k in range(2)]
        means = [np.mean([cross_val_score(SVR(C=C, **params), scale(X), scale(y), cv=one) for one in folds]) for C in (0.5, 8.0)]
        return 100 * (1 - max(means))

    assert surface.own == pytest.approx(error(gamma=0.5), abs=0.02)
    assert surface.grid.shape == (2, 3)
    assert surface.grid[1, 0] == pytest.approx(error(gamma=2.0**-6, epsilon=0.5), abs=0.02)
    assert surface.grid[0, 2] == pytest.approx(error(gamma=2.0, epsilon=0.125), abs=0.02)


def surface_of(epsilon, gamma, own=9.0):
    """Return a surface with its best at one point of the grid."""
    grid = np.add.outer(2.0 * (np.arange(4) - epsilon) ** 2, 0.5 * (np.arange(19) - gamma) ** 2)
    return Surface(10.0 + own, 10.0 + grid)


def test_points_are_learned_where_they_help_most():
    surfaces = [surface_of(1, 5), surface_of(1, 5), surface_of(3, 12)]
    assert learned(surfaces, BOTH, 2) == [19 + 5, 3 * 19 + 12]
    assert learned(surfaces, GAMMA, 2) == [5, 12]
    assert left_by(surfaces[0], BOTH, [19 + 6, 0, 19 + 5]).tolist() == [9.0, 0.5, 0.5, 0.0]
    # with gamma alone, epsilon is at its third value: the best there is not the best of all
    assert left_by(surfaces[0], GAMMA, [4, 5]).tolist() == [7.0, 0.5, 0.0]


def test_sobol_points_cover_the_grid():
    for searched, cells in ((GAMMA, 19), (BOTH, 4 * 19)):
        points = sobol_points(searched, 8, 3)
        assert len(points) == 8
        assert set(points) <= set(range(cells))
    assert len({point // 19 for point in sobol_points(BOTH, 8, 0)}) == 4


def known_surface(rows):
    """Return a surface that is the same for all sets but one."""
    return surface_of(0, 2) if rows.name == SETS[0] else surface_of(2, 9)


def test_a_set_is_judged_by_what_the_others_teach(monkeypatch):
    monkeypatch.setattr(module, "measure", known_surface)
    monkeypatch.delenv("SPOTSVM_DATA", raising=False)
    study = SvrStartsStudy(sets=(*SETS, "liver, drinks"), n_points=2).run()
    runs = study.frame().set_index(["searched", "start", "points", "set"])["regret"]
    for searched in (GAMMA, BOTH):
        assert runs[searched, LEARNED, 0, SETS[1]] == runs[searched, SOBOL, 0, SETS[1]]
        assert runs[searched, LEARNED, 2, SETS[1]] == 0 < runs[searched, SOBOL, 2, SETS[1]]
        assert runs[searched, LEARNED, 1, SETS[0]] > 0  # no other set is like it
    table = study.table()
    assert table["sets"].unique().tolist() == [4]
    assert (table["difference"] == table[LEARNED] - table[SOBOL]).all()
    text = study.conclusion()
    assert "gamma, epsilon searched, 4 sets: after the estimator's own and 2 further points" in text
    assert "Learned from all sets: 2^-6, 2^-3; 2^-13, 2^-7." in text
    assert "Left out: liver, drinks" in text


def test_few_families_teach_nothing(monkeypatch):
    monkeypatch.setattr(module, "measure", known_surface)
    with pytest.raises(ArgumentError, match="fewer than three families"):
        SvrStartsStudy(sets=SETS[:2]).run()
    with pytest.raises(ArgumentError, match="'iris' is unknown"):
        SvrStartsStudy(sets=["iris"])
