import numpy as np
import pytest
from driven import MIXED, bowl, drive
from scipy.optimize import minimize

from spotsvm.errors import SolverError
from spotsvm.searches import Domain, LbfgsbSearch

CUBE = Domain.continuous(3)
STEP = 0.01


def valley(u):
    """Smooth and convex, with two slopes that differ and no quadratic."""
    return float(np.cosh(2 * (u[0] - 0.7)) + 3 * (u[1] - 0.2) ** 2 + np.exp(u[2]) * 0.5 + 0.5 * (u[0] - u[1]) ** 2)


def points(suggestions, origin=None):
    return np.array([s.point for s in suggestions if origin in (None, s.origin)]).reshape(-1, CUBE.dimension)


def forward(u):
    moves = [np.eye(3)[j] * (STEP if u[j] + STEP <= 1 else -STEP) for j in range(3)]
    return np.array([(valley(u + m) - valley(u)) / m.sum() for m in moves])


def test_it_goes_the_very_way_of_scipys_own_minimize():
    start = np.array([0.4, 0.6, 0.5])
    search = LbfgsbSearch(CUBE, 0, noise=False, step=STEP, first_step=0.2, ftol=1e-9)
    search.tell(start, valley(start))
    suggestions = drive(search, valley, 33)
    unit = np.linalg.norm(forward(start)) / 0.2
    tried = []

    def scaled(u):
        tried.append(u.copy())
        return (valley(u) - valley(start)) / unit, forward(u) / unit

    found = minimize(
        scaled, start, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * 3, options={"ftol": 1e-9, "gtol": 1e-6, "maxls": 6}
    )
    # where a step is turned down, near the end, the search makes do with a parabola instead of the differences
    down = int(np.argmin(np.diff([valley(u) for u in tried]) < 0))
    steps = points(suggestions, "step")[:down]
    assert len(steps) >= 6
    assert np.allclose(steps, tried[1 : len(steps) + 1], rtol=0, atol=1e-9)
    assert valley(found.x) == pytest.approx(search.values.min(), abs=1e-3)
    # one gradient at the start and one at each step, each of three points, and no evaluation beside them
    assert [s.origin for s in suggestions[:8]] == ["difference"] * 3 + ["step"] + ["difference"] * 3 + ["step"]
    assert search.n_asked == len(suggestions) == len(search.values) - 1


def test_a_design_and_its_differences_are_ready_at_once():
    search = LbfgsbSearch(CUBE, 0, noise=False)
    design = [search.ask() for _ in range(search.n_foreseen)]
    assert {s.origin for s in design} == {"design"}
    assert len(design) == search.capabilities.n_initial == 6
    assert design[0].point.tolist() == [0.5] * 3
    assert search.n_foreseen == 1
    for s in design:
        search.tell(s.point, bowl(s.point))
    assert search.n_foreseen == 3
    differences = [search.ask() for _ in range(3)]
    best = min(design, key=lambda s: bowl(s.point)).point
    assert np.sort(points(differences) - best, axis=None) == pytest.approx([0.0] * 6 + [0.05] * 3, abs=1e-12)
    assert search.n_foreseen == 1
    early = search.ask()
    assert (early.origin, early.note) == ("design", "a descent waits for values")
    for s in reversed(differences):
        search.tell(s.point, bowl(s.point))
    assert search.ask().origin == "step"
    sequential = LbfgsbSearch(CUBE, 0, noise=False)
    assert np.array_equal(points(drive(sequential, bowl, 9)), points(design + differences))


def test_a_replicate_finds_out_about_noise_and_the_step_follows():
    rng = np.random.default_rng(0)
    for noise, f, replicates, step in [
        ("auto", bowl, 1, 0.05),
        (False, bowl, 0, 0.05),
        ("auto", lambda u: bowl(u) + 0.1 * rng.normal(), 1, 0.1),
        (True, bowl, 0, 0.1),
    ]:
        search = LbfgsbSearch(CUBE, 0, noise=noise)
        suggestions = drive(search, f, 10)
        assert sum(s.origin == "replicate" for s in suggestions) == replicates
        start = search._progress.start
        assert np.abs(points(suggestions, "difference") - start).max() == pytest.approx(step)


def test_a_plateau_gets_a_longer_step_and_then_another_start():
    search = LbfgsbSearch(CUBE, 0, noise=False, n_initial=1)
    suggestions = drive(search, lambda u: 1.0, 9)
    moved = np.abs(points(suggestions) - 0.5).max(axis=1)
    assert moved[:7] == pytest.approx([0.0] + [0.05] * 3 + [0.2] * 3)
    assert [s.origin for s in suggestions] == ["design"] + ["difference"] * 6 + ["design", "difference"]
    stairs = LbfgsbSearch(CUBE, 0, noise=False, n_initial=1)  # a slope beyond the step is seen by the longer one
    assert "step" in {s.origin for s in drive(stairs, lambda u: float(np.floor(5 * abs(u[0] - 0.9))), 40)}
    assert stairs.values.min() == 0.0


def test_a_failed_trial_point_shortens_the_step():
    start = np.full(3, 0.5)
    search = LbfgsbSearch(CUBE, 0, noise=False, first_step=0.4)
    search.tell(start, 0.5)
    suggestions = drive(search, lambda u: float(u[0]) if u[0] > 0.3 else np.nan, 5)
    lengths = 0.5 - points(suggestions, "step")[:, 0]
    assert lengths == pytest.approx([0.4, 0.1])


def test_differences_that_fail_on_both_sides_are_held():
    search = LbfgsbSearch(CUBE, 0, noise=False, n_initial=1)
    suggestions = drive(search, lambda u: bowl(u) if u[2] == 0.5 else np.nan, 20)
    assert points(suggestions, "step").size
    assert np.all(points(suggestions, "step")[:, 2] == 0.5)


def test_integers_move_by_levels_and_categories_stay():
    def f(u):
        level = MIXED.level_of(u)[0]
        return (u[0] - 0.2) ** 2 + 0.1 * (level[1] - 5) ** 2 + 0.05 * level[2]

    search = LbfgsbSearch(MIXED, 0, noise=False)
    suggestions = drive(search, f, 60)
    assert search.values.min() < 0.06
    start = points(suggestions)[np.argmin([f(p) for p in points(suggestions, "design")[:6]])]
    descent = [s for s in suggestions if s.origin != "design"]
    assert MIXED.level_of(descent[0].point)[0, 2] == MIXED.level_of(start)[0, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_initial": 0}, "n_initial=0 is too few points"),
        ({"maxls": 0}, "maxls=0 is too few points"),
        ({"step": 0.0}, "step=0.0 is not a length in the unit cube; use more than 0 and at most 0.5"),
        ({"noisy_step": 0.6}, "noisy_step=0.6 is not a length"),
        ({"first_step": 1.1}, "first_step=1.1 is not a length in the unit cube; use more than 0 and at most 1.0"),
        ({"ftol": -1.0}, "ftol=-1.0 is negative"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(SolverError, match=message):
        LbfgsbSearch(CUBE, **options)
