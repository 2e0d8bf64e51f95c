import numpy as np
import pytest
from driven import drive, two_bowls, zdt1
from pymoo.indicators.hv import HV

from spotsvm.errors import SolverError
from spotsvm.searches import Domain, Nsga2Search

VOLUME = HV(ref_point=np.array([1.1, 6.0]))


@pytest.fixture(scope="module")
def on_models():
    search = Nsga2Search(Domain.continuous(4), 0, noise=False)
    return search, drive(search, zdt1, 30)


def test_it_reaches_the_front_in_30_evaluations_and_covers_it(on_models):
    """On ZDT1 the mean of the variables but the first is the distance from the front."""
    search, _ = on_models
    plain = Nsga2Search(Domain.continuous(4), 0, models=False)
    drive(plain, zdt1, 30)
    distance = search.points[15:, 1:].mean(axis=1)
    assert np.median(distance) < 0.03
    assert np.ptp(search.points[15:, 0][distance < 0.03]) > 0.5
    best = VOLUME(np.column_stack([u := np.linspace(0, 1, 500), 1 - np.sqrt(u)]))
    assert VOLUME(search.values) > 0.97 * best
    assert VOLUME(plain.values) < 0.85 * best


def test_the_origins_are_those_of_the_kriging_search(on_models):
    origins = [suggestion.origin for suggestion in on_models[1]]
    assert origins == ["design"] * 6 + ["improvement"] * 24


def noisy(u, rng, noise=0.05):
    first, second = two_bowls(u)
    return [first + noise * rng.normal(), second]


def test_noise_of_one_objective_is_found_and_leads_to_replicates_on_the_front():
    rng = np.random.default_rng(3)
    search = Nsga2Search(Domain.continuous(1), 0)
    suggestions = drive(search, lambda u: noisy(u, rng), 30)
    again = [s for s in suggestions if s.origin == "replicate"]
    assert len(again) > 1
    assert all(0.0 < s.point[0] < 1.0 for s in again)
    assert search._fitted.front.criteria == ("reinterpolation", "plain")


def test_bounds_keep_the_front_where_they_hold():
    search = Nsga2Search(Domain.continuous(2), 1, noise=False)
    for _ in range(24):
        point = search.ask().point
        search.tell(point, two_bowls(point))
        search.take_margins([point[0] - 0.55])
    late = search.points[12:]
    assert (late[:, 0] > 0.5).mean() > 0.7
    assert np.ptp(late[late[:, 0] > 0.55][:, 1]) > 0.15


def test_a_batch_spreads_out():
    search = Nsga2Search(Domain.continuous(2), 2, noise=False)
    drive(search, two_bowls, 12)
    batch = np.array([search.ask().point for _ in range(4)])
    apart = np.abs(batch[:, None] - batch).max(axis=2) + np.eye(4)
    assert apart.min() > 0.02


def test_a_penalty_in_one_objective_is_a_failure():
    search = Nsga2Search(Domain.continuous(2), 2, noise=False)
    suggestions = drive(search, lambda u: [two_bowls(u)[0], 1e9 if u[0] > 0.6 else two_bowls(u)[1]], 14)
    assert any("evaluations failed and are avoided" in s.note for s in suggestions)
    assert search._fitted.fit.values.max() < 2


@pytest.mark.parametrize("population", [3, 0, 2.5, "20", True])
@pytest.mark.parametrize("models", [True, False])
def test_too_small_a_population_is_refused(population, models):
    with pytest.raises(
        SolverError, match=f"population={population!r} is not a size of generations; use a whole number, 4 or more"
    ):
        Nsga2Search(Domain.continuous(2), population=population, models=models)


@pytest.mark.parametrize("n_objectives", [1, 0, 2.0, "2", True])
def test_a_number_that_is_not_of_several_objectives_is_refused(n_objectives):
    with pytest.raises(SolverError, match=f"n_objectives={n_objectives!r} is not a number of objectives; use 2 or more"):
        Nsga2Search(Domain.continuous(2), n_objectives=n_objectives)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"acquisition": len},
            r"acquisition=<built-in function len> is no setting of Nsga2Search\(models=True\); use ParegoSearch",
        ),
        ({"surrogate": 1}, "surrogate=1 is no setting"),
        ({"models": False, "n_initial": 9}, r"n_initial=9 is no setting of Nsga2Search\(models=False\); use models=True"),
    ],
)
def test_settings_that_would_have_no_effect_are_refused(arguments, said):
    with pytest.raises(SolverError, match=said):
        Nsga2Search(Domain.continuous(2), **arguments)


def test_settings_of_the_kriging_search_reach_the_models():
    search = Nsga2Search(Domain.continuous(2), n_initial=9, correlation="gaussian", n_objectives=3)
    assert search.capabilities.n_initial == 9
    assert [model.ensemble.correlation.name for model in search._model.models] == ["gaussian"] * 3


def test_a_damaged_state_is_refused():
    search = Nsga2Search(Domain.continuous(2))
    drive(search, two_bowls, 8)
    state = search.state()
    assert set(state) == {"0", "1"}
    for damaged in ({"0": state["0"]}, {**state, "2": state["0"]}, {"0": 1, "1": 2}, {"0": {}, "1": {}}):
        with pytest.raises(SolverError, match="damaged"):
            Nsga2Search(Domain.continuous(2)).restore(damaged)
