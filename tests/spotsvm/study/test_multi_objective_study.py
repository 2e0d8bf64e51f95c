from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from completed_trials import SQUARE as SPACE
from completed_trials import Diagonal, facts, trade

from spotsvm import Study
from spotsvm.errors import ArgumentError, NoCompletedTrialError, SolverError, StudyMismatchError
from spotsvm.searches import Nsga2Search

NAMED = {"cost": "minimize", "gain": "maximize"}


def make(search="random", seed=7, **options):
    return Study(SPACE, search, seed, **{"direction": NAMED} | options)


def test_ask_and_tell():
    study = make()
    told = study.tell(study.ask(), [0.5, 2])
    assert (told.state, told.value, told.values) == ("ok", None, (0.5, 2.0))
    assert study.tell(study.ask(), {"values": (1, 2), "time": 3}).extra == {"time": 3.0}
    assert study.tell(study.ask(), {"values": {"gain": 1, "cost": 2}}).values == (2.0, 1.0)
    assert study.tell(study.ask(), np.array([4.0, 5.0])).values == (4.0, 5.0)
    assert study.tell(study.ask(), [np.nan, 1.0]).reason == "the objective returned [nan, 1.0]"
    assert study.fail(study.ask(), "no").values is None
    assert study.n_finished == 6
    one = Study(SPACE, "random", 0)
    assert one.ask().values is None
    assert (one.tell(0, 2.5).value, one.trials[0].values) == (2.5, (2.5,))


def test_the_direction_is_turned_in_one_place():
    mine = Diagonal()
    study = Study(SPACE, mine, direction=("minimize", "maximize", "maximize")).run(lambda p: [1.0, 2.0, -3.0], 2)
    study.fail(study.ask(), "no")
    assert np.array_equal([values for _, values in mine.told], [[1.0, -2.0, 3.0]] * 2 + [[np.nan] * 3], equal_nan=True)


@pytest.mark.parametrize(("search", "n"), [("nsga2", 14), ("parego", 14)])
def test_maximizing_mirrors_minimizing_the_negated_objective(search, n):
    down = make(search, direction=("minimize", "minimize")).run(lambda p: [p["x"] + p["y"], -p["x"]], n)
    up = make(search, direction=("minimize", "maximize")).run(lambda p: [p["x"] + p["y"], p["x"]], n)
    assert [t.point for t in down.trials] == [t.point for t in up.trials]
    assert [t.number for t in down.pareto()] == [t.number for t in up.pareto()]
    assert down.hypervolume().tolist() == up.hypervolume().tolist()


@pytest.mark.parametrize(("search", "n"), [("nsga2", 18), ("parego", 18)])
def test_the_front_and_its_volume(search, n):
    study = make(search).run(trade, n)
    front = study.pareto()
    values = np.array([t.values for t in front])
    assert (np.diff(values, axis=0) > 0).all()
    volume = study.hypervolume((2.0, -1.0))
    assert len(volume) == n
    assert (np.diff(volume) >= 0).all()
    assert volume.iloc[-1] > make("random").run(trade, n).hypervolume((2.0, -1.0)).iloc[-1]


def test_what_is_of_one_objective_points_to_the_front():
    study = make().run(trade, 5)
    for wanted in (lambda: study.best_trial, study.recommend):
        with pytest.raises(ArgumentError, match=r"needs one objective, but the study has 2, .* use pareto\(\)"):
            wanted()
    one = Study(SPACE, "random", 0).run(lambda p: p["x"], 3)
    for wanted in (one.pareto, one.hypervolume, one.plot_pareto):
        with pytest.raises(ArgumentError, match="needs several objectives, but the study has one; use recommend"):
            wanted()
    with pytest.raises(NoCompletedTrialError, match="no trial has been told"):
        make().pareto()


@pytest.mark.parametrize("given", [1.0, {"values": {"cost": 1.0}}])
def test_another_number_of_values_is_recorded_as_a_failure_and_raised(given, tmp_path):
    with make(path=tmp_path / "study.db") as study:
        with pytest.raises(ArgumentError, match="the study has 2 objectives"):
            study.tell(study.ask(), given)
        with pytest.raises(
            ArgumentError, match=r"one value \(1\), and the study has 2 objectives \(cost: minimize, gain: maximize\)"
        ):
            study.run(lambda p: {"value": 1.0, "time": 3.0}, 5)
        assert study.n_finished == 2
    with make(path=tmp_path / "study.db") as again:
        assert facts(again) == facts(study)
        assert {t.state for t in again.trials} == {"failed"}
        assert again.trials[1].extra == {"time": 3.0}
        again.run(trade, 5)


@pytest.mark.parametrize(("search", "workers"), [("kriging", 0), ("random", 2)])
def test_two_values_for_one_objective_are_raised_at_the_first_trial(search, workers, tmp_path):
    with Study(SPACE, search, 0, path=tmp_path / "study.db") as study:
        with pytest.raises(
            ArgumentError, match=r"2 values .* one objective; for several use .* with direction=\(.*search='nsga2'"
        ):
            study.run(lambda p: [p["x"], p["y"]], 20, ThreadPoolExecutor(workers) if workers else None)
        assert 1 <= study.n_finished <= max(workers, 1)
        reasons = [t.reason for t in study.trials if t.state != "running"]  # of two workers, the second may be the first to end
        assert all(reason.startswith("the objective returned 2 values (") for reason in reasons)
    with Study(SPACE, search, 0, path=tmp_path / "study.db") as again:
        assert again.run(lambda p: p["x"], 8).n_finished == 8


def test_a_search_must_be_one_of_so_many_objectives():
    for search in ("kriging", "koch2011"):
        with pytest.raises(
            SolverError, match=f"search='{search}' has one objective, and there are 2; use one of .*nsga2, parego"
        ):
            make(search)
    for search in ("nsga2", "parego"):
        with pytest.raises(SolverError, match=f"search='{search}' is for two or more objectives, .* direction=\\('minimize'"):
            Study(SPACE, search, 0)
    three = make(Nsga2Search, direction=["minimize"] * 3)
    assert three.run(lambda p: [1.0, p["x"], p["y"]], 2).n_finished == 2
    assert three.run(lambda p: [1.0, p["x"], p["y"]], 20).n_finished == 20


@pytest.mark.parametrize(
    ("direction", "said"),
    [
        ("minimize", r"it has {'cost': 'minimize', 'gain': 'maximize'}, this one 'minimize'"),
        (("minimize", "maximize"), r"this one {'0': 'minimize', '1': 'maximize'}"),
        ({"cost": "minimize", "gain": "minimize"}, r"this one {'cost': 'minimize', 'gain': 'minimize'}"),
        ({"gain": "maximize", "cost": "minimize"}, r"this one {'gain': 'maximize', 'cost': 'minimize'}"),
    ],
)
def test_other_objectives_are_another_study(direction, said, tmp_path):
    make(path=tmp_path / "study.db").close()
    with pytest.raises(StudyMismatchError, match=f"another direction: .*{said}"):
        make(path=tmp_path / "study.db", direction=direction)
