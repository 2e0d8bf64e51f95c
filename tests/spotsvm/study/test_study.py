import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from completed_trials import SVM as SPACE
from completed_trials import Diagonal, facts, mixed, valley
from scipy.stats import loguniform, randint, uniform
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from spotsvm import Study
from spotsvm.errors import (
    ArgumentError,
    NoCompletedTrialError,
    SearchExhaustedError,
    SolverError,
    SpaceError,
    StorageError,
    TrialStateError,
)
from spotsvm.searches import Suggestion

MIXED = [
    {"kernel": ["rbf"], "C": loguniform(1e-3, 1e3), "scale": [StandardScaler(), MinMaxScaler(), None]},
    {"kernel": ["poly"], "C": loguniform(1e-3, 1e3), "degree": randint(2, 6)},
]


def test_ask_and_tell():
    study = Study(SPACE, seed=0)
    trial = study.ask()
    assert (trial.number, trial.state, trial.value, trial.seconds) == (0, "running", None, None)
    assert study.space.encode(trial.params) == pytest.approx(trial.point)
    told = study.tell(trial, 2.5)
    assert (told.state, told.value, told.params, told.seed) == ("ok", 2.5, trial.params, trial.seed)
    assert told.seconds >= 0
    assert study.trials == (told,)
    second = study.ask()
    assert study.tell(second.number, {"value": 1.5, "time": 3}, seconds=9.0).extra == {"time": 3.0}
    assert study.trials[1].seconds == 9.0
    assert study.n_finished == 2
    assert study.best_trial == study.trials[1]
    assert trial.seed != second.seed


def test_trials_can_be_told_in_any_order():
    study = Study(SPACE, seed=0)
    batch = [study.ask() for _ in range(4)]
    for trial in reversed(batch):
        study.tell(trial, valley(trial.params))
    assert [t.number for t in study.trials] == [0, 1, 2, 3]
    assert [t.value for t in study.trials] == [valley(t.params) for t in batch]


def test_a_failure_is_kept_with_its_reason_in_one_line():
    study = Study(SPACE, seed=0)
    told = study.fail(study.ask(), "no\n  luck \udc80", extra={"time": np.float32(2)}, seconds=1.0)
    assert (told.state, told.value, told.reason) == ("failed", None, "no luck \\udc80")
    assert (told.extra, told.seconds) == ({"time": 2.0}, 1.0)
    assert study.tell(study.ask(), np.nan).reason == "the objective returned nan"
    for wanted in (study.recommend, lambda: study.best_trial):
        with pytest.raises(NoCompletedTrialError, match="2 failed; 1 x no luck"):
            wanted()
    assert study.n_finished == 2


@pytest.mark.parametrize("which", [-1, 1, 99, 0.5, "0", None])
def test_a_trial_that_was_never_asked_for(which):
    study = Study(SPACE, seed=0)
    trial = study.ask()
    with pytest.raises(TrialStateError, match=f"trial={which!r} was never asked for; this study has 1 trials"):
        study.tell(which, 1.0)
    assert study.trials == (trial,)


def test_a_trial_is_told_once():
    study = Study(SPACE, seed=0)
    first, second = study.ask(), study.ask()
    told = study.tell(first, 1.0), study.fail(second, "no")
    for trial, state in ((first, "ok"), (0, "ok"), (second, "failed")):
        with pytest.raises(TrialStateError, match=f"is not running; it was told before and is '{state}'"):
            study.tell(trial, 2.0)
    assert study.trials == told


@pytest.mark.parametrize("search", ["kriging", "random"])
def test_maximizing_mirrors_minimizing_the_negated_objective(search):
    def noisy(params):
        return valley(params) + 5.0 * np.sin(1e6 * params["C"])

    for objective in (valley, noisy):
        down = Study(SPACE, search, 2).run(objective, 10)
        up = Study(SPACE, search, 2, direction="maximize").run(lambda p, f=objective: -f(p), 10)
        assert [t.point for t in down.trials] == [t.point for t in up.trials]
        assert [t.origin for t in down.trials] == [t.origin for t in up.trials]
        assert [t.value for t in down.trials] == [-t.value for t in up.trials]
        assert up.best_trial.number == down.best_trial.number
        assert (up.recommend().number, up.recommend().value) == (down.recommend().number, -down.recommend().value)


def test_a_search_of_ones_own():
    mine = Diagonal()
    study = Study(SPACE, mine, direction="maximize").run(valley, 3)
    assert [t.point for t in study.trials] == [(k / 20, k / 20) for k in (1, 2, 3)]
    assert {t.origin for t in study.trials} == {"Diagonal"}
    assert mine.told == [(list(t.point), -t.value) for t in study.trials]
    made = Study(SPACE, lambda domain, seed: Diagonal(), seed=0).run(valley, 3)
    assert [t.params for t in made.trials] == [t.params for t in study.trials]


def test_a_search_of_ones_own_may_say_where_its_points_come_from():
    class Mine(Diagonal):
        def ask(self):
            return Suggestion(np.array([2.0, -1.0]), "guess", "out of the cube")

    trial = Study(SPACE, Mine()).ask()
    assert (trial.point, trial.origin, trial.note) == ((1.0, 0.0), "guess", "out of the cube")


@pytest.mark.parametrize("answer", [[0.5], [0.5, np.nan], [[0.5, 0.5]], None, 0.5, Suggestion(np.array([0.5, np.inf]), "guess")])
def test_a_search_of_ones_own_that_suggests_no_point(answer):
    class Mine(Diagonal):
        def ask(self):
            return answer

    study = Study(SPACE, Mine())
    with pytest.raises(SolverError, match="the search suggests .* use a point of the unit cube of dimension 2"):
        study.ask()
    assert study.trials == ()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"direction": "up"}, "direction='up' is unknown; use 'minimize' or 'maximize'"),
        ({"direction": None}, "direction=None"),
        ({"seed": -1}, "seed=-1 is not a seed"),
        ({"seed": 1.5}, "seed=1.5"),
        ({"seed": "a"}, "seed='a'"),
        ({"seed": True}, "seed=True"),
        ({"noise": "no"}, "noise='no' is unknown; use 'auto', True or False"),
        ({"noise": None}, "noise=None"),
        ({"trial_timeout": 0}, "trial_timeout=0 is not a time"),
    ],
)
def test_bad_arguments_are_named_with_their_value(options, said):
    with pytest.raises(ArgumentError, match=said):
        Study(SPACE, **options)


def test_a_bad_search_or_space_is_a_value_error():
    with pytest.raises(SolverError, match="search='bayes' is unknown"):
        Study(SPACE, "bayes")
    with pytest.raises(SpaceError, match="C has an empty list"):
        Study({"C": []})
    study = Study({"a": [1, 2, 3]}, "random", 0)
    assert {study.ask().params["a"] for _ in range(3)} == {1, 2, 3}
    with pytest.raises(SearchExhaustedError, match="all 3 configurations"):
        study.ask()
    assert repr(study) == "<Study of a by 'random': 0 of 3 trials finished>"


def test_seeds_are_drawn_or_given_in_any_kind_of_integer(tmp_path):
    studies = [Study(SPACE, "random") for _ in range(2)]
    assert studies[0].seed != studies[1].seed
    assert Study(SPACE, "random", studies[0].seed).ask().params == studies[0].ask().params
    for seed, noise in ((np.int64(3), np.True_), (3, True)):
        with Study(SPACE, "random", seed, noise=noise, path=tmp_path / "s.db") as study:
            assert (study.seed, type(study.seed), study.noise) == (3, int, True)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))], ids=["deepcopy", "pickle"])
def test_a_copy_goes_on_by_itself_in_memory(tmp_path, copied):
    for search in ("kriging", Diagonal()):
        with Study(SPACE, search, 4, path=tmp_path / f"{search if isinstance(search, str) else 'own'}.db") as study:
            study.run(valley, 8)
            running = study.ask()
            other = copied(study)
            assert (other.path, other.seed, other.trials) == (None, 4, study.trials)
            for s in (other, study):
                s.tell(running, 1.0)
                s.run(valley, 10)
            assert facts(other) == facts(study)
            assert other.recommend() == study.recommend()
            assert len(Study.frame(study)) == 10


def test_the_csv_is_the_frame(tmp_path):
    study = Study(MIXED, seed=0)
    study.run(lambda p: {"value": mixed(p), "time": 0.25} if p["C"] > 0.01 else 'a, "b"\nc', 15)
    study.ask()
    study.to_csv(tmp_path / "trials.csv")
    texts = ["reason", "error_type", "note"]
    read = pd.read_csv(tmp_path / "trials.csv", dtype=dict.fromkeys(texts, str)).fillna(dict.fromkeys(texts, ""))
    frame, read = study.frame().drop(columns="param_scale"), read.drop(columns="param_scale")
    pd.testing.assert_frame_equal(read, frame, check_dtype=False, rtol=1e-14)
    for path in (tmp_path, tmp_path / "none" / "trials.csv"):
        with pytest.raises(StorageError, match=f"{path}: cannot write the trials"):
            study.to_csv(path)


SQUARE = {"x": uniform(-1, 2), "y": uniform(-1, 2)}


def scaled(unit):
    return lambda p: unit * float(np.sign(p["x"])) * p["y"] ** 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("search", "noise", "unit"),
    [
        ("kriging", False, 1.7e308),
        ("random", True, 1e300),
    ],
)
def test_values_near_the_largest_number_are_searched_and_reported_without_a_warning(tmp_path, search, noise, unit):
    study = Study(SQUARE, search, 0, noise=noise).run(scaled(unit), n_trials=12)
    assert study.report(tmp_path / "report.html").stat().st_size > 0
    assert np.isfinite(study.recommend().value)


@pytest.mark.filterwarnings("error")
def test_a_search_among_huge_values_is_that_among_small_ones():
    """A power of two changes no digit, so the suggestions and the recommendation are the same to the last bit."""
    huge, small = (Study(SQUARE, "kriging", 0).run(scaled(2.0**power), n_trials=12) for power in (1023, 0))
    assert [t.point for t in huge.trials] == [t.point for t in small.trials]
    huge, small = (Study(SQUARE, "lhs", 0, noise=True).run(scaled(2.0**power), n_trials=20).recommend() for power in (1020, 0))
    assert (huge.number, huge.value / 2.0**1020) == (small.number, small.value)
    assert huge.standard_error / 2.0**1020 == small.standard_error


@pytest.mark.filterwarnings("error")
def test_the_stop_rule_and_the_hypervolume_take_huge_values():
    rng = np.random.default_rng(0)
    study = Study(SQUARE, "lhs", 0, noise=True)
    study.run(lambda p: scaled(1.7e308)(p) * (1 - 0.1 * rng.random()), n_trials=30, stop="uncertainty")
    assert study.n_finished <= 30
    two = Study(SQUARE, "random", 0, direction=("minimize", "maximize"))
    assert len(two.run(lambda p: {"values": [1.7e308 * p["x"], 1.0]}, n_trials=10).hypervolume()) == 10


def test_what_serves_the_loop_is_no_part_of_what_users_see():
    """Whoever asks and tells by hand has `ask`, `ask_batch`, `tell` and `fail`."""
    inside = "plan finish hold held lose hand_back n_unfinished told_trials n_told_since_asked waits_for_starts n_initial"
    study = Study({"x": [1, 2]}, "random", seed=0)
    seen = {name for name in dir(study) if not name.startswith("_")}
    assert seen & {*inside.split(), "initial_name", "n_ready", "guard"} == set()
    assert {"ask", "ask_batch", "tell", "fail", "run", "recommend", "frame", "status", "trials"} <= seen
